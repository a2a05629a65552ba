// The indexes that a user of a key-value store makes by hand: keys whose order is the order wanted.
//
//   entry    id                      -> json
//   tag      tag \0 time id          -> type   (so that a type is checked without the entry)
//   type     type \0 time id         -> nothing
//   time     time id                 -> nothing
//   column   id                      -> time, importance   (all that ranking looks at)
//
// A time is 8 bytes, most significant first, so that bytes compare as times do.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "queries.h"
#include "workload.h"

namespace varve::bench {

constexpr size_t kTimeBytes = 8;

inline std::string time_bytes(int64_t time_ms) {
  std::string bytes(kTimeBytes, '\0');
  for (size_t i = 0; i < kTimeBytes; ++i) {
    bytes[i] = static_cast<char>(static_cast<uint64_t>(time_ms) >> (8 * (kTimeBytes - 1 - i)));
  }
  return bytes;
}

// The start of every key of a tag or type.
inline std::string index_prefix(const std::string& name) { return name + '\0'; }

inline std::string index_key(const std::string& name, const WorkloadEntry& entry) {
  return index_prefix(name) + time_bytes(entry.timestamp_ms) + entry.id;
}

inline int64_t time_of(std::string_view bytes) {
  uint64_t time_ms = 0;
  for (const char byte : bytes) time_ms = time_ms << 8 | static_cast<uint8_t>(byte);
  return static_cast<int64_t>(time_ms);
}

// The tags of an entry as the workload writes it.
inline std::vector<std::string> tags_in(std::string_view json) {
  constexpr std::string_view kMark = "\"tags\":[";
  std::vector<std::string> tags;
  size_t at = json.find(kMark) + kMark.size();
  while (json[at] != ']') {
    const size_t start = json.find('"', at) + 1;
    const size_t end = json.find('"', start);
    tags.emplace_back(json.substr(start, end - start));
    at = end + 1;
  }
  return tags;
}

// What all keys of an entry are made of but for its tags, from one in the index of tags.
inline WorkloadEntry entry_of_key(std::string_view key, size_t prefix_bytes,
                                  std::string_view type) {
  WorkloadEntry entry;
  entry.id = key.substr(prefix_bytes + kTimeBytes);
  entry.type = type;
  entry.timestamp_ms = time_of(key.substr(prefix_bytes, kTimeBytes));
  return entry;
}

struct Column {
  int64_t timestamp_ms;
  double importance;
};

inline std::string column_bytes(const WorkloadEntry& entry) {
  const Column column{entry.timestamp_ms, entry.importance};
  std::string bytes(sizeof column, '\0');
  std::memcpy(bytes.data(), &column, sizeof column);
  return bytes;
}

// The best kAnswersMax of many, kept sorted; of equal ones the later is better.
class BestIds {
 public:
  explicit BestIds(const RankedQuery& query) : now_ms_(query.now_ms) {}

  void offer(std::string_view id, const char* column_at) {
    Column column{};
    std::memcpy(&column, column_at, sizeof column);
    const double score = ranked_score(column.importance, now_ms_ - column.timestamp_ms);
    if (count_ == kAnswersMax && score < best_[count_ - 1].score) return;
    insert({score, column.timestamp_ms, std::string(id)});
  }

  [[nodiscard]] std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (size_t i = 0; i < count_; ++i) all.push_back(best_[i].id);
    return all;
  }

 private:
  struct Candidate {
    double score = 0;
    int64_t timestamp_ms = 0;
    std::string id;
  };

  static bool better(const Candidate& left, const Candidate& right) {
    if (left.score != right.score) return left.score > right.score;
    return left.timestamp_ms > right.timestamp_ms;
  }

  void insert(Candidate candidate) {
    size_t at = count_ < kAnswersMax ? count_++ : kAnswersMax - 1;
    if (at == kAnswersMax - 1 && !best_[at].id.empty() && !better(candidate, best_[at])) return;
    for (; at > 0 && better(candidate, best_[at - 1]); --at) best_[at] = std::move(best_[at - 1]);
    best_[at] = std::move(candidate);
  }

  int64_t now_ms_;
  size_t count_ = 0;
  std::array<Candidate, kAnswersMax> best_;
};

}  // namespace varve::bench
