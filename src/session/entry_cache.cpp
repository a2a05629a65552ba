#include "session/entry_cache.h"

#include <utility>

namespace varve::session {

EntryLine EntryCache::find(uint64_t generation, uint32_t row,
                           const index::Location& location) const {
  if (place_count_ == 0) return {};
  const size_t number = row % place_count_;
  const size_t at = number / kStretchPlaces;
  const std::lock_guard guard(mutex_of(at));
  if (!stretches_[at]) return {};
  const Place& place = (*stretches_[at])[number % kStretchPlaces];
  return place.is_of(generation, location) ? place.line : EntryLine();
}

void EntryCache::keep(uint64_t generation, uint32_t row, const index::Location& location,
                      const EntryLine& line) {
  if (place_count_ == 0 || line.size() > kLineBytesMax) return;
  const size_t number = row % place_count_;
  const size_t at = number / kStretchPlaces;
  Place place{generation, location.offset, location.line_hash, line};
  const std::lock_guard guard(mutex_of(at));
  if (!stretches_[at]) stretches_[at] = std::make_unique<Stretch>();
  std::swap((*stretches_[at])[number % kStretchPlaces], place);
}

void EntryCache::prefetch(uint32_t row) const noexcept {
  if (place_count_ == 0) return;
  const size_t number = row % place_count_;
  const size_t at = number / kStretchPlaces;
  const std::lock_guard guard(mutex_of(at));
  if (stretches_[at]) (*stretches_[at])[number % kStretchPlaces].line.prefetch();
}

void EntryCache::clear() noexcept {
  for (size_t at = 0; at < stretches_.size(); ++at) {
    const std::lock_guard guard(mutex_of(at));
    stretches_[at].reset();
  }
}

uint64_t EntryCache::memory_bytes() const {
  uint64_t bytes = stretches_.size() * sizeof(stretches_[0]);
  for (size_t at = 0; at < stretches_.size(); ++at) {
    const std::lock_guard guard(mutex_of(at));
    if (!stretches_[at]) continue;
    bytes += sizeof(Stretch);
    for (const Place& place : *stretches_[at]) {
      if (place.line) bytes += place.line.memory_bytes();
    }
  }
  return bytes;
}

}  // namespace varve::session
