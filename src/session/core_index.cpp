// What queries need of the index besides its rows: sections of index.bin that are read late, and
// words that are indexed late.
#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "index/snapshot.h"
#include "session/core.h"
#include "session/retries.h"

namespace varve::session {

// --- reading index.bin ---------------------------------------------------------------------------

// Loads all parts up to `last`: the facets need open rows, the words need the facets, and kWhole is
// everything. After a failure the index is as it was.
Status Core::load_pending(Part last) {
  if (index.pending().rows) VARVE_TRY(index::open_rows(&index));
  const bool needs_all = last == Part::kAllRows || last == Part::kWhole;
  if ((needs_all && !index.has_all_rows()) || !index.hides_all_deleted()) {
    VARVE_TRY(index::load_rows(&index));
  }
  if (last >= Part::kFacets && index.pending().facets) VARVE_TRY(index::load_facets(&index));
  if (last >= Part::kWords && index.pending().text) VARVE_TRY(index::load_text(&index));
  return last >= Part::kWhole ? index.load_whole() : Status();
}

Status Core::load_missing(Part last) {
  if (!index_is_whole_) {  // an allocation failed while it was changed: rebuild it
    VARVE_TRY_ASSIGN(const log::Tail tail, look());
    return read_changes(tail);
  }
  index_is_whole_ = false;  // until all of it is loaded: an allocation may fail in between
  const Status loaded =
      index.is_damaged() ? index::wrong_snapshot("found damaged by a query") : load_pending(last);
  index_is_whole_ = true;
  if (loaded.ok()) return {};
  VARVE_TRY_ASSIGN(const log::Tail tail, look());
  give_up_snapshot(loaded);
  return read_changes(tail);
}

Status Core::load_rows() {
  {
    const std::shared_lock lock(index_mutex);
    if (index.has_all_rows()) return {};
  }
  const std::unique_lock lock(index_mutex);
  return load_missing(Part::kAllRows);
}

Status Core::open_rows() {
  {
    const std::shared_lock lock(index_mutex);
    if (index.has_rows()) return {};
  }
  const std::unique_lock lock(index_mutex);
  return load_missing(Part::kOpenRows);
}

Status Core::load_sections() {
  const std::unique_lock lock(index_mutex);
  return load_missing(Part::kWhole);
}

// --- words ---------------------------------------------------------------------------------------

// Rows [first, end). They must be checked: then their lines lie in one stretch of the log.
Status Core::index_words_of(uint32_t first, uint32_t end) {
  const uint64_t begin_bytes = index.location(first).offset;
  const index::Location last = index.location(end - 1);
  std::string bytes(last.offset + last.length - begin_bytes, '\0');
  VARVE_TRY_ASSIGN(const size_t got,
                   storage->read(log::Stream::kEntries, view.tail.generation, begin_bytes, bytes));
  json::Document document;
  index::TextIndex& text = index.text_to_extend();
  for (uint32_t row = first; row < end; ++row) {
    const index::Location place = index.location(row);
    const uint64_t at = place.offset - begin_bytes;
    const std::string_view line = at + place.length <= got
                                      ? std::string_view(bytes).substr(at, place.length)
                                      : std::string_view();
    // A line that changed since is no entry any more; whoever reads it is told.
    if (hash64(line) == place.line_hash) {
      text.add_line(line, document);
    } else {
      text.add_unreadable();
    }
  }
  text.settle();
  return {};
}

// Indexes the words of one row, then of as many as fit in `bytes_max` of log.
Status Core::index_words(uint64_t bytes_max) {
  const uint32_t first = index.text_to_extend().row_count();
  if (first >= index.size()) return {};
  const uint64_t begin_bytes = index.location(first).offset;
  uint32_t end = first + 1;
  while (end < index.size() &&
         index.location(end).offset + index.location(end).length - begin_bytes <= bytes_max) {
    ++end;
  }
  return index_words_of(first, end);
}

uint64_t Core::pending_words_bytes() const {
  const uint32_t covered = index.text_row_count();
  if (!index_is_whole_ || covered >= index.size()) return 0;
  return index.coverage.entries_bytes - index.location(covered).offset;
}

void Core::index_pending_words(Saving saving) {
  uint64_t due_bytes = kWordsBytesOfClose;
  if (saving == Saving::kIfDue) {
    const std::unique_lock lock(index_mutex);
    if (index_is_whole_ && index.facets().is_compression_pressing()) extend_facets(false);
    due_bytes = word_debt_.due_bytes(pending_words_bytes());
  }
  // In steps, so that readers never wait for more than one.
  while (due_bytes > 0) {
    const uint64_t step_bytes = std::min(due_bytes, kWordsBytes);
    const std::unique_lock lock(index_mutex);
    if (pending_words_bytes() == 0) return;
    if (!extend_words(step_bytes).ok()) return;  // replaced or unreadable: a query will report it
    due_bytes -= step_bytes;
  }
}

// The index counts as not whole while the next two run. If an allocation fails, it is rebuilt from
// the log.

// Compresses the facets where that is due, and brings the order of time up to date.
void Core::extend_facets(bool arranges) {
  index_is_whole_ = false;
  if (arranges) index.arrange();
  index.compress_facets();
  index_is_whole_ = true;
}

// Indexes the words of a further `bytes_max` of log. The rows are checked as a whole before their
// lines are read.
Status Core::extend_words(uint64_t bytes_max) {
  if (index.is_unchecked(index.text_row_count())) VARVE_TRY(load_missing(Part::kAllRows));
  index_is_whole_ = false;
  Status words = index_words(bytes_max);
  // While more words are to come, compressing would redo much of the work each time.
  const bool more_comes = index.text_row_count() < index.size();
  index.compress(more_comes ? index::kUncompressedBytesMax : 0);
  index_is_whole_ = true;
  return words;
}

// --- for a query ---------------------------------------------------------------------------------

bool Core::can_ask_facets() const {
  return index_is_whole_ && !index.is_damaged() && index.has_facets();
}

Status Core::prepare_facets() {
  {
    const std::shared_lock lock(index_mutex);
    if (can_ask_facets()) return {};
  }
  return prepare_query({}).status();
}

bool Core::needs_order(const Needs& needs) const {
  return needs.relevance || (needs.time && !index.is_in_time_order());
}

bool Core::has_needed(const Needs& needs, uint32_t row_count) const {
  return can_ask_facets() && index.hides_all_deleted() &&
         (!needs_order(needs) || index.arranged_count() >= row_count) &&
         (!needs.words || (index.has_text() && index.text_row_count() >= row_count));
}

Core::ReadyRows Core::rows_present() const {
  return {index_is_whole_ ? index.size() : UINT32_MAX, index_epoch};
}

Result<Core::ReadyRows> Core::prepare_query(const Needs& needs) {
  ReadyRows rows;
  if (needs.words) word_debt_.note_asked();
  VARVE_TRY(follow());
  VARVE_TRY(open_rows());
  bool is_ready = false;
  {
    const std::shared_lock lock(index_mutex);
    rows = rows_present();
    is_ready = has_needed(needs, rows.end);
    if (is_ready && !index.facets().is_compression_due()) return rows;
  }
  if (is_ready) {
    const std::unique_lock lock(index_mutex);
    if (index_is_whole_) extend_facets(false);
    return rows;
  }
  for (int attempt = 0; attempt < kReplacedMax;) {
    {
      const std::shared_lock lock(index_mutex);
      if (rows.epoch == index_epoch && has_needed(needs, rows.end)) return rows;
    }
    VARVE_TRY(follow());  // the index may have been rebuilt
    const std::unique_lock lock(index_mutex);
    VARVE_TRY(load_missing(needs.words ? Part::kWords : Part::kFacets));
    // Not those that others have added since: they might add for ever.
    if (rows.epoch != index_epoch || rows.end > index.size()) {
      rows = rows_present();
      ++attempt;  // nor of each index that is made anew
    }
    extend_facets(needs_order(needs));
    if (!needs.words) continue;
    Status words = extend_words(kWordsBytes);
    if (words.code() == Code::kGone) {
      ++attempt;
      continue;
    }
    VARVE_TRY(std::move(words));
  }
  return replaced_too_often();
}

}  // namespace varve::session
