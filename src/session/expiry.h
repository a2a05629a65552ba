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

// When a session with this metadata expires. Nothing when it never does: no ttl_hours, 0, or a time
// beyond any calendar.
std::optional<int64_t> expiry_ms(const json::Tree& metadata);

// Whether the session in this storage has expired, by its present metadata.json. A damaged one
// counts as not expired: nothing is removed on its word.
Result<bool> has_expired(log::SessionStorage& storage, std::string_view session_id, int64_t now_ms);

// The answer to every call on an expired session.
Status expired_status(std::string_view session_id);

// From this time on, a write renews the session's metadata, so that the session does not seem
// abandoned: an eighth of a sliding ttl after the last save. kNeverDue: no write does.
inline constexpr int64_t kNeverDue = std::numeric_limits<int64_t>::max();
int64_t renewal_due_ms(const json::Tree& metadata);

}  // namespace varve::session
