// Every state that a power loss, or the death of every process, can leave vectors in.
#include <gtest/gtest.h>

#include "crash_rig.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

using Process = CrashRig::Process;

void expect_vectors_answered(const Process& process) { EXPECT_EQ(process->failures(), ""); }

void vectors_and_go_on(CrashRig& rig) {
  Process agent = rig.process(2001);
  Process other = rig.process(2002);
  agent->open_store();
  agent->create("s");
  agent->add_batch("s", {"a1", "a2"});
  agent->put_vector("s", "a1");
  agent->put_vector("s", "a2");
  other->open_store();
  other->open("s");
  other->put_vector("s", "a1");
  other->read("s");
  agent->add("s", "a3");
  agent->put_vector("s", "a3");
  agent->remove("s", "a2");
  agent->compact("s");
  other->put_vector("s", "a3");
  other->close_store();
  agent->close_store();
  expect_vectors_answered(agent);
  expect_vectors_answered(other);
}

void vectors_and_purge(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add_batch("s", {"a1", "a2"});
  agent->put_vector("s", "a1");
  agent->put_vector("s", "a2");
  agent->put_vector("s", "a2");
  agent->remove("s", "a1");
  agent->purge("s");
  agent->put_vector("s", "a2");
  agent->remove("s", "a2");
  agent->purge("s");
  agent->close_store();
  expect_vectors_answered(agent);
}

void vectors_of_relaxed_durability(CrashRig& rig) {
  rig.demands().no_alarm = false;
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s", "os");
  agent->add("s", "a1");
  agent->put_vector("s", "a1");
  agent->add("s", "a2");
  agent->put_vector("s", "a2");
  agent->put_vector("s", "a1");
  agent->sync("s");
  agent->put_vector("s", "a2");
  agent->close_store();
  expect_vectors_answered(agent);
}

void vectors_of_a_damaged_index(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add_batch("s", {"a1", "a2"});
  agent->put_vector("s", "a1");
  agent->rebuild("s");
  agent->put_vector("s", "a2");
  agent->repair("s");
  agent->put_vector("s", "a1");
  agent->close_store();
  expect_vectors_answered(agent);
}

using Workload = void (*)(CrashRig&);
struct VectorWorkload {
  const char* name;
  Workload run;
};
void PrintTo(const VectorWorkload& workload, std::ostream* out) { *out << workload.name; }

class CrashStatesOfVectors : public testing::TestWithParam<VectorWorkload> {};

TEST_P(CrashStatesOfVectors, KeepWhatWasAnswered) {
  CrashRig rig;
  rig.watch();
  GetParam().run(rig);
  rig.unwatch();
  EXPECT_EQ(rig.findings().count(), 0U) << rig.findings().text();
  EXPECT_GT(rig.state_count(), 0U);
  test::counted("states", rig.state_count());
}

constexpr VectorWorkload kVectorWorkloads[] = {{"PutAndCompact", vectors_and_go_on},
                                               {"PutAndPurge", vectors_and_purge},
                                               {"Relaxed", vectors_of_relaxed_durability},
                                               {"RebuildAndRepair", vectors_of_a_damaged_index}};
INSTANTIATE_TEST_SUITE_P(All, CrashStatesOfVectors, testing::ValuesIn(kVectorWorkloads),
                         [](const auto& given) { return std::string(given.param.name); });

// A process that dies before its every operation; the next one goes on.
TEST(CrashStatesOfKilledVectors, TheNextOneGoesOn) {
  constexpr int64_t kAgent = 2001;
  bool was_killed = true;
  size_t state_count = 0;
  uint64_t number = 0;
  while (was_killed) {
    number += 1;
    CrashRig rig;
    {
      Process maker = rig.process(2003);
      maker->open_store();
      maker->create("s");
      maker->add_batch("s", {"a1", "a2"});
      maker->put_vector("s", "a2");
      Process agent = rig.process(kAgent);
      rig.kill_before(kAgent, number);
      agent->open_store();
      agent->open("s");
      agent->put_vector("s", "a1");
      agent->put_vector("s", "a2");
      agent->remove("s", "a1");
      agent->compact("s");
    }
    was_killed = rig.bury();
    Process survivor = rig.process(2002);
    survivor->open_store();
    survivor->open("s");
    survivor->put_vector("s", "a2");
    survivor->purge("s");
    EXPECT_EQ(survivor->failures(), "") << "killed before operation " << number;
    rig.look(20);
    state_count += rig.state_count();
    ASSERT_EQ(rig.findings().count(), 0U)
        << "killed before operation " << number << ": " << rig.findings().text();
  }
  EXPECT_GT(number, 20U);
  test::counted("states", state_count);
  test::counted("simulated kills", number - 1);
}

// Where the canary looks, it sees.
TEST(CrashStatesOfVectorPurge, TheCanaryFindsWhatIsThere) {
  io::SimulatedFileSystem disk;
  Ledger ledger;
  Program agent(disk, ledger);
  agent.open_store();
  agent.create("s");
  agent.add("s", "a1");
  agent.put_vector("s", "a1");
  agent.sync("s");
  ledger["s"].entries["a1"].purged_vectors = {1};  // it was not
  Findings findings;
  check_disk(disk, ledger, {Loss::kProcess, true}, findings);
  EXPECT_EQ(findings.count("CANARY"), 1U) << findings.text();
}

}  // namespace
}  // namespace varve::crash
