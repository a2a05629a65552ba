// What a query's words find in scripts without spaces, where the index has pairs of characters.
#include "query/text_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "json/tree.h"
#include "query/text_lookup.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

class Unspaced : public ::testing::Test {
 protected:
  Unspaced() {
    add("list", "東京、京都、大阪に行く");
    add("tokyo", "東京都に住む");
    add("chapter", "第3章を読む");
    add("phone", "新iPhone版の説明");
    add("ordinals", "第 一");
    add("tower", "京 tower");
  }
  void add(const std::string& id, const std::string& text) {
    json::Tree entry = json::Tree::object();
    entry.set("id", json::Tree::string(id));
    entry.set("type", json::Tree::string("finding"));
    entry.set("content", json::Tree::string(text));
    log_.add(entry.canonical());
  }
  std::string found(const std::string& text) {
    json::Tree query = json::Tree::object();
    query.set("text", json::Tree::string(text));
    return log_.all_ids(query.canonical());
  }
  QueryLog log_;
};

TEST_F(Unspaced, APhraseIsCharactersThatStandTogether) {
  EXPECT_EQ(found(R"("東京都")"), "tokyo") << "東京 and 京都 are neighbours in a list too";
  EXPECT_EQ(found(R"("京都に住")"), "tokyo") << "a part of a run";
  EXPECT_EQ(found(R"("東京 京都")"), "list");
  EXPECT_EQ(found(R"("東京 大阪")"), "");
  EXPECT_EQ(found(R"("東京")"), "list tokyo");
  EXPECT_EQ(found(R"("京")"), "list tokyo tower") << "in any pair, or alone";
  EXPECT_EQ(found(R"("行")"), "list");
  EXPECT_EQ(found(R"("犬")"), "");
}

TEST_F(Unspaced, APhraseBeginsAndEndsInsideARun) {
  EXPECT_EQ(found(R"("第3章")"), "chapter");
  EXPECT_EQ(found(R"("3章を")"), "chapter");
  EXPECT_EQ(found(R"("第3")"), "chapter");
  EXPECT_EQ(found(R"("第4章")"), "");
  EXPECT_EQ(found(R"("章3")"), "");
  EXPECT_EQ(found(R"("iPhone版")"), "phone");
  EXPECT_EQ(found(R"("iPhone版の説")"), "phone");
  EXPECT_EQ(found(R"("iPhoneの")"), "") << "not the character that follows";
  EXPECT_EQ(found(R"("版iPhone")"), "");
  EXPECT_EQ(found(R"("都 tower")"), "");
  EXPECT_EQ(found(R"("京 tower")"), "tower");
  add("between", "a 東京 b");
  EXPECT_EQ(found(R"("a 東京 b")"), "between");
  EXPECT_EQ(found(R"("a 京 b")"), "") << "inside a phrase a run is whole";
  EXPECT_EQ(found(R"("a 東")"), "between");
  EXPECT_EQ(found(R"("a 京")"), "") << "another begins it";
}

TEST_F(Unspaced, SignsTakeARunAsItStands) {
  EXPECT_EQ(found("+東京都"), "tokyo");
  EXPECT_EQ(found("-東京都"), "list chapter phone ordinals tower");
  EXPECT_EQ(found("+東京"), "list tokyo");
  EXPECT_EQ(found("+京"), "list tokyo tower");
  EXPECT_EQ(found("-京"), "chapter phone ordinals");
  EXPECT_EQ(found("+第3章"), "chapter");
  EXPECT_EQ(found("-第3章"), "list tokyo phone ordinals tower") << "not what has 第 alone";
  EXPECT_EQ(found("+iPhone版"), "phone");
  EXPECT_EQ(found("+iPhone,説明"), "phone") << "what punctuation parts is anywhere";
  EXPECT_EQ(found("+東京,行く"), "list");
  EXPECT_EQ(found("-東京,行く"), "tokyo chapter phone ordinals tower") << "both together";
  EXPECT_EQ(found("-東京都,住む +東京"), "list");
  add("version", "v1.2版 と v1.3");
  EXPECT_EQ(found("+v1.2版"), "version");
  EXPECT_EQ(found("+v1.3版"), "");
  EXPECT_EQ(found("+v1.3"), "version");
}

TEST_F(Unspaced, WildcardsReachAcrossPairs) {
  EXPECT_EQ(found("東京都*"), "tokyo");
  EXPECT_EQ(found("*東京都"), "tokyo");
  EXPECT_EQ(found("+東京都*"), "tokyo");
  EXPECT_EQ(found("-東京都*"), "list chapter phone ordinals tower");
  EXPECT_EQ(found("東京*"), "list tokyo");
  EXPECT_EQ(found("*行*"), "list");
  EXPECT_EQ(found("く*"), "list") << "nothing may follow";
  EXPECT_EQ(found("東?都"), "tokyo");
  EXPECT_EQ(found("東*住"), "tokyo");
  EXPECT_EQ(found("東*大"), "") << "not across punctuation";
  EXPECT_EQ(found("第?章"), "chapter");
  EXPECT_EQ(found("第*読"), "chapter");
  EXPECT_EQ(found("+第*章"), "chapter");
  EXPECT_EQ(found("-第*章"), "list tokyo phone ordinals tower");
  EXPECT_EQ(found("iPhone版*"), "phone");
  EXPECT_EQ(found("i*版"), "phone");
  EXPECT_EQ(found("*hone版*"), "phone");
  EXPECT_EQ(found("Phone*版"), "") << "another letter begins the word";
  EXPECT_EQ(found("版iPhon*"), "");
  EXPECT_EQ(found("新iPhon*"), "phone");
  EXPECT_EQ(found("大阪* 第?章"), "list chapter") << "ranked, any of them";
  EXPECT_EQ(log_.ids(R"({"text":"東京都* 住む","sort_by":"match","limit":1})"), "tokyo");
}

TEST_F(Unspaced, ALetterHasOneFormHoweverItIsTyped) {
  add("files",
      "и\xCC\x86од, е\xCC\x88лка, "
      "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF");
  add("half", "ﾃｽﾄ ﾊﾞｽ");
  for (const auto text : {"йод", "ёлка", "한글", "+한글", "\"한글\"", "한*", "йо*", "Й*", "한"}) {
    EXPECT_EQ(found(text), "files") << text;
  }
  for (const auto text :
       {"テスト", "バス", "+テスト", "\"バス\"", "テスト*", "バ*", "ﾃｽﾄ", "ﾊﾞ*"}) {
    EXPECT_EQ(found(text), "half") << text;
  }
  EXPECT_EQ(found("ハス"), "");
  add("typed", "テスト");
  EXPECT_EQ(found("+ﾃｽﾄ"), "half typed");
}

TEST_F(Unspaced, TheThaiAmIsFoundByWildcardsAndInCompatibilityForm) {
  add("thai", "ทำงานที่น้ำตก");
  for (const auto text : {"ทำ*", "+*ทำง*", "น้ำ*", "+น้ำ?ก", "\"ท\xE0\xB9\x8Dางาน\"",
                          "+น\xE0\xB9\x89\xE0\xB9\x8Dาตก"}) {
    EXPECT_EQ(found(text), "thai") << text;
  }
}

TEST_F(Unspaced, AWildcardsApostrophesAndHyphensAreThoseOfWords) {
  add("house", "l’homme, O'Brien don’t pr‑12");
  for (const auto text : {"l’hom*", "l'hom*", "+O’Br*", "don’*", "pr‑1*", "+pr‐?2", "*r-12"}) {
    EXPECT_EQ(found(text), "house") << text;
  }
  EXPECT_EQ(found("-l’*"), "list tokyo chapter phone ordinals tower");
}

TEST_F(Unspaced, ACharacterOfVeryManyWordsIsFoundAndNotRefused) {
  std::string text;
  for (uint32_t i = 0; i <= kExpansionsMax; ++i) {
    text::append_utf8(0x4E00 + i, &text);
    text += "犬 ";
  }
  add("many", text);
  EXPECT_EQ(found("+犬"), "many");
  EXPECT_EQ(found(R"("犬")"), "many");
  EXPECT_EQ(found("-犬 +京"), "list tokyo tower");
  EXPECT_EQ(found("犬 tower"), "tower many");
}

TEST_F(Unspaced, StarsAroundARunSayNothing) {
  for (const std::string text : {"東京", "*東京", "東京*", "**東京**"}) {
    const auto plan = plan_text(parse_text(text), log_.index(), log_.analyzer());
    ASSERT_TRUE(plan.ok());
    ASSERT_EQ(plan->terms.size(), 1u) << text;
    EXPECT_EQ(plan->terms[0].text, "東京") << text;
    EXPECT_TRUE(plan->checks.empty()) << text;
  }
}

TEST_F(Unspaced, ARunOfOneCharacterIsFoundAsAWhole) {
  add("twice", "犬犬");
  add("thrice", "犬犬犬");
  EXPECT_EQ(found("*犬犬*"), "twice thrice");
  EXPECT_EQ(found("*犬犬犬*"), "thrice");
}

TEST_F(Unspaced, AQuestionMarkBetweenSentencesAsks) {
  add("rain", "明天会下雨");
  EXPECT_EQ(found("天气怎么样?会下雨吗"), "rain");
  EXPECT_EQ(found("会下雨吗?东京?Python怎么样?"), "rain");
  EXPECT_EQ(found("iPhone?大阪"), "list phone");
  EXPECT_EQ(log_.ids(R"({"text":"京都?住む","sort_by":"match"})"), "tokyo list")
      << "what the wildcard finds comes first";
  EXPECT_EQ(found("+京都?住む"), "tokyo");
  EXPECT_EQ(found("会下?"), "rain") << "at the end it asks, too";
  for (const auto text : {"雨?下雨", "下雨?雨", "下雨*?会下", "会下??会下", "会x?下雨"})
    EXPECT_EQ(found(text), "") << text;
}

TEST_F(Unspaced, AQuestionMarkIsOneCharacterOfTheText) {
  EXPECT_EQ(found("東?都"), "tokyo");
  EXPECT_EQ(found("東??都"), "");
  EXPECT_EQ(found("+東?都"), "tokyo");
  const Answer answer = log_.answer(R"({"text":"東?都","explain":true})");
  ASSERT_EQ(answer.terms.size(), 1u);
  EXPECT_EQ(answer.terms[0].text, "東?都");
}

std::vector<std::string> terms_of(QueryLog& log, std::string_view text) {
  std::vector<std::string> terms;
  const auto plan = plan_text(parse_text(text), log.index(), log.analyzer());
  EXPECT_TRUE(plan.ok());
  for (const auto& term : plan->terms) terms.push_back(term.text);
  return terms;
}

TEST(TextPlan, ATailOfAPhraseRanksAsWhatItBelongsTo) {
  QueryLog log(plain_words());
  log.add(R"({"type":"note","content":"c++ code of pr-12"})");
  using Terms = std::vector<std::string>;
  EXPECT_EQ(terms_of(log, R"("c++ code")"), (Terms{"c", "code", "c++"}));
  EXPECT_EQ(terms_of(log, R"("of pr-12")"), (Terms{"of", "pr", "12"})) << "no tail";
  EXPECT_EQ(terms_of(log, R"(code -"c++ code")"), (Terms{"code"}));
}

// What stands for a part is no text of the question, which may be a phrase's.
TEST(TextPlan, APhraseIsNotTakenForAPart) {
  QueryLog log(plain_words());
  log.add(R"({"type":"note","content":"openBox"})");
  auto plan = plan_text(parse_text("box"), log.index(), log.analyzer());
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->terms.size(), 1u);
  EXPECT_EQ(plan->terms[0].text, "~box");
  for (int time = 0; time < 2; ++time) plan->rank_rows("~box", {0}, log.index());
  EXPECT_EQ(plan->terms.size(), 2u);
}

// Entries are read for a check: as few as the lists leave.
TEST(TextPlan, AChecksRowsHaveAllItsWords) {
  QueryLog log;
  for (const std::string text : {"milk tea", "tea with milk", "tea", "running", "runs", "box"}) {
    log.add(R"({"type":"note","content":")" + text + R"("})");
  }
  using Rows = std::vector<uint32_t>;
  for (const auto& [text, rows] : {std::pair(R"(tea \"milk tea\")", Rows{0, 1}),
                                   {R"(tea -\"milk tea\")", Rows{0, 1}},
                                   {R"(tea -runn*)", Rows{3, 4}}}) {
    const auto query = parse_query(R"({"text":")" + std::string(text) + R"("})", Scope::kSession);
    ASSERT_TRUE(query.ok());
    SearchInput input;
    input.index = &log.index();
    input.query = &*query;
    input.rules = &log.rules();
    input.analyzer = &log.analyzer();
    auto search = Search::plan(input);
    ASSERT_TRUE(search.ok());
    ASSERT_EQ(search->checks().size(), 1u) << text;
    const auto found = search->rows_to_check(0);
    ASSERT_TRUE(found.ok()) << text;
    EXPECT_EQ(*found, rows) << text;
  }
}

// A form of a word that comes meanwhile makes a wildcard one that must be checked, too. Each check
// has its own answers.
TEST(TextPlan, WhatIsAddedWhileEntriesAreReadChangesNoChecks) {
  for (const std::string text : {R"(+*ing \"milk tea\")", R"(-*ing \"milk tea\")"}) {
    QueryLog log;
    for (const std::string words : {"milk tea running", "milk tea", "tea milk running"}) {
      log.add(R"({"id":")" + std::to_string(log.index().size()) + R"(","type":"note","content":")" +
              words + R"("})");
    }
    log.meanwhile = [&] { log.add(R"({"id":"later","type":"note","content":"milk tea runs"})"); };
    EXPECT_EQ(log.all_ids(R"({"text":")" + text + R"("})"), text.front() == '+' ? "0" : "1");
  }
}

}  // namespace
}  // namespace varve::query
