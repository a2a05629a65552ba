// SectionBytes: the bytes of a section of index.bin, read from it a block at a time when they are
// asked for, or the same made in this process. What was read stays, and stays where it is.
//
// Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "index/snapshot_file.h"

namespace varve::index {

class SectionBytes {
 public:
  // All there.
  explicit SectionBytes(std::string bytes);
  SectionBytes(std::shared_ptr<SnapshotFile> file, SnapshotSection section);

  [[nodiscard]] uint64_t size() const { return size_; }
  // A part of it, which ends no further than size(). Null data when it cannot be read or is not
  // what was written: then is_damaged().
  [[nodiscard]] std::string_view view(uint64_t offset, uint64_t length) {
    if (!is_there(offset, length) && !read(offset, length)) return {};
    return {data_ + offset, length};
  }
  // Reads what is missing.
  Status read_all();
  // Something read was wrong, or found wrong by who read it.
  [[nodiscard]] bool is_damaged() const { return is_damaged_.load(std::memory_order_relaxed); }
  void set_damaged() { is_damaged_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return read_bytes_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool is_read(uint64_t block) const {
    return is_read_[block].load(std::memory_order_acquire);
  }
  // Of what lies in one block, as nearly all that is looked at: whether it was read before.
  [[nodiscard]] bool is_there(uint64_t offset, uint64_t length) const {
    if (is_whole_.load(std::memory_order_acquire)) return true;
    const uint64_t block = offset / kSnapshotBlockBytes;
    return (offset + length) / kSnapshotBlockBytes == block && is_read(block);
  }
  bool read(uint64_t offset, uint64_t length);
  Status read_blocks(uint64_t first, uint64_t end);

  std::string made_;
  std::unique_ptr<char[]> room_;  // memory is taken for what is read into it only
  const char* data_;
  uint64_t size_;
  std::shared_ptr<SnapshotFile> file_;
  SnapshotSection section_ = kSectionCount;
  std::mutex mutex_;  // guards reading
  std::unique_ptr<std::atomic<bool>[]> is_read_;
  std::atomic<bool> is_whole_;
  std::atomic<bool> is_damaged_{false};
  std::atomic<uint64_t> read_bytes_;
};

}  // namespace varve::index
