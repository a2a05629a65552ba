// Identifiers of entries and sessions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/status.h"

namespace varve {

inline constexpr size_t kIdCharsMax = 128;

// [A-Za-z0-9_-]{1,kIdCharsMax}, not starting with '-'.
[[nodiscard]] bool is_valid_id(std::string_view id) noexcept;
// The same as kInvalidArgument with this rule; `what` reads like "a session id".
[[nodiscard]] Status check_id(std::string_view id, std::string_view what, std::string_view member);

// [a-z][a-z0-9_]{0,31}
[[nodiscard]] bool is_valid_type(std::string_view type) noexcept;

// 1 to 64 characters: letters, marks and digits of any script, and . _ : / -  (valid UTF-8).
[[nodiscard]] bool is_valid_tag(std::string_view tag) noexcept;

// Makes ids that sort by the time they were made: `prefix` and a UUIDv7 (RFC 9562) as 26 lower-case
// Crockford base-32 characters. The ids of one generator increase even within one millisecond, and
// when the clock goes back (RFC 9562 section 6.2, method 2: the random part is a counter).
// Thread-safe.
class IdGenerator {
 public:
  IdGenerator(Clock& clock, Random& random) : clock_(clock), random_(random) {}
  [[nodiscard]] std::string next(std::string_view prefix);

 private:
  void draw_counter();
  void step_counter();

  Clock& clock_;
  Random& random_;
  std::mutex mutex_;  // guards the rest
  int64_t last_ms_ = -1;
  uint64_t counter_high_ = 0;  // 12 bits: rand_a
  uint64_t counter_low_ = 0;   // 62 bits: rand_b
  // Drawn together, since drawing is a system call, and for one millisecond only: what makes this
  // state a second time (a virtual machine that is copied) hardly meets the same one again.
  std::array<uint32_t, 16> steps_{};
  size_t steps_left_ = 0;
};

}  // namespace varve
