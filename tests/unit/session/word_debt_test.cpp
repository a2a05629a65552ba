#include "session/word_debt.h"

#include <gtest/gtest.h>

#include "support/sizes.h"

namespace varve::session {
namespace {

using test::kMegabyte;

TEST(WordDebt, NothingIsDueWhileLittleWaits) {
  WordDebt debt;
  debt.note_asked();
  debt.note_written(kMegabyte);
  EXPECT_EQ(debt.due_bytes(4 * kMegabyte - 1), 0U);
}

TEST(WordDebt, WhereNobodyAskedFourTimesAsMuchMayWait) {
  WordDebt debt;
  debt.note_written(kMegabyte);
  EXPECT_EQ(debt.due_bytes(16 * kMegabyte - 1), 0U);
  debt.note_written(kMegabyte);
  EXPECT_EQ(debt.due_bytes(16 * kMegabyte), 2 * kMegabyte);
}

TEST(WordDebt, SmallWritesPayEveryFewTimes) {
  WordDebt debt;
  debt.note_asked();
  // Each owes 2,000 bytes; one pays when 16 KiB, the least there is, are owed.
  for (int write = 1; write <= 8; ++write) {
    debt.note_written(1000);
    EXPECT_EQ(debt.due_bytes(5 * kMegabyte), 0U) << write;
  }
  debt.note_written(1000);
  EXPECT_EQ(debt.due_bytes(5 * kMegabyte), 16384U);
  debt.note_written(1000);
  EXPECT_EQ(debt.due_bytes(5 * kMegabyte), 0U) << "what was answered is paid";
}

TEST(WordDebt, PaysInProportionToWhatAWriteWrote) {
  WordDebt debt;
  debt.note_asked();
  int writes = 0;
  uint64_t due = 0;
  while (due == 0) {
    debt.note_written(10'000);
    due = debt.due_bytes(5 * kMegabyte);
    ++writes;
  }
  EXPECT_EQ(due, 80'000U);
  EXPECT_EQ(writes, 4);
}

TEST(WordDebt, ABulkLoadPaysNoMoreThanTwoMegabytesAtOnce) {
  WordDebt debt;
  debt.note_asked();
  debt.note_written(100 * kMegabyte);
  EXPECT_EQ(debt.due_bytes(100 * kMegabyte), 2 * kMegabyte);
  debt.note_written(1);
  EXPECT_EQ(debt.due_bytes(98 * kMegabyte), 0U) << "the rest is left for later writes to owe";
}

TEST(WordDebt, OnceLittleWaitsNothingIsOwed) {
  WordDebt debt;
  debt.note_asked();
  for (int write = 0; write < 8; ++write) {
    debt.note_written(1000);
    EXPECT_EQ(debt.due_bytes(5 * kMegabyte), 0U);
  }
  EXPECT_EQ(debt.due_bytes(0), 0U);  // a query indexed it all
  debt.note_written(1000);
  EXPECT_EQ(debt.due_bytes(5 * kMegabyte), 0U);
}

}  // namespace
}  // namespace varve::session
