// Sessions: the session that a context is of, number 0, and those that it recalls from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "query/query.h"
#include "session/query/query_results.h"
#include "session/session.h"
#include "store/store.h"

namespace varve::context {

// An entry of one of the sessions: the session's number, then the row in its log. It stands for the
// entry for as long as no log is replaced.
using EntryKey = uint64_t;
[[nodiscard]] constexpr EntryKey entry_key(uint32_t session, uint32_t row) noexcept {
  return EntryKey{session} << 32 | row;
}
[[nodiscard]] constexpr uint32_t session_of(EntryKey key) noexcept {
  return static_cast<uint32_t>(key >> 32);
}

class Sessions {
 public:
  // Both must outlive it. Without a store it has its own session only.
  Sessions(session::Session& own, store::Store* store) : store_(store), all_{&own} {}

  [[nodiscard]] session::Session& at(uint32_t number) const { return *all_[number]; }
  [[nodiscard]] std::vector<std::string> ids() const;  // by number
  [[nodiscard]] uint32_t count() const { return static_cast<uint32_t>(all_.size()); }

  // The results of a query across sessions, its own among them. kUnsupported without a store.
  Result<session::QueryResults> ask(const query::Query& query) const;
  // The number of a session that has results. It stays open for as long as this lives. Empty: as
  // many are open as may be. kGone when it was deleted meanwhile.
  Result<std::optional<uint32_t>> number_of(const std::string& id);

 private:
  Result<std::optional<uint32_t>> open(const std::string& id);

  store::Store* store_;
  std::vector<session::Session*> all_;
  std::vector<std::shared_ptr<session::Session>> others_;
  std::unordered_map<std::string, std::optional<uint32_t>> numbers_;
};

// What fails in another session because it is gone is tried again without it.
[[nodiscard]] Status of_session(uint32_t number, Status failure);

}  // namespace varve::context
