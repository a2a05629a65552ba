#include "session/entry/line_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace varve::session {

namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kChunkGrowth = 4;
constexpr size_t kFineUnits = 16;  // up to this many units, each count has its own size
constexpr size_t kSizesADoubling = 8;

struct CellSize {
  size_t number = 0;
  size_t units = 0;
};

// The smallest cell that holds `units`: every size up to 16, then eight sizes per doubling.
constexpr CellSize cell_size(size_t units) {
  if (units <= kFineUnits) return {units - 1, units};
  const auto shift = static_cast<size_t>(std::bit_width((units - 1) / kFineUnits));
  const size_t steps = (units + (size_t{1} << shift) - 1) >> shift;  // 9 to 16
  return {kFineUnits + (shift - 1) * kSizesADoubling + steps - (kSizesADoubling + 1),
          steps << shift};
}

constexpr size_t units_of(size_t size_bytes) {
  return (size_bytes + LineMemory::kCellUnitBytes - 1) / LineMemory::kCellUnitBytes;
}

static_assert(cell_size(units_of(LineMemory::kBytesMax)).number < LineMemory::kCellSizeCount);

// Aligned memory for a huge page, which it becomes if the system has one. Mapped, because heap
// memory may already be in use as small pages.
char* map_huge_page() {
  void* const mapped = ::mmap(nullptr, 2 * kHugePageBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(mapped);
  const size_t before_bytes = (0 - reinterpret_cast<uintptr_t>(begin)) % kHugePageBytes;
  char* const page = begin + before_bytes;
  if (before_bytes > 0) (void)::munmap(begin, before_bytes);
  (void)::munmap(page + kHugePageBytes, kHugePageBytes - before_bytes);
#ifdef MADV_HUGEPAGE
  (void)::madvise(page, kHugePageBytes, MADV_HUGEPAGE);
#endif
  return page;
}

}  // namespace

void LineMemory::Free::operator()(char* chunk) const noexcept {
  if (is_mapped) {
    (void)::munmap(chunk, kHugePageBytes);
  } else {
    ::operator delete (chunk, std::align_val_t{kCellUnitBytes});
  }
}

LineMemory::Owner LineMemory::make() { return Owner(new LineMemory); }

void* LineMemory::take(size_t size_bytes) {
  const CellSize size = cell_size(units_of(size_bytes));
  const size_t cell_bytes = size.units * kCellUnitBytes;
  const std::lock_guard guard(mutex_);
  void* taken = free_[size.number];
  if (taken != nullptr) {
    free_[size.number] = free_[size.number]->next;
  } else {
    if (cell_bytes > unused_bytes_) add_chunk();
    taken = std::exchange(unused_, unused_ + cell_bytes);
    unused_bytes_ -= cell_bytes;
    memory_bytes_ += cell_bytes;
  }
  ++user_count_;
  return taken;
}

void LineMemory::give_back(void* cell, size_t size_bytes) noexcept {
  const size_t number = cell_size(units_of(size_bytes)).number;
  uint64_t left = 0;
  {
    const std::lock_guard guard(mutex_);
    free_[number] = new (cell) Cell{free_[number]};
    left = --user_count_;
  }
  if (left == 0) delete this;
}

// The first chunks are small, so that a few lines do not take a huge page. The rest of a chunk,
// less than a line, is lost.
void LineMemory::add_chunk() {
  const bool is_huge = next_chunk_bytes_ == kHugePageBytes;
  char* const memory = is_huge ? map_huge_page()
                               : static_cast<char*>(::operator new (
                                     next_chunk_bytes_, std::align_val_t{kCellUnitBytes}));
  Chunk chunk(memory, Free{is_huge});
  chunks_.push_back(std::move(chunk));
  unused_ = memory;
  unused_bytes_ = next_chunk_bytes_;
  next_chunk_bytes_ = std::min(next_chunk_bytes_ * kChunkGrowth, kHugePageBytes);
}

void LineMemory::leave() noexcept {
  uint64_t left = 0;
  {
    const std::lock_guard guard(mutex_);
    left = --user_count_;
  }
  if (left == 0) delete this;
}

uint64_t LineMemory::memory_bytes() const {
  const std::lock_guard guard(mutex_);
  return memory_bytes_;
}

}  // namespace varve::session
