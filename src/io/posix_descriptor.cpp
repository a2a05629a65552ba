#include "io/posix_descriptor.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

#include "io/rules.h"
#include "io/system_clock.h"

namespace varve::io {
namespace {

constexpr int kFirstFreeNumber = 3;
constexpr int64_t kLeasePauseMinUs = 500;
constexpr int64_t kLeasePauseMaxUs = 10'000;

#if defined(SYS_openat2) && defined(RESOLVE_BENEATH)
int open_beneath(int directory, const char* name, int flags, uint32_t permissions) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = (flags & O_CREAT) != 0 ? permissions : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(retry_interrupted(
      [&] { return ::syscall(SYS_openat2, directory, name, &how, sizeof(how)); }));
}
#else
int open_beneath(int, const char*, int, uint32_t) noexcept {
  errno = ENOSYS;
  return -1;
}
#endif

// Whether openat() may succeed where openat2() did not. Kernels before 5.6 answer ENOSYS; sandboxes
// answer what they like. As a name is a single component, O_NOFOLLOW alone protects it too, and a
// real EPERM, EACCES or EINVAL comes back from openat() as well. EXDEV: what was found was moved
// out of the directory before the kernel looked where it is, as a session that is being deleted.
bool may_be_of_openat2_alone(int os_errno) noexcept {
  return os_errno == ENOSYS || os_errno == EPERM || os_errno == EACCES || os_errno == EINVAL ||
         os_errno == EXDEV;
}

int open_component_once(int directory, const char* name, int flags, uint32_t permissions) noexcept {
  const int number = open_beneath(directory, name, flags, permissions);
  if (number >= 0 || !may_be_of_openat2_alone(errno)) return number;
  return retry_interrupted([&] { return ::openat(directory, name, flags, permissions); });
}

}  // namespace

LeasePatience::LeasePatience() noexcept : pause_us_(kLeasePauseMinUs) {}

bool LeasePatience::goes_on(int number, int directory, const char* name, int at_flags) noexcept {
  if (number >= 0 || errno != EAGAIN || waited_us_ >= kLeaseWaitMaxUs) return false;
  struct stat status {};
  const bool is_file =
      ::fstatat(directory, name, &status, at_flags) == 0 && S_ISREG(status.st_mode);
  errno = EAGAIN;
  if (!is_file) return false;
  SystemClock().sleep_us(pause_us_);
  errno = EAGAIN;
  waited_us_ += pause_us_;
  pause_us_ = std::min(2 * pause_us_, kLeasePauseMaxUs);
  return true;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    value_ = other.release();
  }
  return *this;
}

int Descriptor::release() noexcept { return std::exchange(value_, -1); }

void Descriptor::close() noexcept {
  if (value_ < 0) return;
  const int saved_errno = errno;
  ::close(release());
  errno = saved_errno;
}

Descriptor raise_above_standard(Descriptor descriptor) noexcept {
  if (!descriptor.is_open() || descriptor.get() >= kFirstFreeNumber) return descriptor;
  return Descriptor(retry_interrupted(
      [&] { return ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFirstFreeNumber); }));
}

Descriptor open_again(int directory) noexcept {
  return raise_above_standard(Descriptor(retry_interrupted(
      [&] { return ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); })));
}

Descriptor open_component(int directory, const std::string& name, int flags,
                          uint32_t permissions) noexcept {
  flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  LeasePatience patience;
  int number = -1;
  do {
    number = open_component_once(directory, name.c_str(), flags, permissions);
  } while (patience.goes_on(number, directory, name.c_str(), AT_SYMLINK_NOFOLLOW));
  return raise_above_standard(Descriptor(number));
}

FileKind kind_of_mode(mode_t mode) noexcept {
  if (S_ISREG(mode)) return FileKind::kRegular;
  return S_ISDIR(mode) ? FileKind::kDirectory : FileKind::kOther;
}

const char* describe_mode(mode_t mode) noexcept {
  if (S_ISREG(mode)) return "a regular file";
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "of an unknown kind";
}

FileInfo info_of(const struct stat& status) noexcept {
  FileInfo info;
  info.kind = kind_of_mode(status.st_mode);
  info.size_bytes = static_cast<uint64_t>(status.st_size);
  info.modified_ms =
      int64_t{status.st_mtim.tv_sec} * 1'000 + int64_t{status.st_mtim.tv_nsec} / 1'000'000;
  info.permissions = status.st_mode & 07777U;
  info.link_count = status.st_nlink;
  info.identity = {status.st_dev, status.st_ino};
  return info;
}

Result<struct stat> stat_of(int descriptor, std::string_view path) {
  struct stat status {};
  if (retry_interrupted([&] { return ::fstat(descriptor, &status); }) != 0) {
    return refused_reading(status_from_errno(errno, "examine", path));
  }
  return status;
}

int stat_of_name(int directory, const char* name, struct stat* status) noexcept {
  const int answer =
      retry_interrupted([&] { return ::fstatat(directory, name, status, AT_SYMLINK_NOFOLLOW); });
  return answer == 0 ? 0 : errno;
}

}  // namespace varve::io
