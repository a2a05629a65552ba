// File systems with a defect: what a rig is worth is shown by the defects it finds.
//
// Each stands for a mistake that could be made above the seam; made below it here, the library
// stays as it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/file_system.h"

namespace varve::crash {

enum class Sabotage : uint8_t {
  kNone,
  kNoDataSync,       // answers before fdatasync
  kNoDirectorySync,  // does not sync directories
  kNoTemporarySync,  // renames a temporary file that was not synced
  kShortWriteTaken,  // takes a short write for a whole one
  kNoTailRepair,     // believes a torn tail is cut off, and appends behind it
  kRenameAfterSync,  // syncs the directory before the rename instead of after it
  kSyncRetried,      // syncs the same file again when a sync failed, and believes the answer
  kTombstonesFirst,  // compaction empties tombstones.jsonl before the new log has its name
  kRemovedFirst,     // removes the old file before the rename that would have replaced it
  kTombstoneLate,    // writes a tombstone when the next one comes
  kBatchOfOnes,      // writes a batch as entries that each stand for themselves
  kLockForAll,   // gives the lock to everybody, as if its file had been removed under its holder
  kAnyChecksum,  // every line is read with the checksum that it ought to have
};

// Everything goes to `inner`, which must outlive this, except for the one defect.
class SabotagedFileSystem final : public io::FileSystem {
 public:
  SabotagedFileSystem(io::FileSystem& inner, Sabotage defect) : inner_(inner), defect_(defect) {}

  Result<std::unique_ptr<io::Directory>> open_root(std::string_view path, bool create) override;
  Result<std::unique_ptr<io::File>> open_file(std::string_view path) override {
    return inner_.open_file(path);
  }
  [[nodiscard]] int64_t process_id() const override { return inner_.process_id(); }
  [[nodiscard]] std::string boot_id() const override { return inner_.boot_id(); }

 private:
  io::FileSystem& inner_;
  Sabotage defect_;
};

}  // namespace varve::crash
