// Phrases of many words, against a comparison at each word.
#include "query/long_phrase.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "query/text_check.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

struct TextWord {
  std::string text;
  std::string tail;
  bool goes_on = false;
};

bool is_at(const std::vector<PhraseWord>& phrase, const std::vector<TextWord>& text, size_t at) {
  for (size_t i = 0; i < phrase.size(); ++i) {
    const TextWord& word = text[at + i];
    if (phrase[i].text != word.text) return false;
    if (!phrase[i].tail.empty() && phrase[i].tail != word.tail) return false;
    if (i + 1 < phrase.size() && phrase[i].goes_on != word.goes_on) return false;
  }
  return true;
}

// Where an occurrence ends.
std::vector<size_t> ends_of(const std::vector<PhraseWord>& phrase,
                            const std::vector<TextWord>& text) {
  std::vector<size_t> ends;
  for (size_t at = 0; at + phrase.size() <= text.size(); ++at) {
    if (is_at(phrase, text, at)) ends.push_back(at + phrase.size() - 1);
  }
  return ends;
}

std::vector<size_t> found_ends(const std::vector<PhraseWord>& words,
                               const std::vector<TextWord>& text) {
  LongPhrase phrase(words);
  std::vector<size_t> ends;
  for (size_t at = 0; at < text.size(); ++at) {
    const TextWord& word = text[at];
    const bool is_end =
        phrase.step(word.text, word.tail, word.goes_on, word.text == words.front().text,
                    word.text == words.back().text);
    if (is_end) ends.push_back(at);
  }
  return ends;
}

TEST(LongPhrase, EndsWhereAComparisonAtEachWordSays) {
  std::mt19937 random(23);
  size_t found = 0;
  for (int round = 0; round < 400; ++round) {
    // Few words, so that a phrase has begun at many places at once; sometimes with rare ones.
    const uint32_t word_count = 1 + static_cast<uint32_t>(random() % 3);
    const auto word = [&] {
      return std::string(1, static_cast<char>('a' + random() % word_count));
    };
    const size_t length = 1 + random() % 200;
    std::vector<PhraseWord> phrase(length);
    for (PhraseWord& one : phrase) {
      one.text = word();
      if (random() % 50 == 0) one.tail = random() % 2 == 0 ? "++" : "#";
      one.goes_on = random() % 100 == 0;
    }
    std::vector<TextWord> text;
    while (text.size() < 600) {
      if (random() % 100 != 0) {
        text.push_back({word(), random() % 20 == 0 ? "++" : "", random() % 100 == 0});
        continue;
      }
      for (const PhraseWord& one : phrase) text.push_back({one.text, one.tail, one.goes_on});
      if (random() % 2 == 0) text.back().text = "z";
    }
    const std::vector<size_t> expected = ends_of(phrase, text);
    ASSERT_EQ(found_ends(phrase, text), expected) << "round " << round;
    found += expected.size();
  }
  EXPECT_GT(found, 500u);
}

// To compare 30,000 words at each of 600,000 looked at 12,000,000,000.
TEST(LongPhrase, OfOneWordOverAndOverIsFoundInATextOfIt) {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += "a ";
  QueryLog log;
  log.add(R"({"id":"long","type":"finding","content":")" + text + R"(zz"})");
  text.resize(60'000);
  EXPECT_EQ(log.all_ids(R"({"text":"\")" + text + R"(zz\""})"), "long");
  EXPECT_EQ(log.all_ids(R"({"text":"\")" + text + R"(zz a\""})"), "");
}

TEST(LongPhrase, MayBeginAndEndInsideARunOfCharacters) {
  std::string characters;
  for (int i = 0; i < 40; ++i) characters += "東京";
  QueryLog log;
  log.add(R"({"id":"run","type":"finding","content":"大)" + characters + R"(都 end"})");
  EXPECT_EQ(log.all_ids(R"({"text":"\")" + characters + R"(都\""})"), "run");
  EXPECT_EQ(log.all_ids(R"({"text":"\"大)" + characters + R"(\""})"), "run");
  EXPECT_EQ(log.all_ids(R"({"text":"\")" + characters + R"( 都\""})"), "");
  EXPECT_EQ(log.all_ids(R"({"text":"\")" + characters + R"(東\""})"), "");
}

}  // namespace
}  // namespace varve::query
