// Why and where a text is not JSON, and where its values stand: for error messages only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace varve::json {

struct Diagnosis {
  std::string what;  // "lone surrogate \\ud800", for example
  size_t offset;     // [bytes] of the value, escape or character at fault
};

// Looks closer at a text that the parser refused at `refused_at`. `is_complete` tells that a whole
// value ended before that place.
Diagnosis diagnose(std::string_view text, size_t refused_at, bool is_complete);

// Where the word, string or bracket that covers the byte at `offset` starts; `offset` itself when
// none does.
size_t token_start(std::string_view text, size_t offset);

// Where the n-th value or key of the text starts, counted from 0 in the order of the text, an
// array or object before what is in it. The text is JSON up to there; its size when there is none.
size_t token_offset(std::string_view text, size_t index);

}  // namespace varve::json
