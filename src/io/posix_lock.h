// The kernel's lock on a file, and the list that keeps forked children from inheriting it.
//
// The lock belongs to the open file description. So it excludes every other handle in any process,
// survives unrelated open() and close() of the same file, and ends with its last descriptor. That
// makes fork() dangerous: a child that keeps the descriptor keeps the lock, and a child that
// unlocks it unlocks its parent's. A child that closes it does neither.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/posix_descriptor.h"

namespace varve::io {

// All descriptors of this process that may carry a lock. A forked child closes them before anything
// else runs in it (pthread_atfork); exec() closes them through O_CLOEXEC. A child made by a raw
// clone() without exec does neither.
//
// One of the two things the library keeps per process; the other is the handle table of the ABI.
class LockDescriptors {
 public:
  static LockDescriptors& of_process();

  // While it is held, nobody forks and the list does not change. Hold it from before a lock file is
  // opened until the file is on the list, so that no child is born in between.
  [[nodiscard]] std::unique_lock<std::mutex> block_forks();

  // The caller holds block_forks(); `descriptor` keeps its address until close().
  void add(Descriptor& descriptor);
  // Takes it off the list, if it is there, releases its lock and closes it.
  void close(Descriptor& descriptor);

 private:
  LockDescriptors() = default;
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::mutex mutex_;
  std::vector<Descriptor*> descriptors_;
};

// F_OFD_SETLK over byte 0. See answer_of_refused_lock() for answers that are not plain failures.
Result<bool> try_lock_descriptor(int descriptor, std::string_view path);
Status unlock_descriptor(int descriptor, std::string_view path);
// F_OFD_GETLK: whether another open file has that lock.
Result<bool> is_descriptor_locked(int descriptor, std::string_view path);
// A shared lock over byte 1, which any number may have at once, and whether another open file has
// one. What fails is as if nobody waited.
void tell_descriptor_waits(int descriptor, bool is_waiting) noexcept;
bool does_another_descriptor_wait(int descriptor) noexcept;

}  // namespace varve::io
