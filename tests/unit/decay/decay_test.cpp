#include "decay/decay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace varve::decay {
namespace {

constexpr int64_t kHourMs = 3'600'000;

struct Case {
  Curve curve;
  double age_hours;
  double expected;
};

// Of a half-life of 168 h and a floor of 0.1. Computed by hand: 2^(-1/7), 1 - 24/336 and so on.
const std::vector<Case> kCases = {
    {Curve::kExponential, 0, 1},
    {Curve::kExponential, 24, 0.9057236642639067},
    {Curve::kExponential, 56, 0.7937005259840998},
    {Curve::kExponential, 84, 0.7071067811865476},
    {Curve::kExponential, 168, 0.5},
    {Curve::kExponential, 252, 0.3535533905932738},
    {Curve::kExponential, 336, 0.25},
    {Curve::kExponential, 504, 0.125},
    {Curve::kExponential, 558, 0.1000346303226207},
    {Curve::kExponential, 559, 0.1},
    {Curve::kExponential, 1e9, 0.1},
    {Curve::kLinear, 0, 1},
    {Curve::kLinear, 24, 0.9285714285714286},
    {Curve::kLinear, 84, 0.75},
    {Curve::kLinear, 168, 0.5},
    {Curve::kLinear, 252, 0.25},
    {Curve::kLinear, 303, 0.1},
    {Curve::kLinear, 336, 0.1},
    {Curve::kLinear, 1e9, 0.1},
    {Curve::kStep, 0, 1},
    {Curve::kStep, 167.999, 1},
    {Curve::kStep, 168, 0.5},
    {Curve::kStep, 335.999, 0.5},
    {Curve::kStep, 336, 0.25},
    {Curve::kStep, 504, 0.125},
    {Curve::kStep, 672, 0.1},
    {Curve::kStep, 1e9, 0.1},
    {Curve::kNone, 0, 1},
    {Curve::kNone, 168, 1},
    {Curve::kNone, 1e9, 1},
};

TEST(Decay, FactorsOfEveryCurve) {
  for (const Case& one : kCases) {
    const Rule rule{one.curve, 168, 0.1};
    EXPECT_DOUBLE_EQ(factor(rule, one.age_hours), one.expected)
        << curve_name(one.curve) << " at " << one.age_hours;
  }
}

TEST(Decay, EveryCurveIsWholeAtAgeZeroAndAHalfAtOneHalfLife) {
  for (const Curve curve : {Curve::kExponential, Curve::kLinear, Curve::kStep}) {
    for (const double half_life_hours : {1e-6, 0.5, 1.0, 24.0, 168.0, 336.0, 720.0, 1e9}) {
      const Rule rule{curve, half_life_hours, 0};
      EXPECT_EQ(factor(rule, 0), 1) << curve_name(curve) << " " << half_life_hours;
      EXPECT_DOUBLE_EQ(factor(rule, half_life_hours), 0.5)
          << curve_name(curve) << " " << half_life_hours;
    }
  }
}

TEST(Decay, TheFloorHolds) {
  for (const Curve curve : {Curve::kExponential, Curve::kLinear, Curve::kStep}) {
    for (const double factor_min : {0.0, 0.05, 0.1, 0.5, 1.0}) {
      const Rule rule{curve, 1, factor_min};
      EXPECT_EQ(factor(rule, 1e7), factor_min) << curve_name(curve);
      EXPECT_EQ(factor(rule, 0), 1) << curve_name(curve);
    }
  }
}

TEST(Decay, HalfLivesOfEveryType) {
  const Rules rules = Rules::defaults();
  for (const auto type : {"conversation", "message", "tool_call", "tool_result", "anything", ""}) {
    EXPECT_EQ(rules.of(type), (Rule{Curve::kExponential, 168, 0.1})) << type;
  }
  for (const auto type : {"finding", "observation", "document", "summary"}) {
    EXPECT_EQ(rules.of(type), (Rule{Curve::kExponential, 336, 0.1})) << type;
  }
  EXPECT_EQ(rules.of("decision"), (Rule{Curve::kExponential, 720, 0.1}));
  EXPECT_EQ(rules.of("preference").curve, Curve::kNone);
  EXPECT_EQ(factor(rules.of("preference"), 1e9), 1);
}

TEST(Decay, SwitchedOffNothingDecays) {
  Rules rules = Rules::defaults();
  rules.enabled = false;
  for (const auto type : {"message", "decision", "preference", "anything"}) {
    EXPECT_EQ(factor(rules.of(type), 1e9), 1) << type;
  }
}

TEST(Decay, TypesWithoutARuleTakeTheFallback) {
  Rules rules = Rules::defaults();
  rules.fallback = {Curve::kStep, 12, 0.25};
  EXPECT_EQ(rules.of("anything"), rules.fallback);
  EXPECT_EQ(rules.of("message").half_life_hours, 168);
}

TEST(Decay, AgesInHours) {
  EXPECT_EQ(age_hours(0, 0), 0);
  EXPECT_EQ(age_hours(0, kHourMs), 1);
  EXPECT_EQ(age_hours(0, kHourMs / 2), 0.5);
  EXPECT_EQ(age_hours(-kHourMs, kHourMs), 2);
  EXPECT_EQ(age_hours(1'700'000'000'000, 1'700'000'000'000 + 24 * kHourMs), 24);
}

TEST(Decay, TheFutureIsOfAgeZero) {
  EXPECT_EQ(age_hours(1, 0), 0);
  EXPECT_EQ(age_hours(INT64_MAX, INT64_MIN), 0);
  EXPECT_EQ(age_hours(INT64_MAX, INT64_MAX), 0);
}

TEST(Decay, AgesAsFarApartAsTimesCanBe) {
  EXPECT_DOUBLE_EQ(age_hours(INT64_MIN, INT64_MAX), 18446744073709551616.0 / 3'600'000);
}

TEST(Decay, TheBoostEndsAtExactlyOneDay) {
  EXPECT_EQ(recency_boost(0), 1.5);
  EXPECT_EQ(recency_boost(std::nextafter(24.0, 0.0)), 1.5);
  EXPECT_EQ(recency_boost(24), 1);
  EXPECT_EQ(recency_boost(1e9), 1);
  EXPECT_EQ(recency_boost(age_hours(0, 24 * kHourMs - 1)), 1.5);
  EXPECT_EQ(recency_boost(age_hours(0, 24 * kHourMs)), 1);
}

TEST(Decay, RelevanceIsTheProduct) {
  EXPECT_DOUBLE_EQ(relevance(0.5, 0.25, 1.5, 0.8), 0.15);
  EXPECT_EQ(relevance(1, 1, 1.5, 1), 1.5);
  EXPECT_EQ(relevance(0, 1, 1.5, 1), 0);
}

// --- properties ----------------------------------------------------------------------------------

std::vector<Rule> rules_of_every_kind() {
  std::vector<Rule> rules;
  for (const Curve curve : {Curve::kExponential, Curve::kLinear, Curve::kStep, Curve::kNone}) {
    for (const double half_life_hours :
         {std::numeric_limits<double>::denorm_min(), 1e-310, 1e-300, 1e-6, 1.0, 168.0, 1e9, 1e300,
          std::numeric_limits<double>::max()}) {
      for (const double factor_min : {0.0, 0.1, 1.0}) {
        rules.push_back({curve, half_life_hours, factor_min});
      }
    }
  }
  return rules;
}

TEST(Decay, NeverRisesWithAgeAndStaysBetweenTheFloorAndOne) {
  std::vector<double> ages;
  for (int i = 0; i <= 4000; ++i) ages.push_back(i * 0.25);
  for (double age = 1000; age < 1e16; age *= 1.7) ages.push_back(age);
  ages.push_back(std::numeric_limits<double>::max());
  for (const Rule& rule : rules_of_every_kind()) {
    double before = 1;
    for (const double age : ages) {
      const double now = factor(rule, age);
      ASSERT_FALSE(std::isnan(now))
          << curve_name(rule.curve) << " " << rule.half_life_hours << " at " << age;
      ASSERT_LE(now, before) << curve_name(rule.curve) << " " << rule.half_life_hours << " at "
                             << age;
      ASSERT_GE(now, rule.factor_min);
      before = now;
    }
  }
}

// --- names ---------------------------------------------------------------------------------------

TEST(Decay, NamesOfCurvesGoBothWays) {
  const std::vector<std::pair<std::string, Curve>> names = {{"exponential", Curve::kExponential},
                                                            {"linear", Curve::kLinear},
                                                            {"step", Curve::kStep},
                                                            {"none", Curve::kNone}};
  for (const auto& [name, curve] : names) {
    const Curve* found = find_curve(name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ(*found, curve);
    EXPECT_EQ(curve_name(curve), name);
  }
  for (const auto name : {"", "Linear", "exponentia", "exponentials", "half"}) {
    EXPECT_EQ(find_curve(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace varve::decay
