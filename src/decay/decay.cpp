#include "decay/decay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace varve::decay {

namespace {

constexpr double kHourMs = 3'600'000;

constexpr std::array<std::pair<std::string_view, Curve>, 4> kCurves = {{
    {"exponential", Curve::kExponential},
    {"linear", Curve::kLinear},
    {"step", Curve::kStep},
    {"none", Curve::kNone},
}};

double fall(const Rule& rule, double age) noexcept {
  switch (rule.curve) {
    case Curve::kExponential: return std::exp(-std::numbers::ln2 * (age / rule.half_life_hours));
    case Curve::kLinear: return 1 - age / (2 * rule.half_life_hours);
    case Curve::kStep: return std::exp2(-std::floor(age / rule.half_life_hours));
    case Curve::kNone: break;
  }
  return 1;
}

}  // namespace

Rules Rules::defaults() {
  Rules rules;
  for (const auto type : {"conversation", "message", "tool_call", "tool_result"}) {
    rules.by_type[type] = {};
  }
  for (const auto type : {"finding", "observation", "document", "summary"}) {
    rules.by_type[type].half_life_hours = 336;
  }
  rules.by_type["decision"].half_life_hours = 720;
  Rule& preference = rules.by_type["preference"];
  preference.curve = Curve::kNone;
  preference.is_exempt = true;
  return rules;
}

Rule Rules::of(std::string_view type) const {
  const auto found = by_type.find(type);
  Rule rule = found == by_type.end() ? fallback : found->second;
  if (!enabled) rule.curve = Curve::kNone;
  return rule;
}

double age_hours(int64_t timestamp_ms, int64_t now_ms) noexcept {
  if (timestamp_ms >= now_ms) return 0;
  // Converted to double first: the difference may not fit in 64 bits.
  return (static_cast<double>(now_ms) - static_cast<double>(timestamp_ms)) / kHourMs;
}

double factor(const Rule& rule, double age) noexcept {
  return std::clamp(fall(rule, age), rule.factor_min, 1.0);
}

double recency_boost(double age) noexcept { return age < kRecentHours ? kRecencyBoost : 1; }

double relevance(double importance, double factor, double boost, double match_quality) noexcept {
  return importance * factor * boost * match_quality;
}

const Curve* find_curve(std::string_view name) noexcept {
  for (const auto& [known, curve] : kCurves) {
    if (known == name) return &curve;
  }
  return nullptr;
}

std::string_view curve_name(Curve curve) noexcept {
  return kCurves[static_cast<size_t>(curve)].first;
}

}  // namespace varve::decay
