// EntryCache: the lines of entries that were read lately, checked (performance.cache_size).
//
// A fixed number of places, one for each row number modulo their count: the newest stays. A line is
// given only for the very place in the log, of the generation, that it was read from. Places take
// memory when one near them is used first.
//
// Threads: any. Cost: one lock for moments.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "index/index.h"

namespace varve::session {

// An entry's line; shared between the cache and the results that show it.
using EntryLine = std::shared_ptr<const std::string>;

class EntryCache {
 public:
  static constexpr size_t kLineBytesMax = size_t{16} << 10;  // longer lines are not kept

  explicit EntryCache(uint64_t entries_max)
      : place_count_(entries_max),
        stretches_((entries_max + kStretchPlaces - 1) / kStretchPlaces) {}

  // Null: not there.
  [[nodiscard]] EntryLine find(uint64_t generation, uint32_t row,
                               const index::Location& location) const;
  void keep(uint64_t generation, uint32_t row, const index::Location& location,
            const EntryLine& line);
  // Forgets everything: after a purge no line may stay.
  void clear() noexcept;
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  struct Place {
    uint64_t generation = 0;
    index::Location location;
    EntryLine line;
  };
  static constexpr size_t kStretchPlaces = 64;
  using Stretch = std::array<Place, kStretchPlaces>;
  static constexpr size_t kMutexCount = 16;

  [[nodiscard]] std::mutex& mutex_of(size_t stretch) const {
    return mutexes_[stretch % kMutexCount];
  }

  size_t place_count_;
  mutable std::array<std::mutex, kMutexCount> mutexes_;
  std::vector<std::unique_ptr<Stretch>> stretches_;  // each guarded by its mutex
};

}  // namespace varve::session
