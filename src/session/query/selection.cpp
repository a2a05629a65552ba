#include "session/query/selection.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <shared_mutex>
#include <utility>

namespace varve::session {

namespace {

constexpr std::string_view kCall = "tool_call";
constexpr std::string_view kResult = "tool_result";

// Finds calls and results in one index, under the index's lock.
class ToolCalls {
 public:
  ToolCalls(const index::Index& index, std::string_view call_key, int64_t now_ms, KnownCalls* known)
      : index_(index), call_key_(call_key), now_ms_(now_ms), known_(*known) {}

  [[nodiscard]] std::optional<uint32_t> call_of(uint32_t result) const {
    const auto call = referenced_call(result);
    if (call || call_key_.empty()) return call;
    const auto before = call_before(result);
    return before && is_anothers(result, *before) ? std::nullopt : before;
  }

  // The call first, then ascending. Those of a crowded call are not counted again for each of them.
  [[nodiscard]] std::vector<uint32_t> with_results(uint32_t call, bool* is_crowded) const {
    std::vector<uint32_t> rows = {call};
    std::set<uint32_t>& crowded = known_.crowded[std::string(call_key_)];
    *is_crowded = crowded.contains(call);
    if (*is_crowded) return rows;
    add_referring(call, &rows);
    if (!call_key_.empty()) add_following(call, &rows);
    std::sort(rows.begin() + 1, rows.end());
    rows.erase(std::unique(rows.begin() + 1, rows.end()), rows.end());
    *is_crowded = rows.size() > kToolResultsMax + 1;
    if (!*is_crowded) return rows;
    crowded.insert(call);
    return {call};
  }

 private:
  [[nodiscard]] bool is(uint32_t row, std::string_view type) const {
    return index_.type(row) == type && index_.is_live(row, now_ms_);
  }

  // What is known of a call that was deleted since is not.
  [[nodiscard]] bool stands(const std::optional<uint32_t>& call) const {
    return !call || is(*call, kCall);
  }

  [[nodiscard]] std::optional<uint32_t> referenced_call(uint32_t result) const {
    const auto [known, is_new] = known_.referenced.try_emplace(result);
    if (is_new || !stands(known->second)) known->second = find_referenced_call(result);
    return known->second;
  }

  [[nodiscard]] std::optional<uint32_t> find_referenced_call(uint32_t result) const {
    std::optional<uint32_t> call;
    const auto visit = [&](const index::Reference& reference) {
      if (call || !reference.relation.empty()) return;  // a relation may name any other call
      const auto row = index_.find(reference.target);
      if (row && is(*row, kCall)) call = row;
    };
    index_.facets().references_of(result, index_.id(result), visit);
    return call;
  }

  // The last one with this id. Between a result and the call that was found from it is none.
  [[nodiscard]] std::optional<uint32_t> call_before(uint32_t result) const {
    KnownCalls::ByRow& known = known_.before[std::string(call_key_)];
    const auto above = known.lower_bound(result);
    if (above != known.end() && above->second.value_or(0) < result && stands(above->second)) {
      return above->second;
    }
    const auto below = above == known.begin() ? known.end() : std::prev(above);
    const uint32_t known_row =
        below != known.end() && stands(below->second) ? below->first : result;
    std::optional<uint32_t> call;
    index::PostingCursor cursor(index_.facets().content(call_key_));
    for (uint32_t row = result; row > 0 && !call;) {
      row = cursor.seek_back(row - 1);
      if (row >= index_.size()) break;
      if (is(row, kCall)) call = row;
      if (row == known_row) {
        call = below->second;
        break;
      }
    }
    known.insert_or_assign(result, call);
    return call;
  }

  // Whether a result that names something else, which is gone, only has the id of the call, while
  // the call has a result that names it: ids may begin anew with every turn.
  [[nodiscard]] bool is_anothers(uint32_t result, uint32_t call) const {
    bool names_something = false;
    index_.facets().references_of(result, index_.id(result), [&](const index::Reference& one) {
      names_something = names_something || one.relation.empty();
    });
    return names_something && is_named(call);
  }

  [[nodiscard]] bool is_named(uint32_t call) const {
    const auto [known, is_new] = known_.named.try_emplace(call);
    if (!is_new) return known->second;
    index::PostingCursor cursor(index_.facets().referring(index_.id(call)));
    bool is_named = false;
    for (uint32_t row = cursor.seek(0); row < index_.size() && !is_named; row = cursor.next()) {
      is_named = is(row, kResult) && referenced_call(row) == call;
    }
    return known_.named[call] = is_named;
  }

  void add_referring(uint32_t call, std::vector<uint32_t>* rows) const {
    index::PostingCursor cursor(index_.facets().referring(index_.id(call)));
    for (uint32_t row = cursor.seek(0); row < index_.size(); row = cursor.next()) {
      if (rows->size() > kToolResultsMax + 1) return;
      if (is(row, kResult) && referenced_call(row) == call) rows->push_back(row);
    }
  }

  // Adds results with this call's id, up to the next call with it, whose results follow. Adds none
  // when the call has another id, as a call that was found by a reference may.
  void add_following(uint32_t call, std::vector<uint32_t>* rows) const {
    const size_t count_before = rows->size();
    index::PostingCursor cursor(index_.facets().content(call_key_));
    if (cursor.seek(call) != call) return;
    for (uint32_t row = cursor.next(); row < index_.size(); row = cursor.next()) {
      if (is(row, kCall) || rows->size() > count_before + kToolResultsMax + 1) return;
      if (!is(row, kResult)) continue;
      const auto named = referenced_call(row);
      if (named == call || (!named && !is_anothers(row, call))) rows->push_back(row);
    }
  }

  const index::Index& index_;
  std::string_view call_key_;
  int64_t now_ms_;
  KnownCalls& known_;
};

// Whether the row is still the one that was found. Under the index's lock.
bool stands(const Core& core, const RowPlace& found) {
  return found.generation == core.view.tail.generation && found.row < core.index.size() &&
         core.index.location(found.row) == found.location;
}

}  // namespace

Selected selected_row(const Core& core, uint32_t row) {
  const index::Index& index = core.index;
  Selected selected;
  selected.timestamp_ms = index.timestamp_ms(row);
  selected.importance = index.importance(row);
  selected.place = core.place_of(row);
  return selected;
}

Result<std::vector<Selected>> select_ids(Core& core, const std::vector<std::string>& ids,
                                         int64_t now_ms) {
  std::vector<Selected> selected;
  if (ids.empty()) return selected;
  VARVE_TRY(core.catch_up());
  const int64_t live_ms = std::max(now_ms, core.context.clock->now_ms());
  const std::shared_lock lock(core.index_mutex);
  VARVE_TRY(core.check_whole());
  for (const auto& id : ids) {
    const auto row = core.index.find(id);
    if (row && core.index.is_live(*row, live_ms)) selected.push_back(selected_row(core, *row));
  }
  return selected;
}

Result<ToolCall> select_tool_call(Core& core, const Selected& entry, std::string_view call_key,
                                  int64_t now_ms, KnownCalls* known) {
  VARVE_TRY(core.prepare_facets());
  const std::shared_lock lock(core.index_mutex);
  if (!core.index.has_facets() || !stands(core, entry.place)) return log::replaced();
  const uint32_t row = entry.place.row;
  const int64_t live_ms = std::max(now_ms, core.context.clock->now_ms());
  const ToolCalls calls(core.index, call_key, live_ms, known);
  const auto call = core.index.type(row) == kCall     ? std::optional(row)
                    : core.index.type(row) == kResult ? calls.call_of(row)
                                                      : std::nullopt;
  ToolCall found;
  if (!call && !core.index.is_damaged()) {
    found.entries.push_back(entry);
    return found;
  }
  if (!call) return log::replaced();
  const std::vector<uint32_t> rows = calls.with_results(*call, &found.is_crowded);
  for (const uint32_t one : rows) found.entries.push_back(selected_row(core, one));
  if (core.index.is_damaged()) return log::replaced();  // the next prepare_query() repairs it
  return found;
}

Result<bool> is_tool(const Core& core, const Selected& entry) {
  const std::shared_lock lock(core.index_mutex);
  if (!stands(core, entry.place)) return log::replaced();
  const std::string_view type = core.index.type(entry.place.row);
  return type == kCall || type == kResult;
}

Result<SelectedLine> read_selected(Core& core, const Selected& entry) {
  SelectedLine read;
  {
    const std::shared_lock lock(core.index_mutex);
    if (!stands(core, entry.place)) return log::replaced();
    read.id = core.index.id(entry.place.row);
    read.type = core.index.type(entry.place.row);
  }
  auto line = core.entries.read_row(read.id, entry.place);
  if (line.code() != Code::kCorruption) {
    VARVE_TRY_ASSIGN(read.line, std::move(line));
    return read;
  }
  if (!core.is_index_from_log()) return core.rebuild_and_start_over();
  note_unreadable(core, entry.place, line.status());
  return read;
}

void note_unreadable(Core& core, const RowPlace& place, const Status& damage) {
  core.context.counters->lines_skipped += 1;
  core.context.counters->corruption_errors += 1;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(core.storage->name_of(log::Stream::kEntries)));
  details.set("offset", json::Tree::integer_unsigned(place.location.offset));
  details.set("reason", json::Tree::string(damage.message()));
  core.events.post(Level::kError, "an entry that was found cannot be read", std::move(details));
}

}  // namespace varve::session
