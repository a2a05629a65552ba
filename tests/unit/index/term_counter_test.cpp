#include "index/term_counter.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hash_seed.h"

namespace varve::index {
namespace {

std::string line_of(const std::string& message) {
  return R"({"id":"x","content":{"message":")" + message + R"("}})";
}

class TermCounterTest : public testing::Test {
 protected:
  CountedRows counted(const std::vector<std::string>& messages) {
    for (const auto& message : messages) counter_.add_line(line_of(message), scratch_);
    CountedRows rows;
    counter_.take(&rows);
    for (size_t i = 0; i < rows.terms.size(); ++i) terms_.emplace_back(rows.terms[i]);
    return rows;
  }

  // By term: the rows that have it, each with how often.
  using Found = std::map<std::string, std::vector<std::pair<uint32_t, uint32_t>>>;
  [[nodiscard]] Found found_in(const CountedRows& rows) const {
    Found found;
    uint32_t at = 0;
    for (const auto& one : rows.term_ends) {
      for (; at < one.end; ++at) {
        const Posting& posting = rows.postings[at];
        EXPECT_EQ(posting.length, rows.lengths[posting.row] & ~CountedRows::kAsks);
        found[terms_.at(one.term)].emplace_back(posting.row, posting.frequency);
      }
    }
    EXPECT_EQ(at, rows.postings.size());
    return found;
  }

  TermCounter counter_{text::Settings{}, kHashSeed};
  json::Document scratch_;
  std::vector<std::string> terms_;  // by their numbers
};

TEST_F(TermCounterTest, GivesEachTermItsRowsAndHowOften) {
  const CountedRows rows = counted({"red apples and a red box", "apple", "the"});
  EXPECT_EQ(found_in(rows), (Found{{"red", {{0, 2}}},
                                   {"appl", {{0, 1}, {1, 1}}},
                                   {"and", {{0, 1}}},
                                   {"a", {{0, 1}}},
                                   {"box", {{0, 1}}},
                                   {"the", {{2, 1}}}}));
  EXPECT_EQ(rows.lengths, (std::vector<uint32_t>{4, 1, 0})) << "stop words count";
}

// A picture in a message would give it thousands of words, and so the worst place of those that
// match.
TEST_F(TermCounterTest, EncodedBytesHaveNoWords) {
  std::string bytes;
  while (bytes.size() < 3000) bytes += "iVBORw0KGgo/AAAA+NSUhEUgAA9Ap";
  const std::string address = "data:image/png;base64," + bytes;
  for (const std::string& escaped : {address, R"(\")" + address + R"(\")"}) {
    const CountedRows rows = counted({"a red box " + escaped, "a red box"});
    EXPECT_EQ(rows.lengths, (std::vector<uint32_t>{6, 2})) << "data, image, png, base64";
  }
}

TEST_F(TermCounterTest, PartsAreTermsOfTheirOwnAndNoWords) {
  const CountedRows rows = counted({"getUserProfiles of UserGroup", "user", "byId"});
  EXPECT_EQ(found_in(rows), (Found{{"getuserprofil", {{0, 1}}},
                                   {"of", {{0, 1}}},
                                   {"usergroup", {{0, 1}}},
                                   {"~get", {{0, 1}}},
                                   {"~user", {{0, 2}}},
                                   {"~profil", {{0, 1}}},
                                   {"~group", {{0, 1}}},
                                   {"user", {{1, 1}}},
                                   {"byid", {{2, 1}}},
                                   {"~id", {{2, 1}}}}))
      << "no part is a stop word";
  EXPECT_EQ(rows.lengths, (std::vector<uint32_t>{2, 1, 1}));
  EXPECT_EQ(rows.terms_as_words.size() + rows.words.size(), 5u);
}

// Two counters with as many terms: of one, two thirds are parts.
TEST_F(TermCounterTest, PartsTakeMemoryAsWordsDo) {
  constexpr uint32_t kNames = 900;
  TermCounter words{text::Settings{}, kHashSeed};
  const auto number_of = [](uint32_t i) { return std::to_string(100'000 + i); };
  for (uint32_t i = 0; i < kNames; ++i) {
    const std::string number = number_of(i);
    counter_.add_line(line_of("x" + number + "Y" + number), scratch_);
    words.add_line(line_of("w" + number + " x" + number + " y" + number), scratch_);
  }
  CountedRows rows;
  counter_.take(&rows);
  EXPECT_EQ(rows.terms.size(), 3 * kNames);
  words.take(&rows);
  EXPECT_EQ(rows.terms.size(), 3 * kNames);
  // Not as much, since tables double. Without the table of parts it would be little more than half.
  EXPECT_GT(counter_.memory_bytes(), words.memory_bytes() / 3 * 2);
}

TEST_F(TermCounterTest, TellsATermAndAWordOnce) {
  const CountedRows first = counted({"tea", "teas tea"});
  ASSERT_EQ(first.terms.size(), 1u);
  EXPECT_EQ(first.terms_as_words, (std::vector<uint32_t>{0}));
  ASSERT_EQ(first.words.size(), 1u);
  EXPECT_EQ(first.words[0], "teas");
  EXPECT_EQ(first.stems[0], "tea");
  // What comes later counts on from there: rows from 0, terms as they were numbered.
  const CountedRows second = counted({"teas and coffee"});
  EXPECT_EQ(second.terms_as_words, (std::vector<uint32_t>{1})) << "and";
  ASSERT_EQ(second.words.size(), 1u);
  EXPECT_EQ(second.words[0], "coffee");
  EXPECT_EQ(terms_, (std::vector<std::string>{"tea", "and", "coffe"}));
  EXPECT_EQ(found_in(second), (Found{{"tea", {{0, 1}}}, {"and", {{0, 1}}}, {"coffe", {{0, 1}}}}));
}

TEST_F(TermCounterTest, TakesTheMemoryThatIsGivenBack) {
  CountedRows rows = counted({"one two three"});
  counter_.add_line(line_of("four"), scratch_);
  counter_.take(&rows);
  EXPECT_EQ(rows.lengths.size(), 1u);
  EXPECT_EQ(rows.terms.size(), 1u);
  EXPECT_EQ(rows.postings.size(), 1u);
  counter_.take(&rows);
  EXPECT_TRUE(rows.lengths.empty() && rows.postings.empty() && rows.terms.size() == 0);
}

TEST_F(TermCounterTest, NumbersTermsAnewWhenTheyAreForgotten) {
  (void)counted({"red box pr-12 openBox"});
  counter_.forget_terms();
  terms_.clear();
  const CountedRows rows = counted({"box openBox pr-12"});
  EXPECT_EQ(found_in(rows), (Found{{"box", {{0, 1}}},
                                   {"openbox", {{0, 1}}},
                                   {"~open", {{0, 1}}},
                                   {"~box", {{0, 1}}},
                                   {"pr", {{0, 1}}},
                                   {"12", {{0, 1}}},
                                   {"pr-12", {{0, 1}}},
                                   {"~pr12", {{0, 1}}}}));
  EXPECT_EQ(terms_.size(), 8u);
}

// More words in one text than are looked up at once, and one that is longer than a short word.
TEST_F(TermCounterTest, CountsEveryWordOfALongText) {
  std::string text = "incomprehensibilities";
  for (int i = 0; i < 200; ++i) text += " n" + std::to_string(i % 100);
  const CountedRows rows = counted({text});
  EXPECT_EQ(rows.lengths, (std::vector<uint32_t>{201}));
  const Found found = found_in(rows);
  EXPECT_EQ(found.size(), 101u);
  EXPECT_EQ(found.at("n99"), (Found::mapped_type{{0, 2}}));
}

TEST_F(TermCounterTest, ALineThatIsReadOnceMoreCountsOnce) {
  // The escaped name is found out when "red" was counted already.
  counter_.add_line(R"({"content":"red","tag\u0073":["blue"]})", scratch_);
  CountedRows rows;
  counter_.take(&rows);
  for (size_t i = 0; i < rows.terms.size(); ++i) terms_.emplace_back(rows.terms[i]);
  EXPECT_EQ(found_in(rows), (Found{{"red", {{0, 1}}}, {"blue", {{0, 1}}}}));
  EXPECT_EQ(rows.lengths, (std::vector<uint32_t>{2}));
}

TEST_F(TermCounterTest, SaysWhichRowsAsk) {
  const CountedRows rows = counted({"where?", "here", "a?b"});
  EXPECT_EQ(rows.lengths[0], CountedRows::kAsks | 0u) << "'where' is a stop word";
  EXPECT_EQ(rows.lengths[1] & CountedRows::kAsks, 0u);
  EXPECT_EQ(rows.lengths[2] & CountedRows::kAsks, 0u);
}

TEST_F(TermCounterTest, GivesMemoryBack) {
  (void)counted({"red box"});
  const uint64_t before = counter_.memory_bytes();
  for (int round = 0; round < 2; ++round) (void)counted(std::vector<std::string>(5000, "red box"));
  EXPECT_GT(counter_.memory_bytes(), before + 5000 * sizeof(uint64_t));
  counter_.give_memory_back();
  EXPECT_LT(counter_.memory_bytes(), before + (uint64_t{64} << 10));
  EXPECT_EQ(found_in(counted({"box"})), (Found{{"box", {{0, 1}}}}));
}

TEST_F(TermCounterTest, SaysWhatMemoryItHas) {
  const uint64_t before = counter_.memory_bytes();
  for (int i = 0; i < 1000; ++i) counter_.add_line(line_of("w" + std::to_string(i)), scratch_);
  EXPECT_GT(counter_.memory_bytes(), before + 1000 * (sizeof(text::ShortWord) + 16));
}

}  // namespace
}  // namespace varve::index
