// What the words of a query find: in any form, required and refused, in phrases, by wildcards.
#include <gtest/gtest.h>

#include <string>

#include "json/tree.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

class Wording : public ::testing::Test {
 protected:
  Wording() {
    add("a", "We use OAuth2 with the Authorization Code flow");
    add("b", "The implicit flow of OAuth is deprecated");
    add("c", "code of the authorization service");
    add("d", "Running authorizations through a proxy");
    add("e", "\xe6\x9d\xb1\xe4\xba\xac\xe3\x82\xbf\xe3\x83\xaf\xe3\x83\xbc");  // 東京タワー
    add("f", "caf\xc3\xa9 cre\xcc\x80me \xf0\x9f\x8d\xb5 tea time");
  }
  void add(const std::string& id, const std::string& text) {
    log_.add(entry_of(id, 0.5, 5, R"("content":{"text":")" + text + R"("})"));
  }
  std::string found(const std::string& text) {
    json::Tree query = json::Tree::object();
    query.set("text", json::Tree::string(text));
    return log_.all_ids(query.canonical());
  }
  QueryLog log_;
};

TEST_F(Wording, AnyWordInAnyFormMatches) {
  EXPECT_EQ(found("authorization"), "a c d");
  EXPECT_EQ(found("oauth2 proxies"), "a d");
  EXPECT_EQ(found("run"), "d");
  EXPECT_EQ(found("CAFE"), "f");
  EXPECT_EQ(found("creme"), "f");
}

TEST_F(Wording, RequiredAndRefusedWords) {
  EXPECT_EQ(found("+flow"), "a b");
  EXPECT_EQ(found("+flow -implicit"), "a");
  EXPECT_EQ(found("authorization -code"), "d");
  EXPECT_EQ(found("+authorization +code"), "a c");
  EXPECT_EQ(found("-flow"), "c d e f");
  EXPECT_EQ(found("+nobody flow"), "");
  EXPECT_EQ(found("+flow nobody"), "a b");
  EXPECT_EQ(found("nobody"), "");
}

TEST(StopWords, CountOnlyWhereThereIsNothingElse) {
  QueryLog log;
  log.add(entry_of("list", 0.5, 1, R"("content":"my to-do list")"));
  log.add(entry_of("walk", 0.5, 1, R"("content":"what we do, and where to")"));
  log.add(entry_of("tower", 0.5, 1, R"("content":"the tower of \u6771\u4eac\u90fd")"));
  const auto found = [&](const std::string& text) {
    return log.all_ids(R"({"text":")" + text + "\"}");
  };
  EXPECT_EQ(found("to do"), "list walk");
  EXPECT_EQ(found("to the list"), "list") << "a word";
  EXPECT_EQ(found("to-do"), "list") << "a compound of two of them";
  EXPECT_EQ(found("where is the tow*"), "tower") << "a wildcard";
  EXPECT_EQ(found("where is the nob*"), "") << "whether anybody has it or not, as with words";
  EXPECT_EQ(found("do \u6771\u4eac\u90fd*"), "tower") << "what is looked for in texts";
  EXPECT_EQ(found("do -tow*"), "list walk") << "but what must not be there is nothing else";
}

TEST(StopWords, ThatMustBeThereAreNoMatchThatIsBetterThanAnother) {
  QueryLog log;
  log.add(entry_of("a", 0.2, 1, R"("content":"the tower","tags":["t"])"));
  log.add(entry_of("b", 0.8, 1, R"("content":"the harbour","tags":["t"])"));
  const auto answer = [&](const std::string& text, const std::string& sort_by) {
    return log.answer(R"({"tags":{"include":["t"]},"text":")" + text + R"(","sort_by":")" +
                      sort_by + "\"}");
  };
  // Whether another entry, which is not found, has the other word makes no difference.
  for (const std::string content : {"a bell", "a kettle"}) {
    log.add(entry_of(content.substr(2), 0.5, 1, R"("content":")" + content + '"'));
    for (const std::string sort_by : {"best", "match", "relevance"}) {
      const Answer found = answer("+the kettle", sort_by);
      ASSERT_EQ(found.hits.size(), 2u);
      EXPECT_EQ(found.hits[0].match_quality, 1) << content << " " << sort_by;
      EXPECT_EQ(found.hits[1].match_quality, 1) << content << " " << sort_by;
    }
    EXPECT_EQ(log.ids_of(answer("+the kettle", "relevance")), "b a") << content;
    EXPECT_EQ(log.ids_of(answer("+the kettle", "best")), "b a") << content;
  }
}

TEST(Connectors, ATokenIsRequiredWithAllItsCompoundsAndWords) {
  QueryLog log;
  log.add(entry_of("one", 0.5, 1, R"("content":"a-b only, PR-1234 fixes it")"));
  log.add(entry_of("two", 0.5, 1, R"("content":"a-b and c-d, PR-1234 with PR-5678 for it")"));
  log.add(entry_of("words", 0.5, 1, R"("content":"a b c d it")"));
  const auto found = [&](const std::string& text) {
    return log.all_ids(R"({"text":")" + text + "\"}");
  };
  EXPECT_EQ(found("+PR-1234,PR-5678"), "two");
  EXPECT_EQ(found("+a-b,c-d"), "two");
  EXPECT_EQ(found("-a-b,c-d +it"), "one words") << "who has one of them only stays";
  EXPECT_EQ(found("+a-b,fixes"), "one") << "a word beside a compound";
  EXPECT_EQ(found("-a-b,fixes +it"), "two words");
  EXPECT_EQ(found("+a-b"), "one two");
  const std::string long_part(126, 'x');
  log.add(entry_of("long", 0.5, 1, R"("content":"e.f )" + long_part + "\""));
  EXPECT_EQ(found("+" + long_part + "/e.f"), "long") << "a whole that is too long has parts";
  EXPECT_EQ(found("+" + long_part + "x/e.f"), "") << "and words";
}

// A word is looked up once for its clauses and the ranking, whatever forms of it are asked for.
TEST_F(Wording, AWordThatIsAskedForAgainCountsOnce) {
  const auto scores = [&](const std::string& text) {
    std::string told;
    const Answer answer =
        log_.answer(R"({"sort_by":"match","explain":true,"text":")" + text + "\"}");
    for (const Hit& hit : answer.hits) told += std::to_string(hit.match) + " ";
    EXPECT_EQ(answer.terms.size(), 2u) << text;
    return log_.ids_of(answer) + ": " + told;
  };
  const std::string once = scores("+authorization code");
  EXPECT_EQ(once.substr(0, 5), "c a d");
  EXPECT_EQ(scores("+authorization authorizations code codes"), once);
  EXPECT_EQ(scores("+authorization +authorizations code code"), once);
}

TEST_F(Wording, APhraseThatIsAskedForAgainCountsOnce) {
  const auto match = [&](const std::string& text) {
    return log_.answer(R"({"sort_by":"match","text":")" + text + "\"}").hits.at(0).match;
  };
  const double once = match(R"(tea \"tea time\")");
  EXPECT_GT(once, match("tea time")) << "it counts";
  EXPECT_EQ(match(R"(tea \"tea time\" \"tea time\")"), once);
}

TEST_F(Wording, PhrasesAreWordsInTheirOrder) {
  EXPECT_EQ(found(R"("authorization code")"), "a");
  EXPECT_EQ(found(R"("code authorization")"), "");
  EXPECT_EQ(found(R"("AUTHORIZATION, code!")"), "a");
  EXPECT_EQ(found(R"(+flow -"authorization code")"), "b");
  EXPECT_EQ(found(R"(flow "authorization code")"), "a b c d") << "beside plain words all rank";
  EXPECT_EQ(log_.ids(R"({"text":"flow \"authorization code\"","sort_by":"match","limit":1})"), "a");
  EXPECT_EQ(found(R"(flow +"authorization code")"), "a");
  EXPECT_EQ(found(R"("authorizations code")"), "") << "a phrase is not stemmed";
}

TEST(Phrases, AreFoundBesideAWordThatNobodyHas) {
  QueryLog log;
  log.add(entry_of("be", 0.5, 1, R"("content":"To be or not to be, that is the question")"));
  log.add(entry_of("who", 0.5, 1, R"("content":"The who: a question of to be")"));
  const auto found = [&](const std::string& text) {
    return log.all_ids(R"({"text":")" + text + "\"}");
  };
  const std::string phrase = R"(hamlet \"to be or not to be\")";
  EXPECT_EQ(found(phrase), "be");
  EXPECT_EQ(log.ids(R"({"sort_by":"match","text":")" + phrase + "\"}"), "be");
  EXPECT_EQ(found(phrase + R"( \"the who\")"), "be who") << "any of them";
  EXPECT_EQ(found(R"(hamlet \"be to be\")"), "");
  log.add(entry_of("play", 0.5, 1, R"("content":"hamlet is a play")"));
  EXPECT_EQ(found(phrase), "be play");
}

TEST(Phrases, WithoutWordsSayNothing) {
  QueryLog log;
  log.add(entry_of("a", 0.5, 1, R"("content":"the question of black tea")"));
  log.add(entry_of("b", 0.5, 1, R"("content":"a question about tea that is black")"));
  const auto found = [&](const std::string& text) {
    return log.all_ids(R"({"text":")" + text + "\"}");
  };
  for (const std::string empty : {R"(\"\")", R"(\"!!!\")", R"(+\"?\")", R"(-\"\")"}) {
    EXPECT_EQ(found("+question " + empty), "a b") << empty;
    EXPECT_EQ(found(empty + " question"), "a b") << empty;
    EXPECT_EQ(found(empty + R"( \"black tea\")"), "a") << empty;
    EXPECT_EQ(found(empty), "") << empty;
    EXPECT_EQ(found(empty + empty), "") << empty;
  }
  EXPECT_EQ(found(R"(\"black tea\"?)"), "a") << "a question mark is no plain word";
  EXPECT_EQ(found(R"(- \"black tea\" ...)"), "a");
}

TEST(Wordless, SaysNothingBesideAnExclusion) {
  QueryLog log;
  log.add(entry_of("a", 0.5, 1, R"("content":"tea")"));
  log.add(entry_of("b", 0.5, 1, R"("content":"oil 🎉")"));
  log.add(entry_of("c", 0.5, 1, R"("content":"salt")"));
  const auto found = [&](const std::string& text) {
    return log.all_ids(R"({"text":")" + text + "\"}");
  };
  for (const std::string wordless : {"-", "&", R"(\")", "...", "*", "-#", R"(\"\" &)"}) {
    EXPECT_EQ(found(wordless), "") << wordless;
    EXPECT_EQ(found("-tea " + wordless), "b c") << wordless;
    EXPECT_EQ(found("-tea " + wordless + " -salt"), "b") << wordless;
    EXPECT_EQ(found("-tea salt " + wordless), "c") << wordless;
  }
  EXPECT_EQ(found("-tea 🎉"), "b") << "an emoji is looked for";
}

TEST(Wordless, LeavesTheOrderToAVector) {
  QueryLog log;
  log.add(entry_of("a", 0.5, 1, R"("content":"tea")"));
  log.add(entry_of("b", 0.5, 1, R"("content":"oil")"));
  log.add(entry_of("c", 0.5, 1, R"("content":"salt")"));
  log.vectors = {{0, 0.5}, {1, 0.9}};
  for (const std::string wordless : {"&", R"(\"\")", R"(\"?\")", R"(+\"...\")", R"(-\"\")"}) {
    const Answer found = log.answer(R"({"vector":[1],"text":")" + wordless + "\"}");
    EXPECT_EQ(log.ids_of(found), "b a") << wordless;
    ASSERT_EQ(found.hits.size(), 2U) << wordless;
    EXPECT_EQ(found.hits[0].match_quality, 0.9) << wordless << ": the cosine, as without a text";
  }
  EXPECT_EQ(log.ids(R"({"vector":[1],"text":"\"\" -oil"})"), "a");
}

TEST(Phrases, KeepWhatBelongsToAWordAlthoughItJoinsNothing) {
  QueryLog log;
  log.add(entry_of("cpp", 0.5, 1, R"("content":"We use C++ here, lib/c++ too")"));
  log.add(entry_of("c", 0.5, 1, R"("content":"We use C here")"));
  log.add(entry_of("cs", 0.5, 1, R"("content":"C# code, not C")"));
  log.add(entry_of("both", 0.5, 1, R"("content":"use C, C++ is here")"));
  const auto found = [&](const std::string& text) {
    return log.all_ids(R"({"text":")" + text + "\"}");
  };
  EXPECT_EQ(found(R"(\"c++\")"), "cpp both");
  EXPECT_EQ(found(R"(\"use c++\")"), "cpp") << "the word in its place has it";
  EXPECT_EQ(found(R"(\"use c++ here\")"), "cpp");
  EXPECT_EQ(found(R"(\"lib c++\")"), "cpp");
  EXPECT_EQ(found(R"(\"C#\")"), "cs");
  EXPECT_EQ(found(R"(\"C# code\")"), "cs");
  EXPECT_EQ(found(R"(+here -\"c++\")"), "c");
  EXPECT_EQ(found(R"(\"use c\")"), "cpp c both") << "as the word itself finds them";
}

TEST(Phrases, AskOfAWordWithoutATailForNone) {
  QueryLog log(plain_words());
  log.add(entry_of("apart", 0.5, 1, R"("content":"pr 12 done")"));
  log.add(entry_of("joined", 0.5, 1, R"("content":"pr-12 done")"));
  EXPECT_EQ(log.all_ids(R"({"text":"\"pr-12 done\""})"), "apart joined");
  EXPECT_EQ(log.all_ids(R"({"text":"\"pr 12 done\""})"), "apart joined");
}

TEST_F(Wording, WildcardsMatchWords) {
  EXPECT_EQ(found("oauth*"), "a b");
  EXPECT_EQ(found("*flow"), "a b");
  EXPECT_EQ(found("+authori?ation"), "a c");
  EXPECT_EQ(found("+authorizations*"), "d") << "one form of the word and not the others";
  EXPECT_EQ(found("flow -impl*"), "a");
  EXPECT_EQ(found("z*z"), "");
  EXPECT_EQ(found("cafe?"), "f") << "a question mark at the end asks";
  EXPECT_EQ(found("caf?"), "");
}

TEST_F(Wording, ScriptsWithoutSpaces) {
  EXPECT_EQ(found("\xe6\x9d\xb1\xe4\xba\xac"), "e");
  EXPECT_EQ(found("\xe4\xba\xac"), "e") << "one character of a word";
  EXPECT_EQ(found("+\xe4\xba\xac tea"), "e");
  EXPECT_EQ(found("\xe4\xba\xac\xe6\x9d\xb1"), "");
}

TEST_F(Wording, WordsOfPunctuationAloneFindNothing) {
  for (const auto text : {"?!", "\"\"", "***", "- +", "\xe2\x86\x92", "+\"!!\""}) {
    EXPECT_EQ(found(text), "") << text;
  }
}

TEST_F(Wording, AnOverlongWildcardIsWords) {
  const std::string part(64, 'a');
  add("long", part + " b");
  EXPECT_EQ(found(part + "*"), "long");
  EXPECT_EQ(found("+" + part + "*b"), "long") << "each of them";
  EXPECT_EQ(found("+" + part + "*c"), "");
  EXPECT_EQ(found("-" + part + "*"), "a b c d e f");
  EXPECT_EQ(found(std::string(63, 'a') + "*"), "long") << "one that is short enough";
}

TEST_F(Wording, AWildcardOfTooManyWordsIsRefusedInItsPlace) {
  std::string words;
  for (int i = 0; i <= 10'000; ++i) words += "w" + std::to_string(i) + " ";
  add("many", words);
  auto query = parse_query(R"({"text":"tea w*"})", Scope::kSet);
  ASSERT_TRUE(query.ok());
  const auto rows = log_.all_rows(*query);
  EXPECT_EQ(rows.code(), Code::kInvalidArgument);
  EXPECT_EQ(rows.status().place().member, "text");
  EXPECT_EQ(found("w1*"), "many");
  const std::string text = "w" + std::string(10'000, '*');
  const auto refused = log_.all_rows(*parse_query("{\"text\":\"" + text + "\"}", Scope::kSet));
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_LT(refused.status().message().size(), 300u) << "any number of stars is one";
}

}  // namespace
}  // namespace varve::query
