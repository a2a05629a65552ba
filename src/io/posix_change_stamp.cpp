#include "io/posix_change_stamp.h"

#ifdef __linux__
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <array>
#include <ctime>

namespace varve::io {
namespace {

// More than one step of the kernel's clock (10 ms at most); and more than one step of a file system
// that counts in seconds, as ext4 with small inodes.
constexpr int64_t kSettledNs = 50'000'000;
constexpr int64_t kSettledSecondsNs = 2'000'000'000;

int64_t nanoseconds(const struct timespec& time) noexcept {
  return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_nsec};
}

}  // namespace

bool has_change_stamps(uint64_t file_system_type) noexcept {
  // ext2 to ext4, XFS, Btrfs, F2FS, tmpfs: of <linux/magic.h>.
  constexpr std::array<uint64_t, 5> kKnown = {0xEF53, 0x58465342, 0x9123683E, 0xF2F52010,
                                              0x01021994};
  return std::find(kKnown.begin(), kKnown.end(), file_system_type) != kKnown.end();
}

bool has_change_stamps_at(int directory) noexcept {
#ifdef __linux__
  struct statfs file_system {};
  if (::fstatfs(directory, &file_system) != 0) return false;
  return has_change_stamps(static_cast<uint32_t>(file_system.f_type));
#else
  (void)directory;
  return false;
#endif
}

uint64_t change_stamp_of(const struct stat& status, int64_t now_ns) noexcept {
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1) return 0;
  const int64_t changed_ns = nanoseconds(status.st_ctim);
  const int64_t settled_ns = status.st_ctim.tv_nsec == 0 ? kSettledSecondsNs : kSettledNs;
  const bool is_settled = changed_ns > 0 && changed_ns < now_ns - settled_ns;
  return is_settled ? static_cast<uint64_t>(changed_ns) : 0;
}

uint64_t change_stamp_of(const struct stat& status) noexcept {
  struct timespec now {};
#ifdef __linux__
  if (::clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return 0;
#endif
  return change_stamp_of(status, nanoseconds(now));
}

}  // namespace varve::io
