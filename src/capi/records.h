// What store and session handles stand for, and how they end.
//
// Order of ends: no new call can begin with the store's handle, its calls in flight finish, its
// sessions end one by one in the same way, the store is closed, the host's log function is left.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/result.h"
#include "capi/environment.h"
#include "capi/handle_table.h"
#include "capi/log_receiver.h"
#include "context/counter.h"
#include "session/session.h"
#include "store/store.h"

namespace varve::capi {

class StoreRecord final : public Record {
 public:
  static constexpr HandleType kType = HandleType::kStore;

  static Result<std::shared_ptr<StoreRecord>> open(std::string_view uri,
                                                   std::string_view config_json);

  [[nodiscard]] store::Store& store() const noexcept { return *store_; }
  [[nodiscard]] LogReceiver& log() noexcept { return log_; }
  using TokenCounter = HostFunction<varve_token_fn>;
  [[nodiscard]] TokenCounter& token_counter() noexcept { return token_counter_; }
  // What any of its counters counted.
  [[nodiscard]] context::CountCache& token_counts();

  // Asks the host's clock, when it set one.
  void tick() noexcept;
  // Log lines to the host, under no lock and no pin.
  void deliver_events() noexcept;

  // The open session handles of this store. A place in the list is made before its handle, so
  // that nothing can go wrong once the handle exists.
  using Sessions = std::list<Token>;
  void adopt(Sessions& one) noexcept;              // takes the only element of `one`
  void forget(Sessions::iterator place) noexcept;  // the session has ended

  // After the last call with the store's handle.
  void end() noexcept;

 private:
  void end_sessions() noexcept;

  SystemEnvironment environment_;  // outlives the store
  LogReceiver log_;                // so does this
  std::shared_ptr<store::Store> store_;
  TokenCounter token_counter_;
  std::mutex mutex_;
  std::condition_variable session_ended_;
  Sessions sessions_;
  std::unique_ptr<context::CountCache> token_counts_;  // made when the first context is built
};

class SessionRecord final : public Record {
 public:
  static constexpr HandleType kType = HandleType::kSession;

  SessionRecord(std::shared_ptr<StoreRecord> owner, std::shared_ptr<session::Session> session,
                StoreRecord::Sessions::iterator place)
      : owner_(std::move(owner)), session_(std::move(session)), place_(place) {}

  [[nodiscard]] session::Session& session() const noexcept { return *session_; }
  [[nodiscard]] const std::shared_ptr<StoreRecord>& owner() const noexcept { return owner_; }
  // Who hears of the progress of operations that begin now.
  [[nodiscard]] session::ProgressReceiver progress() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return progress_;
  }
  void set_progress(const session::ProgressReceiver& receiver) {
    const std::lock_guard<std::mutex> guard(mutex_);
    progress_ = receiver;
  }
  // After the last call with the session's handle.
  void end() noexcept;

 private:
  std::shared_ptr<StoreRecord> owner_;
  std::shared_ptr<session::Session> session_;
  std::mutex mutex_;
  session::ProgressReceiver progress_;  // guarded by it
  StoreRecord::Sessions::iterator place_;
};

// A handle for a session of `owner`.
Result<Token> open_session_handle(const std::shared_ptr<StoreRecord>& owner,
                                  std::shared_ptr<session::Session> session);

// The store of the session that ended; null when there was no such handle to close.
std::shared_ptr<StoreRecord> close_session_handle(Token token) noexcept;

}  // namespace varve::capi
