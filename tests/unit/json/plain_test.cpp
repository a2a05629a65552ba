#include "json/plain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "json/canonical.h"
#include "json/document.h"

namespace varve::json {
namespace {

std::optional<std::string> plain(std::string_view text) {
  PlainReader reader(text);
  std::string out = "before";
  if (!reader.append_value(&out) || !reader.take_end()) return std::nullopt;
  EXPECT_EQ(out.substr(0, 6), "before");
  return out.substr(6);
}

// By a Document; nothing when that refuses the text.
std::optional<std::string> by_document(std::string_view text) {
  Document document;
  if (!document.parse(text).ok()) return std::nullopt;
  std::string out;
  append_canonical(document.root(), out);
  return out;
}

TEST(Plain, GivesTheCanonicalForm) {
  for (const std::string_view text :
       {R"("a \" \\ \b\f\n\r\t é 日本語 😀")", "0", "-0", "1.50", "123456789012345678", "-0.25",
        "true", " [ false , null ] ", "[]", "{}", "[[[[[[[[1]]]]]]]]",
        "\t{ \"b\" : 1 , \"a\":\r\n{\"y\":[\"ü\"],\"x\":\"\"}}", R"({"a":1,"b":2,"c":{"":0}})",
        R"({"B":1,"a":2,"A":3,"aa":4,"_":5})", "\"\x7f\""}) {
    ASSERT_TRUE(by_document(text)) << text;
    EXPECT_EQ(plain(text), by_document(text)) << text;
  }
}

TEST(Plain, LeavesTheRestToADocument) {
  const std::string deep(9, '[');
  std::string many = "{";
  for (char name = 'a'; name <= 'q'; ++name) many += std::string("\"") + name + "\":1,";
  many.back() = '}';
  const std::vector<std::string> right = {R"("\u0041")",
                                          R"("\/")",
                                          "1e3",
                                          "1E-2",
                                          R"({"é":1})",
                                          R"({"a\n":1})",
                                          many,
                                          "1" + std::string(30, '0'),
                                          deep + std::string(9, ']')};
  for (const auto& text : right) {
    EXPECT_TRUE(by_document(text)) << text;
    EXPECT_FALSE(plain(text)) << text;
  }
  for (const std::string_view text : {"",
                                      "\"",
                                      "\"a",
                                      "\"\\",
                                      "\"\\\"",
                                      "\"\\x\"",
                                      "\"\n\"",
                                      "\"\xff\"",
                                      "\"\xed\xa0\x80\"",
                                      "01",
                                      "-",
                                      ".5",
                                      "1.",
                                      "+1",
                                      "tru",
                                      "nul",
                                      "[",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,]",
                                      "{",
                                      "{}}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      R"({"a":1,"a":2})",
                                      R"({"b":1,"a":2,"b":3})",
                                      "1 2",
                                      "\xef\xbb\xbf{}"}) {
    EXPECT_FALSE(by_document(text)) << text;
    EXPECT_FALSE(plain(text)) << text;
  }
}

TEST(Plain, TellsTheMembersOfAnObjectInTheirOrder) {
  PlainReader reader(R"( {"role":"user","message":"a\nb" , "at":[1], "n": 1.50})");
  PlainMembers members;
  std::string out = "x";
  ASSERT_TRUE(reader.append_value(&out, &members));
  EXPECT_EQ(out, R"(x{"at":[1],"message":"a\nb","n":1.5,"role":"user"})");
  std::vector<std::string> told;
  for (const auto& member : members) {
    told.push_back(std::string(member.name) + "=" +
                   out.substr(member.begin, member.end - member.begin));
  }
  EXPECT_EQ(told,
            (std::vector<std::string>{"at=[1]", R"(message="a\nb")", "n=1.5", R"(role="user")"}));
}

// Runs of characters end at every place of the bytes that are looked at together.
TEST(Plain, ARunEndsWhereItEnds) {
  for (size_t before = 0; before < 40; ++before) {
    for (const std::string_view end : {"\\n", "é", "\\\"", "\x01", "\xff", "\\u0041"}) {
      const std::string text = "\"" + std::string(before, '~') + std::string(end) +
                               "tail of it, longer than what is looked at\"";
      const auto expected = by_document(text);
      if (end == "\\u0041") {
        EXPECT_FALSE(plain(text)) << text;
      } else {
        EXPECT_EQ(plain(text), expected) << text;
      }
    }
  }
}

class Texts {
 public:
  explicit Texts(uint32_t seed) : random_(seed) {}

  std::string value(int depth) {
    switch (below(depth > 0 ? 8 : 5)) {
      case 0: return string();
      case 1:
        return pick({"0", "-1", "12.5", "0.10", "1e2", "99999999999999999999", "-0.0", "007"});
      case 2: return pick({"true", "false", "null", "nan"});
      case 3: return string();
      case 4: return std::to_string(random_());
      case 5: return list('[', ']', depth);
      default: return list('{', '}', depth);
    }
  }
  size_t below(size_t end) { return random_() % end; }

 private:
  std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }
  std::string blank() { return pick({"", "", "", " ", "\n", "\t ", "\r"}); }
  std::string string() {
    std::string text = "\"";
    for (size_t count = below(12); count > 0; --count) {
      text += pick({"a", "b", "word ", "0123456789abcdef", "é", "😀", "\\n", "\\\"", "\\\\",
                    "\\u00e9", "\\/", "\x01", "\xc3", "~"});
      if (below(4) != 0) continue;
      text.resize(std::max<size_t>(1, text.size() - below(3)));
    }
    return text + "\"";
  }
  std::string list(char open, char close, int depth) {
    std::string text(1, open);
    for (size_t count = below(5); count > 0; --count) {
      text += blank();
      if (open == '{')
        text += pick({"\"a\"", "\"b\"", "\"role\"", "\"é\"", string()}) + blank() + ":";
      text += blank() + value(depth - 1) + blank() + ",";
    }
    if (text.back() == ',' && below(30) != 0) text.pop_back();
    return text + close;
  }

  std::mt19937 random_;
};

// Whatever the text: what is plain is right, and has the form that a Document gives it.
TEST(Plain, NeverDiffersFromADocument) {
  Texts texts(1);
  size_t plain_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = texts.value(3);
    if (!text.empty() && texts.below(8) == 0) text.erase(texts.below(text.size()), 1);
    const auto given = plain(text);
    if (!given) continue;
    ++plain_count;
    ASSERT_EQ(given, by_document(text)) << text;
  }
  EXPECT_GT(plain_count, 4000u);
}

}  // namespace
}  // namespace varve::json
