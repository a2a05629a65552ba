#include "query_spec.h"

#include <algorithm>

#include "base/time.h"
#include "json/tree.h"

namespace varve::simulation {
namespace {

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// A tag, or one above it in the hierarchy.
bool has_tag(const ModelEntry& entry, const std::string& tag) {
  return std::any_of(entry.tags.begin(), entry.tags.end(), [&](const std::string& own) {
    return own == tag || own.starts_with(tag + ".");
  });
}

json::Tree list_of(const std::vector<std::string>& texts) {
  json::Tree list = json::Tree::array();
  for (const std::string& text : texts) list.push(json::Tree::string(text));
  return list;
}

void add_text(const QuerySpec& spec, json::Tree& query) {
  std::string text;
  for (const std::string& word : spec.any_words) text += word + " ";
  if (spec.needed_word) text += "+" + *spec.needed_word + " ";
  if (spec.banned_word) text += "-" + *spec.banned_word;
  if (!spec.phrase.empty()) text = '"' + spec.phrase[0] + " " + spec.phrase[1] + '"';
  if (!text.empty()) query.set("text", json::Tree::string(text));
}

void add_time(const QuerySpec& spec, json::Tree& query) {
  if (!spec.start_ms && !spec.end_ms) return;
  json::Tree time = json::Tree::object();
  if (spec.start_ms) time.set("start", json::Tree::string(format_rfc3339(*spec.start_ms)));
  if (spec.end_ms) time.set("end", json::Tree::string(format_rfc3339(*spec.end_ms)));
  query.set("time", std::move(time));
}

void add_tags(const QuerySpec& spec, json::Tree& query) {
  if (!spec.tag && !spec.without_tag) return;
  json::Tree tags = json::Tree::object();
  if (spec.tag) tags.set("include", list_of({*spec.tag}));
  if (spec.without_tag) tags.set("exclude", list_of({*spec.without_tag}));
  query.set("tags", std::move(tags));
}

json::Tree conditions_of(const QuerySpec& spec) {
  json::Tree query = json::Tree::object();
  add_text(spec, query);
  add_time(spec, query);
  add_tags(spec, query);
  if (spec.type) query.set("types", list_of({*spec.type}));
  if (spec.number) {
    json::Tree content = json::Tree::object();
    content.set("number", json::Tree::integer(*spec.number));
    query.set("content", std::move(content));
  }
  if (!spec.ids.empty()) query.set("ids", list_of(spec.ids));
  return query;
}

void choose_text(QuerySpec& spec, Dice& dice) {
  const auto& words = Vocabulary::words();
  switch (dice.below(5)) {
    case 0: spec.any_words = {dice.pick(words)}; break;
    case 1: spec.any_words = {dice.pick(words), dice.pick(words)}; break;
    case 2: spec.needed_word = dice.pick(words); break;
    case 3: spec.phrase = {dice.pick(words), dice.pick(words)}; break;
    default:
      spec.needed_word = dice.pick(words);
      spec.banned_word = dice.pick(words);
      break;
  }
}

void choose_time(QuerySpec& spec, Dice& dice, int64_t now_ms) {
  const int64_t middle_ms = now_ms - dice.between(0, 100) * 1000;
  if (!dice.one_in(3)) spec.start_ms = middle_ms - dice.between(0, 50) * 1000;
  if (!spec.start_ms || dice.one_in(2)) spec.end_ms = middle_ms + dice.between(1, 50) * 1000;
}

}  // namespace

const std::vector<std::string>& Vocabulary::words() {
  static const std::vector<std::string> words = {"kettle", "lantern", "harbor", "violin",
                                                 "copper", "meadow",  "falcon", "pepper"};
  return words;
}

const std::vector<std::string>& Vocabulary::types() {
  static const std::vector<std::string> types = {"finding", "decision", "preference"};
  return types;
}

const std::vector<std::string>& Vocabulary::tags() {
  static const std::vector<std::string> tags = {"red", "red.dark", "redder", "blue", "blue.sky"};
  return tags;
}

QuerySpec QuerySpec::random(Dice& dice, const SessionModel& session, int64_t now_ms) {
  QuerySpec spec;
  if (dice.one_in(3)) choose_text(spec, dice);
  if (dice.one_in(3)) spec.tag = dice.pick(Vocabulary::tags());
  if (dice.one_in(8)) spec.without_tag = dice.pick(Vocabulary::tags());
  if (dice.one_in(5)) spec.type = dice.pick(Vocabulary::types());
  if (dice.one_in(5)) choose_time(spec, dice, now_ms);
  if (dice.one_in(8)) spec.number = dice.between(0, 3);
  if (dice.one_in(10)) {
    for (const auto& [id, entry] : session.entries) {
      if (dice.one_in(3)) spec.ids.push_back(id);
    }
  }
  spec.order = static_cast<Order>(dice.below(spec.has_text() ? 3 : 2));
  spec.is_ascending = dice.one_in(2);
  if (dice.one_in(3)) spec.limit = dice.between(1, 6);
  return spec;
}

bool QuerySpec::has_text() const { return !any_words.empty() || needed_word || !phrase.empty(); }

bool QuerySpec::has_words(const ModelEntry& entry) const {
  const auto& words = entry.words;
  if (!phrase.empty()) {
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i - 1] == phrase[0] && words[i] == phrase[1]) return true;
    }
    return false;
  }
  if (needed_word && !contains(words, *needed_word)) return false;
  if (banned_word && contains(words, *banned_word)) return false;
  return any_words.empty() ||
         std::any_of(any_words.begin(), any_words.end(),
                     [&](const std::string& word) { return contains(words, word); });
}

bool QuerySpec::matches(const ModelEntry& entry) const {
  if (tag && !has_tag(entry, *tag)) return false;
  if (without_tag && has_tag(entry, *without_tag)) return false;
  if (type && entry.type != *type) return false;
  if (start_ms && entry.timestamp_ms < *start_ms) return false;
  if (end_ms && entry.timestamp_ms >= *end_ms) return false;
  if (number && entry.number != *number) return false;
  if (!ids.empty() && !contains(ids, entry.id)) return false;
  return !has_text() || has_words(entry);
}

bool QuerySpec::precedes(const ModelEntry& a, const ModelEntry& b) const {
  if (order == Order::kLog) return a.position < b.position;
  const ModelEntry& first = is_ascending ? b : a;
  const ModelEntry& second = is_ascending ? a : b;
  if (order == Order::kImportance && first.importance != second.importance) {
    return first.importance > second.importance;
  }
  if (first.timestamp_ms != second.timestamp_ms) return first.timestamp_ms > second.timestamp_ms;
  return first.position > second.position;
}

std::string QuerySpec::conditions() const { return conditions_of(*this).canonical(); }

std::string QuerySpec::text() const {
  static const char* const kNames[] = {"time", "importance", "match", "log"};
  json::Tree query = conditions_of(*this);
  query.set("sort_by", json::Tree::string(kNames[static_cast<size_t>(order)]));
  query.set("order", json::Tree::string(is_ascending ? "asc" : "desc"));
  query.set("limit", json::Tree::integer_unsigned(limit.value_or(1000)));
  return query.canonical();
}

}  // namespace varve::simulation
