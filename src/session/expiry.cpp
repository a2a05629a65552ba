#include "session/expiry.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/time.h"
#include "session/metadata.h"

namespace varve::session {

namespace {

constexpr double kHourMs = 3'600'000;
constexpr double kRenewalsPerTtl = 8;

bool is_fixed(const json::Tree& metadata) {
  return metadata.get_string("ttl_policy", "sliding") == "fixed";
}

// kNeverDue when no timestamp can be as late.
int64_t later_by(int64_t begin_ms, double duration_ms) {
  const double end_ms = static_cast<double>(begin_ms) + duration_ms;
  return end_ms <= static_cast<double>(kLastMs) ? static_cast<int64_t>(end_ms) : kNeverDue;
}

}  // namespace

std::optional<int64_t> expiry_ms(const json::Tree& metadata) {
  const double ttl_ms = metadata.get_double("ttl_hours", 0) * kHourMs;
  if (!(ttl_ms > 0)) return std::nullopt;
  const auto begin_ms =
      parse_rfc3339(metadata.get_string(is_fixed(metadata) ? "created_at" : "last_accessed"));
  if (!begin_ms) return std::nullopt;
  const int64_t end_ms = later_by(*begin_ms, ttl_ms);
  return end_ms != kNeverDue ? std::optional(end_ms) : std::nullopt;
}

Result<bool> has_expired(log::SessionStorage& storage, std::string_view session_id,
                         int64_t now_ms) {
  VARVE_TRY_ASSIGN(const std::string text, storage.get_document(log::kMetadataFile));
  const auto metadata = Metadata::parse(text, session_id);
  if (!metadata.ok()) return false;
  const auto end_ms = expiry_ms(metadata->tree());
  return end_ms && *end_ms <= now_ms;
}

Status expired_status(std::string_view session_id) {
  return {Code::kNotFound, "the session '" + std::string(session_id) +
                               "' has expired (ttl_hours); a sweep removes its files"};
}

int64_t renewal_due_ms(const json::Tree& metadata) {
  const double ttl_ms = metadata.get_double("ttl_hours", 0) * kHourMs;
  if (!(ttl_ms > 0) || is_fixed(metadata)) return kNeverDue;
  const auto saved_ms = parse_rfc3339(metadata.get_string("last_accessed"));
  if (!saved_ms) return std::numeric_limits<int64_t>::min();
  return later_by(*saved_ms, std::ceil(ttl_ms / kRenewalsPerTtl));
}

}  // namespace varve::session
