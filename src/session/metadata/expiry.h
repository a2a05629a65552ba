// Expiry of a session: by the ttl_hours of its metadata, counted from its creation ("fixed") or
// from its last write ("sliding", to an eighth of the ttl).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "log/storage.h"

namespace varve::session {

// 2001-01-01T00:00:00.000Z. Earlier times are told by clocks that nobody has set yet: a machine
// without a battery starts in 1970, 1980 or 2000.
inline constexpr int64_t kClocksAreSetMs = 978'307'200'000;

// When a session with this metadata expires, to be given to is_ttl_over(). Nothing when it never
// does: no ttl_hours, 0, a time beyond any calendar, or a last write before the session was made,
// which is no time at all.
std::optional<int64_t> expiry_ms(const json::Tree& metadata);

// Not if it ended before the clock was set: then it began at a moment that nobody knows.
[[nodiscard]] constexpr bool is_ttl_over(int64_t end_ms, int64_t now_ms) noexcept {
  return end_ms <= now_ms && (end_ms >= kClocksAreSetMs || now_ms < kClocksAreSetMs);
}

// Whether a session with this metadata has expired.
[[nodiscard]] bool has_expired(const json::Tree& metadata, int64_t now_ms);

// Whether the session in this storage has expired, by its present metadata.json. One that is
// damaged or lost counts as not expired: nothing is removed on its word.
Result<bool> has_expired(log::SessionStorage& storage, std::string_view session_id, int64_t now_ms);

// The answer to every call on an expired session.
Status expired_status(std::string_view session_id);

inline constexpr int64_t kNeverDue = std::numeric_limits<int64_t>::max();

// When a write renews the session's metadata, so that the session does not seem abandoned: from an
// eighth of a sliding ttl after the last save on, and by a clock far before it.
struct Renewal {
  int64_t below_ms = std::numeric_limits<int64_t>::min();
  int64_t from_ms = kNeverDue;
};
Renewal renewal(const json::Tree& metadata);

// Whether the time of the last write, which a sliding ttl is counted from, was told by a clock that
// was wrong, as far as the metadata and the clock of now show.
bool is_access_doubtful(const json::Tree& metadata, int64_t now_ms);

// What to save as `last_accessed`: now, but with a sliding ttl the time of the last write, because
// what only tidies up must keep no session alive. `written_ms`: of this process's last write.
int64_t last_accessed_ms(const json::Tree& metadata, int64_t written_ms, int64_t now_ms);

}  // namespace varve::session
