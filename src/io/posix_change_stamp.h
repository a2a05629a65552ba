// The change stamps of files: FileInfo::change_stamp, by what the kernel tells of them.
//
// A file that has one name and loses it has none, whatever its times. For one that is linked in
// between: each link, rename and removal sets the time of its last change (st_ctime, which nobody
// can set to anything else). The clock for it moves in steps, so a time counts only when the clock
// has gone far beyond it: every later change then has another. Of a write the time is set before
// the size is: whoever looks in between sees the new time and the old size, so both are asked.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace varve::io {

// Whether a file system with this number (statfs) is one that is known to do so, and is not
// changed from elsewhere: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs.
[[nodiscard]] bool has_change_stamps(uint64_t file_system_type) noexcept;
// The same of the one that an open directory is on.
[[nodiscard]] bool has_change_stamps_at(int directory) noexcept;

// `now_ns`: of the clock that stamps files.
[[nodiscard]] uint64_t change_stamp_of(const struct stat& status, int64_t now_ns) noexcept;
// Now.
[[nodiscard]] uint64_t change_stamp_of(const struct stat& status) noexcept;

}  // namespace varve::io
