// The k-th allocation fails, for each k, once or from then on, in every function of the ABI: it
// answers VARVE_NO_MEMORY or as it always does; what was answered stays, what was refused is not
// there, no block of memory is left behind, and what was open works on.
//
// With every change some of the k are tried; VARVE_CRASH_SCALE=100 tries all.
#include <gtest/gtest.h>

#include "abi_checks.h"
#include "support/counted.h"
#include "support/no_memory/no_memory.h"
#include "support/scale.h"

namespace varve::crash {
namespace {

using varve_test::NoMemory;

constexpr const char* kOs = R"({"durability":"os"})";
constexpr const char* kCommit = R"({"durability":"commit"})";
constexpr const char* kThreads = R"({"durability":"commit","threads":2})";

bool tries_all() { return test::scaled(100, 0, 0) >= 100; }

class AllocationSweep : public testing::TestWithParam<SweptCall> {
 protected:
  static void prepare(Ground& ground) {
    if (GetParam().prepare != nullptr) GetParam().prepare(ground);
    if (ground.store == nullptr) ground.open_all();
  }

  // The answer without a limit; to compare with.
  std::string answer_with_memory(const char* config) {
    Ground ground(config);
    prepare(ground);
    Outs outs;
    const varve_status_t status = GetParam().run(ground, outs);
    EXPECT_EQ(status, VARVE_OK) << varve_error_message(outs.error);
    check(ground, Outcome::kDone);
    return answer_of(outs);
  }

  // False when the call needed no more than `allowed` allocations.
  bool run(const char* config, int64_t allowed, NoMemory::Refuses refuses,
           const std::string& expected) {
    Ground ground(config);
    prepare(ground);
    Outs outs;
    varve_status_t status = VARVE_OK;
    bool was_met = false;
    {
      const NoMemory limit(allowed, refuses);
      status = GetParam().run(ground, outs);
      was_met = limit.was_met();
    }
    EXPECT_TRUE(status == VARVE_OK || status == VARVE_NO_MEMORY)
        << varve_status_name(status) << ": " << varve_error_message(outs.error);
    if (status == VARVE_OK) {
      EXPECT_EQ(outs.error, nullptr);
      if (GetParam().same_text) {
        EXPECT_EQ(answer_of(outs), expected);
      }
    } else {
      check_refused(outs, status);
    }
    const Outcome refused = GetParam().effect.is_whole ? Outcome::kRefused : Outcome::kUnknown;
    check(ground, status == VARVE_OK ? Outcome::kDone : refused);
    return was_met;
  }

  static void check(Ground& ground, Outcome outcome) {
    const bool has_after = check_open(ground, GetParam(), outcome, false);
    check_anew(ground, GetParam(), outcome, has_after);
  }

  // Both differ in what they do behind the write alone: all of it is tried once.
  static int64_t step_behind(int64_t allowed, const char* config) {
    return tries_all() && config == kCommit ? 1 : 1 + allowed / 8;
  }

  void sweep(const char* config, NoMemory::Refuses refuses) {
    const std::string expected = answer_with_memory(config);
    (void)answer_with_memory(config);  // what is kept for good is there now
    const int64_t blocks_before = varve_test::live_blocks();
    bool was_met = true;
    for (int64_t allowed = 0; was_met; allowed += step_behind(allowed, config)) {
      was_met = run(config, allowed, refuses, expected);
      tried_ += was_met ? 1 : 0;
      EXPECT_EQ(varve_test::live_blocks(), blocks_before);
      if (HasFailure()) {
        FAIL() << "after " << allowed << " allocations, then "
               << (refuses == NoMemory::Refuses::kOnce ? "one refused" : "none");
      }
    }
  }

  size_t tried_ = 0;
};

TEST_P(AllocationSweep, IsAnsweredWithNoMemoryOrAsAlways) {
  for (const auto refuses : {NoMemory::Refuses::kOnce, NoMemory::Refuses::kAll}) {
    for (const char* config : {kOs, kCommit, kThreads}) {
      const bool has_threads = std::string_view(GetParam().function) == "varve_session_compact";
      if (config == kThreads && !has_threads) continue;
      sweep(config, refuses);
      if (HasFailure()) return;
    }
  }
  test::counted("failed allocations", tried_);
}

INSTANTIATE_TEST_SUITE_P(All, AllocationSweep, testing::ValuesIn(swept_calls()),
                         [](const auto& given) { return test_name(given.param); });

TEST(AllocationSweepOfTheRest, NeedsNoMemory) {
  for (const SweptCall& call : calls_without_memory()) {
    SCOPED_TRACE(call.function);
    Ground ground(kOs);
    if (call.prepare != nullptr) call.prepare(ground);
    if (ground.store == nullptr) ground.open_all();
    Outs outs;
    varve_status_t status = VARVE_INTERNAL;
    bool was_met = true;
    {
      const NoMemory limit(0);
      status = call.run(ground, outs);
      was_met = limit.was_met();
    }
    EXPECT_EQ(status, VARVE_OK);
    EXPECT_FALSE(was_met);
  }
}

// A function that is added to the headers is added here, or this fails.
TEST(AllocationSweepOfAll, HasEveryFunctionOfTheHeaders) { expect_every_function_of_the_headers(); }

}  // namespace
}  // namespace varve::crash
