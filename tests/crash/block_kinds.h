// The file systems that are tried, and what the tests of them share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "block_rig.h"

namespace varve::crash {

inline constexpr uint64_t kMiB = 1 << 20;
inline constexpr const char* kMakeExt4 =
    "mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0";

inline constexpr BlockFileSystem kExt4{"ext4", "ext4", "", kMakeExt4, 24 * kMiB, 2000};
inline constexpr BlockFileSystem kExt4Writeback{"ext4Writeback", "ext4",    "data=writeback",
                                                kMakeExt4,       24 * kMiB, 2000};
inline constexpr BlockFileSystem kExt4NoAutoAllocation{
    "ext4NoAutoAllocation", "ext4", "noauto_da_alloc", kMakeExt4, 24 * kMiB, 2000};
inline constexpr BlockFileSystem kExt4LateCommit{"ext4LateCommit", "ext4",    "commit=1000",
                                                 kMakeExt4,        24 * kMiB, 2000};
inline constexpr BlockFileSystem kBtrfs{"btrfs", "btrfs", "", "mkfs.btrfs -q -f", 128 * kMiB, 1000};
inline constexpr BlockFileSystem kXfs{"xfs",      "xfs", "", "mkfs.xfs -q -f -s size=4096",
                                      300 * kMiB, 500};

// How much of everything: VARVE_BLOCK_SCALE in percent; 100 when not set.
size_t block_share(size_t count);

// One of everything that changes what the disk holds: sessions made, deleted and made again,
// entries, batches, vectors, deletions, metadata, compactions, a purge, snapshots, reopening.
void change_everything(Program& agent);

// What all of them begin with: skipped, by name, where the machine does not let it.
#define VARVE_SKIP_UNLESS_POSSIBLE(kind)                                       \
  do {                                                                         \
    if (const std::string reason_here = why_not(kind); !reason_here.empty()) { \
      GTEST_SKIP() << (kind).name << ": " << reason_here;                      \
    }                                                                          \
  } while (false)

}  // namespace varve::crash
