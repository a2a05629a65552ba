#include "session/saved_snapshot.h"

#include <gtest/gtest.h>

#include "support/sizes.h"

namespace varve::session {
namespace {

constexpr uint64_t kKilobyte = uint64_t{1} << 10;
using test::kMegabyte;

SavedSnapshot saved(uint64_t log_bytes, uint32_t text_rows = 0) {
  return {{log_bytes, text_rows}, 4096, true};
}

TEST(SavedSnapshot, AnEmptyLogWithoutAFileNeedsNone) {
  EXPECT_FALSE(SavedSnapshot().is_saving_due({0, 0}, Saving::kAlways));
  EXPECT_TRUE(SavedSnapshot().is_saving_due({1, 0}, Saving::kAlways));
}

TEST(SavedSnapshot, AFileOfALogThatBecameEmptyIsReplaced) {
  EXPECT_TRUE(saved(kMegabyte).is_saving_due({0, 0}, Saving::kAlways));
}

TEST(SavedSnapshot, IsDueWhenMoreThanAMegabyteIsLeftOut) {
  EXPECT_FALSE(saved(kMegabyte).is_saving_due({2 * kMegabyte, 0}, Saving::kIfDue));
  EXPECT_TRUE(saved(kMegabyte).is_saving_due({2 * kMegabyte + 1, 0}, Saving::kIfDue));
}

TEST(SavedSnapshot, IsDueWhenMoreThanHalfOfWhatItCoversIsLeftOut) {
  EXPECT_FALSE(saved(10 * kMegabyte).is_saving_due({15 * kMegabyte, 0}, Saving::kIfDue));
  EXPECT_TRUE(saved(10 * kMegabyte).is_saving_due({15 * kMegabyte + 1, 0}, Saving::kIfDue));
}

TEST(SavedSnapshot, TheSameIsNotSavedAgainUnlessItWasFoundWrong) {
  SavedSnapshot file = saved(kMegabyte, 7);
  EXPECT_FALSE(file.is_saving_due({kMegabyte, 7}, Saving::kAlways));
  EXPECT_TRUE(file.is_saving_due({kMegabyte, 8}, Saving::kAlways)) << "more words";
  file.was_used = false;
  EXPECT_TRUE(file.is_saving_due({kMegabyte, 7}, Saving::kAlways));
}

TEST(SavedSnapshot, OneThatIsDistrustedIsDueWhenTheLogIsLarge) {
  SavedSnapshot file = saved(10 * kMegabyte);
  file.distrust();
  EXPECT_TRUE(file.is_saving_due({10 * kMegabyte, 0}, Saving::kIfDue));
  EXPECT_FALSE(file.is_saving_due({kMegabyte, 0}, Saving::kIfDue));
  EXPECT_TRUE(file.is_saving_due({kMegabyte, 0}, Saving::kAlways));
}

TEST(SavedSnapshot, TheEndOfASessionLeavesASmallPartOfTheLogOut) {
  EXPECT_FALSE(saved(kMegabyte).is_saving_worth({kMegabyte + 16 * kKilobyte, 0}, 0));
  EXPECT_TRUE(saved(kMegabyte).is_saving_worth({kMegabyte + 16 * kKilobyte + 1, 0}, 0));
  EXPECT_FALSE(saved(32 * kMegabyte).is_saving_worth({32 * kMegabyte + 512 * kKilobyte, 0}, 0));
  EXPECT_TRUE(saved(32 * kMegabyte).is_saving_worth({32 * kMegabyte + 513 * kKilobyte, 0}, 0));
  EXPECT_FALSE(saved(1000 * kMegabyte).is_saving_worth({1001 * kMegabyte, 0}, 0));
  EXPECT_TRUE(saved(1000 * kMegabyte).is_saving_worth({1001 * kMegabyte + 1, 0}, 0));
}

TEST(SavedSnapshot, TheEndOfASessionSavesWhatCostAReadingOfTheLog) {
  const SnapshotExtent same{kMegabyte, 0};
  EXPECT_FALSE(saved(kMegabyte).is_saving_worth(same, 0));
  EXPECT_TRUE(SavedSnapshot().is_saving_worth({1, 0}, 0)) << "there was no file";
  EXPECT_TRUE(saved(kMegabyte).is_saving_worth(same, 16 * kKilobyte + 1)) << "words that wait";
  EXPECT_FALSE(saved(kMegabyte).is_saving_worth({kMegabyte, 256}, 0));
  EXPECT_TRUE(saved(kMegabyte).is_saving_worth({kMegabyte, 257}, 0)) << "words of many rows";
}

}  // namespace
}  // namespace varve::session
