#include "index/time_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "index_fixture.h"

namespace varve::index {
namespace {

class Ordered {
 public:
  // Adds rows [size, end) whose number is `rest` modulo `every`.
  void add(const std::vector<int64_t>& timestamps_ms, const std::vector<double>& importances,
           uint32_t every = 1, uint32_t rest = 0) {
    std::vector<uint32_t> rows;
    for (uint32_t row = next_; row < timestamps_ms.size(); ++row) {
      if (row % every == rest) rows.push_back(row);
    }
    next_ = static_cast<uint32_t>(timestamps_ms.size());
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    order_.add(rows, {timestamps_ms, importances});
    expect_right(timestamps_ms, importances);
  }
  [[nodiscard]] const TimeOrder& order() const { return order_; }

 private:
  void expect_right(const std::vector<int64_t>& timestamps_ms,
                    const std::vector<double>& importances) {
    std::stable_sort(rows_.begin(), rows_.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(timestamps_ms[a], a) < std::tie(timestamps_ms[b], b);
    });
    ASSERT_EQ(order_.size(), rows_.size());
    for (uint32_t i = 0; i < rows_.size(); ++i) ASSERT_EQ(order_.row(i), rows_[i]) << i;
    std::vector<double> sorted;
    for (const uint32_t row : rows_) sorted.push_back(importances[row]);
    uint64_t width = 1;
    for (uint32_t level = 0; level < order_.level_count(); ++level) {
      width *= TimeOrder::kFanout;
      ASSERT_EQ(order_.node_count(level), (rows_.size() + width - 1) / width) << level;
      for (uint32_t node = 0; node < order_.node_count(level); ++node) {
        const auto extent = order_.extent(level, node);
        ASSERT_EQ(extent.begin, node * width);
        ASSERT_EQ(extent.end, std::min<uint64_t>(extent.begin + width, rows_.size()));
        ASSERT_EQ(order_.importance_max(level, node),
                  *std::max_element(sorted.begin() + extent.begin, sorted.begin() + extent.end))
            << level << " " << node;
        ASSERT_EQ(order_.importance_min(level, node),
                  *std::min_element(sorted.begin() + extent.begin, sorted.begin() + extent.end))
            << level << " " << node;
      }
    }
    if (!rows_.empty()) {
      ASSERT_EQ(order_.node_count(order_.level_count() - 1), 1u) << "one node above all";
    }
  }

  TimeOrder order_;
  std::vector<uint32_t> rows_;
  uint32_t next_ = 0;
};

struct Rows {
  std::vector<int64_t> timestamps_ms;
  std::vector<double> importances;
};

TEST(TimeOrder, OfNothing) {
  TimeOrder order;
  EXPECT_EQ(order.size(), 0u);
  EXPECT_EQ(order.level_count(), 0u);
  order.add({}, {{}, {}});
  EXPECT_EQ(order.level_count(), 0u);
}

TEST(TimeOrder, RowsInRisingTime) {
  for (const uint32_t count : {1u, 15u, 16u, 17u, 255u, 256u, 257u, 4096u, 4097u, 5000u}) {
    Rows rows;
    std::mt19937_64 generator(count);
    for (uint32_t i = 0; i < count; ++i) {
      rows.timestamps_ms.push_back(int64_t{i} * 1000);
      rows.importances.push_back(static_cast<double>(generator() % 1000) / 1000);
    }
    Ordered ordered;
    ordered.add(rows.timestamps_ms, rows.importances);
    if (HasFatalFailure()) FAIL() << count;
  }
}

TEST(TimeOrder, RowsAddedLittleByLittleInAndOutOfOrder) {
  for (const uint64_t jumps : {uint64_t{0}, uint64_t{20}, uint64_t{2}, uint64_t{1}}) {
    std::mt19937_64 generator(jumps);
    Rows rows;
    Ordered ordered;
    int64_t time_ms = 1'700'000'000'000;
    while (rows.timestamps_ms.size() < 3000) {
      for (uint64_t i = generator() % 60; i > 0; --i) {
        time_ms += static_cast<int64_t>(generator() % 3);
        const bool jumps_back = jumps > 0 && generator() % jumps == 0;
        const auto back_ms = static_cast<int64_t>(generator() % 2000);
        rows.timestamps_ms.push_back(jumps_back ? time_ms - back_ms : time_ms);
        rows.importances.push_back(static_cast<double>(generator() % 1000) / 1000);
      }
      ordered.add(rows.timestamps_ms, rows.importances);
      if (HasFatalFailure()) FAIL() << jumps << " at " << rows.timestamps_ms.size();
    }
  }
}

TEST(TimeOrder, OnlyTheRowsGivenAreInIt) {
  std::mt19937_64 generator(4);
  Rows rows;
  Ordered ordered;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 200; ++i) {
      rows.timestamps_ms.push_back(static_cast<int64_t>(generator() % 1000));
      rows.importances.push_back(static_cast<double>(generator() % 10) / 10);
    }
    ordered.add(rows.timestamps_ms, rows.importances, 3, 1);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(ordered.order().size(), 333u);
}

TEST(TimeOrder, EqualTimesKeepTheOrderOfRows) {
  Rows rows;
  Ordered ordered;
  for (int round = 0; round < 4; ++round) {
    rows.timestamps_ms.insert(rows.timestamps_ms.end(), 50, 42);
    rows.importances.insert(rows.importances.end(), 50, 0.25 * round);
    ordered.add(rows.timestamps_ms, rows.importances);
  }
  for (uint32_t i = 0; i < 200; ++i) ASSERT_EQ(ordered.order().row(i), i);
}

TEST(TimeOrder, TimesMayBeAnyThereAre) {
  Rows rows;
  rows.timestamps_ms = {INT64_MAX, 0, INT64_MIN, -1, INT64_MAX, INT64_MIN + 1, INT64_MIN, 1};
  rows.importances = {0, 1, 0.5, 0.25, 1, 0, 0, 0};
  Ordered ordered;
  ordered.add(rows.timestamps_ms, rows.importances);
  EXPECT_EQ(ordered.order().row(0), 2u);
  EXPECT_EQ(ordered.order().row(7), 4u);
}

TEST(TimeOrder, ImportanceOfNothingIsNothing) {
  Ordered ordered;
  ordered.add(std::vector<int64_t>(40, 1), std::vector<double>(40, 0.0));
  EXPECT_EQ(ordered.order().importance_max(0, 0), 0);
}

// --- in an index ---------------------------------------------------------------------------------

// An index of rows of these times, alternating between two types.
Index index_at(const std::vector<int64_t>& timestamps_ms) {
  Index index;
  for (uint32_t i = 0; i < timestamps_ms.size(); ++i) {
    entry::EntryFacts facts = facts_of("e" + std::to_string(i), i + 1);
    facts.timestamp_ms = timestamps_ms[i];
    facts.type = i % 2 == 0 ? "message" : "decision";
    index.add(facts, {uint64_t{i} * 100, 99, i}, 0);
  }
  return index;
}

TEST(Arranged, StretchesEndWhereMoreThanAnHourPasses) {
  constexpr int64_t kHour = 3'600'000;
  Index index = index_at({0, kHour, 2 * kHour + 1, 2 * kHour + 2, kHour + 2, kHour, -1, 9 * kHour});
  index.arrange();
  const std::vector<uint32_t> expected = {0, 0, 1, 1, 1, 1, 2, 3};
  for (uint32_t row = 0; row < expected.size(); ++row) {
    EXPECT_EQ(index.stretch(row), expected[row]) << row;
  }
}

TEST(Arranged, TimesAsFarApartAsTheyCanBeAreTwoStretches) {
  Index index = index_at({INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN, 0});
  index.arrange();
  const std::vector<uint32_t> expected = {0, 1, 2, 2, 3};
  for (uint32_t row = 0; row < expected.size(); ++row) {
    EXPECT_EQ(index.stretch(row), expected[row]) << row;
  }
}

TEST(Arranged, EveryTypeHasItsOrder) {
  Index index = index_at({5, 4, 3, 2, 1, 0});
  EXPECT_EQ(index.arranged_count(), 0u);
  index.arrange();
  EXPECT_EQ(index.arranged_count(), 6u);
  const auto rows = [&](uint32_t type) {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < index.time_order(type).size(); ++i) {
      found.push_back(index.time_order(type).row(i));
    }
    return found;
  };
  EXPECT_EQ(rows(index.type_number(0)), (std::vector<uint32_t>{4, 2, 0}));
  EXPECT_EQ(rows(index.type_number(1)), (std::vector<uint32_t>{5, 3, 1}));
}

TEST(Arranged, KnowsWhetherTimeOnlyRises) {
  for (const auto& [times, expected] : std::vector<std::pair<std::vector<int64_t>, bool>>{
           {{}, true}, {{7}, true}, {{1, 1, 2}, true}, {{1, 3, 2}, false}, {{2, 1, 3}, false}}) {
    Index index = index_at(times);
    index.arrange();
    EXPECT_EQ(index.is_in_time_order(), expected);
  }
}

TEST(Arranged, LaterRowsAreArrangedBehind) {
  const std::vector<int64_t> times = {0, 10, 4'000'000, 3'999'999, 20, 9'000'000};
  Index whole = index_at(times);
  whole.arrange();
  Index grown;
  for (uint32_t i = 0; i < times.size(); ++i) {
    entry::EntryFacts facts = facts_of("e" + std::to_string(i), i + 1);
    facts.timestamp_ms = times[i];
    facts.type = i % 2 == 0 ? "message" : "decision";
    grown.add(facts, {uint64_t{i} * 100, 99, i}, 0);
    grown.arrange();
    grown.arrange();
    ASSERT_EQ(grown.arranged_count(), i + 1);
  }
  EXPECT_FALSE(grown.is_in_time_order());
  for (uint32_t row = 0; row < times.size(); ++row) {
    EXPECT_EQ(grown.stretch(row), whole.stretch(row));
  }
  for (uint32_t type = 0; type < 2; ++type) {
    ASSERT_EQ(grown.time_order(type).size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(grown.time_order(type).row(i), whole.time_order(type).row(i));
    }
  }
}

}  // namespace
}  // namespace varve::index
