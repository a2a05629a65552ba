#include "session/session_events.h"

#include <new>
#include <utility>

namespace varve::session {

namespace {

// A session is near its limit above nine tenths of it.
constexpr uint64_t kLimitParts = 10;
constexpr uint64_t kNearLimitParts = 9;

}  // namespace

// A disk with errors may go read-only, and then refuses every write.
bool is_of_disk(Code code) noexcept {
  return code == Code::kIo || code == Code::kNoSpace || code == Code::kUnknown ||
         code == Code::kReadOnly;
}

void note_failure(const Status& failure, const FailureLine& line, EventLog& log,
                  Counters& counters) noexcept {
  const bool of_disk = is_of_disk(failure.code());
  if (!of_disk && failure.code() != Code::kCorruption) return;
  failure.set_told();
  (of_disk ? counters.io_errors : counters.corruption_errors) += 1;
  try {
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string(failure.message()));
    const Place& place = failure.place();
    if (!place.path.empty()) details.set("file", json::Tree::string(place.path));
    if (place.offset) details.set("offset", json::Tree::integer_unsigned(*place.offset));
    if (place.os_errno != 0) details.set("errno", json::Tree::integer(place.os_errno));
    log.post(Level::kError, line.component, line.session_id, line.message, std::move(details));
  } catch (const std::bad_alloc&) {
    // The caller is told of the failure itself.
  }
}

SessionEvents::SessionEvents(std::string session_id, EventLog& log, Counters& counters)
    : session_id_(std::move(session_id)), log_(log), counters_(counters) {}

void SessionEvents::post(Level level, std::string_view message, json::Tree details) {
  log_.post(level, "session", session_id_, message, std::move(details));
}

void SessionEvents::note_failure(const Status& failure, std::string_view message) noexcept {
  session::note_failure(failure, {"session", session_id_, message}, log_, counters_);
}

void SessionEvents::watch_size(uint64_t size_bytes, uint64_t limit_bytes) noexcept {
  const bool is_near = size_bytes > limit_bytes / kLimitParts * kNearLimitParts;
  if (is_near_limit_.exchange(is_near) || !is_near) return;
  try {
    json::Tree details = json::Tree::object();
    details.set("size_bytes", json::Tree::integer_unsigned(size_bytes));
    details.set("limit_bytes", json::Tree::integer_unsigned(limit_bytes));
    post(Level::kWarn, "the session approaches its size limit", std::move(details));
  } catch (const std::bad_alloc&) {
    // What was written is written.
  }
}

void SessionEvents::watch_durability(const log::SessionStorage& storage) noexcept {
  try {
    const log::Undurable kept = storage.undurable();
    const bool is_undurable = kept.bytes > 0;
    if (is_undurable_.exchange(is_undurable) == is_undurable) return;
    if (!is_undurable) {
      post(Level::kInfo, "the disk has taken the entries that were kept in memory");
      return;
    }
    counters_.io_errors += 1;
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string(kept.reason));
    post(Level::kError, "the disk does not take entries: they are kept in memory",
         std::move(details));
  } catch (const std::bad_alloc&) {
    // What was answered is answered.
  }
}

}  // namespace varve::session
