// How the stem of a word is written beside it: how many bytes at the word's end the stem has not (a
// varint), then what it has in their place. Mostly that is one byte: "running" and "run".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "index/common_start.h"
#include "index/varint.h"

namespace varve::index {

inline void append_stem(std::string* out, std::string_view word, std::string_view stem) {
  const size_t same = common_start_bytes(word, stem);
  append_varint(out, word.size() - same);
  out->append(stem.substr(same));
}

// Of bytes that may be anything: some text.
[[nodiscard]] inline std::string stem_of(std::string_view word, std::string_view written) {
  uint64_t left_out = 0;
  if (!take_varint(&written, &left_out)) return std::string(word);
  const size_t same = word.size() - std::min<uint64_t>(left_out, word.size());
  return std::string(word.substr(0, same)).append(written);
}

}  // namespace varve::index
