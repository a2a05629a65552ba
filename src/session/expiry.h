// Expiry of a session: ttl_hours of its metadata, from its creation ("fixed") or from its last
// write
// ("sliding", to an eighth of the ttl).
#pragma once

#include <cstdint>
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

// Whether a write at `now_ms` is to renew the metadata of a session, so that nobody takes it for
// one that was left: an eighth of a sliding ttl has passed since it was saved.
bool wants_renewal(const json::Tree& metadata, int64_t now_ms);

}  // namespace varve::session
