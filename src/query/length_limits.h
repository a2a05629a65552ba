// LengthLimits: which postings of a word can give an entry at least a wanted score, without
// computing any: for each frequency there is an entry length from which on none can.
//
// May take a posting that cannot for one that can; never the other way round.
#pragma once

#include <algorithm>
#include <array>
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

  // Whether any posting can, of a word that is in no entry more often than `frequency_max`.
  [[nodiscard]] bool can_any_reach(uint32_t frequency_max) const {
    return below_[std::min(frequency_max, kFrequencies)] > 0;
  }
  [[nodiscard]] bool can_reach(uint32_t frequency, uint32_t length) const {
    return length < below_[std::min(frequency, kFrequencies)];
  }

 private:
  // Few entries have a word so often or more: these have no limit.
  static constexpr uint32_t kFrequencies = 7;
  static constexpr uint32_t kNone = UINT32_MAX;  // no limit
  // By frequency: lengths below this can reach the score.
  std::array<uint32_t, kFrequencies + 1> below_{kNone, kNone, kNone, kNone,
                                                kNone, kNone, kNone, kNone};
};

}  // namespace varve::query
