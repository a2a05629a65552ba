#include "session/entry/stored_entry.h"

#include <optional>
#include <utility>

#include "base/hash.h"
#include "session/retries.h"

namespace varve::session {

namespace {

struct LookUp {
  bool is_known = true;  // false: the index is being rebuilt
  Standing standing = Standing::kAbsent;
  std::optional<RowPlace> found;  // set when there is a line to compare with
  bool is_index_from_log = false;
};

LookUp look_up(Core& core, std::string_view id) {
  const std::shared_lock lock(core.index_mutex);
  LookUp result;
  result.is_known = core.check_whole().ok();
  result.is_index_from_log = core.index_from_log;
  if (core.index.was_deleted(id)) {
    result.standing = Standing::kDeleted;
  } else if (const auto row = core.index.find(id)) {
    result.found = core.place_of(*row);
  }
  return result;
}

// Whether `text`, added at the moment of the entry with this mark, gives the body asked for.
bool has_body(const EntryMark& mark, std::string_view text, entry::DraftOptions options,
              IdGenerator& ids, json::Document& scratch,
              const std::function<bool(std::string_view body)>& is_body) {
  options.now_ms = mark.timestamp_ms;
  auto given = entry::draft(text, options, ids, scratch);
  if (!given.ok()) return false;
  if (is_body(given->body)) return true;
  // "ttl_seconds" counts from the moment of adding.
  const int64_t given_end_ms = given->facts.expires_at_ms;
  if (mark.expires_at_ms == entry::kNeverExpires || given_end_ms == entry::kNeverExpires) {
    return false;
  }
  options.now_ms += mark.expires_at_ms - given_end_ms;
  given = entry::draft(text, options, ids, scratch);
  return given.ok() && is_body(given->body);
}

}  // namespace

std::string refusal_of(Standing standing) {
  if (standing == Standing::kDeleted) return "the id was used before and deleted";
  if (standing == Standing::kUnreadable)
    return "the id exists, and its line cannot be read; repair first";
  return "the id exists with other content";
}

Result<Standing> find_standing(Core& core, std::string_view id,
                               const std::function<bool(std::string_view line)>& is_same) {
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY(core.catch_up());
    const LookUp place = look_up(core, id);
    if (!place.is_known) continue;
    if (!place.found && place.standing != Standing::kAbsent) return place.standing;
    if (!place.found) {
      const auto damaged = core.damaged_lines.ids();
      if (damaged.code() == Code::kGone) continue;
      VARVE_TRY(damaged);
      const bool is_damaged = *damaged && (*damaged)->contains(std::string(id));
      return is_damaged ? Standing::kUnreadable : Standing::kAbsent;
    }
    auto line = core.entries.read_row(id, *place.found);
    if (line.ok()) return is_same(**line) ? Standing::kSame : Standing::kOther;
    if (line.code() == Code::kGone) continue;
    if (line.code() != Code::kCorruption) return std::move(line).status();
    if (place.is_index_from_log) return Standing::kUnreadable;
    VARVE_TRY(core.rebuild());  // the snapshot may be the one that is wrong
  }
  return replaced_too_often();
}

EntryMark mark_of(const entry::Draft& draft) {
  return {hash64(draft.body), draft.facts.timestamp_ms, draft.facts.expires_at_ms};
}

bool is_same_entry(const EntryMark& mark, std::string_view text, entry::DraftOptions options,
                   IdGenerator& ids, json::Document& scratch) {
  return has_body(mark, text, options, ids, scratch,
                  [&](std::string_view body) { return hash64(body) == mark.body_hash; });
}

bool is_same_entry(std::string_view line, std::string_view text, entry::DraftOptions options,
                   IdGenerator& ids, json::Document& scratch) {
  if (line == text) return true;
  options.entry_bytes_max = 0;  // the limit of now does not matter: it is stored
  const auto stored = entry::draft(line, options, ids, scratch);
  return stored.ok() && has_body(mark_of(*stored), text, options, ids, scratch,
                                 [&](std::string_view body) { return body == stored->body; });
}

}  // namespace varve::session
