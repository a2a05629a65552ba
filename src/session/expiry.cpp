#include "session/expiry.h"

#include <limits>

#include "base/time.h"
#include "session/metadata.h"

namespace varve::session {

namespace {

constexpr double kHourMs = 3'600'000;
constexpr double kRenewalsPerTtl = 8;

bool is_fixed(const json::Tree& metadata) {
  return metadata.get_string("ttl_policy", "sliding") == "fixed";
}

}  // namespace

std::optional<int64_t> expiry_ms(const json::Tree& metadata) {
  const double ttl_ms = metadata.get_double("ttl_hours", 0) * kHourMs;
  if (!(ttl_ms > 0)) return std::nullopt;
  const auto begin_ms =
      parse_rfc3339(metadata.get_string(is_fixed(metadata) ? "created_at" : "last_accessed"));
  if (!begin_ms) return std::nullopt;
  const double end_ms = static_cast<double>(*begin_ms) + ttl_ms;
  if (end_ms >= static_cast<double>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(end_ms);
}

Result<bool> has_expired(log::SessionStorage& storage, std::string_view session_id,
                         int64_t now_ms) {
  VARVE_TRY_ASSIGN(const std::string text, storage.get_document("metadata.json"));
  const auto metadata = Metadata::parse(text, session_id);
  if (!metadata.ok()) return false;
  const auto end_ms = expiry_ms(metadata->tree());
  return end_ms && *end_ms <= now_ms;
}

bool wants_renewal(const json::Tree& metadata, int64_t now_ms) {
  const double ttl_ms = metadata.get_double("ttl_hours", 0) * kHourMs;
  if (!(ttl_ms > 0) || is_fixed(metadata)) return false;
  const auto saved_ms = parse_rfc3339(metadata.get_string("last_accessed"));
  return !saved_ms || static_cast<double>(now_ms - *saved_ms) >= ttl_ms / kRenewalsPerTtl;
}

}  // namespace varve::session
