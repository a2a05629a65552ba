#include "store/session_rows.h"

#include <utility>

#include "session/retries.h"

namespace varve::store {

namespace {

// kGone when the list was rebuilt after the first page.
Status walk(log::Engine& engine, std::string_view after, const RowVisitor& visitor,
            size_t first_count) {
  visitor.begin();
  std::string at(after);
  size_t count = first_count;
  for (bool is_first = true;; is_first = false, count = log::Engine::kRowsAtATime) {
    auto page = engine.list(at, count);
    // The cursor was valid a moment ago.
    if (page.code() == Code::kInvalidArgument && !is_first) {
      return {Code::kGone, "the list of sessions was rebuilt"};
    }
    VARVE_TRY(page);
    for (size_t i = 0; i < page->rows.size(); ++i) {
      at = page->cursors[i];
      const bool is_last = page->at_end && i + 1 == page->rows.size();
      VARVE_TRY_ASSIGN(const bool goes_on,
                       visitor.visit({page->rows[i], at, is_last, page->is_collected}));
      if (!goes_on) return {};
    }
    if (page->at_end) return {};
  }
}

// Of one life of a session: its id may have been used before.
std::string key_of(const log::SessionRow& row) {
  return row.session_id + " " + std::to_string(row.created_at_ms) + " " + row.user_id + "\n" +
         row.agent_id;
}

}  // namespace

std::string name_of(const RowAt& at) {
  return at.cursor + " " + at.row.session_id + " " + std::to_string(at.row.created_at_ms);
}

Status for_each_row(log::Engine& engine, std::string_view after, const RowVisitor& visitor,
                    size_t first_count) {
  for (int attempt = 0; attempt < session::kReplacedMax; ++attempt) {
    Status status = walk(engine, after, visitor, first_count);
    if (status.code() != Code::kGone) return status;
  }
  return {Code::kBusy, "the list of sessions keeps being rebuilt; try again"};
}

Result<bool> for_each_newer_row(log::Engine& engine, std::string_view known,
                                const std::function<void()>& begin, const NewerRowVisit& visit) {
  constexpr size_t kRowsAtFirst = 8;  // few are new
  bool is_met = false;
  RowVisitor visitor;
  visitor.begin = begin;
  visitor.visit = [&](const RowAt& at) {
    std::string name = name_of(at);
    is_met = name == known;
    if (!is_met) visit(at, std::move(name));
    return !is_met;
  };
  VARVE_TRY(
      for_each_row(engine, {}, visitor, known.empty() ? log::Engine::kRowsAtATime : kRowsAtFirst));
  return is_met;
}

Result<log::SessionRow> ListedRows::placed(log::SessionRow row) {
  if (!was_read_) VARVE_TRY(read());
  was_read_ = true;
  const std::string key = key_of(row);
  const auto found = places_.find(key);
  if (found == places_.end()) return row;
  row.listed_at = found->second;
  row.was_dropped = !undropped_.contains(key);
  return row;
}

Status ListedRows::read() {
  RowVisitor visitor;
  visitor.begin = [&] { places_.clear(); };
  visitor.visit = [&](const RowAt& at) {
    places_.insert_or_assign(key_of(at.row), at.cursor);
    return true;
  };
  VARVE_TRY(for_each_row(engine_, {}, visitor));
  VARVE_TRY_ASSIGN(const auto lives, engine_.lives([](const std::string&) { return true; }));
  for (const log::SessionRow& row : lives.undropped) undropped_.insert(key_of(row));
  return {};
}

}  // namespace varve::store
