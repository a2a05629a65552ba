// LineMemory: memory for the lines of a large cache, in huge pages where the system has them.
//
// In a heap of small pages, reading a line of a kilobyte costs a look-up of its page besides the
// line itself: with 10,000 lines at random, a sixth of the time of a get
// (docs/performance-tried.md). Lines come and go at random, so the memory is cut into cells of some
// fifty sizes, an eighth apart at most. A free cell is used again for a line of its size. So the
// memory taken is what the lines of each size took at their peak.
//
// It lives until its owner and its last line are gone. Threads: any. Cost: one lock for moments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace varve::session {

class LineMemory {
 public:
  static constexpr size_t kBytesMax = size_t{20} << 10;  // of one line, with its head
  static constexpr size_t kCellUnitBytes = 64;
  static constexpr size_t kCellSizeCount = 50;

  struct Leave {
    void operator()(LineMemory* memory) const noexcept { memory->leave(); }
  };
  using Owner = std::unique_ptr<LineMemory, Leave>;
  static Owner make();
  LineMemory(const LineMemory&) = delete;
  LineMemory& operator=(const LineMemory&) = delete;

  // At most kBytesMax, aligned to the processor's cache lines. Throws std::bad_alloc.
  void* take(size_t size_bytes);
  // Takes back a cell of take(). Giving back the last line without an owner deletes *this.
  void give_back(void* cell, size_t size_bytes) noexcept;
  // Of all cells ever cut; none is returned to the system before the end. The uncut rest of the
  // last chunk, up to a huge page, does not count.
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  struct Cell {  // a free one
    Cell* next = nullptr;
  };
  struct Free {
    bool is_mapped = false;
    void operator()(char* chunk) const noexcept;
  };
  using Chunk = std::unique_ptr<char, Free>;

  LineMemory() = default;
  ~LineMemory() = default;
  void leave() noexcept;
  void add_chunk();  // under the lock

  mutable std::mutex mutex_;
  std::array<Cell*, kCellSizeCount> free_{};
  std::vector<Chunk> chunks_;
  size_t next_chunk_bytes_ = size_t{64} << 10;
  char* unused_ = nullptr;  // the uncut rest of the last chunk
  size_t unused_bytes_ = 0;
  uint64_t memory_bytes_ = 0;
  uint64_t user_count_ = 1;  // the lines, and the owner
};

}  // namespace varve::session
