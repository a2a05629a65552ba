// How often a call tries again, because of other processes, before it gives up.
#pragma once

#include "base/result.h"

namespace varve::session {

inline constexpr int kReplacedMax = 8;   // times that a file is replaced by a new generation
inline constexpr int kConflictsMax = 4;  // appends by somebody who does not take the lock

// Returns the Result of `work`, which is repeated when the log was replaced meanwhile (kGone).
template <typename Work>
auto while_replaced(Work&& work) -> decltype(work()) {
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    auto answer = work();
    if (answer.code() != Code::kGone) return answer;
  }
  return Status(Code::kBusy, "the log is being replaced over and over; try again");
}

}  // namespace varve::session
