#include "workload.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace varve::bench {

namespace {

// 2024-01-01T00:00:00Z: a million minutes later is past, too, so that no clock makes it a future.
constexpr int64_t kStartMs = 1'704'067'200'000;
constexpr size_t kTagCount = 200;

void write_digits(char* at, unsigned value, size_t count) {
  while (count > 0) {
    at[--count] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

std::string json_of(const WorkloadEntry& entry, const std::string& message,
                    const std::string& reference) {
  std::array<char, 16> importance{};
  std::snprintf(importance.data(), importance.size(), "%.2f", entry.importance);
  std::string json = "{\"id\":\"" + entry.id + "\",\"type\":\"" + entry.type +
                     "\",\"timestamp\":\"" + timestamp_text(entry.timestamp_ms) +
                     "\",\"content\":{\"role\":\"user\",\"message\":\"" + message +
                     "\"},\"importance\":" + importance.data() + ",\"tags\":[";
  for (const auto& tag : entry.tags) json += "\"" + tag + "\",";
  json.back() = ']';
  if (!reference.empty()) json += ",\"references\":[\"" + reference + "\"]";
  return json + "}";
}

}  // namespace

uint64_t Random::next() {
  uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

std::string entry_id(size_t number) {
  std::array<char, 32> id{};
  std::snprintf(id.data(), id.size(), "mem_%026zu", number);
  return id.data();
}

int64_t entry_time_ms(size_t number) { return kStartMs + static_cast<int64_t>(number) * 60'000; }

// A word of an invented language: short for frequent ranks, as in real ones. None is an English
// stop word, which some engines pass over.
std::string word_of(size_t rank) {
  constexpr std::array<const char*, 16> kSyllables = {"ka",  "ren", "tok", "mi", "sol", "ve",
                                                      "da",  "lin", "por", "u",  "ash", "ge",
                                                      "nok", "tri", "el",  "om"};
  std::string word;
  for (size_t rest = rank + 1; rest > 0; rest /= kSyllables.size()) {
    word += kSyllables[rest % kSyllables.size()];
  }
  return word;
}

std::string unique_word_of(size_t number) { return "case" + std::to_string(number); }

std::string timestamp_text(int64_t time_ms) {
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> time{milliseconds(time_ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto of_day_ms = static_cast<unsigned>((time - day).count());
  std::string text = "0000-00-00T00:00:00.000Z";
  write_digits(&text[0], static_cast<unsigned>(static_cast<int>(date.year())), 4);
  write_digits(&text[5], static_cast<unsigned>(date.month()), 2);
  write_digits(&text[8], static_cast<unsigned>(date.day()), 2);
  write_digits(&text[11], of_day_ms / 3'600'000, 2);
  write_digits(&text[14], of_day_ms / 60'000 % 60, 2);
  write_digits(&text[17], of_day_ms / 1000 % 60, 2);
  write_digits(&text[20], of_day_ms % 1000, 3);
  return text;
}

Workload::Workload(size_t body_bytes, uint64_t seed)
    : body_bytes_(body_bytes), seed_(seed), cumulative_(kVocabularyCount) {
  double sum = 0;
  for (size_t rank = 0; rank < kVocabularyCount; ++rank) {
    sum += 1.0 / static_cast<double>(rank + 1);  // Zipf
    cumulative_[rank] = sum;
  }
}

Random Workload::random_of(size_t number) const {
  return Random(Random(seed_ * 0x100000001b3 + number).next());
}

size_t Workload::draw_rank(Random& random) const {
  const double at = random.unit() * cumulative_.back();
  const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end(), at);
  return static_cast<size_t>(found - cumulative_.begin());
}

WorkloadEntry Workload::draw_head(size_t number, Random& random) const {
  constexpr std::array<const char*, 6> kTypes = {"conversation", "message",   "decision",
                                                 "finding",      "tool_call", "tool_result"};
  WorkloadEntry entry;
  entry.id = entry_id(number);
  entry.type = kTypes[random.below(kTypes.size())];
  entry.timestamp_ms = entry_time_ms(number);
  entry.importance = static_cast<double>(random.below(101)) / 100.0;
  const size_t tag_count = 2 + random.below(3);
  while (entry.tags.size() < tag_count) {
    std::string tag = "topic." + word_of(draw_rank(random) % kTagCount);
    if (std::find(entry.tags.begin(), entry.tags.end(), tag) == entry.tags.end()) {
      entry.tags.push_back(std::move(tag));
    }
  }
  return entry;
}

WorkloadEntry Workload::head(size_t number) const {
  Random random = random_of(number);
  return draw_head(number, random);
}

WorkloadEntry Workload::entry(size_t number) const {
  Random random = random_of(number);
  WorkloadEntry entry = draw_head(number, random);
  std::string message = unique_word_of(number);
  while (message.size() < body_bytes_) message += " " + word_of(draw_rank(random));
  const std::string reference = number > 0 ? entry_id(random.below(number)) : "";
  entry.json = json_of(entry, message, reference);
  entry.message_offset = entry.json.find(message);
  entry.message_bytes = message.size();
  return entry;
}

std::vector<WorkloadEntry> Workload::entries(size_t first, size_t count) const {
  std::vector<WorkloadEntry> all;
  all.reserve(count);
  for (size_t i = 0; i < count; ++i) all.push_back(entry(first + i));
  return all;
}

std::vector<WorkloadEntry> make_workload(size_t entry_count, size_t body_bytes, uint64_t seed) {
  return Workload(body_bytes, seed).entries(0, entry_count);
}

}  // namespace varve::bench
