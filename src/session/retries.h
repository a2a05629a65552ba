// What other processes may do during one call before it gives up.
#pragma once

namespace varve::session {

inline constexpr int kReplacedMax = 8;   // times that a file is replaced by a new generation
inline constexpr int kConflictsMax = 4;  // appends by somebody who does not take the lock

}  // namespace varve::session
