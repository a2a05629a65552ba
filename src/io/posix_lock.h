// The kernel's lock on a file, and the list that keeps forked children from inheriting it.
//
// The lock belongs to the open file description, so it excludes every other handle in any
// process, survives unrelated open() and close() of the same file, and dies with its last
// descriptor. Exactly that makes fork() dangerous: a child that keeps the descriptor keeps the
// lock alive, and a child that unlocks it unlocks its parent. A child that closes it does neither.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/posix_descriptor.h"

namespace varve::io {

// All descriptors of this process that may carry a lock. A forked child closes them before it
// runs anything else (pthread_atfork); exec() closes them through O_CLOEXEC. A child made by a
// raw clone() without exec escapes both.
//
// One of the two things the library keeps per process; the other is the handle table of the ABI.
class LockDescriptors {
 public:
  static LockDescriptors& of_process();

  // While it is held nobody forks and the list does not change. To be held from before a lock
  // file is opened until it is on the list, so that no child can be born in between.
  [[nodiscard]] std::unique_lock<std::mutex> block_forks();

  // The caller holds block_forks(); `descriptor` keeps its address until close().
  void add(Descriptor& descriptor);
  // Takes it off the list, if it is there, gives its lock back and closes it.
  void close(Descriptor& descriptor);

 private:
  LockDescriptors() = default;
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  std::mutex mutex_;
  std::vector<Descriptor*> descriptors_;
};

// F_OFD_SETLK over byte 0. See answer_of_refused_lock() for what is not a plain failure.
Result<bool> try_lock_descriptor(int descriptor, std::string_view path);
Status unlock_descriptor(int descriptor, std::string_view path);
// F_OFD_GETLK: whether another open file has that lock.
Result<bool> is_descriptor_locked(int descriptor, std::string_view path);

}  // namespace varve::io
