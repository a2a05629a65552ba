// Writer: group commit. Threads queue what they want written; whoever is first takes the storage's
// lock and commits for all of the same kind behind it with one write and one sync.
//
// source: the writer queue of LevelDB (db_impl.cc, BuildBatchGroup), with one lock per process
// group instead of one mutex.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "entry/entry.h"
#include "entry/tombstone.h"
#include "session/core.h"

namespace varve::session {

struct WriteRequest {
  enum class Kind { kAdd, kDelete, kCall };
  Kind kind = Kind::kAdd;
  std::vector<entry::Draft> drafts;      // kAdd: all or none
  entry::Tombstone tombstone;            // kDelete
  std::function<Status()> call;          // kCall: runs alone, holding the storage's lock
  bool recover = true;                   // kCall: with a torn tail moved away first
  std::string_view operation = "write";  // for the people who read the lock file
  Status status;                         // the outcome
  bool done = false;
};

class Writer {
 public:
  explicit Writer(Core& core) : core_(core) {}

  // Returns when every request has its outcome in `status`. Requests keep their order.
  void submit(std::span<WriteRequest> requests);

  // Runs `call` alone, holding the storage's lock, the index caught up and the tail whole.
  Status run(std::string_view operation, std::function<Status()> call);

  // The same without recovery: the log as it lies.
  Status run_as_is(std::string_view operation, std::function<Status()> call);

  // Whether entries were answered that are not durable yet.
  [[nodiscard]] bool has_unsynced() const { return unsynced_.load(); }
  void set_synced() { unsynced_.store(false); }
  // Whether anything was written since the session was opened or last saved.
  [[nodiscard]] bool has_changes() const { return changed_.load(); }
  void set_saved() { changed_.store(false); }

 private:
  using Group = std::vector<WriteRequest*>;

  Group take_group();
  void commit(Group& group);
  Status commit_locked(Group& group);
  Status add_group(Group& group);
  Status delete_group(Group& group);
  Status check_ids(const WriteRequest& request, const Group& accepted) const;
  Status check_size(uint64_t new_bytes) const;
  Status lock(std::string_view operation);

  Core& core_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::deque<WriteRequest*> queue_;
  std::atomic<bool> unsynced_{false};
  std::atomic<bool> changed_{false};
};

}  // namespace varve::session
