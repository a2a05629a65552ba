// Stores on ext4, XFS and btrfs, on a disk that loses power at any write. Only root may mount:
// scripts/torture runs this, campaign `blocks`.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "block_kinds.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

class Blocks : public testing::TestWithParam<BlockFileSystem> {};

TEST_P(Blocks, KeepWhatWasAnsweredThroughAPowerLossAtAnyWrite) {
  VARVE_SKIP_UNLESS_POSSIBLE(GetParam());
  BlockRig rig(GetParam());
  rig.run(change_everything);
  EXPECT_EQ(rig.failures(), "");
  rig.look_at_end();
  rig.look_at_losses({block_share(GetParam().states)});
  EXPECT_EQ(rig.findings().count(), 0U) << rig.findings().text();
  test::counted(std::string("states of ") + GetParam().name, rig.state_count());
}

INSTANTIATE_TEST_SUITE_P(All, Blocks,
                         testing::Values(kExt4, kExt4Writeback, kExt4NoAutoAllocation,
                                         kExt4LateCommit, kBtrfs, kXfs),
                         [](const auto& given) { return std::string(given.param.name); });

// --- known mistakes ------------------------------------------------------------------------------

struct SeededOnDisk {
  std::string name;
  BlockFileSystem kind;
  Sabotage defect;
  const char* invariant;  // which must be broken, among others

  friend void PrintTo(const SeededOnDisk& seeded, std::ostream* out) { *out << seeded.name; }
};

class BlockDefects : public testing::TestWithParam<SeededOnDisk> {};

// All states are looked at for them, whatever the scale, until one is wrong: a mistake that is only
// found with luck is none that a rig finds.
TEST_P(BlockDefects, AreFound) {
  VARVE_SKIP_UNLESS_POSSIBLE(GetParam().kind);
  BlockRig rig(GetParam().kind, GetParam().defect);
  rig.run(change_everything);
  rig.look_at_losses({GetParam().kind.states}, GetParam().invariant);
  EXPECT_GT(rig.findings().count(GetParam().invariant), 0U)
      << rig.state_count() << " states, " << rig.findings().text();
  if (rig.findings().count(GetParam().invariant) > 0) test::counted("defects found", 1);
  test::counted(std::string("states of ") + GetParam().kind.name, rig.state_count());
}

std::vector<SeededOnDisk> seeded_on_disks() {
  std::vector<SeededOnDisk> seeded;
  for (const BlockFileSystem& kind : {kExt4, kExt4NoAutoAllocation, kBtrfs, kXfs}) {
    const std::string name = kind.name;
    seeded.push_back({name + "NoDataSyncBeforeTheAnswer", kind, Sabotage::kNoDataSync, "ACK"});
    seeded.push_back({name + "NoDirectorySync", kind, Sabotage::kNoDirectorySync, "ACK"});
    seeded.push_back({name + "TemporaryFileNotSynced", kind, Sabotage::kNoTemporarySync, "ALARM"});
    seeded.push_back(
        {name + "DirectorySyncedBeforeTheRename", kind, Sabotage::kRenameAfterSync, "ACK"});
  }
  return seeded;
}
INSTANTIATE_TEST_SUITE_P(All, BlockDefects, testing::ValuesIn(seeded_on_disks()),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace varve::crash
