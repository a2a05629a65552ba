#include "store/session_totals.h"

#include "session/metadata.h"
#include "store/session_rows.h"

namespace varve::store {

namespace {

constexpr int64_t kRestFactor = 100;

void add_session(log::Engine& engine, const std::string& id, SessionTotals::Totals* totals) {
  const auto text = engine.session_document(id, log::kMetadataFile);
  if (text.code() == Code::kNotFound) return;  // deleted after it was listed
  totals->sessions += 1;
  if (!text.ok()) return;
  const auto parsed = session::Metadata::parse(*text, id);
  if (!parsed.ok()) return;
  totals->entries += parsed->tree().get_count("total_entries");
  totals->size_bytes += parsed->tree().get_count("total_size_bytes");
}

}  // namespace

Result<SessionTotals::Totals> SessionTotals::of_others(
    log::Engine& engine, const std::unordered_set<std::string>& left_out) {
  const std::lock_guard guard(mutex_);
  const int64_t start_us = clock_.monotonic_us();
  if (start_us < valid_until_us_) return found_;
  Totals totals;
  std::unordered_set<std::string> told;
  RowVisitor visitor;
  visitor.begin = [&] {
    totals = {};
    told = left_out;
  };
  visitor.visit = [&](const RowAt& at) {
    const std::string& id = at.row.session_id;
    if (told.insert(id).second) add_session(engine, id, &totals);
    return true;
  };
  VARVE_TRY(for_each_row(engine, {}, visitor));
  const int64_t end_us = clock_.monotonic_us();
  found_ = totals;
  valid_until_us_ = end_us + (end_us - start_us) * kRestFactor;
  return totals;
}

}  // namespace varve::store
