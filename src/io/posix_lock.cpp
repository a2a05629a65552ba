#include "io/posix_lock.h"

#include <fcntl.h>
#include <pthread.h>

#include <algorithm>

#include "io/rules.h"

namespace varve::io {
namespace {

constexpr off_t kLockByte = 0;
constexpr off_t kWaitingByte = 1;

struct flock lock_of(short type, off_t byte) noexcept {
  struct flock lock {};  // l_pid must be 0 for a lock of the open file description
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

int set_lock(int descriptor, short type, off_t byte = kLockByte) noexcept {
  struct flock lock = lock_of(type, byte);
  return retry_interrupted([&] { return ::fcntl(descriptor, F_OFD_SETLK, &lock); });
}

}  // namespace

LockDescriptors& LockDescriptors::of_process() {
  // Never destroyed, so that a fork while the program exits still finds it.
  static LockDescriptors* const kInstance = new LockDescriptors();
  static std::once_flag registered;
  std::call_once(registered, [] {
    ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  });
  return *kInstance;
}

std::unique_lock<std::mutex> LockDescriptors::block_forks() {
  return std::unique_lock<std::mutex>(mutex_);
}

void LockDescriptors::add(Descriptor& descriptor) { descriptors_.push_back(&descriptor); }

void LockDescriptors::close(Descriptor& descriptor) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::erase(descriptors_, &descriptor);
  // A child of posix_spawn() or a raw vfork() has the open file too until it calls exec(), and runs
  // none of our handlers: if we only closed the file, the child would keep the lock.
  (void)set_lock(descriptor.get(), F_UNLCK);
  descriptor.close();
}

void LockDescriptors::before_fork() { of_process().mutex_.lock(); }

void LockDescriptors::after_fork_in_parent() { of_process().mutex_.unlock(); }

// Only close() and plain stores: nothing else is safe in the child of a program with threads. The
// handles stay valid objects, but all their operations answer EBADF.
void LockDescriptors::after_fork_in_child() {
  LockDescriptors& list = of_process();
  for (Descriptor* descriptor : list.descriptors_) descriptor->close();
  list.mutex_.unlock();
}

Result<bool> try_lock_descriptor(int descriptor, std::string_view path) {
  if (set_lock(descriptor, F_WRLCK) == 0) return true;
  return answer_of_refused_lock(errno, path);
}

Status unlock_descriptor(int descriptor, std::string_view path) {
  if (set_lock(descriptor, F_UNLCK) == 0) return {};
  return status_from_errno(errno, "unlock", path);
}

Result<bool> is_descriptor_locked(int descriptor, std::string_view path) {
  struct flock lock = lock_of(F_WRLCK, kLockByte);
  if (retry_interrupted([&] { return ::fcntl(descriptor, F_OFD_GETLK, &lock); }) == 0) {
    return lock.l_type != F_UNLCK;
  }
  return answer_of_refused_lock(errno, path);
}

void tell_descriptor_waits(int descriptor, bool is_waiting) noexcept {
  (void)set_lock(descriptor, is_waiting ? F_RDLCK : F_UNLCK, kWaitingByte);
}

bool does_another_descriptor_wait(int descriptor) noexcept {
  struct flock lock = lock_of(F_WRLCK, kWaitingByte);
  return retry_interrupted([&] { return ::fcntl(descriptor, F_OFD_GETLK, &lock); }) == 0 &&
         lock.l_type != F_UNLCK;
}

}  // namespace varve::io
