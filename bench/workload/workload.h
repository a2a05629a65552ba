// The entries every benchmark works on: the same for varve and for its rivals, made from a fixed
// seed, each for itself, so that a gigabyte of them needs no memory. Realistic in what costs: about
// 1 KB of Zipf-distributed words and one that no other entry has, 2 to 4 tags, six types,
// importance, references to earlier entries, one entry a minute.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve::bench {

struct WorkloadEntry {
  std::string id;
  std::string type;
  std::string json;  // the entry, as given to varve_session_add
  std::vector<std::string> tags;
  int64_t timestamp_ms = 0;
  double importance = 0;
  size_t message_offset = 0;  // of the message in json
  size_t message_bytes = 0;

  [[nodiscard]] std::string_view message() const {
    return std::string_view(json).substr(message_offset, message_bytes);
  }
};

// Numbers from a seed, the same on every machine (splitmix64, Steele et al. 2014).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  size_t below(size_t limit) { return static_cast<size_t>(next() % limit); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  uint64_t state_;
};

class Workload {
 public:
  // `body_bytes`: the length of each entry's message, at least.
  explicit Workload(size_t body_bytes, uint64_t seed = 1);

  // Cost: about 20 microseconds.
  [[nodiscard]] WorkloadEntry entry(size_t number) const;
  // The same without message and json. Cost: below a microsecond.
  [[nodiscard]] WorkloadEntry head(size_t number) const;
  [[nodiscard]] std::vector<WorkloadEntry> entries(size_t first, size_t count) const;
  // The rank of a word, as often as entries have it.
  [[nodiscard]] size_t draw_rank(Random& random) const;

 private:
  [[nodiscard]] Random random_of(size_t number) const;
  [[nodiscard]] WorkloadEntry draw_head(size_t number, Random& random) const;

  size_t body_bytes_;
  uint64_t seed_;
  std::vector<double> cumulative_;  // of the words' frequencies, by rank
};

constexpr size_t kVocabularyCount = 20'000;

std::string entry_id(size_t number);
int64_t entry_time_ms(size_t number);
std::string word_of(size_t rank);           // the rank-th most frequent word
std::string unique_word_of(size_t number);  // only this entry has it
std::string timestamp_text(int64_t time_ms);

std::vector<WorkloadEntry> make_workload(size_t entry_count, size_t body_bytes, uint64_t seed = 1);

}  // namespace varve::bench
