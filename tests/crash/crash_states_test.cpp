// Every state that a power loss, or the death of every process, can leave a store in: each is
// opened and compared with what was promised by then.
#include <gtest/gtest.h>

#include "crash_rig.h"
#include "log/directory_engine.h"
#include "session/core.h"
#include "session/writer.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

using Process = CrashRig::Process;

void expect_sound(const CrashRig& rig, const Findings& findings) {
  EXPECT_EQ(findings.count(), 0U) << findings.text();
  EXPECT_GT(rig.state_count(), 0U);
  test::counted("states", rig.state_count());
}

void expect_all_answered(const Process& process) { EXPECT_EQ(process->failures(), ""); }

// --- the workloads -------------------------------------------------------------------------------

void create_and_describe(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->update("s", "first");
  agent->close_store();
  expect_all_answered(agent);
}

void append(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add("s", "a1");
  agent->add("s", "a2", 1200);
  agent->add("s", "a3", 10);
  agent->close_store();
}

void batches(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add_batch("s", {"b1", "b2", "b3"});
  agent->add("s", "a1");
  agent->add_batch("s", {"c1", "c2"}, 600);
  agent->close_store();
}

void deletes(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add_batch("s", {"a1", "a2", "a3"});
  agent->remove("s", "a2");
  agent->add("s", "a4");
  agent->remove("s", "a1");
  agent->close_store();
}

void updates(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->update("s", "one");
  agent->add("s", "a1");
  agent->update("s", "two");
  agent->close_store();
}

void save_and_reopen(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add("s", "a1");
  agent->sync("s");
  agent->close("s");
  agent->open("s");
  agent->add("s", "a2");
  agent->rebuild("s");
  agent->remove("s", "a1");
  agent->close_store();
}

void two_sessions(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->create("t");
  agent->add("s", "a1");
  agent->add("t", "a1");
  agent->remove("s", "a1");
  agent->add("t", "a2");
  agent->close_store();
}

void drop_and_create_again(CrashRig& rig) {
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->create("t");
  agent->add("s", "a1");
  agent->add("t", "a1");
  agent->drop("s");
  agent->add("t", "a2");
  agent->create("s");
  agent->add("s", "z1");
  agent->close_store();
}

// Lines that are written together without being a batch may be lost one by one: those that are
// left look as if the others had been damaged.
void import_many(CrashRig& rig) {
  rig.demands().no_alarm = false;
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->import_lines("s", {"i1", "i2", "i3", "i4"});
  agent->add("s", "a1");
  agent->close_store();
}

void two_processes(CrashRig& rig) {
  Process one = rig.process(2001);
  Process two = rig.process(2002);
  one->open_store();
  one->create("s");
  two->open_store();
  two->open("s");
  one->add("s", "a1");
  one->add("s", "a2");
  two->add("s", "b1");
  two->remove("s", "a1");
  one->remove("s", "b1");
  one->add("s", "a3");
  two->close_store();
  one->add("s", "a4");
  one->close_store();
  expect_all_answered(one);
  expect_all_answered(two);
}

void compact_with(CrashRig& rig, std::string_view config) {
  Process agent = rig.process(2001);
  agent->open_store(config);
  agent->create("s");
  agent->add_batch("s", {"a1", "a2", "a3"});
  agent->add("s", "a4");
  agent->sync("s");
  agent->remove("s", "a2");
  agent->remove("s", "a4");
  agent->compact("s");
  agent->add("s", "a5");
  agent->remove("s", "a1");
  agent->compact("s");
  agent->close_store();
  expect_all_answered(agent);
}

void compact_and_go_on(CrashRig& rig) { compact_with(rig, {}); }

void compact_in_two_threads(CrashRig& rig) { compact_with(rig, R"({"threads":2})"); }

void compact_beside_another(CrashRig& rig) {
  Process one = rig.process(2001);
  Process two = rig.process(2002);
  one->open_store();
  one->create("s");
  two->open_store();
  two->open("s");
  one->add("s", "a1");
  two->add("s", "b1");
  one->remove("s", "b1");
  one->compact("s");
  two->add("s", "b2");
  two->remove("s", "a1");
  one->add("s", "a2");
  two->compact("s");
  one->add("s", "a3");
  two->close_store();
  one->close_store();
  expect_all_answered(one);
  expect_all_answered(two);
}

// Words are in index.bin, and in another process's memory, before the purge.
void purge_and_go_on(CrashRig& rig) {
  Process agent = rig.process(2001);
  Process other = rig.process(2002);
  agent->open_store();
  agent->create("s");
  agent->add("s", "a1");
  agent->add("s", "a2");
  agent->sync("s");
  other->open_store();
  other->open("s");
  other->add("s", "b1");
  other->read("s");
  agent->remove("s", "a1");
  agent->purge("s");
  other->close_store();
  agent->add("s", "a3");
  agent->remove("s", "b1");
  agent->purge("s");
  agent->close_store();
  expect_all_answered(agent);
  expect_all_answered(other);
}

void migrate_and_go_on(CrashRig& rig) {
  {
    Process maker = rig.process(2003);
    maker->open_store();
    maker->create("s");
    for (const char* id : {"a1", "a2", "a3"}) maker->add("s", id);
    maker->close_store();
  }
  rig.unwatch();
  make_version_0(rig.disk(), "s", {"a1", "a2", "a3"});
  rig.watch();
  Process agent = rig.process(2001);
  Process other = rig.process(2002);
  agent->open_store();
  agent->open("s");
  other->open_store();
  other->open("s");
  agent->migrate("s");
  other->add("s", "b1");
  agent->remove("s", "a2");
  agent->purge("s");
  other->close_store();
  agent->close_store();
  expect_all_answered(agent);
  expect_all_answered(other);
}

// An index or log that is only as durable as the system makes it, until somebody asks for more.
void relaxed_durability(CrashRig& rig) {
  rig.demands().no_alarm = false;  // blocks of several lines may be lost in any order
  Process agent = rig.process(2001);
  agent->open_store();
  agent->create("s", "os");
  agent->add("s", "a1");
  agent->add("s", "a2");
  agent->sync("s");
  agent->add("s", "a3");
  agent->remove("s", "a1");
  agent->sync("s");
  agent->add("s", "a4");
  agent->close_store();
}

// --- the tests -----------------------------------------------------------------------------------

using Workload = void (*)(CrashRig&);
struct NamedWorkload {
  const char* name;
  Workload run;
};
void PrintTo(const NamedWorkload& workload, std::ostream* out) { *out << workload.name; }

class CrashStates : public testing::TestWithParam<NamedWorkload> {};

TEST_P(CrashStates, KeepWhatWasAnswered) {
  CrashRig rig;
  rig.watch();
  GetParam().run(rig);
  rig.unwatch();
  expect_sound(rig, rig.findings());
}

constexpr NamedWorkload kWorkloads[] = {{"Create", create_and_describe},
                                        {"Append", append},
                                        {"Batch", batches},
                                        {"Delete", deletes},
                                        {"Update", updates},
                                        {"SaveAndReopen", save_and_reopen},
                                        {"TwoSessions", two_sessions},
                                        {"DropAndCreateAgain", drop_and_create_again},
                                        {"Import", import_many},
                                        {"TwoProcesses", two_processes},
                                        {"Compact", compact_and_go_on},
                                        {"CompactInTwoThreads", compact_in_two_threads},
                                        {"CompactBesideAnother", compact_beside_another},
                                        {"Purge", purge_and_go_on},
                                        {"Migrate", migrate_and_go_on},
                                        {"RelaxedDurability", relaxed_durability}};
INSTANTIATE_TEST_SUITE_P(All, CrashStates, testing::ValuesIn(kWorkloads),
                         [](const auto& given) { return std::string(given.param.name); });

// --- recovery ------------------------------------------------------------------------------------

// A disk on which a session "s" has two entries, a snapshot and metadata, all of it durable.
std::unique_ptr<io::SimulatedFileSystem> disk_with_session(Ledger& ledger) {
  io::SimulatedFileSystem disk;
  Program agent(disk, ledger);
  agent.open_store();
  agent.create("s");
  agent.add("s", "a1");
  agent.add_batch("s", {"a2", "a3"});
  agent.close_store();
  EXPECT_EQ(agent.failures(), "");
  return disk.crash(disk.keep_all());
}

constexpr const char* kLog = "/store/sessions/s/memory.jsonl";

struct Tail {
  const char* name;
  const char* bytes;
  size_t size;
};
void PrintTo(const Tail& tail, std::ostream* out) { *out << tail.name; }

class CrashStatesOfTail : public testing::TestWithParam<Tail> {};

TEST_P(CrashStatesOfTail, RecoverAppendAndRecoverAgain) {
  Ledger ledger;
  auto disk = disk_with_session(ledger);
  const std::string log = disk->read_file(kLog).value_or("");
  disk->write_file(kLog, log + std::string(GetParam().bytes, GetParam().size));
  CrashRig rig(std::move(disk), ledger);
  rig.watch();
  Process agent = rig.process(2001);
  agent->open_store();
  agent->open("s");
  agent->add_batch("s", {"b1", "b2", "b3"}, 20);
  agent->add("s", "a4");
  agent->remove("s", "a1");
  agent->close_store();
  rig.unwatch();
  expect_all_answered(agent);
  expect_sound(rig, rig.findings());
}

constexpr Tail kTails[] = {{"HalfALine", "{\"checksum\":\"sha256:00", 22},
                           {"Zeros", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20},
                           {"ZerosAndLineEnd", "\0\0\0\0\0\0\0\n", 8},
                           {"NoLineEnd", "{\"id\":\"x\",\"type\":\"finding\",\"content\":1}", 39}};
INSTANTIATE_TEST_SUITE_P(All, CrashStatesOfTail, testing::ValuesIn(kTails),
                         [](const auto& given) { return std::string(given.param.name); });

// The states that a batch leaves when it is cut off, each recovered with crashes all along: what is
// left of the old batch and what is written over it must not be taken for each other.
TEST(CrashStatesOfRecovery, OfACutBatch) {
  std::vector<std::unique_ptr<io::SimulatedFileSystem>> states;
  Ledger ledger;
  {
    auto disk = disk_with_session(ledger);
    CrashRig rig(std::move(disk), ledger);
    Process agent = rig.process(2001);
    agent->open_store();
    agent->open("s");
    rig.disk().set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind != io::OperationKind::kSyncData || operation.name != "memory.jsonl") {
        return std::nullopt;
      }
      rig.disk().for_each_crash_state(
          [&](auto state, const io::CrashPlan&) { states.push_back(std::move(state)); },
          scaled(40));
      return std::nullopt;
    });
    agent->add_batch("s", {"b1", "b2", "b3"}, 20);
    ledger = rig.ledger();
    for (auto& [id, entry] : ledger["s"].entries) {
      if (entry.batch > 1 && id[0] == 'b') entry.added = entry.added_visibly = Promise::kAsked;
    }
  }
  ASSERT_GT(states.size(), 1U);
  size_t state_count = 0;
  for (auto& state : states) {
    CrashRig rig(std::move(state), ledger);
    rig.watch(40);
    Process agent = rig.process(2001);
    agent->open_store();
    agent->open("s");
    agent->add_batch("s", {"c1", "c2", "c3"}, 20);
    agent->add("s", "c4");
    rig.unwatch();
    expect_all_answered(agent);
    ASSERT_EQ(rig.findings().count(), 0U) << rig.findings().text();
    state_count += rig.state_count();
  }
  test::counted("states", state_count);
}

TEST(CrashStatesOfRecovery, OfRepair) {
  Ledger ledger;
  auto disk = disk_with_session(ledger);
  std::string log = disk->read_file(kLog).value_or("");
  log.insert(log.find('\n') + 1,
             "{\"id\":\"damaged\",\"type\":\"finding\",\"content\":1,\"checksum\":"
             "\"sha256:00\"}\nnot JSON at all\n");
  disk->write_file(kLog, log);
  CrashRig rig(std::move(disk), ledger);
  rig.demands().no_alarm = false;
  rig.watch();
  Process agent = rig.process(2001);
  agent->open_store();
  agent->open("s");
  agent->repair("s");
  agent->add("s", "a4");
  rig.unwatch();
  expect_all_answered(agent);
  rig.demands().no_alarm = true;  // repaired is repaired
  rig.look(1000);
  expect_sound(rig, rig.findings());
}

// --- group commit --------------------------------------------------------------------------------

// Threads that wait for the same lock share one write. Its parts reach the disk in any order, so a
// batch among them must not look whole because what was written behind it is there.
TEST(CrashStatesOfGroups, BatchesAmongOthersAreWholeOrNotThere) {
  Ledger ledger;
  auto disk = disk_with_session(ledger);
  const auto own = disk->process(2001);
  TestEnvironment environment;
  log::DirectoryEngine::Environment outside{own.get(), &environment.clock, &environment.random};
  auto engine = log::DirectoryEngine::open(kRoot, outside, 0);
  ASSERT_TRUE(engine.ok());
  auto storage = (*engine)->open("s");
  ASSERT_TRUE(storage.ok());
  session::EventLog events(environment.clock);
  session::Counters counters;
  session::Core core("s", *std::move(storage),
                     {&environment.clock, &environment.random, &events, &counters, {}});
  ASSERT_TRUE(core.load().ok());
  session::Writer writer(core);
  IdGenerator ids(environment.clock, environment.random);

  // The zeros of a torn write end in the middle: in the first batch, if all is written at once.
  std::vector<session::WriteRequest> requests(4);
  const std::vector<std::vector<std::string>> groups = {
      {"b1", "b2", "b3", "b4", "b5", "b6"}, {"x1"}, {"c1", "c2"}, {"x2"}};
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const std::string& id : groups[i]) {
      EntryPromise& promise = ledger["s"].entries[id];
      promise.content = "content of " + id;
      promise.batch = groups[i].size() > 1 ? 100 + i : 0;
      ledger["s"].order.push_back(id);
      json::Document scratch;
      entry::DraftOptions options;
      options.session_id = "s";
      auto draft = entry::draft(entry_text(id, promise.content), options, ids, scratch);
      ASSERT_TRUE(draft.ok());
      requests[i].drafts.push_back(*std::move(draft));
    }
  }
  CrashRig rig(std::move(disk), ledger);
  rig.demands().no_alarm = false;
  rig.watch(400);
  writer.submit(requests);
  rig.unwatch();
  for (const auto& request : requests) EXPECT_TRUE(request.status.ok());
  for (auto& [id, entry] : rig.ledger()["s"].entries) entry.added = Promise::kGiven;
  rig.look(400);
  expect_sound(rig, rig.findings());
}

// --- failed syncs --------------------------------------------------------------------------------

// After a sync that failed, the log is healed into a new file or writing stops; a power loss at any
// moment of that, and of what comes after, takes nothing that was answered.
TEST(CrashStatesOfFailedSync, HealWithoutLoss) {
  size_t state_count = 0;
  uint64_t number = 1;
  for (bool failed = true; failed; ++number) {
    CrashRig rig;
    rig.watch(60);
    rig.fail(io::FailNth(number, EIO, false, {io::OperationKind::kSyncData}));
    Process agent = rig.process(2001);
    agent->open_store();
    agent->create("s");
    if (agent->find("s") == nullptr) agent->create("s");
    agent->add("s", "a1");
    agent->add_batch("s", {"b1", "b2"});
    agent->remove("s", "a1");
    agent->add("s", "a2");
    failed = agent->failures() != "";
    agent->close_store();
    rig.unwatch();
    state_count += rig.state_count();
    ASSERT_EQ(rig.findings().count(), 0U)
        << "sync " << number << " failed: " << rig.findings().text();
  }
  EXPECT_GT(number, 5U);
  test::counted("states", state_count);
  test::counted("failed syncs", number - 1);
}

// Where the canary looks, it sees: before the purge the word is in the log and in the index.
TEST(CrashStatesOfPurge, TheCanaryFindsWhatIsThere) {
  Ledger ledger;
  io::SimulatedFileSystem disk;
  Program agent(disk, ledger);
  agent.open_store();
  agent.create("s");
  const std::vector<std::string> ids = {"a1", "a2", "a3", "b1"};
  for (const std::string& id : ids) agent.add("s", id);
  agent.sync("s");
  for (const std::string& id : ids) {
    EXPECT_EQ(files_with_canary(disk, id).size(), 2U) << id;
    agent.remove("s", id);
  }
  agent.compact("s");
  agent.purge("s");
  for (const std::string& id : ids) EXPECT_EQ(files_with_canary(disk, id).size(), 0U) << id;
}

}  // namespace
}  // namespace varve::crash
