// The k-th allocation fails, for each k, once or from then on, in every function of the ABI: it
// answers VARVE_NO_MEMORY or as it always does; what was answered stays, what was refused is not
// there, no block of memory is left behind, and what was open works on.
//
// With every change some of the k are tried; VARVE_CRASH_SCALE=100 tries all.
#include <gtest/gtest.h>

#include "allocation_ground.h"
#include "capi/headers.h"
#include "support/counted.h"
#include "support/no_memory/no_memory.h"
#include "support/scale.h"

namespace varve::crash {
namespace {

using varve_test::NoMemory;

constexpr const char* kOs = R"({"durability":"os"})";
constexpr const char* kCommit = R"({"durability":"commit"})";

bool tries_all() { return test::scaled(100, 0, 0) >= 100; }

// What is in "s" before any call.
const std::set<std::string> kIds = {"a", "b", "c", "e"};

std::string answer_of(const Outs& outs) {
  if (outs.text != nullptr) return std::string(outs.text, outs.len);
  std::string ids = std::to_string(outs.count);
  for (size_t i = 0; i < varve_results_count(outs.results); ++i) {
    const char* json = nullptr;
    size_t len = 0;
    EXPECT_EQ(varve_results_entry(outs.results, i, &json, &len, nullptr), VARVE_OK);
    ids += " " + std::string(json, len);
  }
  return ids;
}

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
    check(ground, true);
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
    check(ground, status == VARVE_OK);
    return was_met;
  }

  static void check_refused(const Outs& outs, varve_status_t status) {
    EXPECT_EQ(varve_error_status(outs.error), status);
    EXPECT_EQ(outs.text, nullptr);
    EXPECT_EQ(outs.len, 0U);
    EXPECT_EQ(outs.borrowed, nullptr);
    EXPECT_EQ(outs.count, 0U);
    EXPECT_EQ(outs.results, nullptr);
    EXPECT_EQ(outs.session, nullptr);
    EXPECT_EQ(outs.store, nullptr);
    EXPECT_EQ(outs.memory, nullptr);
    EXPECT_EQ(outs.window, nullptr);
  }

  // What is open, and then the same opened again.
  static void check(Ground& ground, bool done) {
    const bool closes_store = std::string(GetParam().function) == "varve_store_close";
    const auto& is_done = GetParam().effect.is_done;
    if (!closes_store && ground.session != nullptr) check_session(ground.session, done);
    if (!closes_store && is_done && (done || GetParam().effect.is_whole)) {
      EXPECT_EQ(is_done(ground), done);
    }
    if (!closes_store && ground.session != nullptr) {
      EXPECT_EQ(varve_session_add(ground.session, R"({"id":"after","type":"note","content":"x"})",
                                  kNul, nullptr, nullptr, nullptr),
                VARVE_OK);
      EXPECT_TRUE(entry_of(ground.session, "after").has_value());
    }
    const bool added = !closes_store && ground.session != nullptr;
    ground.close();
    ground.open();
    ground.session = ground.open_session("s");
    ASSERT_NE(ground.session, nullptr);
    check_session(ground.session, done);
    EXPECT_EQ(entry_of(ground.session, "after").has_value(), added);
    check_whole(ground);
  }

  static void check_session(varve_session_t* session, bool done) {
    const Effect& effect = GetParam().effect;
    std::set<std::string> ids = kIds;
    if (done) {
      for (const auto& id : effect.removes) ids.erase(id);
    }
    for (const auto& id : ids) EXPECT_TRUE(entry_of(session, id).has_value()) << id;
    EXPECT_FALSE(entry_of(session, "gone").has_value());
    for (const auto& id : effect.removes) {
      EXPECT_EQ(entry_of(session, id).has_value(), !done) << id;
    }
    for (const auto& id : effect.adds) {
      if (done || effect.is_whole) {
        EXPECT_EQ(entry_of(session, id).has_value(), done) << id;
      }
    }
  }

  // Nothing is damaged that was not before.
  static void check_whole(Ground& ground) {
    Outs outs;
    ASSERT_EQ(varve_session_verify(ground.session, nullptr, 0, &outs.text, &outs.len, &outs.error),
              VARVE_OK)
        << varve_error_message(outs.error);
    const std::string report(outs.text, outs.len);
    const bool was_damaged = std::string(GetParam().function) == "varve_session_repair";
    EXPECT_TRUE(was_damaged || report.find(R"("ok":true)") != std::string::npos) << report;
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
    for (const char* config : {kOs, kCommit}) {
      sweep(config, refuses);
      if (HasFailure()) return;
    }
  }
  test::counted("failed allocations", tried_);
}

std::string name_of(const testing::TestParamInfo<SweptCall>& given) {
  std::string name = given.param.function;
  if (*given.param.variant != '\0') name += std::string(" ") + given.param.variant;
  for (size_t at = name.find_first_of(" _"); at != std::string::npos;
       at = name.find_first_of(" _")) {
    name.erase(at, 1);
    if (at < name.size()) name[at] = static_cast<char>(std::toupper(name[at]));
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, AllocationSweep, testing::ValuesIn(swept_calls()), name_of);

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
TEST(AllocationSweepOfAll, HasEveryFunctionOfTheHeaders) {
  std::set<std::string> declared;
  for (const auto& function : varve_test::declared_functions()) declared.insert(function.name);
  std::set<std::string> swept;
  for (const SweptCall& call : swept_calls()) swept.insert(call.function);
  for (const SweptCall& call : calls_without_memory()) {
    EXPECT_TRUE(swept.insert(call.function).second) << call.function;
  }
  EXPECT_GT(declared.size(), 60U);
  EXPECT_EQ(swept, declared);
}

}  // namespace
}  // namespace varve::crash
