// LineMemory: memory for the lines that a large cache keeps, in huge pages where the system has
// them.
//
// A line of a kilobyte in a heap of small pages costs its reader a look-up of the page besides the
// line itself: of 10,000 lines at random a sixth of the time of a get (docs/performance.md).
// The lines come and go at random, so memory is cut into cells of some fifty sizes, an eighth apart
// at most; a cell is used again for lines of its size. What it takes is therefore what lines of
// each size took at most at one time.
//
// Lives as long as its owner and the last line in it. Threads: any. Cost: one lock for moments.
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

  // At most kBytesMax, aligned to the processor's lines. Throws std::bad_alloc.
  void* take(size_t size_bytes);
  // What take() gave for that size. Of the last line without an owner: the end of *this.
  void give_back(void* cell, size_t size_bytes) noexcept;
  // Of all cells that there ever were; they are kept until the end. Without what is left of the
  // last chunk, of a huge page up to all of it.
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  struct Cell {  // that is free
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
  char* unused_ = nullptr;  // of the last chunk
  size_t unused_bytes_ = 0;
  uint64_t memory_bytes_ = 0;
  uint64_t user_count_ = 1;  // lines, and the owner
};

}  // namespace varve::session
