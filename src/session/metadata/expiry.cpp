#include "session/metadata/expiry.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/time.h"
#include "session/metadata/metadata.h"

namespace varve::session {

namespace {

constexpr double kHourMs = 3'600'000;
constexpr double kRenewalsPerTtl = 8;
constexpr double kDayMs = 24 * kHourMs;

bool is_fixed(const json::Tree& metadata) {
  return metadata.get_string("ttl_policy", "sliding") == "fixed";
}

double ttl_ms_of(const json::Tree& metadata) {
  return metadata.get_double("ttl_hours", 0) * kHourMs;
}

bool is_sliding(const json::Tree& metadata) {
  return ttl_ms_of(metadata) > 0 && !is_fixed(metadata);
}

// The clock was wrong at one of the two, and nobody knows at which.
bool is_before_creation(int64_t accessed_ms, const json::Tree& metadata) {
  const auto created_ms = parse_rfc3339(metadata.get_string("created_at"));
  return created_ms && accessed_ms < *created_ms;
}

// kNeverDue when no timestamp can be as late.
int64_t later_by(int64_t begin_ms, double duration_ms) {
  const double end_ms = static_cast<double>(begin_ms) + duration_ms;
  return end_ms <= static_cast<double>(kLastMs) ? static_cast<int64_t>(end_ms) : kNeverDue;
}

}  // namespace

std::optional<int64_t> expiry_ms(const json::Tree& metadata) {
  const double ttl_ms = ttl_ms_of(metadata);
  if (!(ttl_ms > 0)) return std::nullopt;
  const auto begin_ms =
      parse_rfc3339(metadata.get_string(is_fixed(metadata) ? "created_at" : "last_accessed"));
  if (!begin_ms || is_before_creation(*begin_ms, metadata)) return std::nullopt;
  const int64_t end_ms = later_by(*begin_ms, ttl_ms);
  return end_ms != kNeverDue ? std::optional(end_ms) : std::nullopt;
}

bool has_expired(const json::Tree& metadata, int64_t now_ms) {
  const auto end_ms = expiry_ms(metadata);
  return end_ms && is_ttl_over(*end_ms, now_ms);
}

Result<bool> has_expired(log::SessionStorage& storage, std::string_view session_id,
                         int64_t now_ms) {
  const auto text = storage.get_document(log::kMetadataFile);
  if (text.code() == Code::kNotFound) {
    VARVE_TRY(storage.check_name());  // it is the first file to go when a session is removed
    return false;
  }
  VARVE_TRY(text);
  const auto metadata = Metadata::parse(*text, session_id);
  return metadata.ok() && has_expired(metadata->tree(), now_ms);
}

Status expired_status(std::string_view session_id) {
  return {Code::kNotFound, "the session '" + std::string(session_id) +
                               "' has expired (ttl_hours); a sweep removes its files"};
}

// What is saved stands while a clock is behind it by no more than the longer of a day and the ttl:
// then it may have been set back for a while, and keeps the session for no longer than that.
Renewal renewal(const json::Tree& metadata) {
  Renewal due;
  if (!is_sliding(metadata)) return due;
  due.from_ms = std::numeric_limits<int64_t>::min();
  const auto saved_ms = parse_rfc3339(metadata.get_string("last_accessed"));
  if (!saved_ms) return due;
  const double ttl_ms = ttl_ms_of(metadata);
  due.from_ms = later_by(*saved_ms, std::ceil(ttl_ms / kRenewalsPerTtl));
  const double earliest_ms = static_cast<double>(*saved_ms) - std::max(ttl_ms, kDayMs);
  due.below_ms = static_cast<int64_t>(std::max(earliest_ms, static_cast<double>(kFirstMs)));
  return due;
}

bool is_access_doubtful(const json::Tree& metadata, int64_t now_ms) {
  if (!is_sliding(metadata)) return false;
  const auto saved_ms = parse_rfc3339(metadata.get_string("last_accessed"));
  if (!saved_ms) return false;
  return is_before_creation(*saved_ms, metadata) ||
         (*saved_ms < kClocksAreSetMs && now_ms >= kClocksAreSetMs);
}

int64_t last_accessed_ms(const json::Tree& metadata, int64_t written_ms, int64_t now_ms) {
  const auto saved_ms = parse_rfc3339(metadata.get_string("last_accessed"));
  if (!is_sliding(metadata) || !saved_ms || is_access_doubtful(metadata, now_ms)) return now_ms;
  if (now_ms < renewal(metadata).below_ms) return now_ms;
  return std::max(*saved_ms, std::min(written_ms, now_ms));
}

}  // namespace varve::session
