#include "session/word_debt.h"

#include <algorithm>
#include <utility>

namespace varve::session {

namespace {

// How much may wait before writes index any of it: what the first query by words after many adds
// may take, some 50 ms. Four times as much where no such query was asked yet: a process that only
// writes, beside others that query, would index for nobody what the others index as well.
constexpr uint64_t kWaitingBytes = 4 * kWordsBytes;
constexpr uint64_t kWaitingBytesUnasked = kWordsBytesOfClose;

constexpr uint64_t kOwedPerWritten = 2;
// A write indexes this many times what it wrote, within these bounds.
constexpr uint64_t kPaidPerWritten = 8;
constexpr uint64_t kPaidBytesMin = uint64_t{16} << 10;
constexpr uint64_t kPaidBytesMax = 2 * kWordsBytes;

}  // namespace

uint64_t WordDebt::due_bytes(uint64_t waiting_bytes) noexcept {
  const uint64_t written_bytes = std::exchange(written_bytes_, 0);
  if (waiting_bytes < (is_asked_.load() ? kWaitingBytes : kWaitingBytesUnasked)) {
    owed_bytes_ = 0;
    return 0;
  }
  owed_bytes_ += kOwedPerWritten * written_bytes;
  const uint64_t paid_bytes =
      std::clamp(kPaidPerWritten * written_bytes, kPaidBytesMin, kPaidBytesMax);
  if (owed_bytes_ < paid_bytes) return 0;
  owed_bytes_ = 0;  // the rest of a bulk load's debt is left to later writes
  return paid_bytes;
}

}  // namespace varve::session
