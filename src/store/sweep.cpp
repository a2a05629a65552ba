#include "store/sweep.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "session/upkeep/compaction.h"
#include "store/problem.h"
#include "store/session_rows.h"

namespace varve::store {

namespace {

constexpr size_t kProblemsMax = 1000;
// So many rows of dropped sessions are no trouble, however few sessions there are.
constexpr uint64_t kDeadRowsMax = 100;

// Nothing where it cannot be told.
std::optional<uint64_t> vector_bytes(session::Session& session) {
  const auto stats = session.stats();
  const json::Tree* sizes = stats.ok() ? stats->get("size_bytes") : nullptr;
  if (sizes == nullptr) return std::nullopt;
  return sizes->get_count("vectors");
}

class Sweep {
 public:
  explicit Sweep(const SweepContext& context) : context_(context) {}

  Result<json::Tree> run() {
    const int64_t start_us = context_.clock->monotonic_us();
    // All rows first: removing sessions changes the pages.
    VARVE_TRY_ASSIGN(const auto ids, listed_ids());
    std::unordered_set<std::string_view> told;
    for (const std::string& id : ids) {
      if (told.insert(id).second) visit(id);
    }
    tidy_list(ids.size());
    const int64_t duration_us = context_.clock->monotonic_us() - start_us;
    json::Tree report = json::Tree::object();
    const auto set = [&](std::string_view name, uint64_t value) {
      report.set(name, json::Tree::integer_unsigned(value));
    };
    set("sessions_checked", checked_);
    set("sessions_removed", removed_);
    set("sessions_compacted", compacted_);
    set("entries_dropped", dropped_);
    set("bytes_freed", freed_bytes_);
    report.set("problems", std::move(problems_));
    report.set("duration_ms", json::Tree::number(static_cast<double>(duration_us) / 1000.0));
    return report;
  }

 private:
  // Of each row, also of an id's earlier sessions.
  Result<std::vector<std::string>> listed_ids() {
    std::vector<std::string> ids;
    RowVisitor visitor;
    visitor.begin = [&] { ids.clear(); };
    visitor.visit = [&](const RowAt& at) {
      ids.push_back(at.row.session_id);
      return true;
    };
    VARVE_TRY(for_each_row(*context_.engine, {}, visitor));
    return ids;
  }

  // Rows of dropped sessions make each page of the list slower. Cursors of the list end with them,
  // so not each time. Best effort: where the list cannot be written, the next sweep tries again.
  void tidy_list(uint64_t row_count) {
    const uint64_t live_count = checked_ - removed_;
    if (row_count <= 2 * live_count + kDeadRowsMax) return;
    // The rows of lost sessions stay. Too many of these are no reason to write it time and again.
    const auto lives = context_.engine->lives([](const std::string&) { return true; });
    if (!lives.ok() || row_count <= lives->undropped.size() + live_count + kDeadRowsMax) return;
    (void)context_.remove_dead_rows().ok();
  }

  void visit(const std::string& id) {
    auto session = context_.open(id);
    if (session.code() == Code::kNotFound) return;  // dropped meanwhile
    checked_ += 1;
    Status status = session.ok() ? sweep_one(id, *session) : std::move(session).status();
    if (status.ok() || status.code() == Code::kNotFound) return;
    if (problems_.items().size() >= kProblemsMax) return;
    problems_.push(problem(id, status.message()));
  }

  Status sweep_one(const std::string& id, const std::shared_ptr<session::Session>& session) {
    VARVE_TRY_ASSIGN(const bool is_over, session->has_expired());
    if (is_over) {
      const uint64_t size_bytes = session->size_bytes();
      Status removed = context_.remove(id);
      if (removed.code() == Code::kConflict) return {};  // it is in use again
      VARVE_TRY(std::move(removed));
      removed_ += 1;
      freed_bytes_ += size_bytes;
      return {};
    }
    VARVE_TRY(session->settle_last_access());
    if (session->expired_entry_count() == 0) return {};
    const uint64_t had_bytes = vector_bytes(*session).value_or(0);
    VARVE_TRY_ASSIGN(const json::Tree report, session->compact({}));
    context_.note_change(id);
    const uint64_t has_bytes = vector_bytes(*session).value_or(had_bytes);
    compacted_ += 1;
    dropped_ += report.get("dropped")->get_count("expired");
    freed_bytes_ += report.get_count("bytes_before") - report.get_count("bytes_after");
    freed_bytes_ += had_bytes - std::min(had_bytes, has_bytes);  // others may put some meanwhile
    return {};
  }

  const SweepContext& context_;
  uint64_t checked_ = 0;
  uint64_t removed_ = 0;
  uint64_t compacted_ = 0;
  uint64_t dropped_ = 0;
  uint64_t freed_bytes_ = 0;
  json::Tree problems_ = json::Tree::array();
};

}  // namespace

Result<json::Tree> sweep(const SweepContext& context) { return Sweep(context).run(); }

}  // namespace varve::store
