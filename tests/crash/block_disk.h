// A disk in memory that keeps book of what it is told, and fails when it is told to.
//
// A file system of our own (FUSE, spoken by a child process) has one file, `disk`, for a loop
// device, and one beside it, `mark`: what is written there stands in the book between what the disk
// was told before and after. The loop device makes flushes of its own into fsync of the file.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "block_log.h"

namespace varve::crash {

enum class DiskFailure : uint32_t {
  kNone,
  kAll,   // every write and every flush
  kText,  // every write in which the text of an entry stands: what the file system itself writes
          // goes well, as on a disk with a bad place
};

// Whether such a disk would fail there.
bool may_fail(DiskFailure failure, const BlockEvent& event);

// Throws std::system_error when the system does not let it. The process that makes it is the one
// that the child dies with.
class RecordedDisk {
 public:
  // `folder`: empty, and this disk's alone.
  RecordedDisk(std::string folder, const DiskImage& base, uint64_t size_bytes);
  ~RecordedDisk();  // what lies on the disk must not be mounted any more
  RecordedDisk(const RecordedDisk&) = delete;
  RecordedDisk& operator=(const RecordedDisk&) = delete;

  [[nodiscard]] std::string path() const { return folder_ + "/disk"; }
  // Returns when it stands in the book. `kind`: one of the two marks.
  void mark(BlockEvent::Kind kind) const;

  // Fails with EIO, once `passed` more writes and flushes have gone well, until it is healed.
  void fail_after(uint64_t passed, DiskFailure failure);
  void heal() { shared_->failure = DiskFailure::kNone; }
  [[nodiscard]] uint64_t failed_count() const { return shared_->failed_count; }

  [[nodiscard]] std::vector<BlockEvent> events() const;

  // What both processes see.
  struct Shared {
    std::atomic<DiskFailure> failure;
    std::atomic<uint64_t> passing;  // before the failure begins
    std::atomic<uint64_t> failed_count;
  };

 private:
  void serve(int channel);

  const std::string folder_;
  const uint64_t size_bytes_;
  char* bytes_ = nullptr;
  Shared* shared_ = nullptr;
  int book_ = -1;
  int mark_ = -1;
  pid_t child_ = -1;
};

}  // namespace varve::crash
