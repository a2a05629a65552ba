// The simulation must find what it is there to find: mistakes between the library and the disk.
#include <gtest/gtest.h>

#include <iostream>

#include "simulation.h"

namespace varve::simulation {
namespace {

constexpr uint64_t kSeedsMax = 200;  // within which each is found

struct Defect {
  const char* name;
  crash::Sabotage sabotage;
};
void PrintTo(const Defect& defect, std::ostream* out) { *out << defect.name; }

class Defects : public testing::TestWithParam<Defect> {};

TEST_P(Defects, AreFound) {
  for (uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
    const auto run = simulate(seed, GetParam().sabotage);
    if (run.violation.empty()) continue;
    std::cout << "[    found ] " << GetParam().name << " by seed " << seed << ": " << run.violation
              << "\n";
    return;
  }
  FAIL() << "not found in " << kSeedsMax << " seeds";
}

constexpr Defect kDefects[] = {
    {"NoDataSyncBeforeTheAnswer", crash::Sabotage::kNoDataSync},
    {"NoDirectorySync", crash::Sabotage::kNoDirectorySync},
    {"TemporaryFileNotSynced", crash::Sabotage::kNoTemporarySync},
    {"ShortWriteTakenForWhole", crash::Sabotage::kShortWriteTaken},
    {"AppendBeforeTailRepair", crash::Sabotage::kNoTailRepair},
    {"DirectorySyncedBeforeTheRename", crash::Sabotage::kRenameAfterSync},
    {"FailedSyncTriedAgain", crash::Sabotage::kSyncRetried},
};
INSTANTIATE_TEST_SUITE_P(All, Defects, testing::ValuesIn(kDefects),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::simulation
