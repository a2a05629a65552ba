// How often a call tries again, because of other processes, before it gives up.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace varve::session {

inline constexpr int kReplacedMax = 8;   // times that a file is replaced by a new generation
inline constexpr int kConflictsMax = 4;  // appends by programs that do not take the lock

inline Status replaced_too_often(std::string_view what = "the log") {
  return {Code::kBusy, std::string(what) + " is being replaced over and over; try again"};
}

inline Status appended_to_too_often(std::string_view file) {
  return {Code::kBusy, "another program keeps appending to " + std::string(file) +
                           " without taking the session's lock; stop it, then try again"};
}

// kGone: the rows that the caller found may have other numbers by now.
inline Status index_made_anew() { return {Code::kGone, "the index was made anew"}; }

// Returns the Status or Result of `work`, which is repeated when `what` was replaced meanwhile
// (kGone).
template <typename Work>
auto while_replaced(Work&& work, std::string_view what = "the log") -> decltype(work()) {
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    auto answer = work();
    if (answer.code() != Code::kGone) return answer;
  }
  return replaced_too_often(what);
}

// Returns the Status of `work`, which is repeated when somebody appended to `file` without the lock
// meanwhile (kConflict). `work` is told whether this is a repetition.
template <typename Work>
Status while_appended_to(std::string_view file, Work&& work) {
  for (int attempt = 0; attempt < kConflictsMax; ++attempt) {
    Status status = work(attempt > 0);
    if (status.code() != Code::kConflict) return status;
  }
  return appended_to_too_often(file);
}

}  // namespace varve::session
