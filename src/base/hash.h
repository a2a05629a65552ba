// XXH3-64, for look-ups and for noticing accidents in derived files; never a proof of integrity.
#pragma once

#include <cstdint>
#include <string_view>

namespace varve {

[[nodiscard]] uint64_t hash64(std::string_view bytes) noexcept;

}  // namespace varve
