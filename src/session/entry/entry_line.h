// EntryLine: an entry's line as stored, shared by the entry cache and the results that show it.
//
// Holder count, size and bytes are one allocation, so that a reader waits for memory once and not
// for one pointer after another. The allocation is from the heap or from a LineMemory.
//
// Threads: as std::shared_ptr<const std::string>. Different copies may be used and dropped by any
// threads, one copy by one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace varve::session {

class LineMemory;

class EntryLine {
 public:
  EntryLine() noexcept = default;  // holds no line
  explicit EntryLine(std::string_view bytes);
  // In `memory`, or in the heap if the line is longer than `memory` takes.
  EntryLine(std::string_view bytes, LineMemory& memory);
  EntryLine(const EntryLine& other) noexcept : head_(other.head_) {
    if (head_ != nullptr) head_->holder_count.fetch_add(1, std::memory_order_relaxed);
  }
  EntryLine(EntryLine&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  EntryLine& operator=(EntryLine other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~EntryLine() { drop(); }

  [[nodiscard]] explicit operator bool() const noexcept { return head_ != nullptr; }
  // The bytes of a line that is there. A NUL follows them.
  [[nodiscard]] std::string_view operator*() const noexcept { return {bytes(), head_->size_bytes}; }
  [[nodiscard]] size_t size() const noexcept { return head_->size_bytes; }
  // The memory that it takes.
  [[nodiscard]] size_t memory_bytes() const noexcept { return memory_bytes_of(size()); }
  // Prefetches the beginning of the line; the processor itself prefetches what is read in order.
  void prefetch() const noexcept;

 private:
  struct Head {
    std::atomic<uint32_t> holder_count{1};
    uint32_t size_bytes = 0;
    LineMemory* memory = nullptr;  // null: from the heap
  };

  static size_t memory_bytes_of(size_t size_bytes) noexcept {
    return sizeof(Head) + size_bytes + 1;
  }
  [[nodiscard]] const char* bytes() const noexcept {
    return reinterpret_cast<const char*>(head_ + 1);
  }
  static Head* make(std::string_view bytes, LineMemory* memory);
  void drop() noexcept;

  Head* head_ = nullptr;
};

}  // namespace varve::session
