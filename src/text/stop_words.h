// Stop words: words too common to say anything in a question. They are indexed, so that phrases
// find them, and left out of ranked queries that have other words.
#pragma once

#include <span>
#include <string_view>

namespace varve::text {

// Folded, in no particular order; empty for a language without a list of ours.
[[nodiscard]] std::span<const std::string_view> stop_words_of(std::string_view language);

}  // namespace varve::text
