// SHA-256 by OpenSSL's libcrypto (static): the integrity of entries.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace varve {

using Sha256Digest = std::array<uint8_t, 32>;

// The digest of the two parts, taken as one text. Two, because a checksum covers the bytes of a
// line before and after its checksum member.
[[nodiscard]] Sha256Digest sha256(std::string_view first, std::string_view second = {}) noexcept;

}  // namespace varve
