// Expiry of a session: ttl_hours of its metadata, from its creation ("fixed") or from its last
// write
// ("sliding", to an eighth of the ttl).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "log/storage.h"

namespace varve::session {

// When a session with this metadata expires; nothing when it never does (no ttl_hours, or 0).
// Numbers that no calendar holds count as never.
std::optional<int64_t> expiry_ms(const json::Tree& metadata);

// Whether the session in this storage has expired, by its metadata.json as it is now. A damaged one
// says that it has not: nothing is removed on its word.
Result<bool> has_expired(log::SessionStorage& storage, std::string_view session_id, int64_t now_ms);

// What every call on a session that has expired answers.
Status expired_status(std::string_view session_id);

// From when on a write is to renew the metadata of a session, so that nobody takes it for one that
// was left: an eighth of a sliding ttl after it was saved. kNeverDue: no write is.
inline constexpr int64_t kNeverDue = std::numeric_limits<int64_t>::max();
int64_t renewal_due_ms(const json::Tree& metadata);

}  // namespace varve::session
