#include "session/entry/entry_cache.h"

#include <algorithm>
#include <utility>

namespace varve::session {

EntryLine EntryCache::find(uint64_t generation, uint32_t row,
                           const index::Location& location) const {
  if (place_count_ == 0) return {};
  const size_t number = row % place_count_;
  const size_t at = number / kStretchPlaces;
  const std::lock_guard guard(mutex_of(at));
  Stretch* const stretch = stretches_[at].load(std::memory_order_relaxed);
  if (stretch == nullptr) return {};
  const Place* found = &stretch->places[number % kStretchPlaces];
  if (!found->is_of(generation, location)) {
    const auto near = neighbours(*stretch, number);
    const auto place = std::ranges::find_if(
        near, [&](const Place& one) { return one.is_of(generation, location); });
    if (place == near.end()) return {};
    found = &*place;
  }
  // What is read soon arrives with the beginning, for which the count of holders waits.
  found->line.prefetch();
  return found->line;
}

void EntryCache::keep(uint64_t generation, uint32_t row, const index::Location& location,
                      const EntryLine& line) {
  if (place_count_ == 0 || line.size() > kLineBytesMax) return;
  const size_t number = row % place_count_;
  const size_t at = number / kStretchPlaces;
  Place place{generation, location.offset, location.line_hash, line};
  const std::lock_guard guard(mutex_of(at));
  Stretch* stretch = stretches_[at].load(std::memory_order_relaxed);
  if (stretch == nullptr) {
    stretch = new Stretch;
    stretches_[at].store(stretch, std::memory_order_relaxed);
  }
  Place& own = stretch->places[number % kStretchPlaces];
  Place* chosen = &own;
  if (!own.may_take(place)) {
    const auto near = neighbours(*stretch, number);
    const auto free =
        std::ranges::find_if(near, [&](const Place& one) { return one.may_take(place); });
    if (free != near.end()) chosen = &*free;
  }
  std::swap(*chosen, place);
}

std::span<EntryCache::Place> EntryCache::neighbours(Stretch& stretch, size_t number) const {
  const size_t first = number - number % kNeighbourCount;
  const size_t count = std::min(kNeighbourCount, place_count_ - first);
  return std::span(stretch.places).subspan(first % kStretchPlaces, count);
}

void EntryCache::prefetch(uint32_t row) const noexcept {
  if (place_count_ == 0) return;
  const size_t number = row % place_count_;
  const Stretch* const stretch =
      stretches_[number / kStretchPlaces].load(std::memory_order_relaxed);
  // Only the address is used: the place may be gone by now. A neighbour is seldom wanted.
  const auto address =
      reinterpret_cast<uintptr_t>(stretch) + number % kStretchPlaces * sizeof(Place);
  __builtin_prefetch(reinterpret_cast<const void*>(address));
}

void EntryCache::clear() noexcept {
  for (size_t at = 0; at < stretches_.size(); ++at) {
    const std::lock_guard guard(mutex_of(at));
    delete stretches_[at].exchange(nullptr, std::memory_order_relaxed);
  }
}

uint64_t EntryCache::memory_bytes() const {
  uint64_t bytes = stretches_.size() * sizeof(stretches_[0]);
  if (lines_ != nullptr) bytes += lines_->memory_bytes();
  for (size_t at = 0; at < stretches_.size(); ++at) {
    const std::lock_guard guard(mutex_of(at));
    const Stretch* const stretch = stretches_[at].load(std::memory_order_relaxed);
    if (stretch == nullptr) continue;
    bytes += sizeof(Stretch);
    if (lines_ != nullptr) continue;
    for (const Place& place : stretch->places) {
      if (place.line) bytes += place.line.memory_bytes();
    }
  }
  return bytes;
}

}  // namespace varve::session
