// Writer: group commit. Threads queue their requests. The first in the queue takes the storage's
// lock and commits its request and those of the same kind behind it, with one write and one sync.
//
// source: the writer queue of LevelDB (db_impl.cc, BuildBatchGroup), with one lock per process
// group instead of one mutex.
#pragma once

#include <atomic>
#include <boost/container/static_vector.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "entry/entry.h"
#include "entry/tombstone.h"
#include "session/core.h"
#include "session/upkeep/room.h"

namespace varve::session {

struct WriteRequest {
  enum class Kind { kAdd, kDelete, kCall };
  Kind kind = Kind::kAdd;
  std::vector<entry::Draft> drafts;          // kAdd: all or none
  std::vector<entry::Tombstone> tombstones;  // kDelete: entries that do not live are skipped
  size_t deleted_count = 0;                  // kDelete: how many entries were deleted
  std::function<Status()> call;              // kCall: runs alone, holding the storage's lock
  bool recover = true;                       // kCall: false: at once, on the log as it is
  bool even_expired = false;                 // kCall with `recover`: also when the ttl is over
  bool even_newer = false;  // kCall: also when metadata.json is of a newer version; at once, then
  std::string_view operation = "write";  // shown to people who read the lock file
  std::optional<uint64_t> lock_wait_ms;  // instead of the configured timeout
  std::optional<uint64_t> turn_wait_ms;  // kCall submitted alone: kBusy if others write for longer
  int64_t submitted_us = 0;              // monotonic; set by submit()
  Status status;                         // the outcome
  bool done = false;
  bool ends_call = false;  // the last request of one submit()

  [[nodiscard]] static WriteRequest of_call(std::string_view operation,
                                            std::function<Status()> call) {
    WriteRequest request;
    request.kind = Kind::kCall;
    request.operation = operation;
    request.call = std::move(call);
    return request;
  }
};

// How long to wait for the lock.
enum class Patience : uint8_t {
  kLittle,   // what is done may as well be done later
  kOfAWrite  // the configured timeout
};

class Writer {
 public:
  // The ids that earlier requests of a group add, or delete.
  using TakenIds = boost::unordered_flat_set<std::string_view, KeyHash, std::equal_to<>>;

  // What one group appends.
  struct Lines;

  explicit Writer(Core& core) : core_(core), room_(core) {}

  // Returns when every request has its outcome in `status`. Requests, at least one, keep their
  // order.
  void submit(std::span<WriteRequest> requests);
  // Submits one request and returns its outcome.
  Status submit(WriteRequest& request);

  // Runs `call` alone, with the storage's lock held, the index caught up, no torn tail, and a log
  // of this version. kNotFound when the session's ttl is over, kFormatVersion when a newer version
  // has written metadata.json.
  Status run(std::string_view operation, std::function<Status()> call);

  // The same at once: nothing is caught up, the log stays as it is. For what changes no file, and
  // so of a session of any version.
  Status run_as_is(std::string_view operation, std::function<Status()> call);
  // Likewise at once, for what changes files: refused as by run() where a newer version has
  // written.
  Status run_upkeep(std::string_view operation, std::function<Status()> call);

  // Sets or replaces the vector of a live entry.
  Status put_vector(std::string_view id, std::span<const float> values);

  // Saves index.bin, after indexing a bounded part of the missing words. Best effort, also when an
  // allocation fails: what was answered stays answered. Waits little for other processes, which may
  // save it too, unless the host asked for nothing else.
  void save_snapshot(Saving saving, Patience patience = Patience::kLittle) noexcept;

  // For a kCall that will write; kAdd makes room itself.
  [[nodiscard]] Room& room() { return room_; }
  // Tells the catalog that the session changes. Call it with the storage's lock held before adding
  // anything; kAdd does it itself. After a failure nothing may be added.
  Status note_change();
  // For a kCall that wrote: `durable`, or sync() has to make it so. kAdd and kDelete do it
  // themselves. `replaced_bytes`: the size of a file that was replaced. Lock holder.
  void note_written(uint64_t bytes, bool durable, uint64_t replaced_bytes = 0) noexcept;
  // Renews the metadata of a session that expires without writes, when that is due.
  void renew_expiry() noexcept;

  // How many calls of submit() wait for their outcome, including those that are being written.
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
  void sync_earlier();
  Status add_group(Group& group);
  // What the requests that are not refused append. kConflict: as check_ids().
  Status make_lines(Group& group, Lines* lines);
  Status delete_group(Group& group);
  // kConflict: the index is of another epoch. `taken`: ids of earlier requests of the group, null
  // for a lone draft. `damaged`: ids that only damaged lines have, or null.
  Status check_ids(const WriteRequest& request, uint64_t epoch, const DamagedLines::Ids* damaged,
                   TakenIds* taken) const;
  // Whether the request has room behind `lines`, and numbers for its entries.
  Status check_fits(const WriteRequest& request, const Lines& lines) const;
  Status put_vector_locked(std::string_view id, std::span<const float> values);
  Status lock(const Group& group);
  void unlock(std::string_view operation) noexcept;
  void note_failure(std::string_view operation, const Status& failure) noexcept;

  Core& core_;
  Room room_;
  std::mutex snapshot_mutex_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::deque<WriteRequest*> queue_;
  size_t queued_calls_ = 0;          // calls whose last request is in the queue
  size_t companion_count_ = 0;       // calls that are expected to write together
  int64_t locked_us_ = 0;            // when the storage's lock was taken; used by its holder only
  uint64_t current_generation_ = 0;  // of a log that needs no migration; lock holder only
  std::atomic<bool> unsynced_{false};
  std::atomic<bool> changed_{false};
};

}  // namespace varve::session
