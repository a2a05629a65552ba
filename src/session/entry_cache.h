// EntryCache: the lines of entries that were read lately, checked (performance.cache_size).
//
// A fixed number of places, of which a row has one, its number modulo their count, and may use its
// three neighbours while nobody needs them. (Without the neighbours, of 20,000 entries drawn from a
// million a fifth pushed each other out of 40,000 places.) In its own place the newest stays.
// A line is given only for the very place in the log, of the generation, that it was read from.
// Places take memory when one near them is used first.
//
// Threads: any. Cost: one lock for moments.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "session/entry_line.h"
#include "session/line_memory.h"

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

  // A line to be kept.
  [[nodiscard]] EntryLine line_of(std::string_view bytes) const {
    return lines_ == nullptr ? EntryLine(bytes) : EntryLine(bytes, *lines_);
  }
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
      return offset == location.offset && generation == wanted && line_hash == location.line_hash &&
             line && line.size() == location.length;
    }
    // Whether nobody would miss what is here: nothing, the same entry, or what was replaced.
    [[nodiscard]] bool may_take(const Place& other) const {
      return !line || generation != other.generation || offset == other.offset;
    }
  };
  // Of about as many lines the processor knows the pages.
  static constexpr size_t kLargeCachePlaces = 4096;
  static constexpr size_t kStretchPlaces = 64;
  static constexpr size_t kNeighbourCount = 4;  // with the place itself
  struct alignas(64) Stretch {
    std::array<Place, kStretchPlaces> places;
  };
  static constexpr size_t kMutexCount = 16;

  [[nodiscard]] std::mutex& mutex_of(size_t stretch) const {
    return mutexes_[stretch % kMutexCount];
  }

  // The places of its neighbours, and its own, in the stretch of `number`.
  [[nodiscard]] std::span<Place> neighbours(Stretch& stretch, size_t number) const;

  size_t place_count_;
  LineMemory::Owner lines_;  // of a large one
  mutable std::array<std::mutex, kMutexCount> mutexes_;
  // What each points to is guarded by its mutex, which is held to change it, too. prefetch() reads
  // the pointer without, and follows it nowhere.
  std::vector<std::atomic<Stretch*>> stretches_;
};

}  // namespace varve::session
