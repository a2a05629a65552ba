#include "index/id_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace varve::index {
namespace {

// Whether two numbers have the same id.
constexpr auto kDiffer = [](uint32_t, uint32_t) { return false; };

std::string id_of(uint32_t number) { return "id" + std::to_string(number); }

class Table : public testing::Test {
 protected:
  void insert(uint32_t hash) {
    hashes_.push_back(hash);
    table_.insert(static_cast<uint32_t>(hashes_.size() - 1), hashes_, id_of);
  }
  std::optional<uint32_t> find(uint32_t hash) {
    return table_.find(hash, hashes_, [](uint32_t) { return true; });
  }
  std::optional<uint32_t> find_id(uint32_t number) const {
    return table_.find(id_of(number), hashes_, [](uint32_t) { return true; });
  }
  std::vector<uint32_t> slots() const { return {table_.slots().begin(), table_.slots().end()}; }

  IdTable table_;
  IdTable::Hashes hashes_;
};

IdTable::Slots column_of(const std::vector<uint32_t>& values) {
  IdTable::Slots column;
  column.append(values);
  return column;
}

TEST_F(Table, AnEmptyOneFindsNothing) {
  EXPECT_FALSE(find(0).has_value());
  EXPECT_FALSE(find(UINT32_MAX).has_value());
  EXPECT_EQ(table_.memory_bytes(), 0u);
}

TEST_F(Table, FindsWhatWasInsertedWhileItGrows) {
  std::mt19937 generator(5);
  for (uint32_t i = 0; i < 5000; ++i) {
    const auto hash = static_cast<uint32_t>(generator());
    insert(hash);
    ASSERT_EQ(find(hash), i);
    ASSERT_LE(uint64_t{i + 1} * 10, table_.slots().size() * 7) << "over-full";
  }
  for (uint32_t i = 0; i < 5000; ++i) ASSERT_EQ(find(hashes_[i]), i);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_FALSE(find(static_cast<uint32_t>(generator())).has_value());
  }
  EXPECT_TRUE(table_.finds_all(hashes_, kDiffer));
}

TEST_F(Table, CollidingHashesAreToldApartByTheirIds) {
  for (int i = 0; i < 100; ++i) insert(42);
  for (uint32_t wanted = 0; wanted < 100; ++wanted) {
    EXPECT_EQ(table_.find(42, hashes_, [&](uint32_t number) { return number == wanted; }), wanted);
  }
  EXPECT_FALSE(table_.find(42, hashes_, [](uint32_t) { return false; }).has_value());
  EXPECT_EQ(find(42), 0u) << "the first inserted";
}

TEST_F(Table, ProbingGoesRoundTheEnd) {
  // All want the last slot, however large the table is.
  for (int i = 0; i < 50; ++i) insert(UINT32_MAX - (static_cast<uint32_t>(i) << 16));
  for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(find(hashes_[i]), i);
}

TEST_F(Table, ReservingChangesNothingThatIsFound) {
  for (uint32_t i = 0; i < 20; ++i) insert(i * 1'000'003);
  table_.reserve(100'000, hashes_, id_of);
  EXPECT_GE(table_.slots().size() * 7, 1'000'000u);
  for (uint32_t i = 0; i < 20; ++i) EXPECT_EQ(find(hashes_[i]), i);
  const size_t before = table_.slots().size();
  table_.reserve(10, hashes_, id_of);
  EXPECT_EQ(table_.slots().size(), before);
}

TEST_F(Table, ATakenOverTableFindsTheSame) {
  for (uint32_t i = 0; i < 300; ++i) insert(i * 0x9e3779b9);
  IdTable other;
  ASSERT_TRUE(other.adopt(column_of(slots()), 300));
  for (uint32_t i = 0; i < 300; ++i) {
    EXPECT_EQ(other.find(hashes_[i], hashes_, [](uint32_t) { return true; }), i);
  }
  hashes_.push_back(7);
  other.insert(300, hashes_, id_of);
  EXPECT_EQ(other.find(7, hashes_, [](uint32_t) { return true; }), 300u);
}

TEST_F(Table, TakingOverWhatCanBeNoTableIsRefusedAndChangesNothing) {
  for (uint32_t i = 0; i < 5; ++i) insert(i);
  const auto right = slots();
  ASSERT_EQ(right.size(), 16u);
  const auto refused = [&](const std::vector<uint32_t>& wrong, uint32_t count) {
    IdTable other;
    other.insert(0, hashes_, id_of);
    const bool adopted = other.adopt(column_of(wrong), count);
    EXPECT_EQ(other.find(hashes_[0], hashes_, [](uint32_t) { return true; }), 0u);
    return !adopted;
  };
  EXPECT_FALSE(refused(right, 5));
  EXPECT_TRUE(refused({}, 1)) << "no slots";
  auto wrong = right;
  wrong.push_back(0);
  EXPECT_TRUE(refused(wrong, 5)) << "17 slots";
  wrong.assign(4, 0);
  for (uint32_t i = 0; i < 4; ++i) wrong[i] = i + 1;
  EXPECT_TRUE(refused(wrong, 4)) << "full: a search would never end";
}

TEST_F(Table, ATableThatHasNotEachNumberOnceIsNoticed) {
  for (uint32_t i = 0; i < 5; ++i) insert(i);
  const auto right = slots();
  const auto is_right = [&](const std::vector<uint32_t>& slots, uint32_t count) {
    IdTable other;
    EXPECT_TRUE(other.adopt(column_of(slots), count));
    return other.finds_all(hashes_, kDiffer);
  };
  EXPECT_TRUE(is_right(right, 5));
  EXPECT_FALSE(is_right(right, 4)) << "a number too large";
  EXPECT_FALSE(is_right(right, 6)) << "a number is missing";
  auto wrong = right;
  *std::find(wrong.begin(), wrong.end(), 3u) = 2;
  EXPECT_FALSE(is_right(wrong, 5)) << "a number twice";
  wrong = right;
  *std::find(wrong.begin(), wrong.end(), 0u) = 2;
  EXPECT_FALSE(is_right(wrong, 5)) << "a number once more";
  wrong = right;
  *std::find(wrong.begin(), wrong.end(), 5u) = UINT32_MAX;
  EXPECT_FALSE(is_right(wrong, 5)) << "a number out of all range";
  EXPECT_FALSE(is_right(std::vector<uint32_t>(16, 1), 1));
}

// Before it is looked at as a whole, a table without a free slot must not keep anybody for ever.
TEST_F(Table, AFullTableEndsSearchesAndIsMadeAnewByTheNextInsert) {
  for (uint32_t i = 0; i < 5; ++i) hashes_.push_back(i * 1000);
  ASSERT_TRUE(table_.adopt(column_of(std::vector<uint32_t>(16, 3)), 5));
  EXPECT_FALSE(find(7).has_value());
  EXPECT_EQ(find(2000), 2u);
  insert(9);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(find(i * 1000), i);
  EXPECT_EQ(find(9), 5u);
  EXPECT_TRUE(table_.finds_all(hashes_, kDiffer));
}

TEST_F(Table, AnEmptyTableMayBeTakenOver) {
  IdTable other;
  EXPECT_TRUE(other.adopt({}, 0));
  EXPECT_TRUE(other.adopt(column_of(std::vector<uint32_t>(16, 0)), 0));
  EXPECT_TRUE(other.finds_all({}, kDiffer));
}

TEST_F(Table, NumbersInPlacesWhereNobodyLooksAreNoticed) {
  for (uint32_t i = 0; i < 5; ++i) insert(i);
  auto moved = slots();  // 1 2 3 4 5 0 0 ...
  std::swap(moved[0], moved[9]);
  IdTable other;
  ASSERT_TRUE(other.adopt(column_of(moved), 5));
  EXPECT_FALSE(other.finds_all(hashes_, kDiffer));
}

TEST_F(Table, TwoNumbersOfOneIdAreNoticed) {
  insert(1);
  insert(1);
  EXPECT_FALSE(table_.finds_all(hashes_, [](uint32_t, uint32_t) { return true; }));
  EXPECT_TRUE(table_.finds_all(hashes_, kDiffer)) << "two ids may have one hash";
}

TEST_F(Table, ATableMadeToBeSlowIsGivenUpOn) {
  // All numbers lie in one long row of slots, far behind where their hashes point to.
  constexpr uint32_t kCount = 40'000;
  std::vector<uint32_t> slow(65'536, 0);
  for (uint32_t i = 0; i < kCount; ++i) {
    hashes_.push_back(i << 16);
    slow[i] = i + 1;
  }
  ASSERT_TRUE(table_.adopt(column_of(slow), kCount));
  EXPECT_FALSE(table_.finds_all(hashes_, kDiffer));
}

// It may be one that was made to be slow.
TEST_F(Table, ATableThatIsNotCheckedIsSearchedInItsFirstPlacesOnly) {
  constexpr uint32_t kCount = 10'000;
  std::vector<uint32_t> same(16'384, 0);
  for (uint32_t i = 0; i < kCount; ++i) {
    hashes_.push_back(0);
    same[i] = i + 1;
  }
  ASSERT_TRUE(table_.adopt(column_of(same), kCount));
  uint32_t looked_at = 0;
  (void)table_.find(0, hashes_, [&](uint32_t) { return ++looked_at == 0; });
  EXPECT_LE(looked_at, kProbesMax);
  EXPECT_FALSE(table_.finds_all(hashes_, kDiffer));
  insert(0);
  EXPECT_TRUE(table_.is_crowded()) << "and can be added to";
  EXPECT_EQ(find_id(kCount), kCount);
}

// 100,000 ids of one hash looked at 5,000,000,000 slots to get into the table.
TEST_F(Table, IdsOfOneHashAreFoundByTheirIds) {
  constexpr uint32_t kCount = 100'000;
  for (uint32_t i = 0; i < kCount; ++i) insert(7);
  EXPECT_TRUE(table_.is_crowded());
  EXPECT_TRUE(table_.slots().empty());
  uint32_t looked_at = 0;
  for (uint32_t i = 0; i < kCount; ++i) {
    const auto found = table_.find(id_of(i), hashes_, [&](uint32_t) { return ++looked_at > 0; });
    ASSERT_EQ(found, i);
  }
  EXPECT_EQ(looked_at, kCount) << "one number an id";
  EXPECT_FALSE(find_id(kCount).has_value());
  EXPECT_GT(table_.memory_bytes(), kCount * sizeof(uint32_t));
}

// No two have one hash, and each stands in its own place: who looks for what is not there comes to
// the end of them all.
TEST_F(Table, IdsThatFillAStretchAreFoundByTheirIds) {
  for (uint32_t i = 0; i < kRunMax; ++i) insert(i);
  EXPECT_FALSE(table_.is_crowded());
  EXPECT_TRUE(table_.finds_all(hashes_, kDiffer));
  insert(kRunMax);
  EXPECT_TRUE(table_.is_crowded());
  for (uint32_t i = 0; i <= kRunMax; ++i) ASSERT_EQ(find_id(i), i);
}

TEST_F(Table, AStretchThatIsFilledFromItsEndIsNoticed) {
  for (uint32_t i = 0; i <= kRunMax; ++i) insert(kRunMax - i);
  EXPECT_TRUE(table_.is_crowded());
}

// Of a file, or where the table grows after it was read.
TEST_F(Table, AStretchIsNoticedInATableThatIsTakenOver) {
  std::vector<uint32_t> slots(16'384, 0);
  for (uint32_t i = 0; i <= kRunMax; ++i) {
    hashes_.push_back(i);
    slots[i] = i + 1;
  }
  ASSERT_TRUE(table_.adopt(column_of(slots), kRunMax + 1));
  EXPECT_FALSE(table_.finds_all(hashes_, kDiffer));
  IdTable reserved;
  ASSERT_TRUE(reserved.adopt(column_of(slots), kRunMax + 1));
  reserved.reserve(100'000, hashes_, id_of);
  EXPECT_TRUE(reserved.is_crowded());
}

TEST_F(Table, NoIdsByChanceAreCrowded) {
  std::mt19937 generator(11);
  for (uint32_t i = 0; i < 200'000; ++i) insert(static_cast<uint32_t>(generator()));
  EXPECT_FALSE(table_.is_crowded());
  EXPECT_TRUE(table_.finds_all(hashes_, kDiffer));
}

}  // namespace
}  // namespace varve::index
