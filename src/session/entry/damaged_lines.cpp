#include "session/entry/damaged_lines.h"

#include <utility>
#include <vector>

#include "entry/entry.h"
#include "json/document.h"
#include "log/line_reader.h"
#include "session/core.h"

namespace varve::session {

namespace {

// Notes everything that may be the entry's id in a text that is no JSON any more. An id that is
// wrongly counted as taken is free again after a repair.
void note_ids(std::string_view line, uint64_t offset, json::Document& scratch,
              DamagedLines::Ids* found) {
  if (scratch.parse(line, entry::line_limits()).ok() && scratch.root().is_object()) {
    const auto id = scratch.root().find("id");
    if (id && id->is_string()) found->emplace(id->text(), offset);
    return;
  }
  constexpr std::string_view kMark = R"("id":")";
  for (size_t at = line.find(kMark); at != std::string_view::npos; at = line.find(kMark, at)) {
    at += kMark.size();
    const std::string_view id = line.substr(at, line.find('"', at) - at);
    if (is_valid_id(id)) found->emplace(id, offset);
  }
}

}  // namespace

// Epochs are counted on, and the same lines are damaged in one.
DamagedLines::State DamagedLines::state() const {
  const uint64_t skipped_count = core_.index.coverage.skipped_count;
  return skipped_count > 0 ? State({core_.index_epoch, skipped_count}) : State();
}

Result<std::shared_ptr<const DamagedLines::Ids>> DamagedLines::ids() {
  VARVE_TRY(core_.load_rows());
  std::vector<std::pair<uint64_t, uint64_t>> unread;
  uint64_t generation = 0;
  State known;
  {
    const std::shared_lock lock(core_.index_mutex);
    known = state();
    generation = core_.view.tail.generation;
    if (!known) return std::shared_ptr<const Ids>();
    const std::lock_guard guard(mutex_);
    if (ids_ && ids_state_ == known) return ids_;
    unread = core_.index.gaps();
  }
  auto found = std::make_shared<Ids>();
  json::Document scratch;
  for (const auto& [from, to] : unread) {
    log::LineReader reader(*core_.storage, log::Stream::kEntries, {generation, from, to});
    log::Line line;
    for (;;) {
      VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
      if (!more) break;
      note_ids(line.bytes, line.offset, scratch, found.get());
    }
  }
  const std::lock_guard guard(mutex_);
  ids_ = found;
  ids_state_ = known;
  return std::shared_ptr<const Ids>(std::move(found));
}

Status DamagedLines::explain(std::string_view id, Status why) {
  {
    const std::shared_lock lock(core_.index_mutex);
    VARVE_TRY(core_.check_whole());
    if (core_.index.coverage.skipped_count == 0 || core_.index.was_deleted(id)) return why;
  }
  VARVE_TRY_ASSIGN(const auto damaged, ids());
  const auto line = damaged ? damaged->find(id) : Ids::const_iterator();
  if (!damaged || line == damaged->end()) return why;
  {
    const std::shared_lock lock(core_.index_mutex);
    if (core_.index.find(id)) return why;  // expired, with a second line of the same id
  }
  return {Code::kCorruption,
          "the line of entry '" + std::string(id) + "' is damaged: run verify, then repair",
          {.path = core_.storage->name_of(log::Stream::kEntries), .offset = line->second}};
}

}  // namespace varve::session
