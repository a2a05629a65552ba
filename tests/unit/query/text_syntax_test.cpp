#include "query/text_syntax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace varve::query {
namespace {

// One clause as "sign kind(text)": w words, p phrase, x wildcard.
std::string told(const std::vector<TextClause>& clauses) {
  std::string all;
  for (const TextClause& clause : clauses) {
    if (!all.empty()) all.push_back(' ');
    if (clause.sign != TextClause::Sign::kRanked) {
      all.push_back(clause.sign == TextClause::Sign::kMust ? '+' : '-');
    }
    all.push_back(clause.kind == TextClause::Kind::kWords    ? 'w'
                  : clause.kind == TextClause::Kind::kPhrase ? 'p'
                                                             : 'x');
    all.append("(").append(clause.text).append(")");
  }
  return all;
}

struct SyntaxCase {
  const char* text;
  const char* clauses;
};

class TextSyntax : public ::testing::TestWithParam<SyntaxCase> {};

TEST_P(TextSyntax, IsRead) { EXPECT_EQ(told(parse_text(GetParam().text)), GetParam().clauses); }

INSTANTIATE_TEST_SUITE_P(
    Words, TextSyntax,
    ::testing::Values(SyntaxCase{"", ""}, SyntaxCase{" \t\n ", ""}, SyntaxCase{"tea", "w(tea)"},
                      SyntaxCase{"black  tea\nleaves", "w(black tea leaves)"},
                      SyntaxCase{"What is it?", "w(What is it?)"}, SyntaxCase{"- +", "w(- +)"},
                      SyntaxCase{"a - b", "w(a - b)"}, SyntaxCase{"well-known", "w(well-known)"},
                      SyntaxCase{"C++ C#", "w(C++ C#)"}, SyntaxCase{"a+b", "w(a+b)"},
                      SyntaxCase{"--", "w(--)"}, SyntaxCase{"-- x", "w(-- x)"},
                      SyntaxCase{"***", "w(***)"}, SyntaxCase{"? *", "w(? *)"}));

INSTANTIATE_TEST_SUITE_P(
    Signs, TextSyntax,
    ::testing::Values(SyntaxCase{"+tea", "+w(tea)"}, SyntaxCase{"-tea", "-w(tea)"},
                      SyntaxCase{"+tea -milk sugar", "+w(tea) -w(milk) w(sugar)"},
                      SyntaxCase{"a +b c", "w(a) +w(b) w(c)"},
                      SyntaxCase{"+well-known", "+w(well-known)"},
                      SyntaxCase{"-\xe6\x9d\xb1\xe4\xba\xac", "-w(\xe6\x9d\xb1\xe4\xba\xac)"},
                      SyntaxCase{"+1", "+w(1)"}, SyntaxCase{"-(tea)", "w(-(tea))"},
                      SyntaxCase{"+ tea", "w(+ tea)"}));

// Who writes Japanese or Chinese types U+3000; texts that were copied have U+00A0.
INSTANTIATE_TEST_SUITE_P(BlanksOfAnyWidth, TextSyntax,
                         ::testing::Values(SyntaxCase{"\xe6\x9d\xb1\xe3\x80\x80-\xe4\xba\xac",
                                                      "w(\xe6\x9d\xb1) -w(\xe4\xba\xac)"},
                                           SyntaxCase{"tea\xc2\xa0+milk", "w(tea) +w(milk)"},
                                           SyntaxCase{"te*\xe2\x80\xaf"
                                                      "milk",
                                                      "x(te*) w(milk)"},
                                           SyntaxCase{"\xe3\x80\x80\"black tea\"\xe3\x80\x80",
                                                      "p(black tea)"}));

// A file's mark of its encoding, and the marks of direction that are typed in Hebrew and Arabic.
INSTANTIATE_TEST_SUITE_P(
    IgnoredCharactersBesideSigns, TextSyntax,
    ::testing::Values(SyntaxCase{"\xef\xbb\xbf-tea", "-w(tea)"},
                      SyntaxCase{"\xe2\x80\x8f-\xe2\x80\x8ftea +\xe2\x80\x8f"
                                 "oil",
                                 "-w(tea) +w(oil)"},
                      SyntaxCase{"\xef\xbb\xbf\"black tea\"", "p(black tea)"},
                      SyntaxCase{"-\xe2\x80\x8f\"black tea\"", "-p(black tea)"},
                      SyntaxCase{"-\xe2\x80\x8e te*", "w(-\xe2\x80\x8e) x(te*)"}));

INSTANTIATE_TEST_SUITE_P(
    Phrases, TextSyntax,
    ::testing::Values(
        SyntaxCase{R"("black tea")", "p(black tea)"},
        SyntaxCase{R"(+"black tea" -"green tea")", "+p(black tea) -p(green tea)"},
        SyntaxCase{R"(who said "black tea" then)", "w(who said) p(black tea) w(then)"},
        SyntaxCase{R"("black tea)", R"(w("black tea))"}, SyntaxCase{R"("a""b")", "p(a) p(b)"},
        SyntaxCase{R"("")", "p()"}, SyntaxCase{R"("a" "b)", R"(p(a) w("b))"},
        SyntaxCase{R"(5" disk)", R"(w(5" disk))"}, SyntaxCase{R"("-a +b c*")", "p(-a +b c*)"},
        SyntaxCase{R"(+"open)", R"(w(+"open))"}));

INSTANTIATE_TEST_SUITE_P(
    Wildcards, TextSyntax,
    ::testing::Values(SyntaxCase{"oauth*", "x(oauth*)"}, SyntaxCase{"*auth", "x(*auth)"},
                      SyntaxCase{"o*h", "x(o*h)"}, SyntaxCase{"col?r", "x(col?r)"},
                      SyntaxCase{"?at", "x(?at)"},
                      SyntaxCase{"+oauth* -imp*", "+x(oauth*) -x(imp*)"},
                      SyntaxCase{"(oauth*,", "x(oauth*)"},
                      SyntaxCase{"who what? when", "w(who what? when)"},
                      SyntaxCase{"wh?t?", "x(wh?t)"}, SyntaxCase{"yes?-no", "w(yes?-no)"},
                      SyntaxCase{"https://a.example/x?q=1", "w(https://a.example/x?q=1)"},
                      SyntaxCase{"tea *a", "w(tea) x(*a)"}, SyntaxCase{"-*auth", "-x(*auth)"},
                      SyntaxCase{"a*=b", "w(a*=b)"}, SyntaxCase{"\xc3\xa9t*", "x(\xc3\xa9t*)"}));

// As Markdown, typesetters and other languages write.
INSTANTIATE_TEST_SUITE_P(
    WildcardsBetweenSigns, TextSyntax,
    ::testing::Values(SyntaxCase{"`oauth*`", "x(oauth*)"}, SyntaxCase{"-`oauth*`", "-x(oauth*)"},
                      SyntaxCase{"**oauth*", "x(**oauth*)"}, SyntaxCase{"“oauth*”", "x(oauth*)"},
                      SyntaxCase{"‘oauth*’", "x(oauth*)"}, SyntaxCase{"+«oauth*»", "+x(oauth*)"},
                      SyntaxCase{"「東*」", "x(東*)"}, SyntaxCase{"oauth*。", "x(oauth*)"},
                      SyntaxCase{"¿oa?th*?", "x(oa?th*)"}, SyntaxCase{"(oauth*…", "x(oauth*)"},
                      SyntaxCase{"oauth*？", "x(oauth*)"}, SyntaxCase{"“*”", "w(“*”)"},
                      SyntaxCase{"oauth*」東", "w(oauth*」東)"}));

// A text has its words without the connectors that join them on one side only.
INSTANTIATE_TEST_SUITE_P(
    WildcardsBetweenConnectors, TextSyntax,
    ::testing::Values(SyntaxCase{"/etc/nginx/*", "x(etc/nginx/*)"},
                      SyntaxCase{"~/.config/*", "x(config/*)"},
                      SyntaxCase{"./src/*.ts", "x(src/*.ts)"}, SyntaxCase{"@types/*", "x(types/*)"},
                      SyntaxCase{"_internal_*", "x(internal_*)"}, SyntaxCase{"src/*/", "x(src/*)"},
                      SyntaxCase{"*c++", "x(*c++)"}, SyntaxCase{"*c#", "x(*c#)"},
                      SyntaxCase{"c++*", "x(c++*)"}, SyntaxCase{"+/etc/*", "+x(etc/*)"},
                      SyntaxCase{"-@types/*", "-x(types/*)"}, SyntaxCase{"--no-*", "x(no-*)"},
                      SyntaxCase{"+--no-*", "x(no-*)"}, SyntaxCase{"-**", "w(-**)"}));

// Two connectors side by side join nothing in a text.
INSTANTIATE_TEST_SUITE_P(
    WildcardsAcrossGaps, TextSyntax,
    ::testing::Values(SyntaxCase{"std::vec*", "w(std) x(vec*)"},
                      SyntaxCase{"+std::vec*", "+w(std) +x(vec*)"},
                      SyntaxCase{"-std::vec*", "-w(std::vec*)"}, SyntaxCase{"C#/*", "w(C# *)"},
                      SyntaxCase{"+C#/*", "+w(C#) +w(*)"}, SyntaxCase{"+C++/*", "+w(C++) +w(*)"},
                      SyntaxCase{"+c#::vec*", "+w(c#) +x(vec*)"},
                      SyntaxCase{"+a++b*", "+w(a) +x(b*)"}, SyntaxCase{"+a+++b*", "+w(a) +x(b*)"},
                      SyntaxCase{"https://a.example/*", "w(https) x(a.example/*)"},
                      SyntaxCase{"a::b::c*", "w(a b) x(c*)"}, SyntaxCase{"c++1*", "w(c) x(1*)"},
                      SyntaxCase{"src/**/*.ts", "x(src/**/*.ts)"}));

// What is taken as plain words must be there, or must not, all the same.
INSTANTIATE_TEST_SUITE_P(WildcardsThatArePlainWords, TextSyntax,
                         ::testing::Values(SyntaxCase{"-tea*,oil*", "-w(tea*,oil*)"},
                                           SyntaxCase{"-*tea,oil*", "-w(*tea,oil*)"},
                                           SyntaxCase{"+*1,200", "+w(*1,200)"},
                                           SyntaxCase{"-?src/main.c", "-w(?src/main.c)"},
                                           SyntaxCase{"-*", "w(-*)"}, SyntaxCase{"+?,a", "w(+?,a)"},
                                           SyntaxCase{"- *,a", "w(- *,a)"}));

class QuestionSyntax : public ::testing::TestWithParam<SyntaxCase> {};

TEST_P(QuestionSyntax, HasNoSignsAndNoWildcards) {
  EXPECT_EQ(told(parse_question(GetParam().text)), GetParam().clauses);
}

INSTANTIATE_TEST_SUITE_P(
    Questions, QuestionSyntax,
    ::testing::Values(SyntaxCase{"", ""}, SyntaxCase{"Who is  it?", "w(Who is it?)"},
                      SyntaxCase{"docker run -p 80", "w(docker run -p 80)"},
                      SyntaxCase{"chmod +x *.sh", "w(chmod +x *.sh)"},
                      SyntaxCase{"std::vec* wh?t", "w(std::vec* wh?t)"},
                      SyntaxCase{R"(who said "-black te*" then)",
                                 "w(who said) p(-black te*) w(then)"},
                      SyntaxCase{R"(-"black tea" +"oil)", R"(p(black tea) w(+"oil))"}));

// A stack frame for each, or a look at the rest for each, would not end well.
TEST(TextSyntaxGaps, OfAnyNumberAreReadInOnePass) {
  constexpr size_t kGapCount = 1'000'000;
  std::string text;
  for (size_t i = 0; i < kGapCount; ++i) text.append("a::");
  const auto ranked = parse_text(text + "x*");
  ASSERT_EQ(ranked.size(), 2U);
  EXPECT_EQ(ranked[0].text.size(), 2 * kGapCount - 1) << "a a a ...";
  EXPECT_EQ(ranked[1].text, "x*");
  EXPECT_EQ(parse_text("+" + text + "x*").size(), kGapCount + 1);
  EXPECT_EQ(told(parse_text("-std::vec*")), "-w(std::vec*)");
}

// To look for what is behind them all at each of them would take minutes.
TEST(TextSyntaxIgnored, OfAnyNumberAreReadInOnePass) {
  std::string ignored;
  for (size_t i = 0; i < 500'000; ++i) ignored.append("\u00AD");
  for (const std::string& word : {"a" + ignored + "b", "a" + ignored + "b*"}) {
    const bool is_wildcard = word.ends_with('*');
    for (const std::string sign : {"", "+"}) {
      const auto clauses = parse_text(sign + word);
      ASSERT_EQ(clauses.size(), 1U);
      EXPECT_EQ(clauses[0].kind,
                is_wildcard ? TextClause::Kind::kWildcard : TextClause::Kind::kWords);
      EXPECT_EQ(clauses[0].text, word);
    }
  }
}

TEST(TextSyntaxAnyBytes, AreReadWithoutHarmAndLoseNoWord) {
  const char alphabet[] = {'a', ' ', '"', '+', '-', '*', '?', '(', '\xc3', '\xa9', '\0', '/'};
  unsigned state = 1;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int c = 0; c < 12; ++c) {
      state = state * 1103515245u + 12345u;
      text.push_back(alphabet[(state >> 16) % sizeof alphabet]);
    }
    size_t letters = 0;
    for (const TextClause& clause : parse_text(text)) {
      letters += static_cast<size_t>(std::count(clause.text.begin(), clause.text.end(), 'a'));
    }
    EXPECT_EQ(letters, static_cast<size_t>(std::count(text.begin(), text.end(), 'a'))) << text;
  }
}

}  // namespace
}  // namespace varve::query
