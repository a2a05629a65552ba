// Change stamps of files (FileInfo::change_stamp), made from what the kernel says of a file.
//
// A file that has one name and loses it has no stamp, whatever its times. For a file that is linked
// in between: each link, rename and removal sets st_ctime, which nobody can set to anything else.
// The clock for it moves in steps, so a time gives a stamp only when the clock has gone far beyond
// it: every later change then has another time. A write sets the time before the size, so somebody
// who looks in between sees the new time and the old size: therefore both are compared.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace varve::io {

// Whether the file system with this number (statfs) is known to do so, and is not changed from
// another machine: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs.
[[nodiscard]] bool has_change_stamps(uint64_t file_system_type) noexcept;
// The same for the file system of an open directory.
[[nodiscard]] bool has_change_stamps_at(int directory) noexcept;

// `now_ns` is the time of the clock that stamps files.
[[nodiscard]] uint64_t change_stamp_of(const struct stat& status, int64_t now_ns) noexcept;
// The same, now.
[[nodiscard]] uint64_t change_stamp_of(const struct stat& status) noexcept;

}  // namespace varve::io
