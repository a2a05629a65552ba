// The rig must find what it is there to find: each of these puts one known mistake between the
// library and the disk, and asks for violations.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "crash_rig.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

// One of everything, on a log that starts with a torn tail.
void work(CrashRig& rig) {
  auto agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add("s", "a1");
  agent->add_batch("s", {"b1", "b2", "b3"});
  agent->remove("s", "a1");
  agent->update("s", "title");
  agent->create("t");
  agent->add("t", "a1");
  agent->close_store();
  // Somebody's last line was cut off; then somebody goes on.
  const std::string path = "/store/sessions/s/memory.jsonl";
  const auto log = rig.disk().read_file(path);
  if (log) rig.disk().write_file(path, *log + "{\"checksum\":\"sha256:0");
  agent->open_store();
  agent->open("s");
  agent->add("s", "a2");
  agent->add("s", "a3");
}

// A log with a deletion is written anew.
void work_and_compact(CrashRig& rig) {
  auto agent = rig.process(2001);
  agent->open_store();
  agent->create("s");
  agent->add("s", "a1");
  agent->add("s", "a2");
  agent->remove("s", "a1");
  agent->compact("s");
}

struct Seeded {
  const char* name;
  Sabotage defect;
  const char* invariant;  // which must be broken, among others
  void (*run)(CrashRig&) = work;
  size_t states_max = 150;  // of each moment
};
void PrintTo(const Seeded& seeded, std::ostream* out) { *out << seeded.name; }

class SeededDefects : public testing::TestWithParam<Seeded> {};

TEST(SeededDefects, NoneIsFoundWhereThereIsNone) {
  for (const auto run : {work, work_and_compact}) {
    CrashRig rig;
    rig.watch(150);
    run(rig);
    rig.unwatch();
    EXPECT_EQ(rig.findings().count(), 0U) << rig.findings().text();
    EXPECT_GT(rig.state_count(), 100U);
  }
}

TEST_P(SeededDefects, AreFound) {
  CrashRig rig(GetParam().defect);
  rig.watch(GetParam().states_max);
  GetParam().run(rig);
  rig.unwatch();
  EXPECT_GT(rig.findings().count(), 0U) << rig.state_count() << " states";
  EXPECT_GT(rig.findings().count(GetParam().invariant), 0U) << rig.findings().text();
  if (rig.findings().count(GetParam().invariant) > 0) test::counted("defects found", 1);
  test::counted("states", rig.state_count());
}

constexpr Seeded kSeeded[] = {
    {"NoDataSyncBeforeTheAnswer", Sabotage::kNoDataSync, "ACK"},
    {"NoDirectorySync", Sabotage::kNoDirectorySync, "ACK"},
    {"TemporaryFileNotSynced", Sabotage::kNoTemporarySync, "ACK"},
    {"ShortWriteTakenForWhole", Sabotage::kShortWriteTaken, "ACK"},
    {"AppendBeforeTailRepair", Sabotage::kNoTailRepair, "ACK"},
    {"DirectorySyncedBeforeTheRename", Sabotage::kRenameAfterSync, "ACK"},
    {"TombstonesReplacedBeforeTheLog", Sabotage::kTombstonesFirst, "NORES", work_and_compact},
    {"RemovedBeforeTheRename", Sabotage::kRemovedFirst, "ACK"},
    {"TombstoneWrittenLate", Sabotage::kTombstoneLate, "NORES"},
    {"BatchHalfApplied", Sabotage::kBatchOfOnes, "BATCH", work, 300},
};
INSTANTIATE_TEST_SUITE_P(All, SeededDefects, testing::ValuesIn(kSeeded),
                         [](const auto& given) { return std::string(given.param.name); });

// The mistake that looks harmless: a sync that failed is tried again, and works.
size_t violations_after_failed_sync(Sabotage defect) {
  size_t violations = 0;
  bool failed = true;
  for (uint64_t number = 1; failed; ++number) {
    CrashRig rig(defect);
    const io::FailNth hook(number, EIO, false, {io::OperationKind::kSyncData});
    rig.disk().set_fault_hook(hook);
    auto agent = rig.process(2001);
    agent->open_store();
    agent->create("s");
    agent->add("s", "a1");
    agent->add("s", "a2");
    agent->remove("s", "a1");
    failed = hook.matched() >= number;
    rig.disk().set_fault_hook({});
    rig.look(100);
    violations += rig.findings().count();
  }
  return violations;
}

TEST(SeededDefects, AFailedSyncTriedAgainIsFound) {
  EXPECT_EQ(violations_after_failed_sync(Sabotage::kNone), 0U);
  const size_t violations = violations_after_failed_sync(Sabotage::kSyncRetried);
  EXPECT_GT(violations, 0U);
  if (violations > 0) test::counted("defects found", 1);
}

// A process adds while another is about to append, under the lock that keeps it waiting.
size_t violations_of_two_writers(Sabotage defect) {
  CrashRig rig(defect);
  auto first = rig.process(2001);
  auto second = rig.process(2002);
  first->open_store();
  first->create("s");
  second->open_store();
  second->open("s");
  bool interrupted = false;
  rig.disk().set_fault_hook([&](const io::OperationInfo& operation) {
    if (operation.process_id == 2001 && operation.kind == io::OperationKind::kAppend &&
        !std::exchange(interrupted, true)) {
      second->add("s", "b1");
    }
    return std::optional<io::Fault>();
  });
  first->add("s", "a1");
  first->add("s", "a2");
  rig.disk().set_fault_hook({});
  EXPECT_TRUE(interrupted);
  rig.look(100);
  return rig.findings().count();
}

TEST(SeededDefects, ALockThatKeepsNobodyOutIsFound) {
  EXPECT_EQ(violations_of_two_writers(Sabotage::kNone), 0U);
  const size_t violations = violations_of_two_writers(Sabotage::kLockForAll);
  EXPECT_GT(violations, 0U);
  if (violations > 0) test::counted("defects found", 1);
}

// Contents that nobody wrote, over all bytes of the log of which the lowest bit is flipped.
size_t contents_nobody_wrote(Sabotage defect) {
  io::SimulatedFileSystem disk;
  Ledger ledger;
  {
    Program agent(disk, ledger);
    agent.open_store();
    agent.create("s");
    agent.add("s", "a1");
    agent.close_store();
  }
  const std::string path = "/store/sessions/s/memory.jsonl";
  const std::string log = disk.read_file(path).value_or("");
  const std::string content = ledger["s"].entries["a1"].content;
  size_t wrong = 0;
  for (size_t at = 0; at < log.size(); ++at) {
    const auto damaged = disk.copy();
    std::string bytes = log;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    damaged->write_file(path, bytes);
    SabotagedFileSystem sabotaged(*damaged, defect);
    TestEnvironment environment;
    const auto store = store::Store::open(kRoot, {}, environment.with(sabotaged));
    const auto session = (*store)->open_session("s");
    const auto shown = session.ok() ? shown_by(**session) : Result<Shown>(session.status());
    if (!shown.ok()) continue;
    const auto is_wrong = [&](const auto& entry) { return entry.second != content; };
    if (std::any_of(shown->entries.begin(), shown->entries.end(), is_wrong)) wrong += 1;
  }
  return wrong;
}

TEST(SeededDefects, AChecksumThatIsNotVerifiedIsFound) {
  EXPECT_EQ(contents_nobody_wrote(Sabotage::kNone), 0U);
  const size_t wrong = contents_nobody_wrote(Sabotage::kAnyChecksum);
  EXPECT_GT(wrong, 0U);
  if (wrong > 0) test::counted("defects found", 1);
}

}  // namespace
}  // namespace varve::crash
