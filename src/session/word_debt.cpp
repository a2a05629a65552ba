#include "session/word_debt.h"

#include <algorithm>
#include <utility>

namespace varve::session {

namespace {

// What waits for the query that needs it before writes index any: what the first one by words
// after many adds may take, some 50 ms. Four times that where none was asked yet: who only writes,
// beside others who do, would index for nobody what those index as well.
constexpr uint64_t kWaitingBytes = 4 * kWordsBytes;
constexpr uint64_t kWaitingBytesUnasked = kWordsBytesOfClose;

constexpr uint64_t kOwedPerWritten = 2;
// A write pays this many times what it wrote, within these bounds.
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
  owed_bytes_ = 0;  // what a bulk load owes above that is left for later writes to owe
  return paid_bytes;
}

}  // namespace varve::session
