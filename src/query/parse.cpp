#include "query/parse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/hash.h"
#include "embedding/vector_format.h"
#include "entry/content_key.h"
#include "json/canonical.h"
#include "json/document.h"
#include "json/object_reader.h"
#include "query/cursor.h"
#include "query/parse_plain.h"
#include "query/vocabulary.h"

namespace varve::query {

namespace {

constexpr size_t kTextBytesMax = 64 << 10;

constexpr std::array<std::string_view, 10> kConditions = {
    "text",       "question", "types", "tags",     "time",
    "references", "relation", "ids",   "trace_id", "content"};
constexpr std::array<std::string_view, 2> kConditionsOfTags = {"include", "exclude"};
constexpr std::array<std::string_view, 3> kConditionsOfSessions = {"user_id", "agent_id",
                                                                   "session_ids"};

// What a count or a deletion has no use for.
constexpr std::array<std::string_view, 5> kOrder = {"sort_by", "order", "limit", "after",
                                                    "explain"};

// The nearest float32; infinite for what none is near. The largest is usually written
// as 3.4028235e38, which is above it: C++ defines no conversion of that.
float to_float(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  constexpr double kAboveAll =
      0x1.ffffffp127;  // halfway from it to the next one, if there were one
  if (!(std::abs(value) < kAboveAll)) return std::numeric_limits<float>::infinity();
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

constexpr size_t kFewTags = 512;  // more than a plain text has (parse_plain.h)

// A tag that is asked for any number of times is one condition. The order of tags says nothing.
void drop_repeated(std::vector<std::string>* tags) {
  if (tags->size() <= kFewTags) return;
  std::sort(tags->begin(), tags->end());
  tags->erase(std::unique(tags->begin(), tags->end()), tags->end());
}

class QueryParser {
 public:
  QueryParser(std::string_view text, Scope scope) : text_(text), scope_(scope) {}

  Result<Query> parse() {
    VARVE_TRY(document_.parse(text_));
    const json::Value root = document_.root();
    json::ObjectReader reader(text_, root);
    read_conditions(reader);
    // A list or a text that the caller's program left empty must not delete everything.
    if (scope_ == Scope::kDelete) refuse_no_condition(reader, root);
    reader.read_time("now", &query_.now_ms);
    const bool has_order = scope_ != Scope::kSet && scope_ != Scope::kDelete;
    if (has_order) {
      read_order(reader);
    } else {
      refuse(reader, root, kOrder,
             "is about results, which this call does not return: leave it out");
    }
    if (scope_ == Scope::kStore) {
      read_sessions(reader, &query_);
    } else {
      refuse(reader, root, kConditionsOfSessions,
             "selects sessions: leave it out, ask the store, or say it in a context's 'across'");
    }
    VARVE_TRY(reader.finish());
    VARVE_TRY(std::move(failure_));
    hash_query(root);
    const auto now_ms = query_.now_ms;
    if (has_order) VARVE_TRY(read_after(root));
    if (scope_ == Scope::kCount) {
      forget_order();
      query_.now_ms = now_ms;
    }
    return std::move(query_);
  }

 private:
  using Read = void (QueryParser::*)(json::ObjectReader&, json::Value);

  void read_part(json::ObjectReader& parent, std::string_view name, Read read_members) {
    const auto value = parent.read_object(name);
    if (!value) return;
    json::ObjectReader reader(text_, *value);
    (this->*read_members)(reader, *value);
    Status status = reader.finish();
    if (failure_.ok()) failure_ = std::move(status);
  }

  // Refuses members that only other queries have, with the reason instead of "is unknown".
  static void refuse(json::ObjectReader& reader, json::Value root,
                     std::span<const std::string_view> names, std::string_view reason) {
    for (const auto name : names) {
      if (const auto value = root.find(name)) reader.fail(*value, reason);
    }
  }

  // "now" is a setting. Beside it the caller's conditions are missing, or would be named.
  static void refuse_no_condition(json::ObjectReader& reader, json::Value root) {
    reader.refuse_empty(kConditions);
    const auto now = root.find("now");
    if (now && root.size() == 1) {
      reader.fail(*now,
                  "is no condition, and there is none beside it; to delete every entry give {}");
    }
  }

  void read_conditions(json::ObjectReader& reader) {
    read_text(reader);
    read_vector(reader);
    reader.read_types("types", &query_.types);
    read_part(reader, "tags", &QueryParser::read_tags);
    read_part(reader, "time", &QueryParser::read_time);
    reader.read_double("min_importance", &query_.importance_min, 0, 1);
    reader.read_double("min_relevance", &query_.relevance_min, 0, 2);
    read_references(reader);
    reader.read_ids("ids", &query_.ids);
    reader.read_string("trace_id", &query_.trace_id);
    read_content(reader);
  }

  void read_text(json::ObjectReader& reader) {
    std::string question;
    reader.read_string("text", &query_.text);
    reader.read_string("question", &question);
    refuse_long(reader, "text", query_.text);
    refuse_long(reader, "question", question);
    if (question.empty()) return;
    if (!query_.text.empty()) {
      return reader.fail(*reader.read_any("question"),
                         "cannot stand beside 'text': give one of them");
    }
    query_.text = std::move(question);
    query_.is_question = true;
  }

  static void refuse_long(json::ObjectReader& reader, std::string_view name,
                          const std::string& text) {
    if (text.size() <= kTextBytesMax) return;
    if (const auto value = reader.read_any(name)) {
      reader.fail(*value, "may have up to " + std::to_string(kTextBytesMax) + " bytes");
    }
  }

  void read_vector(json::ObjectReader& reader) {
    const auto vector = reader.read_any("vector");
    reader.read_double("vector_weight", &query_.vector_weight, 0, 1);
    if (!vector) {
      const auto weight = reader.read_any("vector_weight");
      if (weight) reader.fail(*weight, "needs 'vector', which it weighs");
      return;
    }
    if (scope_ == Scope::kSet || scope_ == Scope::kDelete) {
      return reader.fail(*vector, "ranks entries and does not choose among them: leave it out");
    }
    if (!vector->is_array()) return reader.fail(*vector, "must be an array of numbers");
    query_.vector.reserve(std::min(vector->size(), embedding::kDimensionMax));
    bool is_right = true;
    vector->for_each_item([&](json::Value item) {
      is_right = item.is_number() && query_.vector.size() < embedding::kDimensionMax;
      if (is_right) {
        query_.vector.push_back(to_float(item.as_double()));
      } else if (!item.is_number()) {
        reader.fail(item, "must be a number");
      } else {
        reader.fail(*vector, "has " + std::to_string(vector->size()) +
                                 " numbers; a vector has 1 to " +
                                 std::to_string(embedding::kDimensionMax));
      }
      return is_right;
    });
    const std::string refusal = is_right ? embedding::refusal_of(query_.vector) : "";
    if (!refusal.empty()) reader.fail(*vector, refusal);
  }

  void read_tags(json::ObjectReader& reader, json::Value /*object*/) {
    if (scope_ == Scope::kDelete) reader.refuse_empty(kConditionsOfTags);
    reader.read_strings("include", &query_.tags_include);
    reader.read_strings("exclude", &query_.tags_exclude);
    drop_repeated(&query_.tags_include);
    drop_repeated(&query_.tags_exclude);
    std::string match = "any";
    reader.read_string("match", &match);
    query_.tags_match_all = match == "all";
    const auto value = reader.read_any("match");
    if (!value) return;
    if (match != "any" && match != "all") {
      reader.fail(*value, "must be \"any\" or \"all\"");
    } else if (scope_ == Scope::kDelete && query_.tags_include.empty()) {
      reader.fail(*value,
                  "needs 'include', the tags that it is about: without them every entry matches");
    }
  }

  void read_time(json::ObjectReader& reader, json::Value object) {
    reader.read_time("start", &query_.start_ms);
    reader.read_time("end", &query_.end_ms);
    std::string last;
    reader.read_string("last", &last);
    if (const auto value = object.find("last")) {
      query_.last_ms = parse_span(last);
      if (!query_.last_ms) {
        reader.fail(*value,
                    "must be a number of up to nine digits, not 0, and one of s m h d w, such as "
                    "\"7d\"");
      }
    }
    if (query_.start_ms && query_.end_ms && *query_.start_ms > *query_.end_ms) {
      reader.fail(*object.find("end"), "must not be before 'start'");
    }
  }

  void read_references(json::ObjectReader& reader) {
    reader.read_ids("references", &query_.references);
    reader.read_string("relation", &query_.relation);
    uint64_t depth = 1;
    reader.read_uint("max_depth", &depth, 1, kDepthMax);
    query_.depth_max = static_cast<uint32_t>(depth);
    if (!query_.references.empty()) return;
    for (const auto name : {"relation", "max_depth"}) {
      if (const auto value = reader.read_any(name)) {
        reader.fail(*value, "needs 'references': the ids to start from");
      }
    }
  }

  void read_content(json::ObjectReader& reader) {
    const auto object = reader.read_object("content");
    if (!object) return;
    object->for_each_member([&](std::string_view name, json::Value value) {
      if (value.is_array() || value.is_object()) {
        reader.fail(value, "must be a string, a number, true, false or null");
        return false;
      }
      query_.content_keys.push_back(entry::content_key(name, value));
      return true;
    });
  }

  void read_order(json::ObjectReader& reader) {
    query_.sort_by = query_.has_text() || query_.has_vector() ? SortBy::kBest : SortBy::kRelevance;
    std::string name(sort_name(query_.sort_by));
    reader.read_string("sort_by", &name);
    if (const auto sort = find_sort(name)) {
      query_.sort_by = *sort;
    } else if (const auto value = reader.read_any("sort_by")) {
      reader.fail(*value, "must be best, relevance, match, time or importance");
    }
    std::string order = "desc";
    reader.read_string("order", &order);
    query_.ascending = order == "asc";
    if (order != "asc" && order != "desc") {
      if (const auto value = reader.read_any("order")) {
        reader.fail(*value, "must be \"asc\" or \"desc\"");
      }
    }
    reader.read_uint("limit", &query_.limit, 0, std::numeric_limits<uint64_t>::max());
    (void)reader.read_any("after");
    reader.read_bool("explain", &query_.explain);
  }

  // What was said about results has no say in how many there are.
  void forget_order() {
    const Query plain;
    query_.vector.clear();
    query_.sort_by = plain.sort_by;
    query_.ascending = plain.ascending;
    query_.limit = plain.limit;
    query_.after.reset();
    query_.explain = plain.explain;
  }

  // Two texts of one meaning hash alike: members in any order, with any white space.
  void hash_query(json::Value root) {
    std::string meaning;
    meaning.reserve(text_.size());
    root.for_each_member([&](std::string_view name, json::Value value) {
      if (name == "after" || name == "limit" || name == "explain") return true;
      json::append_string(name, meaning);
      json::append_canonical(value, meaning);
      return true;
    });
    query_.hash = hash64(meaning);
  }

  Status read_after(json::Value root) {
    const auto value = root.find("after");
    if (!value || value->kind() == json::Kind::kNull) return {};
    auto cursor = value->is_string() ? parse_cursor(value->text()) : std::nullopt;
    if (!cursor) {
      return json::invalid_at(text_, *value, "must be the 'next' of an answer, as it was given");
    }
    const bool is_of_store = scope_ == Scope::kStore;
    if (cursor->is_across_sessions() != is_of_store) {
      return json::invalid_at(text_, *value,
                              is_of_store
                                  ? "is of a query of one session: ask that session for the page"
                                  : "is of a query across sessions: ask the store for the page");
    }
    if (cursor->query_hash != query_.hash) {
      return json::invalid_at(text_, *value,
                              "belongs to another query: only 'limit' and 'explain' may differ");
    }
    query_.now_ms = cursor->now_ms;
    query_.after = std::move(cursor);
    return {};
  }

  std::string_view text_;
  Scope scope_;
  json::Document document_;
  Query query_;
  Status failure_;  // of a part
};

}  // namespace

// An empty owner or list would be every session where none is meant.
void read_sessions(json::ObjectReader& reader, Query* query) {
  reader.refuse_empty(kConditionsOfSessions);
  reader.read_string("user_id", &query->user_id);
  reader.read_string("agent_id", &query->agent_id);
  reader.read_ids("session_ids", &query->session_ids);
}

Result<Query> parse_query(std::string_view text, Scope scope) {
  Result<Query> plain{Query()};
  if (scope != Scope::kDelete && parse_plain(text, scope, &*plain)) return plain;
  return parse_any(text, scope);
}

Result<Query> parse_any(std::string_view text, Scope scope) {
  if (text.empty() && scope == Scope::kDelete) {
    return Status(Code::kInvalidArgument, "the query is empty; to delete every entry give \"{}\"");
  }
  if (text.empty()) text = "{}";
  Result<Query> query = QueryParser(text, scope).parse();
  if (query.ok()) return query;
  return json::with_example(query.status(), text,
                            R"(a query is an object, such as {"text":"tea"})");
}

}  // namespace varve::query
