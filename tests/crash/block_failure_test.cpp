// Stores on ext4, XFS and btrfs, on a disk that answers EIO from one moment on and is well again a
// moment later. What is looked at then is what the disk holds, not what the kernel remembers.
#include <gtest/gtest.h>

#include <algorithm>

#include "block_kinds.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

struct Ill {
  const char* name;
  BlockFileSystem kind;
  DiskFailure failure;

  friend void PrintTo(const Ill& ill, std::ostream* out) { *out << ill.name; }
};

constexpr size_t kMomentsMax = 150;

// One run for each moment at which the disk may begin to fail.
struct Sweep {
  explicit Sweep(const Ill& given, Sabotage defect = Sabotage::kNone)
      : ill(given), rig(given.kind, defect) {}

  void run(size_t moments_max) {
    rig.run(change_everything);
    const auto& events = rig.events();
    const auto moments = static_cast<size_t>(
        std::count_if(events.begin(), events.end(),
                      [&](const BlockEvent& event) { return may_fail(ill.failure, event); }));
    const size_t step = std::max<size_t>(1, moments / moments_max);
    bool failed = true;
    for (size_t passed = 0; passed < moments && failed; passed += step) {
      failed = run_once(passed);
    }
  }

  // Whether the disk had the occasion to fail.
  bool run_once(size_t passed) {
    rig.findings().set_context("  after " + std::to_string(passed) + "\n");
    rig.run(change_everything, {ill.failure, passed, 1 + passed % 3});
    rig.look_at_end();
    if (rig.failed_count() == 0) return false;
    runs += 1;
    if (!rig.failures().empty()) refusing += 1;
    if (!rig.failures().empty() && rig.late_successes() > 0) going_on += 1;
    return true;
  }

  const Ill ill;
  BlockRig rig;
  size_t runs = 0;
  size_t refusing = 0;  // of which a call was refused
  size_t going_on = 0;  // and a later one was not
};

class IllDisks : public testing::TestWithParam<Ill> {};

TEST_P(IllDisks, LoseNothingThatWasAnswered) {
  VARVE_SKIP_UNLESS_POSSIBLE(GetParam().kind);
  Sweep sweep(GetParam());
  sweep.run(block_share(kMomentsMax));
  EXPECT_EQ(sweep.rig.findings().count(), 0U) << sweep.rig.findings().text();
  EXPECT_GT(sweep.refusing, 0U);
  test::counted(std::string("failures of ") + GetParam().kind.name, sweep.runs);
  test::counted("of which refused something", sweep.refusing);
  test::counted("of which went on afterwards", sweep.going_on);
}

// What looks harmless: a sync that failed is tried again, and works.
TEST(IllDisk, ASyncTriedAgainIsFoundToLoseWhatWasAnswered) {
  VARVE_SKIP_UNLESS_POSSIBLE(kExt4);
  Sweep sweep({"ext4", kExt4, DiskFailure::kText}, Sabotage::kSyncRetried);
  sweep.run(kMomentsMax);  // whatever the scale
  EXPECT_GT(sweep.rig.findings().count("ACK"), 0U) << sweep.rig.findings().text();
  if (sweep.rig.findings().count("ACK") > 0) test::counted("defects found", 1);
}

INSTANTIATE_TEST_SUITE_P(All, IllDisks,
                         testing::Values(Ill{"ext4Everywhere", kExt4, DiskFailure::kAll},
                                         Ill{"ext4InTheLog", kExt4, DiskFailure::kText},
                                         Ill{"btrfsEverywhere", kBtrfs, DiskFailure::kAll},
                                         Ill{"btrfsInTheLog", kBtrfs, DiskFailure::kText},
                                         Ill{"xfsEverywhere", kXfs, DiskFailure::kAll},
                                         Ill{"xfsInTheLog", kXfs, DiskFailure::kText}),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::crash
