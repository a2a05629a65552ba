#include "session/entry_cache.h"

#include <utility>

namespace varve::session {

EntryLine EntryCache::find(uint64_t generation, uint32_t row,
                           const index::Location& location) const {
  if (places_.empty()) return nullptr;
  const size_t number = row % places_.size();
  const std::lock_guard guard(mutex_of(number));
  const Place& place = places_[number];
  return place.generation == generation && place.location == location ? place.line : nullptr;
}

void EntryCache::keep(uint64_t generation, uint32_t row, const index::Location& location,
                      const EntryLine& line) {
  if (places_.empty() || line->size() > kLineBytesMax) return;
  const size_t number = row % places_.size();
  Place place{generation, location, line};
  const std::lock_guard guard(mutex_of(number));
  std::swap(places_[number], place);
}

void EntryCache::clear() noexcept {
  for (size_t number = 0; number < places_.size(); ++number) {
    const std::lock_guard guard(mutex_of(number));
    places_[number] = Place();
  }
}

uint64_t EntryCache::memory_bytes() const {
  uint64_t bytes = places_.size() * sizeof(Place);
  for (size_t number = 0; number < places_.size(); ++number) {
    const std::lock_guard guard(mutex_of(number));
    if (places_[number].line) bytes += places_[number].line->capacity() + sizeof(std::string);
  }
  return bytes;
}

}  // namespace varve::session
