// Writer: group commit. Threads queue what they want written; whoever is first takes the storage's
// lock and commits for all of the same kind behind it with one write and one sync.
//
// source: the writer queue of LevelDB (db_impl.cc, BuildBatchGroup), with one lock per process
// group instead of one mutex.
#pragma once

#include <boost/container/static_vector.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entry/entry.h"
#include "entry/tombstone.h"
#include "session/core.h"

namespace varve::session {

struct WriteRequest {
  enum class Kind { kAdd, kDelete, kCall };
  Kind kind = Kind::kAdd;
  std::vector<entry::Draft> drafts;          // kAdd: all or none
  std::vector<entry::Tombstone> tombstones;  // kDelete: of what is there to delete
  size_t deleted_count = 0;                  // of those: of entries that were
  std::function<Status()> call;              // kCall: runs alone, holding the storage's lock
  bool recover = true;                       // kCall: with a torn tail moved away first
  bool even_expired = false;             // kCall with `recover`: whatever the session's ttl says
  std::string_view operation = "write";  // for the people who read the lock file
  std::optional<uint64_t> lock_wait_ms;  // instead of the configured timeout
  std::optional<uint64_t> turn_wait_ms;  // a lone kCall: kBusy when others write for longer
  Status status;                         // the outcome
  bool done = false;
  bool ends_call = false;  // the last of those that one call submitted
};

class Writer {
 public:
  // Ids of the entries that a group adds, for those behind them.
  using TakenIds = boost::unordered_flat_set<std::string_view>;

  explicit Writer(Core& core) : core_(core) {}

  // Returns when every request has its outcome in `status`. Requests, at least one, keep their
  // order.
  void submit(std::span<WriteRequest> requests);

  // Runs `call` alone, holding the storage's lock, the index caught up and the tail whole.
  Status run(std::string_view operation, std::function<Status()> call);

  // The same without recovery: the log as it lies.
  Status run_as_is(std::string_view operation, std::function<Status()> call);

  // The vector of a live entry, in place of the one it had.
  Status put_vector(std::string_view id, std::span<const float> values);

  // Saves index.bin when that is due, or `always`. Best effort, also when memory ends: what was
  // answered stays answered. Waits hardly for other processes: they may save it too.
  void save_snapshot(bool always) noexcept;

  // kSizeLimit when the session, or all of its user's, may not grow by so much.
  Status check_size(uint64_t new_bytes) const;
  // Before a call adds what readers have not seen, holding the storage's lock: add and the like do
  // it themselves. After a failure nothing may be added.
  Status note_change();
  // For a call that wrote something itself: what was answered is `durable`, or sync() makes it so.
  void note_written(bool durable, uint64_t bytes) noexcept;
  // Renews the metadata of a session that expires without writes, when it is due.
  void renew_expiry() noexcept;

  // Calls of submit() that wait for their outcome, those of the group that is being written too.
  [[nodiscard]] size_t queued_call_count();

  // Whether anything was answered that is not durable yet.
  [[nodiscard]] bool has_unsynced() const { return unsynced_.load(); }
  void set_synced() { unsynced_.store(false); }
  // Whether anything was written since the session was opened or last saved.
  [[nodiscard]] bool has_changes() const { return changed_.load(); }
  void set_saved() { changed_.store(false); }

 private:
  static constexpr size_t kGroupMax = 512;
  using Group = boost::container::static_vector<WriteRequest*, kGroupMax>;

  bool enqueue(std::span<WriteRequest> requests) noexcept;
  void give_up_turn(WriteRequest& request) noexcept;
  void wait_for_companions(std::unique_lock<std::mutex>& lock) noexcept;
  Group take_group() noexcept;
  void end_group(const Group& group) noexcept;
  void commit(Group& group) noexcept;
  Status commit_locked(Group& group);
  Status add_group(Group& group);
  Status delete_group(Group& group);
  // kConflict: the index is of another epoch. `taken`: of entries before these; null for a lone
  // one. `damaged`: ids that only damaged lines show; null: none.
  Status check_ids(const WriteRequest& request, uint64_t epoch, const DamagedIds* damaged,
                   TakenIds* taken) const;
  [[nodiscard]] std::string user_id() const;
  Status put_vector_locked(std::string_view id, std::span<const float> values);
  Status make_room(uint64_t new_bytes);
  Status lock(const WriteRequest& request);
  void unlock(std::string_view operation) noexcept;
  void note_failure(std::string_view operation, const Status& failure) noexcept;

  Core& core_;
  std::mutex snapshot_mutex_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::deque<WriteRequest*> queue_;
  size_t queued_calls_ = 0;          // whose last request is in the queue
  size_t companion_count_ = 0;       // calls that are expected to write together
  int64_t locked_us_ = 0;            // when the storage's lock was taken; its holder's
  uint64_t current_generation_ = 0;  // of a log that is of this version; holder of the lock only
  std::atomic<bool> unsynced_{false};
  std::atomic<bool> changed_{false};
  uint64_t compact_above_bytes_ = 0;  // the holder of the lock's, as is
  uint64_t deleted_count_tried_ = 0;
};

}  // namespace varve::session
