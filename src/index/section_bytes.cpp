#include "index/section_bytes.h"

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>

namespace varve::index {

SectionBytes::SectionBytes(std::string bytes)
    : made_(std::move(bytes)),
      data_(made_.data()),
      size_(made_.size()),
      is_whole_(true),
      read_bytes_(made_.capacity()) {}

SectionBytes::SectionBytes(std::shared_ptr<SnapshotFile> file, SnapshotSection section)
    : size_(file->length(section)),
      file_(std::move(file)),
      section_(section),
      is_whole_(size_ == 0),
      read_bytes_(0) {
  room_.reset(new char[size_]);  // as it comes: zeroing it would take the memory
  data_ = room_.get();
  is_read_ = std::make_unique<std::atomic<bool>[]>(size_ / kSnapshotBlockBytes + 1);
}

Status SectionBytes::read_all() {
  if (is_whole_.load(std::memory_order_acquire)) return {};
  const std::lock_guard guard(mutex_);
  VARVE_TRY(read_blocks(0, (size_ + kSnapshotBlockBytes - 1) / kSnapshotBlockBytes));
  is_whole_.store(true, std::memory_order_release);
  return {};
}

bool SectionBytes::read(uint64_t offset, uint64_t length) {
  if (length == 0) return true;
  const uint64_t first = offset / kSnapshotBlockBytes;
  const uint64_t end = (offset + length - 1) / kSnapshotBlockBytes + 1;
  uint64_t missing = first;
  while (missing < end && is_read(missing)) ++missing;
  if (missing == end) return true;
  const std::lock_guard guard(mutex_);
  return read_blocks(missing, end).ok();
}

// Neighbours that are missing together. The mutex is held.
Status SectionBytes::read_blocks(uint64_t first, uint64_t end) {
  while (first < end) {
    if (is_read(first)) {
      ++first;
      continue;
    }
    uint64_t last = first;
    while (last + 1 < end && !is_read(last + 1)) ++last;
    const uint64_t at = first * kSnapshotBlockBytes;
    const uint64_t bytes = std::min((last + 1) * kSnapshotBlockBytes, size_) - at;
    Status read = file_->read(section_, at, std::span(room_.get() + at, bytes));
    if (!read.ok()) {
      set_damaged();
      return read;
    }
    read_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    for (; first <= last; ++first) is_read_[first].store(true, std::memory_order_release);
  }
  return {};
}

}  // namespace varve::index
