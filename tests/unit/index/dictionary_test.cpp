#include "index/dictionary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hash_seed.h"
#include "posting_fixture.h"
#include "segment_fixture.h"

namespace varve::index {
namespace {

constexpr RowLengths no_length;

void add_to(Dictionary& dictionary, const std::string& key, const Posting& posting) {
  dictionary.add(dictionary.list_number(key), {&posting, 1});
}

// A dictionary and the same as plain maps: lists under "l…", values under "v…".
struct Both {
  Dictionary dictionary{kHashSeed};
  std::map<std::string, std::vector<std::pair<uint32_t, uint32_t>>> lists;
  std::map<std::string, std::string> values;

  void add(const std::string& key, uint32_t row, uint32_t frequency) {
    add_to(dictionary, key, {row, frequency, 7});
    lists[key].emplace_back(row, frequency);
  }
  void put(const std::string& key, const std::string& value) {
    dictionary.put(key, value);
    values.emplace(key, value);
  }
  void add_random(uint32_t first_row, uint32_t end_row, uint64_t seed) {
    std::mt19937_64 generator(seed);
    for (uint32_t row = first_row; row < end_row; ++row) {
      std::set<uint64_t> keys;
      for (int i = 0; i < 4; ++i) keys.insert((generator() % 30) * (generator() % 30));
      keys.insert(1000);  // in every row
      for (const uint64_t key : keys) {
        add("l" + std::to_string(key), row, static_cast<uint32_t>(generator() % 4) + 1);
      }
      put("v" + std::to_string(generator() % 50), std::to_string(generator() % 5));
    }
  }
};

std::vector<std::pair<uint32_t, uint32_t>> postings_of(const PostingList& list) {
  std::vector<std::pair<uint32_t, uint32_t>> rows;
  PostingCursor cursor(list);
  for (uint32_t row = cursor.seek(0); row != kNoRow; row = cursor.next()) {
    rows.emplace_back(row, cursor.frequency());
  }
  EXPECT_FALSE(cursor.is_damaged());
  return rows;
}

// What a walk finds from `first` on.
std::vector<uint32_t> rows_from(uint32_t first, const PostingList& list) {
  std::vector<uint32_t> rows;
  PostingCursor cursor(list);
  for (uint32_t row = cursor.seek(first); row != kNoRow; row = cursor.next()) rows.push_back(row);
  EXPECT_FALSE(cursor.is_damaged());
  return rows;
}

void expect_same_rows(const PostingList& list,
                      const std::vector<std::pair<uint32_t, uint32_t>>& postings) {
  ASSERT_EQ(list.count(), postings.size());
  std::vector<uint32_t> rows;
  for (const auto& posting : postings) rows.push_back(posting.first);
  ASSERT_EQ(rows_from(0, list), rows);
  const auto middle = rows.begin() + static_cast<ptrdiff_t>(rows.size() / 2);
  ASSERT_EQ(rows_from(*middle, list), std::vector<uint32_t>(middle, rows.end()));
}

template <typename Value>
std::vector<std::string> keys_of(const std::map<std::string, Value>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

std::vector<std::string> lists_of(const Dictionary& dictionary, std::string_view prefix) {
  std::vector<std::string> keys;
  dictionary.for_each_list(prefix, [&](std::string_view key) {
    keys.emplace_back(key);
    return true;
  });
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::map<std::string, std::string> values_of(const Dictionary& dictionary,
                                             std::string_view prefix) {
  std::map<std::string, std::string> values;
  dictionary.for_each_value(prefix, [&](std::string_view key, std::string_view value) {
    EXPECT_TRUE(values.emplace(key, value).second) << key;
    return true;
  });
  return values;
}

void expect_same(const Dictionary& dictionary, const Both& both) {
  for (const auto& [key, rows] : both.lists) {
    ASSERT_EQ(postings_of(dictionary.find(key)), rows) << key;
    ASSERT_NO_FATAL_FAILURE(expect_same_rows(dictionary.find(key), rows)) << key;
  }
  for (const auto& [key, value] : both.values) {
    ASSERT_NE(dictionary.find_value(key).data(), nullptr) << key;
    ASSERT_EQ(dictionary.find_value(key), value) << key;
  }
  EXPECT_TRUE(dictionary.find("lnone").is_empty());
  EXPECT_EQ(dictionary.find_value("vnone").data(), nullptr);
  for (const std::string prefix : {"l", "l1", "l10", "x"}) {
    std::vector<std::string> expected;
    for (const auto& [key, rows] : both.lists) {
      if (key.starts_with(prefix)) expected.push_back(key);
    }
    ASSERT_EQ(lists_of(dictionary, prefix), expected) << "prefix " << prefix;
  }
  for (const std::string prefix : {"v", "v3", "x"}) {
    std::map<std::string, std::string> expected;
    for (const auto& [key, value] : both.values) {
      if (key.starts_with(prefix)) expected.emplace(key, value);
    }
    ASSERT_EQ(values_of(dictionary, prefix), expected) << "prefix " << prefix;
  }
}

Segment opened(const std::string& bytes) {
  auto segment = open_whole(bytes);
  EXPECT_TRUE(segment.ok());
  return segment.ok() ? *std::move(segment) : Segment();
}

TEST(Dictionary, AnswersAsMapsDo) {
  Both both;
  expect_same(both.dictionary, both);
  both.add_random(0, 1000, 1);
  expect_same(both.dictionary, both);
}

TEST(Dictionary, FreezingChangesNoAnswer) {
  Both both;
  for (uint32_t round = 0; round < 5; ++round) {
    both.add_random(round * 300, (round + 1) * 300, round);
    expect_same(both.dictionary, both);
    EXPECT_GT(both.dictionary.added_bytes(), 0u);
    both.dictionary.freeze(no_length);
    EXPECT_EQ(both.dictionary.added_bytes(), 0u);
    EXPECT_EQ(both.dictionary.frozen().size(), both.lists.size() + both.values.size());
    expect_same(both.dictionary, both);
  }
}

TEST(Dictionary, EncodingGivesTheFrozenFormAndChangesNothing) {
  Both both;
  both.add_random(0, 500, 1);
  const std::string first = both.dictionary.encode(no_length);
  EXPECT_EQ(both.dictionary.encode(no_length), first);
  expect_same(both.dictionary, both);
  Dictionary other(kHashSeed);
  other.set_frozen(opened(first));
  expect_same(other, both);
  EXPECT_EQ(other.encode(no_length), first);
  both.dictionary.adopt(first);
  expect_same(both.dictionary, both);
  both.add_random(500, 900, 2);
  expect_same(both.dictionary, both);
}

TEST(Dictionary, AFrozenPartMayComeUnderWhatWasAdded) {
  Both whole;
  Both start;
  whole.add_random(0, 400, 3);
  start.add_random(0, 400, 3);
  Both rest;
  whole.add_random(400, 800, 4);
  rest.add_random(400, 800, 4);
  rest.dictionary.set_frozen(opened(start.dictionary.encode(no_length)));
  for (const auto& [key, rows] : whole.lists) {
    ASSERT_EQ(postings_of(rest.dictionary.find(key)), rows) << key;
  }
  const auto expect_keys_of_both_visited_once = [&] {
    EXPECT_EQ(lists_of(rest.dictionary, "l"), keys_of(whole.lists));
    EXPECT_EQ(keys_of(values_of(rest.dictionary, "v")), keys_of(whole.values));
  };
  expect_keys_of_both_visited_once();
  rest.dictionary.freeze(no_length);
  expect_keys_of_both_visited_once();
  for (const auto& [key, rows] : whole.lists) {
    ASSERT_EQ(postings_of(rest.dictionary.find(key)), rows) << key;
  }
}

TEST(Dictionary, AKeysFirstValueStays) {
  Dictionary dictionary(kHashSeed);
  dictionary.put("va", "first");
  dictionary.put("va", "second");
  dictionary.put("vempty", "");
  EXPECT_EQ(dictionary.find_value("va"), "first");
  EXPECT_NE(dictionary.find_value("vempty").data(), nullptr);
  dictionary.freeze(no_length);
  dictionary.put("va", "third");
  EXPECT_EQ(dictionary.find_value("va"), "first");
  EXPECT_EQ(dictionary.added_bytes(), 0u);
  EXPECT_NE(dictionary.find_value("vempty").data(), nullptr);
}

std::vector<std::string> marked_keys_of(const Dictionary& dictionary, std::string_view prefix) {
  std::vector<std::string> keys;
  dictionary.for_each_marked(prefix, [&](std::string_view key) {
    keys.emplace_back(key);
    return true;
  });
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(Dictionary, AMarkStaysWhateverIsFrozenAndAdded) {
  Dictionary dictionary(kHashSeed);
  const auto add = [&](const std::string& key, uint32_t row, bool is_marked) {
    const uint32_t number = dictionary.list_number(key);
    add_to(dictionary, key, {row, 1, 1});
    if (is_marked) dictionary.mark(number);
  };
  add("la", 0, true);
  add("lb", 0, false);
  add("lc", 0, true);
  EXPECT_EQ(marked_keys_of(dictionary, ""), (std::vector<std::string>{"la", "lc"}));
  dictionary.freeze(no_length);
  EXPECT_EQ(marked_keys_of(dictionary, ""), (std::vector<std::string>{"la", "lc"}));
  add("la", 1, true);   // marked again: visited once
  add("lb", 1, true);   // marked later
  add("lc", 1, false);  // added to without a mark
  add("ld", 1, true);
  const std::vector<std::string> all = {"la", "lb", "lc", "ld"};
  EXPECT_EQ(marked_keys_of(dictionary, ""), all);
  EXPECT_EQ(marked_keys_of(dictionary, "lc"), (std::vector<std::string>{"lc"}));
  size_t visits = 0;
  dictionary.for_each_marked("l", [&](std::string_view) { return ++visits < 2; });
  EXPECT_EQ(visits, 2u);
  dictionary.freeze(no_length);
  EXPECT_EQ(marked_keys_of(dictionary, ""), all);
  EXPECT_EQ(marked_keys_of(dictionary, "m"), std::vector<std::string>());
}

TEST(Dictionary, VisitingEndsWhenAsked) {
  Both both;
  both.add_random(0, 100, 1);
  both.dictionary.freeze(no_length);
  both.add_random(100, 200, 2);
  for (const size_t wanted : {size_t{1}, size_t{5}, both.values.size()}) {
    size_t count = 0;
    both.dictionary.for_each_list("l", [&](std::string_view) { return ++count < wanted; });
    EXPECT_EQ(count, wanted);
    count = 0;
    both.dictionary.for_each_value("v", [&](auto, auto) { return ++count < wanted; });
    EXPECT_EQ(count, wanted);
  }
}

TEST(Dictionary, KeysMayHaveAnyBytes) {
  Dictionary dictionary(kHashSeed);
  const std::vector<std::string> keys = {"", std::string(1, '\0'), std::string("a\0b", 3), "\xFF",
                                         "a"};
  for (uint32_t i = 0; i < keys.size(); ++i) add_to(dictionary, keys[i], {i, 1, 1});
  for (int round = 0; round < 2; ++round) {
    for (uint32_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(postings_of(dictionary.find(keys[i])),
                (std::vector<std::pair<uint32_t, uint32_t>>{{i, 1}}));
    }
    EXPECT_EQ(lists_of(dictionary, "a").size(), 2u);
    dictionary.freeze(no_length);
  }
}

TEST(Dictionary, AListStaysWhereItIsUntilFreezing) {
  Dictionary dictionary(kHashSeed);
  const uint32_t number = dictionary.list_number("first");
  const PostingBuffer* first = &dictionary.list(number);
  for (int i = 0; i < 10'000; ++i) (void)dictionary.list_number(std::to_string(i));
  EXPECT_EQ(dictionary.list_number("first"), number);
  EXPECT_EQ(&dictionary.list(number), first);
}

TEST(Dictionary, BlocksOfAJoinedListBoundItsRows) {
  Dictionary dictionary(kHashSeed);
  const Postings all = random_postings(1000, 4, kNoRow, 8);
  for (size_t i = 0; i < all.size(); ++i) {
    add_to(dictionary, "l", all[i]);
    if (i % 170 == 169) dictionary.freeze(no_length);
  }
  PostingCursor cursor(dictionary.find("l"));
  for (const Posting& one : all) {
    const BlockSummary* block = cursor.block_for(one.row);
    ASSERT_NE(block, nullptr);
    ASSERT_GE(block->last_row, one.row);
    ASSERT_GE(block->frequency_max(), one.frequency);
    ASSERT_LE(block->length_min(), one.length);
  }
}

// Whether and wherever it was frozen in between: the same bytes, as what was made at once.
TEST(Dictionary, AListJoinedIsTheListMadeAtOnce) {
  const Postings all = random_postings(1000, 4, kNoRow, 8);
  std::vector<uint32_t> lengths(all.back().row + 1);
  for (const Posting& one : all) lengths[one.row] = one.length;
  const RowLengths length_of{lengths};
  Dictionary at_once(kHashSeed);
  at_once.add(at_once.list_number("l"), all);
  const std::string expected = at_once.encode(length_of);
  for (const size_t step : {1u, 50u, 127u, 128u, 129u, 256u, 300u, 999u}) {
    Dictionary dictionary(kHashSeed);
    for (size_t first = 0; first < all.size(); first += step) {
      const auto some = std::span(all).subspan(first, std::min(step, all.size() - first));
      dictionary.add(dictionary.list_number("l"), some);
      dictionary.freeze(length_of);
    }
    EXPECT_EQ(dictionary.encode(length_of), expected) << step;
  }
}

// A file can say of what it has that there are rows beyond. Whoever walks lists relies on rows that
// rise.
TEST(Dictionary, AFrozenListWithRowsOfWhatWasAddedIsDamaged) {
  for (const uint32_t count : {3u, 300u}) {
    Dictionary before(kHashSeed);
    for (uint32_t row = 0; row < count; ++row) add_to(before, "l", {row, 1, 1});
    add_to(before, "m", {0, 1, 1});
    for (const bool is_frozen_again : {false, true}) {
      Dictionary dictionary(kHashSeed);
      dictionary.set_frozen(opened(before.encode(no_length)), count - 1);
      add_to(dictionary, "l", {count, 1, 1});
      add_to(dictionary, "m", {count, 1, 1});
      EXPECT_FALSE(dictionary.is_damaged());
      if (is_frozen_again) {
        dictionary.freeze(no_length);
      } else {
        EXPECT_EQ(rows_from(0, dictionary.find("m")), (std::vector<uint32_t>{0, count}));
        EXPECT_FALSE(dictionary.is_damaged());
      }
      EXPECT_EQ(rows_from(0, dictionary.find("l")), (std::vector<uint32_t>{count}));
      EXPECT_TRUE(dictionary.is_damaged());
      EXPECT_EQ(rows_from(0, dictionary.find("m")), (std::vector<uint32_t>{0, count}));
    }
  }
}

// Else what cannot be read would be left out of a segment of which everything can.
TEST(Dictionary, AFrozenListThatCannotBeReadIsDamagedWhereItIsJoined) {
  for (const uint32_t count : {20u, 300u}) {
    Dictionary before(kHashSeed);
    for (uint32_t row = 0; row < count; ++row) add_to(before, "l", {row, 1, 1});
    std::string list;
    before.list(0).append_encoded_to(&list);
    std::string bytes = before.encode(no_length);
    const size_t at = bytes.find(list);
    ASSERT_NE(at, std::string::npos);
    const PostingRun run(list);
    const uint32_t blocks = run.block_count();
    const size_t last_bytes =
        blocks == 1 ? list.size() - 1
                    : run.summary(blocks - 1).end_bytes - run.summary(blocks - 2).end_bytes;
    bytes[at + list.size() - last_bytes] = static_cast<char>(0xFF);  // bits that no number has
    for (const bool is_saved : {false, true}) {
      Dictionary dictionary(kHashSeed);
      dictionary.set_frozen(opened(bytes), count);
      add_to(dictionary, "l", {count, 1, 1});
      EXPECT_FALSE(dictionary.is_damaged());
      if (is_saved) {
        (void)dictionary.encode(no_length);
      } else {
        dictionary.freeze(no_length);
      }
      EXPECT_TRUE(dictionary.is_damaged()) << count;
    }
  }
}

TEST(Dictionary, FreezingMakesItSmaller) {
  Both both;
  both.add_random(0, 20'000, 1);
  const uint64_t before = both.dictionary.memory_bytes();
  both.dictionary.freeze(no_length);
  EXPECT_LT(both.dictionary.memory_bytes(), before);
}

// It is asked for after every query across sessions, so nobody walks the lists for it.
TEST(Dictionary, WhatItsListsHoldCountsAsTheyGrow) {
  Dictionary dictionary(kHashSeed);
  const uint32_t few = dictionary.list_number("few");
  const uint32_t many = dictionary.list_number("many");
  uint64_t lists_before = 0;
  for (int round = 0; round < 2; ++round) {
    const uint64_t before = dictionary.memory_bytes();
    add_to(dictionary, "few", {static_cast<uint32_t>(round), 1, 1});
    dictionary.add(many, random_postings(1000, 4, kNoRow, 8),
                   static_cast<uint32_t>(round) * 1'000'000);
    const uint64_t lists =
        dictionary.list(few).memory_bytes() + dictionary.list(many).memory_bytes();
    EXPECT_EQ(dictionary.memory_bytes() - before, lists - lists_before);
    EXPECT_GT(lists, lists_before + 1000);
    lists_before = lists;
  }
}

}  // namespace
}  // namespace varve::index
