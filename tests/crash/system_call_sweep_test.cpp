// The k-th call of the operating system fails, for each k, once or from then on, with each error
// there is, in every function of the ABI: it answers what its header says of that error, or as it
// always does; what was answered stays, what was refused is not there, no descriptor and no block
// of memory is left behind, and what was open works on or says that writing stopped.
//
// On real files, so that the file system's own layer is in it; a power loss is fault_sweep's. With
// every change some of the k are tried; VARVE_CRASH_SCALE=100 tries all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <regex>
#include <utility>

#include "abi_checks.h"
#include "capi/headers.h"
#include "support/counted.h"
#include "support/failing_calls/failing_calls.h"
#include "support/no_memory/no_memory.h"
#include "support/scale.h"

namespace varve::crash {
namespace {

using varve_test::CallFault;
using varve_test::FailingCalls;
using varve_test::Part;
using varve_test::StoppedClocks;
using Kind = varve_test::CallKind;

// Nobody else holds the lock: waiting for it is in vain.
constexpr const char* kOsConfig = R"({"durability":"os","concurrency":{"lock_timeout_ms":1}})";
constexpr const char* kCommitConfig =
    R"({"durability":"commit","concurrency":{"lock_timeout_ms":1}})";

struct SweptFault {
  CallFault fault;
  std::set<varve_status_t> answers;  // besides VARVE_OK; empty: it changes nothing
  bool once_only = false;
};

// What writes or makes something; what opens something.
const std::vector<Kind> kMakers = {Kind::kCreate,        Kind::kWrite,  Kind::kSync,
                                   Kind::kSyncDirectory, Kind::kRename, Kind::kMakeDirectory};
const std::vector<Kind> kOpeners = {Kind::kOpen, Kind::kOpenToWrite, Kind::kCreate, Kind::kList};
const std::vector<Kind> kTransfers = {Kind::kRead, Kind::kWrite};

// Of each error, the calls that can give it, and the answers that say so. An interruption that
// never ends is none. What does a part, or is interrupted, goes on.
const SweptFault kSweptFaults[] = {
    {{"EIO", EIO}, {VARVE_IO}},
    {{"ENOSPC", ENOSPC, Part::kNothing, kMakers}, {VARVE_NO_SPACE, VARVE_IO}},
    {{"EDQUOT", EDQUOT, Part::kNothing, kMakers}, {VARVE_NO_SPACE, VARVE_IO}},
    {{"EMFILE", EMFILE, Part::kNothing, kOpeners}, {VARVE_IO}},
    {{"ENFILE", ENFILE, Part::kNothing, kOpeners}, {VARVE_IO}},
    {{"EACCES",
      EACCES,
      Part::kNothing,
      {Kind::kOpen, Kind::kOpenToWrite, Kind::kCreate, Kind::kExamine, Kind::kRename, Kind::kRemove,
       Kind::kMakeDirectory}},
     {VARVE_READ_ONLY, VARVE_IO}},
    {{"EROFS",
      EROFS,
      Part::kNothing,
      {Kind::kOpenToWrite, Kind::kCreate, Kind::kWrite, Kind::kTruncate, Kind::kRename,
       Kind::kRemove, Kind::kMakeDirectory, Kind::kPermit}},
     {VARVE_READ_ONLY, VARVE_IO}},
    {{"ENOLCK", ENOLCK, Part::kNothing, {Kind::kLock, Kind::kAskLock}}, {VARVE_UNSUPPORTED}},
    {{"EAGAIN of a lock", EAGAIN, Part::kNothing, {Kind::kLock}}, {VARVE_BUSY}},
    {{"EINTR",
      EINTR,
      Part::kNothing,
      {Kind::kOpen, Kind::kOpenToWrite, Kind::kCreate, Kind::kRead, Kind::kWrite, Kind::kTruncate,
       Kind::kSync, Kind::kSyncDirectory, Kind::kLock, Kind::kAskLock, Kind::kSpace, Kind::kHint,
       Kind::kClose, Kind::kRandom}},
     {},
     true},
    {{"one byte alone", 0, Part::kOneByte, kTransfers}, {}},
    {{"half alone", 0, Part::kHalf, kTransfers}, {}},
    {{"ENOSPC after one byte", ENOSPC, Part::kOneByte, {Kind::kWrite}}, {VARVE_NO_SPACE, VARVE_IO}},
    {{"ENOSPC after half", ENOSPC, Part::kHalf, {Kind::kWrite}}, {VARVE_NO_SPACE, VARVE_IO}},
    {{"EIO after half", EIO, Part::kHalf, kTransfers}, {VARVE_IO}},
};

// docs/errors.md says it of every function that writes, no header by itself.
constexpr const char* kWithoutLocks = "VARVE_UNSUPPORTED";

size_t open_descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& item : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += 1;
  }
  return count;
}

// A write that could be neither finished nor undone, or a name in place that is not durable.
bool is_unknown(const std::string& message) {
  return message.find("outcome is unknown") != std::string::npos;
}

// What a handle says that was opened without permission to write.
bool may_only_read(varve_status_t status, const varve_error_t* error) {
  const std::string message = varve_error_message(error);
  return status == VARVE_READ_ONLY && message.find("open for reading") != std::string::npos;
}

// Of a report that tells what it is without.
bool names_a_problem(const Outs& outs) {
  return outs.text != nullptr &&
         std::string_view(outs.text).find(R"("problems":[{)") != std::string_view::npos;
}

void prepare_ground(Ground& ground, const SweptCall& call) {
  if (call.prepare != nullptr) call.prepare(ground);
  if (ground.store == nullptr) ground.open_all();
}

class SystemCallSweep : public testing::TestWithParam<SweptCall> {
 protected:
  // Which calls are made when none fails, each time the same.
  std::string run_without_fault(const char* config) {
    const StoppedClocks clocks;
    Ground ground(config);
    prepare_ground(ground, GetParam());
    Outs outs;
    std::string functions;
    {
      const FailingCalls calls;
      EXPECT_EQ(GetParam().run(ground, outs), VARVE_OK) << varve_error_message(outs.error);
      functions = calls.sequence();
    }
    const bool has_after = check_open(ground, GetParam(), Outcome::kDone, false);
    check_anew(ground, GetParam(), Outcome::kDone, has_after);
    expected_ = answer_of(outs);
    return functions;
  }

  // False when the call made fewer than `number` calls.
  bool run(const char* config, const SweptFault& fault, uint64_t number, bool sticky) {
    Ground ground(config);
    prepare_ground(ground, GetParam());
    Outs outs;
    varve_status_t status = VARVE_OK;
    std::string where;
    {
      const FailingCalls calls(fault.fault, number, sticky);
      status = GetParam().run(ground, outs);
      where = calls.where();
    }
    if (where.empty()) return false;
    const std::string message = varve_error_message(outs.error);
    SCOPED_TRACE(std::string(fault.fault.name) + (sticky ? " from " : " at ") +
                 std::to_string(number) + ", " + where + "\n" + varve_status_name(status) + " " +
                 message);
    check_answer(fault, status, outs);
    const bool knows = GetParam().effect.is_whole_on_disk && !is_unknown(message);
    const Outcome refused = knows ? Outcome::kRefused : Outcome::kUnknown;
    const Outcome done = names_a_problem(outs) ? Outcome::kUnknown : Outcome::kDone;
    Outcome outcome = status == VARVE_OK ? done : refused;
    const bool has_after = check_open(ground, GetParam(), outcome, true);
    const bool asks_again = number % 2 == (sticky ? 1 : 0);
    if (status != VARVE_OK && asks_again) outcome = run_again(ground, outcome);
    check_anew(ground, GetParam(), outcome, has_after);
    return true;
  }

  // What was refused is done when the calls succeed again, unless writing stopped.
  static Outcome run_again(Ground& ground, Outcome before) {
    Outs outs;
    const varve_status_t status = GetParam().run(ground, outs);
    if (status == VARVE_OK) return Outcome::kDone;
    const bool was_done = status == VARVE_ALREADY_EXISTS || status == VARVE_NOT_FOUND;
    EXPECT_TRUE(says_stopped(status, outs.error) || may_only_read(status, outs.error) ||
                (was_done && before == Outcome::kUnknown))
        << "again: " << varve_status_name(status) << " " << varve_error_message(outs.error);
    return before;
  }

  void check_answer(const SweptFault& fault, varve_status_t status, const Outs& outs) {
    if (status != VARVE_OK) {
      EXPECT_TRUE(fault.answers.contains(status));
      const std::string name = varve_status_name(status);
      EXPECT_TRUE(documented_.contains(name) || name == kWithoutLocks);
      return check_refused(outs, status);
    }
    EXPECT_EQ(outs.error, nullptr);
    if (GetParam().same_text && !(GetParam().leaves_out && !fault.answers.empty())) {
      EXPECT_EQ(answer_of(outs), expected_);
    }
  }

  void sweep(const char* config, const SweptFault& fault, bool sticky) {
    const int64_t blocks_before = varve_test::live_blocks();
    const size_t descriptors_before = open_descriptors();
    const size_t step = std::max<size_t>(1, 100 / test::scaled(100, 10, 2));
    const int failures_before = failures();
    // The first, and then from another one on for each fault and function: together they are all.
    seed_ = (seed_ * 31 + 7) % 10'007;
    size_t next = 1 + seed_ % step;
    for (uint64_t number = 1; run(config, fault, number, sticky);
         number += std::exchange(next, step)) {
      tried_ += 1;
      EXPECT_EQ(open_descriptors(), descriptors_before);
      // The first failure of each fault is told; what gtest keeps of it is memory, too.
      if (failures() != failures_before) return;
      EXPECT_EQ(varve_test::live_blocks(), blocks_before) << fault.fault.name << " " << number;
    }
  }

  static int failures() {
    return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
  }

  // Which calls it makes when none fails.
  std::string sweep_all(const char* config) {
    std::string functions = run_without_fault(config);
    EXPECT_EQ(run_without_fault(config), functions);
    (void)run(config, kSweptFaults[0], 1, true);  // what is kept for good is there now
    for (const SweptFault& fault : kSweptFaults) {
      for (const bool sticky : {false, true}) {
        if (sticky && fault.once_only) continue;
        sweep(config, fault, sticky);
      }
    }
    return functions;
  }

  const std::set<std::string> documented_ = varve_test::all_documented_errors(GetParam().function);
  std::string expected_;
  size_t tried_ = 0;
  size_t seed_ = test_name(GetParam()).size();
};

TEST_P(SystemCallSweep, IsAnsweredAsItsHeaderSays) {
  std::string functions = sweep_all(kCommitConfig);
  functions += test::scaled(100, 0, 0) >= 100 ? sweep_all(kOsConfig) : run_without_fault(kOsConfig);
  EXPECT_EQ(functions.empty(), GetParam().is_without_files);
  test::counted("faults", tried_);
}

// What lasts is not said to be done when no file, or no directory, can be synced.
TEST_P(SystemCallSweep, PromisesNothingThatIsNotSynced) {
  for (const Kind kind : {Kind::kSync, Kind::kSyncDirectory}) {
    Ground ground(kCommitConfig);
    prepare_ground(ground, GetParam());
    Outs outs;
    const FailingCalls calls({"EIO", EIO, Part::kNothing, {kind}}, 1, true);
    const varve_status_t status = GetParam().run(ground, outs);
    if (!calls.happened() || !GetParam().effect.lasts()) continue;
    EXPECT_EQ(status, VARVE_IO) << calls.where() << " " << varve_error_message(outs.error);
    tried_ += 1;
  }
  test::counted("faults", tried_);
}

INSTANTIATE_TEST_SUITE_P(All, SystemCallSweep, testing::ValuesIn(swept_calls()),
                         [](const auto& given) { return test_name(given.param); });

TEST(SystemCallSweepOfTheRest, MakesNoSystemCall) {
  for (const SweptCall& call : calls_without_memory()) {
    SCOPED_TRACE(call.function);
    Ground ground(kOsConfig);
    prepare_ground(ground, call);
    Outs outs;
    const FailingCalls calls;
    EXPECT_EQ(call.run(ground, outs), VARVE_OK);
    EXPECT_EQ(calls.functions(), std::set<std::string>());
  }
}

// While the disk begins with what it was told of, an add has other things to do.
TEST(SystemCallSweepOfAll, ADurableAddTellsTheDiskBeforeItWaits) {
  const auto& calls = swept_calls();
  const auto add = std::find_if(calls.begin(), calls.end(), [](const SweptCall& call) {
    return std::string_view(call.function) == "varve_session_add";
  });
  ASSERT_NE(add, calls.end());
  for (const char* config : {kOsConfig, kCommitConfig}) {
    Ground ground(config);
    prepare_ground(ground, *add);
    Outs outs;
    const FailingCalls hints({"", 0, Part::kNothing, {Kind::kHint}}, 0, false);
    EXPECT_EQ(add->run(ground, outs), VARVE_OK);
    EXPECT_EQ(hints.count(), config == kCommitConfig ? 1u : 0u);
  }
}

// A function that is added to the headers is added here, or this fails.
TEST(SystemCallSweepOfAll, HasEveryFunctionOfTheHeaders) { expect_every_function_of_the_headers(); }

// What src/io calls is wrapped, or is no call that fails.
TEST(SystemCallSweepOfAll, WrapsEverySystemCallOfTheSources) {
  const std::set<std::string> others = {
      "clock_gettime", "clock_nanosleep", "closedir", "getauxval",     "geteuid",
      "getpid",        "getrlimit",       "kill",     "pthread_atfork"};
  size_t count = 0;
  for (const auto& item :
       std::filesystem::directory_iterator(std::string(VARVE_SOURCE_DIR) + "/src/io")) {
    if (item.path().extension() != ".cpp") continue;
    const std::string text = varve_test::source_file("src/io/" + item.path().filename().string());
    const std::regex call(R"([^\w>]::([a-z_0-9]+)\()");
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
      const std::string name = (*at)[1];
      EXPECT_TRUE(varve_test::wrapped_calls().contains(name) || others.contains(name))
          << name << " in " << item.path().filename();
      count += 1;
    }
  }
  EXPECT_GT(count, 30U);
}

}  // namespace
}  // namespace varve::crash
