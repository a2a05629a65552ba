// Encoded bytes: pictures, sound, signatures and the like, which stand in texts as base64. They say
// nothing to who reads or searches.
#pragma once

#include <cstddef>
#include <string_view>

namespace varve::text {

// Shorter runs may be names, addresses or hashes that somebody looks for.
inline constexpr size_t kEncodedBytesMin = 512;

// The first run of kEncodedBytesMin or more characters of base64 (of either alphabet) which has
// small letters, capitals and digits, as encoded bytes of this length have. At the text's end, and
// empty, when there is none.
[[nodiscard]] std::string_view find_encoded(std::string_view text);

// The text without such runs: visit(std::string_view) for what stands before, between and behind.
template <typename Visit>
void for_each_readable(std::string_view text, Visit visit) {
  while (true) {
    const std::string_view encoded = find_encoded(text);
    const auto before = static_cast<size_t>(encoded.data() - text.data());
    if (before > 0) visit(text.substr(0, before));
    if (encoded.empty()) return;
    text.remove_prefix(before + encoded.size());
  }
}

}  // namespace varve::text
