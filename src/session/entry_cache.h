// EntryCache: the lines of entries that were read lately, checked (performance.cache_size).
//
// A fixed number of places, one for each row number modulo their count: the newest stays. A line is
// given only for the very place in the log, of the generation, that it was read from. Places take
// memory when one near them is used first.
//
// Threads: any. Cost: one lock for moments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "index/index.h"
#include "session/entry_line.h"

namespace varve::session {

class EntryCache {
 public:
  static constexpr size_t kLineBytesMax = size_t{16} << 10;  // longer lines are not kept

  explicit EntryCache(uint64_t entries_max)
      : place_count_(entries_max),
        stretches_((entries_max + kStretchPlaces - 1) / kStretchPlaces) {}
  ~EntryCache() { clear(); }
  EntryCache(const EntryCache&) = delete;
  EntryCache& operator=(const EntryCache&) = delete;

  // None: not there.
  [[nodiscard]] EntryLine find(uint64_t generation, uint32_t row,
                               const index::Location& location) const;
  void keep(uint64_t generation, uint32_t row, const index::Location& location,
            const EntryLine& line);
  // Asks for the memory that find() looks at first: of several, it comes at once.
  void prefetch(uint32_t row) const noexcept;
  // Forgets everything: after a purge no line may stay.
  void clear() noexcept;
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  // Never across two lines of the processor's memory.
  struct alignas(32) Place {
    uint64_t generation = 0;
    uint64_t offset = 0;
    uint64_t line_hash = 0;
    EntryLine line;

    [[nodiscard]] bool is_of(uint64_t wanted, const index::Location& location) const {
      return generation == wanted && offset == location.offset && line_hash == location.line_hash &&
             line && line.size() == location.length;
    }
  };
  static constexpr size_t kStretchPlaces = 64;
  using Stretch = std::array<Place, kStretchPlaces>;
  static constexpr size_t kMutexCount = 16;

  [[nodiscard]] std::mutex& mutex_of(size_t stretch) const {
    return mutexes_[stretch % kMutexCount];
  }

  size_t place_count_;
  mutable std::array<std::mutex, kMutexCount> mutexes_;
  // What each points to is guarded by its mutex, which is held to change it, too. prefetch() reads
  // the pointer without, and follows it nowhere.
  std::vector<std::atomic<Stretch*>> stretches_;
};

}  // namespace varve::session
