// What the handles of a store and of its parts stand for, and how they end.
//
// Order of the end: no new call can begin with the store's handle, its calls in flight finish, its
// sessions and memories end one by one in the same way, the store is closed, the host's log
// function is left.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "capi/environment.h"
#include "capi/handle_table.h"
#include "capi/log_receiver.h"
#include "context/counter.h"
#include "memory/memory.h"
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
  // The counts made by any of its token counters.
  [[nodiscard]] context::CountCache& token_counts();

  // Asks the host's clock for the time, if it set one.
  void tick() noexcept;
  // Tells the host's log of it if the disk is the reason. "" for a call about no single session.
  void note(const Status& answer, std::string_view session_id = {}) noexcept {
    if (!answer.ok()) store_->note_failed_call(answer, session_id);
  }
  [[nodiscard]] bool has_events() const noexcept { return store_->has_events(); }
  // Delivers log lines to the host, under no lock and no pin.
  void deliver_events() noexcept;

  // The open handles of what belongs to this store. The place in the list is made before the
  // handle, so that nothing can fail once the handle exists.
  using Children = std::list<Token>;
  void adopt(Children& one) noexcept;              // moves the only element of `one` into the list
  void forget(Children::iterator place) noexcept;  // the child has ended

  // Called after the last call with the store's handle.
  void end() noexcept;

 private:
  void end_children() noexcept;

  SystemEnvironment environment_;  // outlives the store
  LogReceiver log_;                // outlives the store, too
  std::shared_ptr<store::Store> store_;
  TokenCounter token_counter_;
  std::mutex mutex_;
  std::condition_variable child_ended_;
  Children children_;
  std::unique_ptr<context::CountCache> token_counts_;  // made when the first context is built
};

// Something open in a store, which ends no later than the store.
class StoreChild : public Record {
 public:
  [[nodiscard]] const std::shared_ptr<StoreRecord>& owner() const noexcept { return owner_; }
  // Called after the last call with the handle.
  void end() noexcept;

 protected:
  StoreChild(std::shared_ptr<StoreRecord> owner, StoreRecord::Children::iterator place)
      : owner_(std::move(owner)), place_(place) {}
  virtual void release() = 0;  // lets go of what belongs to the store

 private:
  std::shared_ptr<StoreRecord> owner_;
  StoreRecord::Children::iterator place_;
};

class SessionRecord final : public StoreChild {
 public:
  static constexpr HandleType kType = HandleType::kSession;

  SessionRecord(std::shared_ptr<StoreRecord> owner, StoreRecord::Children::iterator place,
                std::shared_ptr<session::Session> session)
      : StoreChild(std::move(owner), place), session_(std::move(session)) {}

  [[nodiscard]] session::Session& session() const noexcept { return *session_; }
  // The receiver for the progress of operations that begin now.
  [[nodiscard]] session::ProgressReceiver progress() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return progress_;
  }
  void set_progress(const session::ProgressReceiver& receiver) {
    const std::lock_guard<std::mutex> guard(mutex_);
    progress_ = receiver;
  }

 private:
  void release() override { session_.reset(); }

  std::shared_ptr<session::Session> session_;
  std::mutex mutex_;
  session::ProgressReceiver progress_;  // guarded by mutex_
};

class MemoryRecord final : public StoreChild {
 public:
  static constexpr HandleType kType = HandleType::kMemory;

  MemoryRecord(std::shared_ptr<StoreRecord> owner, StoreRecord::Children::iterator place,
               std::shared_ptr<memory::Memory> memory)
      : StoreChild(std::move(owner), place), memory_(std::move(memory)) {}

  [[nodiscard]] memory::Memory& memory() const noexcept { return *memory_; }

 private:
  void release() override { memory_.reset(); }

  std::shared_ptr<memory::Memory> memory_;
};

// Makes a handle for `content`, which belongs to `owner`.
template <typename Child, typename Content>
Result<Token> open_child_handle(const std::shared_ptr<StoreRecord>& owner,
                                std::shared_ptr<Content> content) {
  StoreRecord::Children place(1);
  auto record = std::make_shared<Child>(owner, place.begin(), std::move(content));
  VARVE_TRY_ASSIGN(const Token token, HandleTable::of_process().open(std::move(record)));
  place.front() = token;
  owner->adopt(place);
  return token;
}

// Returns the store of the child that ended; null when there was no such handle to close.
template <typename Child>
std::shared_ptr<StoreRecord> close_child_handle(Token token) noexcept {
  const auto record = HandleTable::of_process().close<Child>(token);
  if (record == nullptr) return nullptr;
  record->end();
  return record->owner();
}

}  // namespace varve::capi
