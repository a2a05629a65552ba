// Pages: which rows any of them may have, and where the next one begins, whatever was compacted.
#include "query/page.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "query/cursor.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

// Five rows a second apart, with the seqs 11, 21, 31, 41 and 51, and a query that goes on.
class Pages : public ::testing::Test {
 protected:
  Pages() {
    for (uint64_t i = 0; i < 5; ++i) {
      entry::EntryFacts facts;
      facts.id = "e" + std::to_string(i);
      facts.type = "message";
      facts.timestamp_ms = kNowMs + static_cast<int64_t>(i) * 1000;
      facts.seq = 10 * i + 11;
      log_.add_facts(facts);
    }
    input_.index = &log_.index();
    input_.query = &query_;
    input_.session_id = "kitchen";
  }

  // The last result of the page before, which is of this session unless told.
  Cursor& last(const std::string& id, const std::string& session_id = "kitchen") {
    Cursor& cursor = query_.after.emplace();
    cursor.key = 0.5;
    cursor.timestamp_ms = kNowMs;
    cursor.id = id;
    cursor.session_id = session_id;
    return cursor;
  }

  [[nodiscard]] PlaceInOrder place(bool ascending) {
    query_.ascending = ascending;
    const auto found = find_last_place(input_, log_.index().size());
    EXPECT_TRUE(found.has_value());
    return found.value_or(PlaceInOrder());
  }

  QueryLog log_;
  Query query_;
  SearchInput input_;
};

TEST_F(Pages, TheFirstBeginsNowhereAndHasEveryRow) {
  EXPECT_FALSE(find_last_place(input_, 5).has_value());
  EXPECT_EQ(find_row_end(input_), 5u);
}

TEST_F(Pages, RowsBehindTheEndOfTheFirstPageAreInNone) {
  input_.row_end_max = 4;
  EXPECT_EQ(find_row_end(input_), 4u);
  input_.row_end_max = uint64_t{1} << 32;
  EXPECT_EQ(find_row_end(input_), 5u);
}

TEST_F(Pages, RowsWithAHigherSeqThanTheFirstPagesAreInNone) {
  for (const auto& [seq, end] : {std::pair(51, 5u), {50, 4u}, {31, 3u}, {11, 1u}, {10, 0u}}) {
    input_.seq_end_max = static_cast<uint64_t>(seq);
    EXPECT_EQ(find_row_end(input_), end) << seq;
  }
}

TEST_F(Pages, RowsBehindTheNewestEntryOfTheFirstPageAreInNone) {
  last("e1").last_id = "e2";
  EXPECT_EQ(find_row_end(input_), 3u);
  input_.row_end_max = 2;
  EXPECT_EQ(find_row_end(input_), 2u);
  last("e1").last_id = "gone";
  EXPECT_EQ(find_row_end(input_), 2u);
}

TEST_F(Pages, WordsThatAreNotIndexedAreInNone) {
  query_.text = "tea";
  EXPECT_EQ(find_row_end(input_), 0u);
}

TEST_F(Pages, TheNextBeginsBehindTheLastResult) {
  last("e3");
  for (const bool ascending : {false, true}) {
    const PlaceInOrder found = place(ascending);
    EXPECT_EQ(found.key, 0.5);
    EXPECT_EQ(found.timestamp_ms, kNowMs);
    EXPECT_EQ(found.row, 3u);
  }
}

// Between the rows with lower seqs and those with higher ones, in either direction.
TEST_F(Pages, AnEntryThatIsGoneStoodWhereItsSeqSays) {
  for (const auto& [seq, rows_before] :
       {std::pair(10, 0u), {15, 1u}, {21, 2u}, {35, 3u}, {60, 5u}}) {
    SCOPED_TRACE(seq);
    last("gone").row_ends[last_seq_key("kitchen")] = static_cast<uint64_t>(seq);
    EXPECT_EQ(place(false).row, rows_before);
    EXPECT_EQ(place(false).timestamp_ms, kNowMs);
    const PlaceInOrder rising = place(true);
    if (rows_before > 0) {
      EXPECT_EQ(rising.row, rows_before - 1);
      EXPECT_EQ(rising.timestamp_ms, kNowMs);
    } else {
      EXPECT_EQ(rising.timestamp_ms, kNowMs - 1) << "every row of its time comes after it";
    }
  }
}

TEST_F(Pages, OfAnEntryThatIsGoneWithoutASeqAllOfItsTimeWasSeen) {
  last("gone").row_ends[last_seq_key("cellar")] = 31;  // another session's
  EXPECT_EQ(place(false).row, 0u);
  EXPECT_EQ(place(true).row, kNoRow);
}

// Of one key and time, sessions come in the order of their ids, each as a whole.
TEST_F(Pages, AfterAResultOfAnotherSessionThisOneIsAllOrNothing) {
  last("e3", "attic");
  EXPECT_EQ(place(false).timestamp_ms, kNowMs + 1) << "not yet seen";
  EXPECT_EQ(place(true).timestamp_ms, kNowMs) << "seen";
  EXPECT_EQ(place(true).row, kNoRow);
  last("e3", "workshop");
  EXPECT_EQ(place(false).timestamp_ms, kNowMs) << "seen";
  EXPECT_EQ(place(false).row, 0u);
  EXPECT_EQ(place(true).timestamp_ms, kNowMs - 1) << "not yet seen";
}

}  // namespace
}  // namespace varve::query
