#include "io/posix_root_name.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/rules.h"

namespace varve::io {

namespace {

int sync_opened(const Descriptor& directory) noexcept {
  return retry_interrupted([&] { return ::fsync(directory.get()); }) == 0 ? 0 : errno;
}

// Nothing of ours depends on a directory that we may not read or write in, since we made nothing in
// it. And where directories cannot be synced (EINVAL), nobody can do more.
bool is_excused(int os_errno) noexcept {
  return os_errno == EACCES || os_errno == EPERM || os_errno == EROFS || os_errno == EINVAL;
}

}  // namespace

int sync_directory(int directory) noexcept {
  const Descriptor readable = open_again(directory);
  return readable.is_open() ? sync_opened(readable) : errno;
}

Status RootName::sync() {
  const std::lock_guard guard(mutex_);
  if (outcome_) return *outcome_;
  const Descriptor readable = open_again(above_.get());
  const int os_errno = readable.is_open() ? sync_opened(readable) : errno;
  Status synced = os_errno == 0 || is_excused(os_errno)
                      ? Status()
                      : status_from_errno(os_errno, "sync the directory above", path_);
  // No descriptor or no memory: the next call may have it.
  if (!readable.is_open() && !synced.ok()) return synced;
  outcome_ = std::move(synced);
  above_ = Descriptor();
  return *outcome_;
}

}  // namespace varve::io
