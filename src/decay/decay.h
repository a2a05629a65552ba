// Decay: how the weight of a memory falls with its age, and how relevant it is.
//
// All are pure functions: computed when asked, never stored, so that the same `now` always gives
// the same answer. Times are hours, factors are 0..1.
//
//   factor(t)    exponential  max(min, exp(-ln 2 / half_life · t))
//                linear       max(min, 1 - t / (2 · half_life))      half at one half-life, then 0
//                step         max(min, 2^-floor(t / half_life))      halves at each half-life
//                none         1
//   boost(t)     1.5 for less than 24 h of age, else 1
//   relevance    importance · factor · boost · match_quality
//
// source: the exponential curve, the floor and the product are the persistence layer's §4.3 and
// §4.4 (docs/retrieval.md#relevance); linear and step agree with it at one half-life.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace varve::decay {

inline constexpr double kHalfLifeHoursDefault = 168;
inline constexpr double kFactorMinDefault = 0.1;
inline constexpr double kRecentHours = 24;
inline constexpr double kRecencyBoost = 1.5;

enum class Curve : uint8_t { kExponential, kLinear, kStep, kNone };

// How one type of entry decays.
struct Rule {
  Curve curve = Curve::kExponential;
  double half_life_hours = kHalfLifeHoursDefault;  // above 0
  double factor_min = kFactorMinDefault;           // 0..1
  bool is_exempt = false;                          // has no curve, whatever the curve for all types
  friend bool operator==(const Rule&, const Rule&) = default;
};

// Rules by type. Other types use the fallback.
struct Rules {
  std::map<std::string, Rule, std::less<>> by_type;
  Rule fallback;
  Curve common_curve = Curve::kExponential;  // of a type without decay that is made to decay
  bool enabled = true;

  // conversation, message, tool_call, tool_result 168 h; finding, observation, document, summary
  // 336 h; decision 720 h; preference never; everything else 168 h.
  static Rules defaults();
  [[nodiscard]] Rule of(std::string_view type) const;
};

// Hours since `timestamp_ms`; a future time has age 0.
[[nodiscard]] double age_hours(int64_t timestamp_ms, int64_t now_ms) noexcept;

// 1 at age 0, never rising with age, never below rule.factor_min.
[[nodiscard]] double factor(const Rule& rule, double age_hours) noexcept;

[[nodiscard]] double recency_boost(double age_hours) noexcept;

// 0..1.5. `match_quality` is 1 when no text was searched for.
[[nodiscard]] double relevance(double importance, double factor, double boost,
                               double match_quality) noexcept;

// "exponential" and so on; null if no curve has this name.
[[nodiscard]] const Curve* find_curve(std::string_view name) noexcept;
[[nodiscard]] std::string_view curve_name(Curve curve) noexcept;

}  // namespace varve::decay
