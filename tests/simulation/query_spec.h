// A query, twice: as the JSON that the library reads, and as what it means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dice.h"
#include "model.h"

namespace varve::simulation {

// Words, types and tags that entries are made of: none is a stop word, no two share a stem, and no
// tag is a word.
struct Vocabulary {
  static const std::vector<std::string>& words();
  static const std::vector<std::string>& types();
  static const std::vector<std::string>& tags();
};

struct QuerySpec {
  std::optional<std::string> tag;
  std::optional<std::string> without_tag;
  std::optional<std::string> type;
  std::optional<int64_t> start_ms;
  std::optional<int64_t> end_ms;
  std::optional<int64_t> number;  // in content
  std::vector<std::string> any_words;
  std::optional<std::string> needed_word;
  std::optional<std::string> banned_word;  // beside one of the two before
  std::vector<std::string> phrase;         // instead of them
  std::vector<std::string> ids;

  // What matches best is not modelled. kLog is that of an export.
  enum class Order : uint8_t { kTime, kImportance, kMatch, kLog };
  Order order = Order::kTime;
  bool is_ascending = false;
  std::optional<uint64_t> limit;

  static QuerySpec random(Dice& dice, const SessionModel& session, int64_t now_ms);
  [[nodiscard]] bool has_text() const;
  [[nodiscard]] bool matches(const ModelEntry& entry) const;
  // Whether `a` is given before `b`.
  [[nodiscard]] bool precedes(const ModelEntry& a, const ModelEntry& b) const;
  [[nodiscard]] std::string conditions() const;  // without order and limit
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] bool has_words(const ModelEntry& entry) const;
};

}  // namespace varve::simulation
