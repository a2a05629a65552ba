#include "session/metadata/decay_config.h"

#include <gtest/gtest.h>

#include <string>

namespace varve::session {
namespace {

using decay::Curve;
using decay::Rule;
using decay::Rules;

Rules read(const std::string& text, Rules rules = Rules::defaults()) {
  json::Document document;
  EXPECT_TRUE(document.parse(text).ok()) << text;
  const Status status = read_decay_config(text, document.root(), UnknownMembers::kRefused, &rules);
  EXPECT_TRUE(status.ok()) << status.message();
  return rules;
}

TEST(DecayConfig, WhatIsForAllIsForThoseThatDecay) {
  const Rules rules = read(R"({"half_life_hours":24,"curve":"linear","min_decay_factor":0.2})");
  EXPECT_EQ(rules.of("decision"), (Rule{Curve::kLinear, 24, 0.2}));
  EXPECT_EQ(rules.of("else"), (Rule{Curve::kLinear, 24, 0.2}));
  EXPECT_EQ(rules.of("preference").curve, Curve::kNone);
}

TEST(DecayConfig, ATypeThatIsMadeToDecayTakesWhatIsForAll) {
  const std::string made = R"("type_specific":{"preference":{"decay_enabled":true}}})";
  EXPECT_EQ(read("{" + made).of("preference"), Rule());
  const Rules rules = read(R"({"half_life_hours":24,"curve":"linear",)" + made);
  EXPECT_EQ(rules.of("preference"), (Rule{Curve::kLinear, 24, 0.1}));
  // Of a session, over what its store says.
  const Rules of_store = read(R"({"half_life_hours":24,"curve":"step"})");
  EXPECT_EQ(read("{" + made, of_store).of("preference"), (Rule{Curve::kStep, 24, 0.1}));
  EXPECT_EQ(read(R"({"curve":"linear",)" + made, of_store).of("preference"),
            (Rule{Curve::kLinear, 24, 0.1}));
}

TEST(DecayConfig, AHalfLifeOfATypeMakesItDecay) {
  const auto preference = [](const std::string& members, const std::string& for_all = "") {
    return read("{" + for_all + R"("type_specific":{"preference":{)" + members + "}}}")
        .of("preference");
  };
  EXPECT_EQ(preference(R"("half_life_hours":1)"), (Rule{Curve::kExponential, 1, 0.1}));
  EXPECT_EQ(preference(R"("half_life_hours":1)", R"("curve":"step",)"),
            (Rule{Curve::kStep, 1, 0.1}));
  EXPECT_EQ(preference(R"("half_life_hours":1)", R"("curve":"none",)").curve, Curve::kExponential);
  EXPECT_EQ(preference(R"("half_life_hours":1,"decay_enabled":false)").curve, Curve::kNone);
  EXPECT_EQ(preference(R"("half_life_hours":1,"curve":"none")").curve, Curve::kNone);
  EXPECT_EQ(preference(R"("min_decay_factor":0.5)").curve, Curve::kNone);
}

TEST(DecayConfig, ACurveOfASessionReplacesNoneOfItsStore) {
  const Rules of_store = read(R"({"curve":"none","type_specific":{
      "finding":{"decay_enabled":false},"summary":{"curve":"none"},
      "document":{"min_decay_factor":0.3},"preference":{"min_decay_factor":0.3}}})");
  EXPECT_EQ(of_store.of("decision").curve, Curve::kNone);
  const Rules rules = read(R"({"curve":"linear"})", of_store);
  EXPECT_EQ(rules.of("decision"), (Rule{Curve::kLinear, 720, 0.1}));
  EXPECT_EQ(rules.of("else"), (Rule{Curve::kLinear, 168, 0.1}));
  EXPECT_EQ(rules.of("document"), (Rule{Curve::kLinear, 336, 0.3}));
  for (const auto* exempt : {"preference", "finding", "summary"}) {
    EXPECT_EQ(rules.of(exempt).curve, Curve::kNone) << exempt;
  }
  const Rules made = read(R"({"type_specific":{"finding":{"decay_enabled":true}}})", rules);
  EXPECT_EQ(read(R"({"curve":"step"})", made).of("finding").curve, Curve::kStep);
}

TEST(DecayConfig, WhatHasADecayOfItsOwnKeepsItsHalfLife) {
  const std::string made = R"("type_specific":{"decision":{"decay_enabled":true}}})";
  EXPECT_EQ(read(R"({"curve":"none",)" + made).of("decision"),
            (Rule{Curve::kExponential, 720, 0.1}));
  const Rules rules = read(R"({"type_specific":{"decision":{"decay_enabled":false}}})");
  EXPECT_EQ(rules.of("decision").curve, Curve::kNone);
}

}  // namespace
}  // namespace varve::session
