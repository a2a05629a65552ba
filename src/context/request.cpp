#include "context/request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "json/canonical.h"
#include "json/object_reader.h"
#include "query/parse.h"

namespace varve::context {

namespace {

// The newest entries of the default pipeline, as a share of the budget. Measured: docs/context.md.
constexpr double kRecentShare = 0.15;
// Candidates of the default pipeline: as many as the budget holds of short entries, and of the
// newest beside a question, which get a share of it, fewer.
constexpr uint64_t kShortEntryTokens = 20;
constexpr uint64_t kShortEntryTokensBeside = 40;
constexpr uint64_t kCandidatesMin = 100;
constexpr uint64_t kCandidatesMax = 10'000;
constexpr uint64_t kLimitMax = 1'000'000;
constexpr uint64_t kTypesLimit = 100;  // of {"types": [...]} without a number
constexpr double kWeightMax = 1e6;
constexpr uint64_t kTokensMax = std::numeric_limits<uint64_t>::max();

constexpr std::array<std::pair<std::string_view, Format>, 4> kFormats = {{
    {"markdown", Format::kMarkdown},
    {"chat", Format::kChat},
    {"json", Format::kJson},
    {"plain", Format::kPlain},
}};

query::Query newest(uint64_t limit, query::SortBy sort_by = query::SortBy::kTime) {
  query::Query query;
  query.sort_by = sort_by;
  query.limit = limit;
  return query;
}

class RequestParser {
 public:
  explicit RequestParser(std::string_view text) : text_(text) {}

  Result<Request> parse() {
    VARVE_TRY(document_.parse(text_));
    json::ObjectReader reader(text_, document_.root());
    reader.read_time("now", &request_.now_ms);
    read_budget(reader);
    reader.read_bool("keep_together", &request_.keep_together);
    reader.read_ids("pinned", &request_.pinned);
    reader.read_ids("exclude_ids", &request_.exclude_ids);
    read_format(reader);
    reader.read_string("question", &question_);
    read_across(reader);
    const auto retrieve = reader.read_any("retrieve");
    const auto rank = reader.read_any("rank");
    if (retrieve) read_list(reader, *retrieve, &RequestParser::read_retrieval);
    if (rank) read_list(reader, *rank, &RequestParser::read_rank);
    VARVE_TRY(reader.finish());
    VARVE_TRY(std::move(failure_));
    VARVE_TRY(add_question(!retrieve));
    if (!retrieve) add_newest();
    if (!rank) choose_rank();
    for (auto& retrieval : request_.retrievals) {
      if (!retrieval.query.now_ms) retrieval.query.now_ms = request_.now_ms;
      retrieval.is_across = retrieval.is_across && request_.is_across;
      if (!retrieval.is_across) continue;
      retrieval.query.user_id = across_.user_id;
      retrieval.query.agent_id = across_.agent_id;
      retrieval.query.session_ids = across_.session_ids;
    }
    return std::move(request_);
  }

 private:
  void note(Status status) {
    if (failure_.ok()) failure_ = std::move(status);
  }

  void read_budget(json::ObjectReader& parent) {
    const auto value = parent.read_object("budget");
    if (!value) return;
    json::ObjectReader reader(text_, *value);
    reader.read_uint("max_tokens", &request_.tokens_max, 0, kTokensMax);
    reader.read_uint("reserve_tokens", &request_.tokens_reserved, 0, kTokensMax);
    if (request_.tokens_reserved > request_.tokens_max) {
      reader.fail(
          *reader.read_any("reserve_tokens"),
          "must not be more than 'max_tokens', which is " + std::to_string(request_.tokens_max));
    }
    note(reader.finish());
  }

  // The sessions that are asked, too: members of a query across sessions.
  void read_across(json::ObjectReader& parent) {
    const auto value = parent.read_object("across");
    if (!value) return;
    request_.is_across = true;
    json::ObjectReader reader(text_, *value);
    query::read_sessions(reader, &across_);
    note(reader.finish());
  }

  void read_format(json::ObjectReader& reader) {
    std::string name = "markdown";
    reader.read_string("format", &name);
    const auto* format = std::find_if(kFormats.begin(), kFormats.end(),
                                      [&](const auto& one) { return one.first == name; });
    if (format != kFormats.end()) {
      request_.format = format->second;
    } else {
      reader.fail(*reader.read_any("format"), "must be markdown, chat, json or plain");
    }
  }

  void read_list(json::ObjectReader& parent, json::Value list,
                 void (RequestParser::*read_item)(json::Value)) {
    if (!list.is_array()) {
      parent.fail(list, "must be an array of objects");
      return;
    }
    list.for_each_item([&](json::Value item) {
      (this->*read_item)(item);
      return failure_.ok();
    });
  }

  // {"recency": n} | {"importance": n} | {"query": {…}}, each with or without {"types": […]}.
  void read_retrieval(json::Value item) {
    json::ObjectReader reader(text_, item);
    Retrieval retrieval;
    std::vector<std::string> types;
    uint64_t limit = kTypesLimit;
    int kinds = 0;
    reader.read_types("types", &types);
    for (const auto& [name, sort_by] : {std::pair("recency", query::SortBy::kTime),
                                        std::pair("importance", query::SortBy::kImportance)}) {
      if (!reader.read_any(name)) continue;
      reader.read_uint(name, &limit, 0, kLimitMax);
      retrieval.query = newest(limit, sort_by);
      retrieval.is_recency = sort_by == query::SortBy::kTime;
      kinds += 1;
    }
    if (const auto query = reader.read_object("query")) {
      auto parsed = query::parse_query(text_of(*query), query::Scope::kSession);
      if (!parsed.ok()) {
        reader.fail_inside(*query, parsed.status());
        return note(reader.finish());
      }
      retrieval.query = *std::move(parsed);
      retrieval.is_across = true;
      kinds += 1;
      if (request_.is_across && retrieval.query.after) {
        reader.fail(*query->find("after"),
                    "is the place in one session: leave it out, or 'across'");
      }
    }
    if (kinds == 0 && !types.empty()) {
      retrieval.query = newest(limit);
      retrieval.is_recency = true;
      kinds = 1;
    }
    if (kinds != 1) {
      reader.fail(item, "needs one of 'recency', 'importance', 'query', or 'types' alone");
    }
    add_types(reader, item, std::move(types), &retrieval.query);
    note(reader.finish());
    request_.retrievals.push_back(std::move(retrieval));
  }

  static void add_types(json::ObjectReader& reader, json::Value item,
                        std::vector<std::string> types, query::Query* query) {
    if (types.empty()) return;
    if (!query->types.empty()) {
      reader.fail(*item.find("types"), "is in the query, too; give it only once");
    }
    query->types = std::move(types);
  }

  void read_rank(json::Value item) {
    json::ObjectReader reader(text_, item);
    for (const auto& [name, weight] : {std::pair("temporal", &request_.rank.temporal),
                                       std::pair("importance", &request_.rank.importance),
                                       std::pair("match", &request_.rank.match)}) {
      double given = 0;
      reader.read_double(name, &given, 0, kWeightMax);
      *weight += given;
    }
    note(reader.finish());
  }

  [[nodiscard]] static std::string text_of(json::Value value) {
    std::string text;
    json::append_canonical(value, text);
    return text;
  }

  [[nodiscard]] uint64_t candidate_count(uint64_t entry_tokens) const {
    return std::clamp(request_.token_budget() / entry_tokens, kCandidatesMin, kCandidatesMax);
  }

  Status add_question(bool is_default) {
    if (question_.empty()) return {};
    std::string text = "{\"question\":";
    json::append_string(question_, text);
    text += ",\"limit\":" + std::to_string(candidate_count(kShortEntryTokens)) + "}";
    auto parsed = query::parse_query(text, query::Scope::kSession);
    if (!parsed.ok()) {
      const auto value = document_.root().find("question");
      return json::at_place(parsed.status(), "question", document_.offset_of(*value, text_));
    }
    request_.retrievals.push_back({*std::move(parsed), false, true});
    if (is_default) request_.recent_share = kRecentShare;
    return {};
  }

  void add_newest() {
    const bool is_beside = request_.recent_share > 0;
    const uint64_t tokens = is_beside ? kShortEntryTokensBeside : kShortEntryTokens;
    request_.retrievals.push_back({newest(candidate_count(tokens)), true});
  }

  void choose_rank() {
    const bool matches = std::any_of(
        request_.retrievals.begin(), request_.retrievals.end(),
        [](const Retrieval& one) { return one.query.has_text() || one.query.has_vector(); });
    (matches ? request_.rank.match : request_.rank.temporal) = 1;
  }

  std::string_view text_;
  json::Document document_;
  Request request_;
  std::string question_;
  query::Query across_;  // the sessions
  Status failure_;       // of a part
};

}  // namespace

Result<Request> parse_request(std::string_view text) {
  return RequestParser(text.empty() ? "{}" : text).parse();
}

}  // namespace varve::context
