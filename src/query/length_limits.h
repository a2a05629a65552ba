// LengthLimits: which postings of a word can give an entry a least score, told without making the
// score: by the entry's length, with a limit for each frequency.
//
// Says yes to some that cannot, never no to one that can.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "query/bm25.h"

namespace varve::query {

class LengthLimits {
 public:
  LengthLimits(const Bm25& bm25, double idf, double least) {
    const double share = least > 0 ? Bm25::weight(idf) / least - 1 : 0;
    for (uint32_t frequency = 1; least > 0 && frequency < kFrequencies; ++frequency) {
      below_[frequency] = bm25.length_below(share * frequency);
    }
  }

  // Of a word that is in no entry more often than `frequency_max`.
  [[nodiscard]] bool can_any_reach(uint32_t frequency_max) const {
    return below_[std::min(frequency_max, kFrequencies)] > 0;
  }
  [[nodiscard]] bool can_reach(uint32_t frequency, uint32_t length) const {
    return length < below_[std::min(frequency, kFrequencies)];
  }

 private:
  // Entries that have a word more often are few: of them nothing is known.
  static constexpr uint32_t kFrequencies = 7;
  static constexpr uint32_t kNone = UINT32_MAX;
  std::array<uint32_t, kFrequencies + 1> below_{kNone, kNone, kNone, kNone,
                                                kNone, kNone, kNone, kNone};
};

}  // namespace varve::query
