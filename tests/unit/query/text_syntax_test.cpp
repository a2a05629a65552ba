#include "query/text_syntax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace varve::query {
namespace {

// One clause as "sign kind(text)": w words, p phrase, x wildcard.
std::string told(std::string_view text) {
  std::string all;
  for (const TextClause& clause : parse_text(text)) {
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

struct Case {
  const char* text;
  const char* clauses;
};

class TextSyntax : public ::testing::TestWithParam<Case> {};

TEST_P(TextSyntax, IsRead) { EXPECT_EQ(told(GetParam().text), GetParam().clauses); }

INSTANTIATE_TEST_SUITE_P(Words, TextSyntax,
                         ::testing::Values(Case{"", ""}, Case{" \t\n ", ""}, Case{"tea", "w(tea)"},
                                           Case{"black  tea\nleaves", "w(black tea leaves)"},
                                           Case{"What is it?", "w(What is it?)"},
                                           Case{"- +", "w(- +)"}, Case{"a - b", "w(a - b)"},
                                           Case{"well-known", "w(well-known)"},
                                           Case{"C++ C#", "w(C++ C#)"}, Case{"a+b", "w(a+b)"},
                                           Case{"--", "w(--)"}, Case{"-- x", "w(-- x)"},
                                           Case{"***", "w(***)"}, Case{"? *", "w(? *)"}));

INSTANTIATE_TEST_SUITE_P(
    Signs, TextSyntax,
    ::testing::Values(Case{"+tea", "+w(tea)"}, Case{"-tea", "-w(tea)"},
                      Case{"+tea -milk sugar", "+w(tea) -w(milk) w(sugar)"},
                      Case{"a +b c", "w(a) +w(b) w(c)"}, Case{"+well-known", "+w(well-known)"},
                      Case{"-\xe6\x9d\xb1\xe4\xba\xac", "-w(\xe6\x9d\xb1\xe4\xba\xac)"},
                      Case{"+1", "+w(1)"}, Case{"-(tea)", "w(-(tea))"}, Case{"+ tea", "w(+ tea)"}));

INSTANTIATE_TEST_SUITE_P(
    Phrases, TextSyntax,
    ::testing::Values(Case{R"("black tea")", "p(black tea)"},
                      Case{R"(+"black tea" -"green tea")", "+p(black tea) -p(green tea)"},
                      Case{R"(who said "black tea" then)", "w(who said) p(black tea) w(then)"},
                      Case{R"("black tea)", R"(w("black tea))"}, Case{R"("a""b")", "p(a) p(b)"},
                      Case{R"("")", "p()"}, Case{R"("a" "b)", R"(p(a) w("b))"},
                      Case{R"(5" disk)", R"(w(5" disk))"}, Case{R"("-a +b c*")", "p(-a +b c*)"},
                      Case{R"(+"open)", R"(w(+"open))"}));

INSTANTIATE_TEST_SUITE_P(
    Wildcards, TextSyntax,
    ::testing::Values(Case{"oauth*", "x(oauth*)"}, Case{"*auth", "x(*auth)"}, Case{"o*h", "x(o*h)"},
                      Case{"col?r", "x(col?r)"}, Case{"?at", "x(?at)"},
                      Case{"+oauth* -imp*", "+x(oauth*) -x(imp*)"}, Case{"(oauth*,", "x(oauth*)"},
                      Case{"who what? when", "w(who what? when)"}, Case{"wh?t?", "x(wh?t)"},
                      Case{"yes?-no", "w(yes?-no)"},
                      Case{"https://a.example/x?q=1", "w(https://a.example/x?q=1)"},
                      Case{"tea *a", "w(tea) x(*a)"}, Case{"-*auth", "-x(*auth)"},
                      Case{"a*=b", "w(a*=b)"}, Case{"\xc3\xa9t*", "x(\xc3\xa9t*)"}));

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
