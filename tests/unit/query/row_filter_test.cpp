// RowSet and RowFilter against what a look at every row says.
#include "query/row_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query/row_set.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

constexpr uint32_t kRows = 1500;

struct Lists {
  std::deque<index::PostingBuffer> buffers;
  std::vector<index::PostingList> lists;
  std::set<uint32_t> rows;
};

// Two runs each, as a list is after index.bin was read and the log has grown.
Lists random_lists(std::mt19937& random, size_t count, double share) {
  Lists made;
  std::bernoulli_distribution is_in(share);
  for (size_t i = 0; i < count; ++i) {
    index::PostingList list;
    const uint32_t cut = static_cast<uint32_t>(random() % kRows);
    for (size_t run = 0; run < 2; ++run) {
      index::PostingBuffer& buffer = made.buffers.emplace_back();
      for (uint32_t row = run == 0 ? 0 : cut; row < (run == 0 ? cut : kRows); ++row) {
        if (!is_in(random)) continue;
        buffer.add(row, 1, 1);
        made.rows.insert(row);
      }
      list.runs[run] = index::PostingRun(buffer);
    }
    made.lists.push_back(list);
  }
  return made;
}

uint32_t first_from(const std::set<uint32_t>& rows, uint32_t row) {
  const auto found = rows.lower_bound(row);
  return found == rows.end() ? kNoRow : *found;
}
uint32_t last_to(const std::set<uint32_t>& rows, uint32_t row) {
  const auto after = rows.upper_bound(row);
  return after == rows.begin() ? kNoRow : *std::prev(after);
}

void expect_same(RowSet set, const std::set<uint32_t>& rows, std::mt19937& random) {
  EXPECT_GE(set.count_max(), rows.size());
  for (uint32_t row = 0; row < kRows + 2; ++row) ASSERT_EQ(set.seek(row), first_from(rows, row));
  for (uint32_t row = kRows + 2; row-- > 0;) ASSERT_EQ(set.seek_back(row), last_to(rows, row));
  for (int i = 0; i < 3000; ++i) {
    const uint32_t row = static_cast<uint32_t>(random() % (kRows + 2));
    switch (random() % 3) {
      case 0: ASSERT_EQ(set.seek(row), first_from(rows, row)) << row; break;
      case 1: ASSERT_EQ(set.seek_back(row), last_to(rows, row)) << row; break;
      default: ASSERT_EQ(set.contains(row), rows.contains(row)) << row;
    }
  }
  EXPECT_FALSE(set.is_damaged());
}

TEST(RowSet, OfListsIsTheirUnion) {
  std::mt19937 random(1);
  for (const size_t count : {0u, 1u, 2u, 5u}) {
    for (const double share : {0.001, 0.03, 0.5, 1.0}) {
      const Lists made = random_lists(random, count, share);
      expect_same(RowSet::of_lists(made.lists), made.rows, random);
    }
  }
}

TEST(RowSet, OfRowsTakesThemInAnyOrderAndTwice) {
  std::mt19937 random(2);
  std::vector<uint32_t> rows;
  for (int i = 0; i < 400; ++i) rows.push_back(static_cast<uint32_t>(random() % kRows));
  expect_same(RowSet::of_rows(rows), {rows.begin(), rows.end()}, random);
  expect_same(RowSet::of_rows({}), {}, random);
}

// --- RowFilter -----------------------------------------------------------------------------------

// A log whose rows have every property in their number.
class FilterLog {
 public:
  explicit FilterLog(bool in_time_order) {
    for (uint32_t row = 0; row < kRows; ++row) {
      entry::EntryFacts facts;
      facts.id = "e" + std::to_string(row);
      facts.type = std::string("t") + std::to_string(row % 5);
      const uint32_t place = in_time_order ? row / 3 : (row * 7919u) % kRows;  // times repeat
      facts.timestamp_ms = int64_t{place} * 1000;
      facts.importance = (row % 11) / 10.0;
      if (row % 13 == 0) facts.expires_at_ms = int64_t{row} * 100;
      log_.add_facts(facts);
    }
    for (uint32_t row = 0; row < kRows; row += 17) {
      log_.index().add_tombstone("e" + std::to_string(row));
    }
    log_.index().arrange();
    EXPECT_EQ(log_.index().is_in_time_order(), in_time_order);
  }
  index::Index& index() { return log_.index(); }

  // By the numbers above, not by the index.
  [[nodiscard]] static bool is_live(uint32_t row, int64_t now_ms) {
    return row % 17 != 0 && (row % 13 != 0 || int64_t{row} * 100 > now_ms);
  }

 private:
  QueryLog log_;
};

using Holds = std::function<bool(uint32_t)>;

void expect_walks(RowFilter& filter, const Holds& holds, uint32_t row_end) {
  std::set<uint32_t> rows;
  for (uint32_t row = 0; row < row_end; ++row) {
    if (holds(row)) rows.insert(row);
  }
  EXPECT_EQ(filter.rows(), std::vector<uint32_t>(rows.begin(), rows.end()));
  std::vector<uint32_t> back;
  for (uint32_t row = filter.previous(kNoRow); row != kNoRow;) {
    back.push_back(row);
    row = row == 0 ? kNoRow : filter.previous(row - 1);
  }
  EXPECT_EQ(back, std::vector<uint32_t>(rows.rbegin(), rows.rend()));
  for (uint32_t row = 0; row < kRows; ++row) ASSERT_EQ(filter.accepts(row), rows.contains(row));
  EXPECT_GE(filter.walk_count_max(), rows.size());
}

TEST(RowFilter, WithoutConditionsWalksTheLiveRows) {
  FilterLog log(true);
  for (const int64_t now_ms : {int64_t{-1}, int64_t{5000}, int64_t{1} << 40}) {
    for (const uint32_t row_end : {0u, 1u, 700u, kRows}) {
      RowFilter filter(log.index(), row_end, now_ms);
      expect_walks(
          filter, [&](uint32_t row) { return FilterLog::is_live(row, now_ms); }, row_end);
    }
  }
}

TEST(RowFilter, EachConditionHoldsAlone) {
  std::mt19937 random(5);
  FilterLog log(true);
  const Lists lists = random_lists(random, 1, 0.5);
  struct Case {
    void (*add)(RowFilter& filter, const Lists& lists);
    bool (*holds)(uint32_t row, const Lists& lists);
  };
  const Case cases[] = {
      {[](RowFilter& filter, const Lists&) { filter.require_types({"t1"}); },
       [](uint32_t row, const Lists&) { return row % 5 == 1; }},
      {[](RowFilter& filter, const Lists&) { filter.require_time(30'000, 40'000); },
       [](uint32_t row, const Lists&) { return row / 3 >= 30 && row / 3 < 40; }},
      {[](RowFilter& filter, const Lists&) { filter.require_importance(0.4); },
       [](uint32_t row, const Lists&) { return (row % 11) / 10.0 >= 0.4; }},
      {[](RowFilter& filter, const Lists& in) { filter.require(RowSet::of_lists(in.lists)); },
       [](uint32_t row, const Lists& in) { return in.rows.contains(row); }},
      {[](RowFilter& filter, const Lists& in) { filter.exclude(RowSet::of_lists(in.lists)); },
       [](uint32_t row, const Lists& in) { return !in.rows.contains(row); }},
      {[](RowFilter& filter, const Lists&) {
         filter.require_that([](uint32_t row) { return row % 2 == 1; });
       },
       [](uint32_t row, const Lists&) { return row % 2 == 1; }},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(&one - cases);
    RowFilter filter(log.index(), kRows, -1);
    one.add(filter, lists);
    expect_walks(
        filter, [&](uint32_t row) { return FilterLog::is_live(row, -1) && one.holds(row, lists); },
        kRows);
  }
}

// A catalog of a million sessions has few that changed, which each query asks for. To look at every
// row for them compares 400,000,000,000 types: more than the test has time for.
TEST(RowFilter, FindsTheFewOfATypeWithoutALookAtAll) {
  constexpr uint32_t kCommon = 200'000;
  QueryLog log;
  entry::EntryFacts facts;
  for (uint32_t row = 0; row < kCommon + 4; ++row) {
    facts.id = "e" + std::to_string(row);
    facts.type = row < kCommon && row != 7 ? "common" : "rare";
    log.add_facts(facts);
  }
  log.index().add_tombstone("e7");
  log.index().add_tombstone("e" + std::to_string(kCommon + 1));
  for (int i = 0; i < 2'000'000; ++i) {
    RowFilter filter(log.index(), kCommon + 4, 0);
    filter.require_types({"rare", "unknown"});
    ASSERT_EQ(filter.rows(), (std::vector{kCommon, kCommon + 2, kCommon + 3}));
  }
}

// At an even pace, in bursts, with long pauses, all at once: every moment in and around the log.
TEST(RowFilter, FindsTimesWhateverTheirPace) {
  std::mt19937 random(6);
  for (int round = 0; round < 200; ++round) {
    QueryLog log;
    std::vector<int64_t> times_ms;
    int64_t time_ms = round % 7 == 0 ? -5000 : 1000;
    const uint32_t count = round % 5 == 0 ? static_cast<uint32_t>(random() % 4) : 60;
    for (uint32_t row = 0; row < count; ++row) {
      entry::EntryFacts facts;
      facts.id = "e" + std::to_string(row);
      facts.type = "t";
      facts.timestamp_ms = time_ms;
      times_ms.push_back(time_ms);
      log.add_facts(facts);
      switch (round % 4) {
        case 0: time_ms += 10; break;
        case 1: time_ms += static_cast<int64_t>(random() % 3); break;
        case 2: time_ms += random() % 20 == 0 ? 1'000'000'000 : 1; break;
        default: time_ms += int64_t{1} << (row % 40);
      }
    }
    std::vector<int64_t> moments = {std::numeric_limits<int64_t>::min(), 0};
    for (const int64_t at_ms : times_ms) {
      for (const int64_t off_ms : {-1, 0, 1}) moments.push_back(at_ms + off_ms);
    }
    for (int i = 0; i < 200; ++i) {
      const int64_t start_ms = moments[random() % moments.size()];
      const int64_t end_ms = moments[random() % moments.size()];
      const uint32_t row_end = static_cast<uint32_t>(random() % (count + 1));
      RowFilter filter(log.index(), row_end, 0);
      filter.require_time(start_ms, end_ms);
      std::vector<uint32_t> expected;
      for (uint32_t row = 0; row < row_end; ++row) {
        if (times_ms[row] >= start_ms && times_ms[row] < end_ms) expected.push_back(row);
      }
      ASSERT_EQ(filter.rows(), expected)
          << round << " " << start_ms << " " << end_ms << " " << row_end;
    }
  }
}

// That a double cannot tell apart.
TEST(RowFilter, FindsTimesAtTheEndOfAllNumbers) {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  QueryLog log;
  for (uint32_t row = 0; row < 4; ++row) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(row);
    facts.type = "t";
    facts.timestamp_ms = kLatest - 3 + row;
    log.add_facts(facts);
  }
  for (uint32_t begin = 0; begin < 4; ++begin) {
    RowFilter filter(log.index(), 4, 0);
    filter.require_time(kLatest - 3 + begin, kLatest);
    EXPECT_EQ(filter.next(0), begin < 3 ? begin : kNoRow);
    EXPECT_EQ(filter.previous(kNoRow), begin < 3 ? 2 : kNoRow);
  }
}

TEST(RowFilter, CombinesAnyConditionsByAnd) {
  std::mt19937 random(4);
  for (int round = 0; round < 60; ++round) {
    FilterLog log(round % 2 == 0);
    const int64_t now_ms = static_cast<int64_t>(random() % 200'000);
    const uint32_t row_end = static_cast<uint32_t>(random() % (kRows + 1));
    RowFilter filter(log.index(), row_end, now_ms);
    std::vector<Holds> all = {[=](uint32_t row) { return FilterLog::is_live(row, now_ms); }};
    std::deque<Lists> held;
    if (random() % 2 == 0) {
      filter.require_types({"t1", "t4", "unknown"});
      all.push_back([](uint32_t row) { return row % 5 == 1 || row % 5 == 4; });
    }
    if (random() % 2 == 0) {
      const int64_t start_ms = static_cast<int64_t>(random() % 600) * 1000;
      const int64_t end_ms = start_ms + static_cast<int64_t>(random() % 900) * 1000;
      filter.require_time(start_ms, end_ms);
      all.push_back([=, &log](uint32_t row) {
        const int64_t time_ms = log.index().timestamp_ms(row);
        return time_ms >= start_ms && time_ms < end_ms;
      });
    }
    if (random() % 3 == 0) {
      filter.require_importance(0.4);
      all.push_back([](uint32_t row) { return (row % 11) / 10.0 >= 0.4; });
    }
    uint64_t smallest = row_end;
    for (auto sets = random() % 4; sets > 0; --sets) {
      const Lists& lists = held.emplace_back(random_lists(random, 2, 0.4));
      RowSet set = RowSet::of_lists(lists.lists);
      smallest = std::min(smallest, set.count_max());
      filter.require(std::move(set));
      all.push_back([&lists](uint32_t row) { return lists.rows.contains(row); });
    }
    if (random() % 2 == 0) {
      const Lists& lists = held.emplace_back(random_lists(random, 1, 0.3));
      filter.exclude(RowSet::of_lists(lists.lists));
      all.push_back([&lists](uint32_t row) { return !lists.rows.contains(row); });
    }
    if (random() % 3 == 0) {
      filter.require_that([](uint32_t row) { return row % 2 == 1; });
      all.push_back([](uint32_t row) { return row % 2 == 1; });
    }
    const auto holds = [&](uint32_t row) {
      return std::all_of(all.begin(), all.end(), [row](const Holds& one) { return one(row); });
    };
    expect_walks(filter, holds, row_end);
    EXPECT_LE(filter.walk_count_max(), smallest) << "the smallest set is what is walked";
  }
}

TEST(RowFilter, TypesThatNobodyHasLeaveNothing) {
  FilterLog log(true);
  RowFilter filter(log.index(), kRows, 0);
  filter.require_types({"unknown"});
  EXPECT_EQ(filter.next(0), kNoRow);
  index::Index empty;
  empty.arrange();
  RowFilter nothing(empty, 0, 0);
  nothing.require_types({"t1"});
  EXPECT_EQ(nothing.next(0), kNoRow);
  EXPECT_EQ(nothing.previous(kNoRow), kNoRow);
}

TEST(RowSet, OfManyListsHasTheRowsOfAll) {
  std::mt19937 random(17);
  for (const size_t count : {64u, 65u, 200u}) {
    const Lists made = random_lists(random, count, 0.001);
    expect_same(RowSet::of_lists(made.lists), made.rows, random);
  }
}

// A log in which each entry has a tag and a type of its own, and a query that names them all: to
// ask each list about each row looked at 10,000,000,000 places, and took a kilobyte a tag.
TEST(RowFilter, AsManyTagsAndTypesAsThereAreEntriesAreAskedOnce) {
  constexpr uint32_t kCount = 100'000;
  QueryLog log;
  Query query;
  entry::EntryFacts facts;
  facts.tags = {""};
  for (uint32_t i = 0; i < kCount; ++i) {
    facts.id = "e" + std::to_string(i);
    facts.type = "t" + std::to_string(i);
    facts.tags[0] = "tag" + std::to_string(i);
    log.add_facts(facts);
    query.tags_include.push_back(facts.tags[0]);
    query.types.push_back(facts.type);
  }
  const auto count_of = [&](const Query& asked) {
    const auto rows = log.all_rows(asked);
    return rows.ok() ? rows->size() : SIZE_MAX;
  };
  EXPECT_EQ(count_of(query), kCount);
  Query none;
  none.tags_exclude = query.tags_include;
  EXPECT_EQ(count_of(none), 0u);
  query.types = {"t99999"};
  EXPECT_EQ(count_of(query), 1u) << "the last of very many types is none of the others";
}

// To put each of them into its place moved all that were larger.
TEST(RowFilter, AsManyTagsAsAnEntryMayHaveCanAllBeRequired) {
  constexpr uint32_t kCount = 100'000;
  QueryLog log;
  entry::EntryFacts facts;
  facts.type = "finding";
  facts.id = "many";
  for (uint32_t i = 0; i < kCount; ++i) facts.tags.push_back("tag" + std::to_string(i));
  const uint32_t many = log.add_facts(facts);
  facts.id = "fewer";
  facts.tags.pop_back();
  log.add_facts(facts);
  Query query;
  query.tags_match_all = true;
  query.tags_include = {facts.tags.rbegin(), facts.tags.rend()};
  query.tags_include.push_back("tag99999");
  const auto rows = log.all_rows(query);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, std::vector<uint32_t>{many});
}

// A set that walks no list: it is short, or one of many.
TEST(RowSet, TellsThatAListItReadIsDamaged) {
  index::PostingBuffer buffer;
  for (uint32_t row = 0; row < 10; ++row) buffer.add(row * 7, 1, 0);
  std::string bytes;
  buffer.append_encoded_to(&bytes);
  for (const bool is_cut : {false, true}) {
    if (is_cut) bytes.pop_back();
    index::PostingList list;
    list.runs[0] = index::PostingRun::of_rows(bytes);
    EXPECT_EQ(RowSet::of_lists({list}).is_damaged(), is_cut);
    EXPECT_EQ(RowSet::of_lists(std::vector(100, list)).is_damaged(), is_cut);
  }
}

// Each set lacks the row of its number.
TEST(RowFilter, HoldsEachOfVeryManySets) {
  FilterLog log(true);
  RowFilter filter(log.index(), 100, -1);
  for (uint32_t set = 0; set < 90; ++set) {
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < 100; ++row) {
      if (row != set) rows.push_back(row);
    }
    filter.require(RowSet::of_rows(std::move(rows)));
  }
  expect_walks(
      filter, [](uint32_t row) { return row >= 90 && FilterLog::is_live(row, -1); }, 100);
}

}  // namespace
}  // namespace varve::query
