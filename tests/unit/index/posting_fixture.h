// Posting lists of made-up rows, and the same as plain vectors.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "index/posting_list.h"

namespace varve::index {

using Postings = std::vector<Posting>;
using Rows = std::vector<uint32_t>;

inline Rows rows_of(const PostingList& list) {
  Rows rows;
  PostingCursor cursor(list);
  for (uint32_t row = cursor.seek(0); row != kNoRow; row = cursor.next()) rows.push_back(row);
  EXPECT_FALSE(cursor.is_damaged());
  return rows;
}

// `count` rows above `after` (kNoRow: from 0 on), with gaps of 1 to `gap_max`.
inline Postings random_postings(uint32_t count, uint32_t gap_max, uint32_t after, uint64_t seed) {
  std::mt19937_64 generator(seed);
  Postings postings;
  uint32_t row = after;
  for (uint32_t i = 0; i < count; ++i) {
    row += 1 + static_cast<uint32_t>(generator() % gap_max);
    const bool once = generator() % 3 != 0;
    const auto frequency =
        once ? 1 : static_cast<uint32_t>(generator() % (generator() % 9 == 0 ? 100'000 : 5)) + 1;
    postings.push_back({row, frequency, static_cast<uint32_t>(generator() % 500) + 3});
  }
  return postings;
}

inline PostingBuffer buffer_of(const Postings& postings) {
  PostingBuffer buffer;
  for (const auto& one : postings) buffer.add(one.row, one.frequency, one.length);
  return buffer;
}

inline std::string encoded(const PostingBuffer& buffer) {
  std::string out;
  buffer.append_encoded_to(&out);
  return out;
}

inline std::string encoded(const Postings& postings) { return encoded(buffer_of(postings)); }

}  // namespace varve::index
