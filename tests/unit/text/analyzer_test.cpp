#include "text/analyzer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer_cases.h"

namespace varve::text {
namespace {

struct Found {
  std::vector<std::string> terms;
  uint32_t length = 0;
  std::vector<std::string> query;
};

Found analyze(Analyzer& analyzer, std::string_view text) {
  Found found;
  const Words& words = analyzer.read(text);
  std::vector<std::string> kept;
  for (const auto& word : words.words()) {
    const std::string folded(words.text(word));
    found.terms.emplace_back(analyzer.stem(folded));
    if (analyzer.is_stop_word(folded)) continue;
    found.length += 1;
    kept.push_back(found.terms.back());
  }
  if (kept.empty()) kept = found.terms;
  for (const auto& compound : words.compounds()) {
    found.terms.emplace_back(words.text(compound));
    kept.push_back(found.terms.back());
  }
  for (const auto& term : kept) {
    if (std::find(found.query.begin(), found.query.end(), term) == found.query.end()) {
      found.query.push_back(term);
    }
  }
  return found;
}

std::vector<std::string> terms_of(std::string_view text, const Settings& settings = {}) {
  Analyzer analyzer(settings);
  return analyze(analyzer, text).terms;
}

using Terms = std::vector<std::string>;

TEST(Analyzer, AgreesWithTheIndependentImplementation) {
  ASSERT_GE(kAnalyzerCases.size(), 45u);
  Analyzer analyzer{Settings{}};
  for (const AnalyzerCase& one : kAnalyzerCases) {
    const Found found = analyze(analyzer, one.text);
    EXPECT_EQ(found.terms, one.terms) << one.text;
    EXPECT_EQ(found.length, one.length) << one.text;
    EXPECT_EQ(found.query, one.query) << one.text;
  }
}

TEST(Analyzer, AnEarlierTextLeavesNothingBehind) {
  Analyzer analyzer{Settings{}};
  for (size_t i = kAnalyzerCases.size(); i-- > 0;) {
    (void)analyze(analyzer, "src/a.b/c++ 1,200 don't 東京タワー");
    EXPECT_EQ(analyze(analyzer, kAnalyzerCases[i].text).terms, kAnalyzerCases[i].terms);
  }
}

TEST(Analyzer, ApostrophesAreEnglishInEnglishOnly) {
  EXPECT_EQ(terms_of("don't"), Terms({"don't"}));
  EXPECT_EQ(terms_of("don't", {"english", {}, false}), Terms({"don't"}));
  EXPECT_EQ(terms_of("don't l'eau", {"none", {}, false}),
            Terms({"don", "t", "l", "eau", "don't", "l'eau"}));
  EXPECT_EQ(terms_of("Caroline's", {"none", {}, false}), Terms({"caroline", "s", "caroline's"}));
}

TEST(Analyzer, EnglishIsEnglishByAnyOfItsNames) {
  for (const char* name : {"en", "english", "eng"}) {
    const Settings settings{name, {}, false};
    EXPECT_EQ(terms_of("went don't", settings), Terms({"go", "don't"})) << name;
    EXPECT_TRUE(Analyzer(settings).is_stop_word("the")) << name;
    EXPECT_EQ(Analyzer::fingerprint(settings), Analyzer::fingerprint(Settings{})) << name;
  }
}

TEST(Analyzer, WithoutALanguageWordsAreNotStemmedAndNoneIsAStopWord) {
  const Settings settings{"none", {}, false};
  EXPECT_EQ(terms_of("Running went hobbies", settings), Terms({"running", "went", "hobbies"}));
  Analyzer analyzer(settings);
  EXPECT_FALSE(analyzer.is_stop_word("the"));
}

TEST(Analyzer, OtherLanguagesHaveTheirStemmerAndNoEnglishVerbs) {
  Analyzer german(Settings{"de", {}, false});
  EXPECT_EQ(german.stem("katzen"), "katz");
  EXPECT_EQ(german.stem("went"), "went");
  EXPECT_FALSE(german.is_stop_word("the"));
}

TEST(Analyzer, OwnStopWordsStandForThoseOfTheLanguage) {
  Analyzer own(Settings{"en", {"Foo", "CAFÉ"}, true});
  EXPECT_TRUE(own.is_stop_word("foo"));
  EXPECT_TRUE(own.is_stop_word("cafe")) << "folded like the words";
  EXPECT_FALSE(own.is_stop_word("the"));
  Analyzer none(Settings{"en", {}, true});
  EXPECT_FALSE(none.is_stop_word("the"));
  Analyzer usual(Settings{"en", {"foo"}, false});
  EXPECT_FALSE(usual.is_stop_word("foo")) << "not asked for";
  EXPECT_TRUE(usual.is_stop_word("the"));
}

TEST(Analyzer, AnOwnStopWordIsTheWordThatATextHas) {
  const Settings settings{"en", {"don’t", "it's"}, true};
  Analyzer english(settings);
  EXPECT_TRUE(english.is_stop_word("don't")) << "its apostrophe is a typographic one";
  EXPECT_TRUE(english.is_stop_word("it"));
  EXPECT_EQ(Analyzer::fingerprint(settings), Analyzer::fingerprint({"en", {"don't", "it"}, true}));
  Analyzer french(Settings{"french", {"l'", "qu’", "c'est", "c++"}, true});
  EXPECT_TRUE(french.is_stop_word("l")) << "of l'eau";
  EXPECT_TRUE(french.is_stop_word("qu"));
  for (const char* part : {"c", "est"}) EXPECT_FALSE(french.is_stop_word(part)) << part;
}

TEST(Analyzer, FingerprintsTellSettingsApart) {
  const std::vector<Settings> all = {{"en", {}, false},    {"none", {}, false},
                                     {"de", {}, false},    {"en", {}, true},
                                     {"en", {"a"}, true},  {"en", {"a", "b"}, true},
                                     {"en", {"ab"}, true}, {"en", {"a\n1 b"}, true}};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      EXPECT_EQ(Analyzer::fingerprint(all[i]) == Analyzer::fingerprint(all[j]), i == j)
          << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace varve::text
