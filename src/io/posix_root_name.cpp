#include "io/posix_root_name.h"

#include <fcntl.h>
#include <unistd.h>

#include "io/rules.h"

namespace varve::io {

int sync_directory(int directory) noexcept {
  const Descriptor readable = raise_above_standard(Descriptor(retry_interrupted(
      [&] { return ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); })));
  if (!readable.is_open()) return errno;
  return retry_interrupted([&] { return ::fsync(readable.get()); }) == 0 ? 0 : errno;
}

Status RootName::sync() {
  const std::lock_guard guard(mutex_);
  if (!outcome_) {
    const int os_errno = sync_directory(above_.get());
    // Nothing of ours depends on it when we may not even read the directory it is in: then it was
    // not made by us.
    outcome_ =
        os_errno == EIO ? status_from_errno(os_errno, "sync the directory above", path_) : Status();
    above_ = Descriptor();
  }
  return *outcome_;
}

}  // namespace varve::io
