// EntryCache: checked lines of recently read entries (performance.cache_size).
//
// It has a fixed number of places. A row's own place is its number modulo their count; the row may
// also use the three neighbours of that place while nobody needs them. (Without the neighbours, a
// fifth of 20,000 entries drawn from a million pushed each other out of 40,000 places.) A row's own
// place keeps the newest line. A line is found only by the place and generation of the log that it
// was read from. Places take memory when one near them is first used.
//
// Threads: any. Cost: one lock, held for moments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "session/entry/entry_line.h"
#include "session/entry/line_memory.h"

namespace varve::session {

class EntryCache {
 public:
  static constexpr size_t kLineBytesMax = size_t{16} << 10;  // longer lines are not kept

  explicit EntryCache(uint64_t entries_max)
      : place_count_(entries_max),
        lines_(entries_max < kLargeCachePlaces ? nullptr : LineMemory::make()),
        stretches_((entries_max + kStretchPlaces - 1) / kStretchPlaces) {}
  ~EntryCache() { clear(); }
  EntryCache(const EntryCache&) = delete;
  EntryCache& operator=(const EntryCache&) = delete;

  // Makes a line for keep().
  [[nodiscard]] EntryLine line_of(std::string_view bytes) const {
    return lines_ == nullptr ? EntryLine(bytes) : EntryLine(bytes, *lines_);
  }
  // Null: not in the cache.
  [[nodiscard]] EntryLine find(uint64_t generation, uint32_t row,
                               const index::Location& location) const;
  void keep(uint64_t generation, uint32_t row, const index::Location& location,
            const EntryLine& line);
  // Prefetches what find() looks at first: calls for several rows let their memory arrive at once.
  void prefetch(uint32_t row) const noexcept;
  // Forgets all lines: after a purge none may stay.
  void clear() noexcept;
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  // Aligned so that a place never spans two cache lines.
  struct alignas(32) Place {
    uint64_t generation = 0;
    uint64_t offset = 0;
    uint64_t line_hash = 0;
    EntryLine line;

    [[nodiscard]] bool is_of(uint64_t wanted, const index::Location& location) const {
      return offset == location.offset && generation == wanted && line_hash == location.line_hash &&
             line && line.size() == location.length;
    }
    // Whether the place is empty, or has the same entry or one of a replaced log: nobody misses it.
    [[nodiscard]] bool may_take(const Place& other) const {
      return !line || generation != other.generation || offset == other.offset;
    }
  };
  // The processor's TLB covers the pages of about as many lines.
  static constexpr size_t kLargeCachePlaces = 4096;
  static constexpr size_t kStretchPlaces = 64;
  static constexpr size_t kNeighbourCount = 4;  // including the place itself
  struct alignas(64) Stretch {
    std::array<Place, kStretchPlaces> places;
  };
  static constexpr size_t kMutexCount = 16;

  [[nodiscard]] std::mutex& mutex_of(size_t stretch) const {
    return mutexes_[stretch % kMutexCount];
  }

  // The place of `number` and its neighbours in the stretch.
  [[nodiscard]] std::span<Place> neighbours(Stretch& stretch, size_t number) const;

  size_t place_count_;
  LineMemory::Owner lines_;  // null for a small cache
  mutable std::array<std::mutex, kMutexCount> mutexes_;
  // The mutex of each stretch guards what the pointer points to, and is held to change the pointer.
  // prefetch() reads the pointer without it, and never follows it.
  std::vector<std::atomic<Stretch*>> stretches_;
};

}  // namespace varve::session
