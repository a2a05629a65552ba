// MemoryEngine: the sessions of a "memory:" store.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/environment.h"
#include "log/memory_storage.h"
#include "log/storage.h"

namespace varve::log {

class MemoryEngine final : public Engine {
 public:
  explicit MemoryEngine(Clock& clock, uint64_t lock_timeout_ms = 0)
      : clock_(clock), lock_timeout_ms_(lock_timeout_ms) {}

  void set_lock_timeout_ms(uint64_t timeout_ms) override { lock_timeout_ms_ = timeout_ms; }
  Result<std::unique_ptr<SessionStorage>> create(const SessionRow& row,
                                                 std::string_view metadata) override;
  Result<std::unique_ptr<SessionStorage>> open(std::string_view session_id) override;
  Status install(const SessionRow& row, const SessionContents& contents,
                 Existing existing) override;
  Status drop(std::string_view session_id, const DropWanted& wanted) override;
  Result<RowPage> list(std::string_view after, size_t limit) override;
  Result<std::vector<std::string>> session_ids() override;
  bool is_kept_in(io::Directory&) override { return false; }
  Status rescan() override { return {}; }
  Result<ListedLives> lives(const IdWanted& is_wanted) override;
  Result<ValidRows> valid_rows(std::unordered_set<std::string> session_ids) override;
  Status remove_dead_rows() override;
  Result<std::string> session_document(std::string_view session_id, std::string_view name) override;
  Result<std::string> store_document(std::string_view name) override;

 private:
  std::shared_ptr<MemorySession> find(std::string_view session_id);
  [[nodiscard]] std::vector<SessionRow> live_rows() const;

  Clock& clock_;
  uint64_t lock_timeout_ms_;
  std::mutex mutex_;  // guards the rest
  std::map<std::string, std::shared_ptr<MemorySession>, std::less<>> sessions_;
  std::unordered_map<std::string, int64_t> dropped_at_ms_;  // by id, the last time
  std::vector<SessionRow> rows_;  // oldest first; dropped ones stay, as in a directory's registry
  uint64_t list_number_ = 0;      // of the present rows; cursors are of one list
};

}  // namespace varve::log
