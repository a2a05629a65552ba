// Calls about what is remembered: entries, queries, keys and turns.
#include <utility>
#include <vector>

#include "query/parse.h"
#include "session/catalog.h"
#include "session/entry/entry_input.h"
#include "session/query/query.h"
#include "session/query/selection.h"
#include "session/query/tags.h"
#include "session/session_parts.h"

namespace varve::session {

namespace {

Status check_entry_id(std::string_view id) { return check_id(id, "an id", "id"); }

// Ids consist of characters that need no escape.
std::string ids_as_json(const std::vector<entry::Draft>& drafts) {
  std::string list = "[";
  for (const auto& draft : drafts) list.append(1, '"').append(draft.facts.id).append("\",");
  if (!drafts.empty()) list.pop_back();
  return list.append(1, ']');
}

}  // namespace

Result<std::string> Session::add(std::string_view text) {
  VARVE_TRY_ASSIGN(entry::Draft draft, draft_entry(text, parts_->draft_options(), parts_->ids));
  std::string id = draft.facts.id;
  WriteRequest request;
  request.drafts.push_back(std::move(draft));
  VARVE_TRY(parts_->writer.submit(request));
  parts_->writer.save_snapshot(Saving::kIfDue);
  return id;
}

Result<std::string> Session::add_batch(std::string_view text) {
  WriteRequest request;
  VARVE_TRY_ASSIGN(request.drafts, draft_batch(text, parts_->draft_options(), parts_->ids));
  // Made before the write, because nothing may fail after it.
  std::string list = ids_as_json(request.drafts);
  if (request.drafts.empty()) {
    VARVE_TRY(parts_->check_is_there());
    return list;
  }
  VARVE_TRY(in_batch(parts_->writer.submit(request), text));
  parts_->writer.save_snapshot(Saving::kIfDue);
  return list;
}

Result<EntryLine> Session::read(std::string_view id) {
  VARVE_TRY(check_entry_id(id));
  VARVE_TRY(parts_->core.check_not_expired());
  parts_->core.context.counters->gets.fetch_add(1, std::memory_order_relaxed);
  return parts_->noted(parts_->core.entries.read(id), "an entry cannot be read");
}

Result<std::string> Session::get(std::string_view id) {
  VARVE_TRY_ASSIGN(const EntryLine line, read(id));
  return std::string(*line);
}

Status Session::remove(std::string_view id, std::string_view reason) {
  VARVE_TRY(check_entry_id(id));
  VARVE_TRY(entry::check_reason(reason));
  WriteRequest request;
  request.kind = WriteRequest::Kind::kDelete;
  request.operation = "delete";
  request.tombstones.push_back(
      {std::string(id), std::string(reason), parts_->core.context.clock->now_ms()});
  VARVE_TRY(parts_->writer.submit(request));
  if (request.deleted_count > 0) return {};
  return {Code::kNotFound, "there is no entry '" + std::string(id) + "' to delete"};
}

Status Session::put_vector(std::string_view id, std::span<const float> values) {
  VARVE_TRY(check_entry_id(id));
  const std::string refusal = embedding::refusal_of(values);
  if (refusal.empty()) return parts_->writer.put_vector(id, values);
  return {Code::kInvalidArgument,
          "the vector " + refusal,
          {.member = "values", .size = values.size(), .limit = embedding::kDimensionMax}};
}

Result<QueryResults> Session::query(std::string_view text) {
  const Context& context = parts_->core.context;
  const DurationRecorder recorder(*context.clock, context.counters->query_us);
  VARVE_TRY_ASSIGN(const auto query, query::parse_query(text, query::Scope::kSession));
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(run_query(parts_->core, query), "a query failed");
}

Result<QueryResults> Session::query_among(const query::Query& query, const SharedQuery& shared,
                                          double key_min) {
  return run_query_among(parts_->core, query, shared, key_min);
}

Result<UnreadResults> Session::find_among(const query::Query& query, const SharedQuery& shared,
                                          double key_min) {
  return find_unread(parts_->core, query, shared, key_min);
}

Result<CountedWords> Session::count_words(const query::Query& query, const SharedQuery& shared) {
  return session::count_words(parts_->core, query, shared);
}

Result<query::BestMatch> Session::find_best_match(const query::Query& query,
                                                  const SharedQuery& shared) {
  return session::find_best_match(parts_->core, query, shared);
}

Result<RankedKeys> Session::find_rank_keys(const query::Query& query, const SharedQuery& shared) {
  return session::find_rank_keys(parts_->core, query, shared);
}

Result<std::vector<Selected>> Session::select(const query::Query& query) {
  const Context& context = parts_->core.context;
  const DurationRecorder recorder(*context.clock, context.counters->query_us);
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(session::select(parts_->core, query), "a query failed");
}

Result<std::vector<Selected>> Session::select_ids(const std::vector<std::string>& ids,
                                                  int64_t now_ms) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::select_ids(parts_->core, ids, now_ms);
}

Result<ToolCall> Session::select_tool_call(const Selected& entry, std::string_view call_key,
                                           int64_t now_ms, KnownCalls* known) {
  return session::select_tool_call(parts_->core, entry, call_key, now_ms, known);
}

Result<bool> Session::is_tool(const Selected& entry) {
  return session::is_tool(parts_->core, entry);
}

Result<SelectedLine> Session::read(const Selected& entry) {
  return read_selected(parts_->core, entry);
}

Result<uint64_t> Session::count(std::string_view text) {
  const Context& context = parts_->core.context;
  const DurationRecorder recorder(*context.clock, context.counters->query_us);
  VARVE_TRY_ASSIGN(const auto query, query::parse_query(text, query::Scope::kCount));
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(count_matches(parts_->core, query), "a query failed");
}

Result<json::Tree> Session::tags() {
  VARVE_TRY(parts_->core.check_not_expired());
  return list_tags(parts_->core);
}

Result<CatalogFacts> Session::take_for_catalog() {
  return session::take_for_catalog(parts_->core, parts_->writer);
}

Result<uint64_t> Session::remove_where(std::string_view text, std::string_view reason) {
  VARVE_TRY(entry::check_reason(reason));
  VARVE_TRY(parts_->core.check_not_expired());
  VARVE_TRY_ASSIGN(const auto query, query::parse_query(text, query::Scope::kDelete));
  VARVE_TRY_ASSIGN(const auto ids, find_matches(parts_->core, query));
  const int64_t now_ms = parts_->core.context.clock->now_ms();
  if (ids.empty()) return uint64_t{0};
  WriteRequest request;
  request.kind = WriteRequest::Kind::kDelete;
  request.operation = "delete";
  for (const auto& id : ids) request.tombstones.push_back({id, std::string(reason), now_ms});
  VARVE_TRY(parts_->writer.submit(request));
  return request.deleted_count;  // fewer than were found if another thread deleted some first
}

Status Session::kv_set(std::string_view key, std::string_view value) {
  return parts_->key_value.set(key, value);
}

Result<std::string> Session::kv_get(std::string_view key) {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(parts_->key_value.get(key), "kv.json cannot be read");
}

Status Session::kv_delete(std::string_view key) { return parts_->key_value.remove(key); }

Result<json::Tree> Session::kv_list() {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(parts_->key_value.list(), "kv.json cannot be read");
}

Status Session::transcript_append(std::string_view role, std::string_view content) {
  return parts_->transcript.append(role, content);
}

Result<json::Tree> Session::transcript_last(uint64_t count) {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->noted(parts_->transcript.last(count), "transcript.md cannot be read");
}

}  // namespace varve::session
