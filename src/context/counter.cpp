#include "context/counter.h"

#include <string>

#include "base/hash.h"
#include "text/token_estimate.h"

namespace varve::context {

std::optional<uint64_t> CountCache::Place::count_of(uint64_t key) const {
  const uint64_t known = count.load(std::memory_order_relaxed);
  const uint64_t its_mark = mark.load(std::memory_order_relaxed);
  return its_mark == (key ^ known) && its_mark != 0 ? std::optional(known) : std::nullopt;
}

std::optional<uint64_t> CountCache::find(uint64_t key) const {
  for (const Place& place : groups_[key % kGroups].places) {
    if (const auto count = place.count_of(key)) return count;
  }
  return std::nullopt;
}

void CountCache::keep(uint64_t key, uint64_t count) {
  Group& group = groups_[key % kGroups];
  Place* place = &group.places[key / kGroups % kPlacesOfGroup];
  for (Place& one : group.places) {
    if (one.mark.load(std::memory_order_relaxed) == 0) place = &one;
    if (one.count_of(key)) {
      place = &one;
      break;
    }
  }
  place->count.store(count, std::memory_order_relaxed);
  place->mark.store(key ^ count, std::memory_order_relaxed);
}

Result<uint64_t> Counter::count(std::string_view text) const {
  if (function_ == nullptr) return text::estimate_tokens(text);
  uint64_t tokens = 0;
  const int32_t answer = function_(user_data_, text.data(), text.size(), &tokens);
  if (answer == 0) return tokens;
  return Status(Code::kCallback, "the token counter failed: it returned " + std::to_string(answer) +
                                     " for a text of " + std::to_string(text.size()) + " bytes");
}

uint64_t Counter::own_key(uint64_t key) const {
  const uint64_t both[] = {key, version_};
  return hash64({reinterpret_cast<const char*>(both), sizeof both});
}

std::optional<uint64_t> Counter::known(uint64_t key) const { return cache_->find(own_key(key)); }

Result<uint64_t> Counter::count_keyed(uint64_t key, std::string_view text) const {
  const uint64_t own = own_key(key);
  if (const auto found = cache_->find(own)) return *found;
  VARVE_TRY_ASSIGN(const uint64_t tokens, count(text));
  cache_->keep(own, tokens);
  return tokens;
}

}  // namespace varve::context
