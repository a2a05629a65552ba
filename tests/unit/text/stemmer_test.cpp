#include "text/stemmer.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "text/stop_words.h"

namespace varve::text {
namespace {

TEST(Stemmer, EnglishStems) {
  const auto stemmer = Stemmer::make("en");
  ASSERT_NE(stemmer, nullptr);
  const std::vector<std::pair<std::string, std::string>> cases = {{"running", "run"},
                                                                  {"runs", "run"},
                                                                  {"hobbies", "hobbi"},
                                                                  {"skis", "ski"},
                                                                  {"generously", "generous"},
                                                                  {"easily", "easili"},
                                                                  {"agreed", "agre"},
                                                                  {"", ""},
                                                                  {"a", "a"},
                                                                  {"1234", "1234"},
                                                                  {"ёлка", "ёлка"}};
  for (const auto& [word, stem] : cases) EXPECT_EQ(stemmer->stem(word), stem) << word;
}

TEST(Stemmer, LanguagesByCodeAndByName) {
  for (const auto& [language, word, stem] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"english", "running", "run"},
           {"de", "katzen", "katz"},
           {"german", "katzen", "katz"},
           {"fr", "continuellement", "continuel"},
           {"es", "gatos", "gat"},
           {"ru", "кошками", "кошк"}}) {
    const auto stemmer = Stemmer::make(language);
    ASSERT_NE(stemmer, nullptr) << language;
    EXPECT_EQ(stemmer->stem(word), stem) << language;
  }
}

// Of these Snowball leaves nothing: words of one kind, none of which could be found by itself.
TEST(Stemmer, AWordOfWhichNothingIsLeftIsItsOwnStem) {
  for (const auto& [language, word] : std::vector<std::pair<std::string, std::string>>{
           {"ne", "का"}, {"ne", "कि"}, {"tr", "leri"}, {"porter", "s"}, {"yi", "ְ"}}) {
    const auto stemmer = Stemmer::make(language);
    ASSERT_NE(stemmer, nullptr);
    EXPECT_EQ(stemmer->stem(word), word) << language;
  }
}

TEST(Stemmer, NoneLeavesWordsAlone) {
  const auto stemmer = Stemmer::make("none");
  ASSERT_NE(stemmer, nullptr);
  for (const std::string word : {"running", "", "katzen"}) EXPECT_EQ(stemmer->stem(word), word);
}

TEST(Stemmer, OtherLanguagesAreNotKnown) {
  for (const auto language : {"", "xx", "EN", "None", "klingon", "en ", "english-us"}) {
    EXPECT_FALSE(Stemmer::knows(language)) << language;
    EXPECT_EQ(Stemmer::make(language), nullptr) << language;
  }
  EXPECT_FALSE(Stemmer::knows(std::string("en\0x", 4))) << "not cut at a NUL";
  for (const auto language : {"none", "en", "english", "de", "fr"}) {
    EXPECT_TRUE(Stemmer::knows(language)) << language;
  }
}

constexpr auto kEnglish =
    "a an the this that these those some any all each both every other i me my mine myself we "
    "us our ours ourselves you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself they them their theirs themselves am is are was were be been being "
    "do does did doing done have has had having will would shall should can could may might "
    "must cannot what which who whom whose when where why how many much and or but if then "
    "than so as of at by for from in into on onto to with about there here not no nor don't "
    "doesn't didn't isn't aren't wasn't weren't haven't hasn't hadn't won't wouldn't can't "
    "couldn't shouldn't mustn't ";

TEST(StopWords, AreTheseOfEnglish) {
  std::set<std::string> expected;
  std::istringstream words(kEnglish);
  for (std::string word; words >> word;) expected.insert(word);
  const auto found = stop_words_of("en");
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()), expected);
  EXPECT_EQ(found.size(), expected.size()) << "one twice";
}

TEST(StopWords, OtherLanguagesHaveNone) {
  for (const auto language : {"", "none", "de", "EN"}) EXPECT_TRUE(stop_words_of(language).empty());
}

}  // namespace
}  // namespace varve::text
