// How many tokens a model's tokenizer would make of a text, without its vocabulary.
#pragma once

#include <cstdint>
#include <string_view>

namespace varve::text {

// A token for every 4 bytes or part of it.
[[nodiscard]] inline uint64_t estimate_tokens(std::string_view text) noexcept {
  return (text.size() + 3) / 4;
}

}  // namespace varve::text
