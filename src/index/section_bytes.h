// SectionBytes: the bytes of a section of index.bin, read a block at a time when they are asked
// for; or such bytes made in this process. What was read stays in memory, at the same address.
//
// Threads: any.
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
  // Bytes that are all there.
  explicit SectionBytes(std::string bytes);
  SectionBytes(std::shared_ptr<SnapshotFile> file, SnapshotSection section);

  [[nodiscard]] uint64_t size() const { return size_; }
  // A part of it, which ends no further than size(). Null data, and is_damaged(), when it cannot be
  // read or fails its hash.
  [[nodiscard]] std::string_view view(uint64_t offset, uint64_t length) {
    if (!is_there(offset, length) && !read(offset, length)) return {};
    return {data_ + offset, length};
  }
  // Reads what is missing.
  Status read_all();
  // Whether a read failed, or a reader found that what it read cannot be.
  [[nodiscard]] bool is_damaged() const { return is_damaged_.load(std::memory_order_relaxed); }
  void set_damaged() { is_damaged_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] uint64_t memory_bytes() const {
    return read_bytes_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] bool is_read(uint64_t block) const {
    return is_read_[block].load(std::memory_order_acquire);
  }
  // The quick answer for parts that lie in one block, as nearly all do: whether it was read.
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
