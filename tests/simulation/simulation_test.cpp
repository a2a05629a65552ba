// Seeds by the hundred: no answer may differ from the model's, and no run from its repetition.
//
// VARVE_SIMULATION_SEEDS (how many) and VARVE_SIMULATION_FIRST (from where on) make a campaign of
// it; without them, the same few hundred are run.
#include "simulation.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/counted.h"

namespace varve::simulation {
namespace {

constexpr uint64_t kParts = 4;  // tests, which may run in parallel

uint64_t from_environment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

class Seeds : public testing::TestWithParam<uint64_t> {};

TEST_P(Seeds, NoAnswerDiffersFromTheModel) {
  const uint64_t first = from_environment("VARVE_SIMULATION_FIRST", 1);
  const uint64_t count = from_environment("VARVE_SIMULATION_SEEDS", VARVE_SIMULATION_SEEDS_DEFAULT);
  size_t failures = 0;
  size_t seeds = 0;
  for (uint64_t seed = first + GetParam(); seed < first + count && failures < 3; seed += kParts) {
    const auto run = simulate(seed);
    seeds += 1;
    if (run.violation.empty()) continue;
    failures += 1;
    ADD_FAILURE() << run.failure();
  }
  test::counted("seeds", seeds);
}
INSTANTIATE_TEST_SUITE_P(All, Seeds, testing::Range<uint64_t>(0, kParts));

TEST(Simulation, GivesTheSameTraceForTheSameSeed) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(simulate(seed).text(), simulate(seed).text()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace varve::simulation
