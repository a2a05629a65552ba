#include "store/session_totals.h"

#include <algorithm>

#include "session/metadata.h"

namespace varve::store {

namespace {

constexpr int64_t kRestFactor = 100;

void add_session(log::Engine& engine, const std::string& id, SessionTotals::Totals* totals) {
  const auto text = engine.session_document(id, "metadata.json");
  if (text.code() == Code::kNotFound) return;  // deleted since it was listed
  totals->sessions += 1;
  if (!text.ok()) return;
  const auto parsed = session::Metadata::parse(*text, id);
  if (!parsed.ok()) return;
  const json::Tree& metadata = parsed->tree();
  const auto figure = [&](std::string_view name) {
    return static_cast<uint64_t>(std::max<int64_t>(0, metadata.get_int64(name)));
  };
  totals->entries += figure("total_entries");
  totals->size_bytes += figure("total_size_bytes");
}

}  // namespace

Result<SessionTotals::Totals> SessionTotals::of_others(
    log::Engine& engine, const std::unordered_set<std::string>& left_out) {
  const std::lock_guard guard(mutex_);
  const int64_t start_us = clock_.monotonic_us();
  if (start_us < valid_until_us_) return found_;
  Totals totals;
  std::unordered_set<std::string> told = left_out;
  std::string after;
  for (bool done = false; !done;) {
    VARVE_TRY_ASSIGN(const log::RowPage page, engine.list(after, log::Engine::kRowsAtATime));
    done = page.at_end;
    for (const auto& row : page.rows) {
      if (told.insert(row.session_id).second) add_session(engine, row.session_id, &totals);
    }
    if (!page.cursors.empty()) after = page.cursors.back();
  }
  const int64_t end_us = clock_.monotonic_us();
  found_ = totals;
  valid_until_us_ = end_us + (end_us - start_us) * kRestFactor;
  return totals;
}

}  // namespace varve::store
