#include "workload.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>

namespace varve::bench {

namespace {

constexpr size_t kVocabulary = 20'000;
constexpr int64_t kStartMs = 1'767'225'600'000;  // 2026-01-01T00:00:00Z

// Word `rank` of an invented language: short for frequent ranks, as in real ones.
std::string word_of(size_t rank) {
  constexpr std::array<const char*, 16> kSyllables = {"ka", "ren", "to",  "mi", "sol", "ve",
                                                      "da", "lin", "por", "u",  "ash", "ge",
                                                      "no", "tri", "el",  "om"};
  std::string word;
  for (size_t rest = rank + 1; rest > 0; rest /= kSyllables.size()) {
    word += kSyllables[rest % kSyllables.size()];
  }
  return word;
}

// Ranks with probability proportional to 1 / (rank + 1).
class Zipf {
 public:
  explicit Zipf(size_t count) : cumulative_(count) {
    double sum = 0;
    for (size_t rank = 0; rank < count; ++rank) {
      sum += 1.0 / static_cast<double>(rank + 1);
      cumulative_[rank] = sum;
    }
  }

  size_t draw(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> uniform(0, cumulative_.back());
    const double at = uniform(random);
    const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end(), at);
    return static_cast<size_t>(found - cumulative_.begin());
  }

 private:
  std::vector<double> cumulative_;
};

std::string timestamp_text(int64_t minutes) {
  const int64_t day = minutes / 1440;
  std::array<char, 64> text{};
  // Months of 28 days keep this simple and every date right.
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:00.000Z",
                static_cast<int>(2026 + day / 336), static_cast<int>(day % 336 / 28 + 1),
                static_cast<int>(day % 28 + 1), static_cast<int>(minutes / 60 % 24),
                static_cast<int>(minutes % 60));
  return text.data();
}

}  // namespace

std::vector<WorkloadEntry> make_workload(size_t entry_count, size_t body_bytes, uint64_t seed) {
  constexpr std::array<const char*, 6> kTypes = {"conversation", "message",   "decision",
                                                 "finding",      "tool_call", "tool_result"};
  std::mt19937_64 random(seed);
  const Zipf zipf(kVocabulary);
  std::vector<WorkloadEntry> entries(entry_count);
  for (size_t i = 0; i < entry_count; ++i) {
    WorkloadEntry& entry = entries[i];
    std::array<char, 32> id{};
    std::snprintf(id.data(), id.size(), "mem_%026zu", i);
    entry.id = id.data();
    entry.type = kTypes[random() % kTypes.size()];
    entry.timestamp_ms = kStartMs + static_cast<int64_t>(i) * 60'000;
    entry.importance = static_cast<double>(random() % 101) / 100.0;
    const size_t tag_count = 2 + random() % 3;
    std::string tags;
    for (size_t t = 0; t < tag_count; ++t) {
      entry.tags.push_back("topic." + word_of(zipf.draw(random) % 200));
      tags += (t > 0 ? ",\"" : "\"") + entry.tags.back() + "\"";
    }
    std::string message;
    while (message.size() < body_bytes) message += word_of(zipf.draw(random)) + " ";
    std::array<char, 16> importance{};
    std::snprintf(importance.data(), importance.size(), "%.2f", entry.importance);
    entry.json = "{\"id\":\"" + entry.id + "\",\"type\":\"" + entry.type + "\",\"timestamp\":\"" +
                 timestamp_text(static_cast<int64_t>(i)) +
                 "\",\"content\":{\"role\":\"user\",\"message\":\"" + message +
                 "\"},\"importance\":" + importance.data() + ",\"tags\":[" + tags + "]";
    if (i > 0) entry.json += ",\"references\":[\"" + entries[random() % i].id + "\"]";
    entry.json += "}";
  }
  return entries;
}

}  // namespace varve::bench
