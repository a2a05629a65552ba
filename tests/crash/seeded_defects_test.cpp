// The rig must find what it is there to find: each of these puts one known mistake between the
// library and the disk, and asks for violations.
#include <gtest/gtest.h>

#include <iostream>

#include "crash_rig.h"

namespace varve::crash {
namespace {

struct Seeded {
  const char* name;
  Sabotage defect;
  const char* invariant;  // which must be broken, among others
};
void PrintTo(const Seeded& seeded, std::ostream* out) { *out << seeded.name; }

class SeededDefects : public testing::TestWithParam<Seeded> {};

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

TEST(SeededDefects, NoneIsFoundWhereThereIsNone) {
  CrashRig rig;
  rig.watch(60);
  work(rig);
  rig.unwatch();
  EXPECT_EQ(rig.findings().count(), 0U) << rig.findings().text();
  EXPECT_GT(rig.state_count(), 100U);
}

TEST_P(SeededDefects, AreFound) {
  CrashRig rig(GetParam().defect);
  rig.watch(60);
  work(rig);
  rig.unwatch();
  EXPECT_GT(rig.findings().count(), 0U) << rig.state_count() << " states";
  EXPECT_GT(rig.findings().count(GetParam().invariant), 0U) << rig.findings().text();
  RecordProperty("violations", std::to_string(rig.findings().count()));
  std::cout << "[    found ] " << GetParam().name << ": " << rig.findings().count()
            << " violations in " << rig.state_count() << " states\n";
}

constexpr Seeded kSeeded[] = {
    {"NoDataSyncBeforeTheAnswer", Sabotage::kNoDataSync, "ACK"},
    {"NoDirectorySync", Sabotage::kNoDirectorySync, "ACK"},
    {"TemporaryFileNotSynced", Sabotage::kNoTemporarySync, "ACK"},
    {"ShortWriteTakenForWhole", Sabotage::kShortWriteTaken, "ACK"},
    {"AppendBeforeTailRepair", Sabotage::kNoTailRepair, "ACK"},
    {"DirectorySyncedBeforeTheRename", Sabotage::kRenameAfterSync, "ACK"},
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
  EXPECT_GT(violations_after_failed_sync(Sabotage::kSyncRetried), 0U);
}

}  // namespace
}  // namespace varve::crash
