// XXH3-64, for look-ups and for noticing accidents in derived files; never a proof of integrity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace varve {

[[nodiscard]] uint64_t hash64(std::string_view bytes) noexcept;

// The same for tables in memory whose keys others choose: who does not know the seed cannot choose
// keys that get in each other's way, each look-up of which would pass by all of them.
[[nodiscard]] uint64_t hash64(std::string_view bytes, uint64_t seed) noexcept;

// For Boost's tables.
struct KeyHash {
  // NOLINTBEGIN(readability-identifier-naming): the names that Boost looks for
  using is_transparent = void;
  using is_avalanching = void;
  // NOLINTEND(readability-identifier-naming)
  uint64_t seed = 0;
  size_t operator()(std::string_view key) const noexcept { return hash64(key, seed); }
};

}  // namespace varve
