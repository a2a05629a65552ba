// How many tokens a model's tokenizer would make of a text, without its vocabulary.
//
//   letters a-z, in one case or capitalised       1 for every 7 or part of it
//   capitals                                      1 for every 3
//   digits                                        1 for every 3
//   ASCII punctuation                             1 for every 2
//   a space before a word                         0; a longer run of spaces 1
//   line ends, tabs, other controls               1 for a run
//   other characters, in UTF-8: 2 bytes 1, 3 bytes 1.5, 4 bytes 3; a run is rounded up
//
// Runs end at a line end: a text has as many tokens as its parts together when each part but the
// last ends with a line end, and none begins with a control character. Measured against real
// tokenizers in docs/context.md: made to err upwards.
#pragma once

#include <cstdint>
#include <string_view>

namespace varve::text {

// Cost: one pass over the bytes. Bytes that are not UTF-8 count as those of characters do.
[[nodiscard]] uint64_t estimate_tokens(std::string_view text) noexcept;

// Whether the part has as many tokens behind a line end as it has alone.
[[nodiscard]] bool counts_alone(std::string_view part) noexcept;

}  // namespace varve::text
