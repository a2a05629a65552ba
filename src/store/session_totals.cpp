#include "store/session_totals.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "session/metadata/metadata.h"
#include "store/session_rows.h"

namespace varve::store {

namespace {

constexpr int64_t kRestFactor = 100;

// What the metadata says; nothing for a session that is gone.
std::optional<SessionTotals::Totals> read_session(log::Engine& engine, const std::string& id) {
  const auto text = engine.session_document(id, log::kMetadataFile);
  if (text.code() == Code::kNotFound) return std::nullopt;
  SessionTotals::Totals totals{1, 0, 0};
  if (!text.ok()) return totals;
  const auto parsed = session::Metadata::parse(*text, id);
  if (!parsed.ok()) return totals;
  totals.entries = parsed->tree().get_count("total_entries");
  totals.size_bytes = parsed->tree().get_count("total_size_bytes");
  return totals;
}

}  // namespace

Result<SessionTotals::Totals> SessionTotals::of_others(
    log::Engine& engine, const std::unordered_set<std::string>& open) {
  const std::lock_guard guard(mutex_);
  const int64_t start_us = clock_.monotonic_us();
  std::unordered_set<std::string> changed;
  if (take_changes(start_us, &changed)) {
    for (const std::string& id : changed) {
      if (!open.contains(id)) read_again(engine, id);
    }
    note_open(open);
    return without(open);
  }
  const Status looked = look(engine, open);
  const int64_t end_us = clock_.monotonic_us();
  {
    const std::lock_guard changing(changed_mutex_);
    is_looking_ = false;
    valid_until_us_ = looked.ok() ? end_us + (end_us - start_us) * kRestFactor : 0;
  }
  VARVE_TRY(looked);
  note_open(open);
  return without(open);
}

void SessionTotals::note_change(const std::string& id) {
  const std::lock_guard guard(changed_mutex_);
  if (is_looking_ || clock_.monotonic_us() < valid_until_us_) changed_.insert(id);
}

// Where nothing is valid, a look begins.
bool SessionTotals::take_changes(int64_t now_us, std::unordered_set<std::string>* changed) {
  const std::lock_guard guard(changed_mutex_);
  changed->swap(changed_);
  if (now_us < valid_until_us_) return true;
  is_looking_ = true;
  return false;
}

// They may be closed, changed, before the next call.
void SessionTotals::note_open(const std::unordered_set<std::string>& open) {
  const std::lock_guard guard(changed_mutex_);
  changed_.insert(open.begin(), open.end());
}

Status SessionTotals::look(log::Engine& engine, const std::unordered_set<std::string>& open) {
  std::vector<Found> found;
  std::unordered_set<std::string> told;
  RowVisitor visitor;
  visitor.begin = [&] {
    found.clear();
    told = open;
  };
  visitor.visit = [&](const RowAt& at) {
    const std::string& id = at.row.session_id;
    if (!told.insert(id).second) return true;
    if (const auto totals = read_session(engine, id)) {
      found.push_back({hash64(id), totals->entries, totals->size_bytes});
    }
    return true;
  };
  VARVE_TRY(for_each_row(engine, {}, visitor));
  std::ranges::sort(found, {}, &Found::id_hash);
  found_ = std::move(found);
  return {};
}

void SessionTotals::read_again(log::Engine& engine, const std::string& id) {
  if (const auto known = find(id); known != found_.end()) found_.erase(known);
  const auto totals = read_session(engine, id);
  if (!totals) return;
  const Found found{hash64(id), totals->entries, totals->size_bytes};
  found_.insert(std::ranges::lower_bound(found_, found.id_hash, {}, &Found::id_hash), found);
}

SessionTotals::Totals SessionTotals::without(const std::unordered_set<std::string>& open) const {
  Totals totals;
  for (const Found& found : found_) {
    totals.sessions += 1;
    totals.entries += found.entries;
    totals.size_bytes += found.size_bytes;
  }
  for (const std::string& id : open) {
    const auto known = find(id);
    if (known == found_.end()) continue;
    totals.sessions -= 1;
    totals.entries -= known->entries;
    totals.size_bytes -= known->size_bytes;
  }
  return totals;
}

std::vector<SessionTotals::Found>::const_iterator SessionTotals::find(const std::string& id) const {
  const uint64_t id_hash = hash64(id);
  const auto at = std::ranges::lower_bound(found_, id_hash, {}, &Found::id_hash);
  return at != found_.end() && at->id_hash == id_hash ? at : found_.end();
}

}  // namespace varve::store
