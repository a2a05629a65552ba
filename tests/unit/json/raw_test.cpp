#include "json/raw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "json/document.h"

namespace varve::json {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

std::optional<Members> members_of(std::string_view text) {
  Members members;
  const bool whole = for_each_raw_member(text, [&](std::string_view name, std::string_view value) {
    members.emplace_back(name, value);
    return true;
  });
  return whole ? std::optional(members) : std::nullopt;
}

TEST(Raw, GivesMembersAsTheyStand) {
  EXPECT_EQ(members_of("{}"), Members());
  EXPECT_EQ(members_of(" { } "), Members());
  const Members expected = {{"a", "1"},    {"b", R"("x,}\"")"}, {"c", R"({"d":["]",{}]})"},
                            {"e", "[{}]"}, {"", "null"},        {"f", R"("\\")"}};
  EXPECT_EQ(members_of(R"({"a":1,"b":"x,}\"","c":{"d":["]",{}]},"e":[{}],"":null,"f":"\\"})"),
            expected);
  EXPECT_EQ(members_of("\t{ \"a\" : 1 , \"b\" : \"x,}\\\"\" ,\r\n\"c\":{\"d\":[\"]\",{}]}, "
                       "\"e\" :[{}],\"\":null ,\"f\":\"\\\\\" }"),
            expected);
}

TEST(Raw, EndsWhenItIsTold) {
  int count = 0;
  const auto stop = [&](std::string_view, std::string_view) { return ++count < 2; };
  EXPECT_FALSE(for_each_raw_member(R"({"a":1,"b":2,"c":3})", stop));
  EXPECT_EQ(count, 2);
}

TEST(Raw, NamesAreAsTheyStand) {
  EXPECT_EQ(members_of(R"({"\u0061":1,"a\"":2})"), (Members{{R"(\u0061)", "1"}, {R"(a\")", "2"}}));
}

TEST(Raw, DecodesEscapesOfOneCharacter) {
  std::string out = "old";
  EXPECT_TRUE(decode_raw_string(R"("")", &out));
  EXPECT_EQ(out, "");
  EXPECT_TRUE(decode_raw_string(R"("a\"\\\/\b\f\n\r\té")", &out));
  EXPECT_EQ(out, "a\"\\/\b\f\n\r\té");
  EXPECT_TRUE(decode_raw_string(R"("a\u0041\u001Fb\u0000")", &out));
  EXPECT_EQ(out, std::string_view("aA\x1f"
                                  "b\0",
                                  5));
  for (const char* other : {R"("a\u00e9")", R"("\ud83d\ude00")", R"("\u004")", R"("\u")",
                            R"("\u-041")", R"("\u00 1")", R"("\x")", "\"\\\""}) {
    EXPECT_FALSE(decode_raw_string(other, &out)) << other;
  }
  EXPECT_FALSE(decode_raw_string("7", &out));
  EXPECT_FALSE(decode_raw_string("\"", &out));
}

void collect_strings(Value value, std::vector<std::string>* out) {
  if (value.is_string()) out->emplace_back(value.text());
  value.for_each_item([&](Value item) {
    collect_strings(item, out);
    return true;
  });
  value.for_each_member([&](std::string_view, Value member) {
    collect_strings(member, out);
    return true;
  });
}

void expect_same_strings(std::string_view text, Value root) {
  std::vector<std::string> raw;
  ASSERT_TRUE(for_each_raw_string(text, [&](std::string_view string) {
    ASSERT_TRUE(decode_raw_string(string, &raw.emplace_back())) << text;
  })) << text;
  std::vector<std::string> expected;
  collect_strings(root, &expected);
  std::sort(raw.begin(), raw.end());  // members come in another order
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(raw, expected) << text;
}

// Whatever a Document accepts is seen the same way.
TEST(Raw, AgreesWithADocument) {
  static constexpr std::string_view kParts[] = {
      "{", "}",    "[", "]",      ",",      ":",      "\"a\"",    "\"b\"", "\"\\\"\"", "\"\\\\\"",
      "1", "null", " ", "\"x}\"", "\"a\":", "\"b\":", "\"c\":{}", "\"",    "\\"};
  std::mt19937 random(11);
  Document document;
  int accepted = 0;
  for (int round = 0; round < 300000; ++round) {
    std::string text = "{";
    for (size_t n = random() % 9; n > 0; --n) text += kParts[random() % std::size(kParts)];
    text += "}";
    const auto raw = members_of(text);  // no danger, whatever it is
    if (!document.parse(text).ok()) continue;
    ASSERT_TRUE(raw) << text;
    ASSERT_EQ(raw->size(), document.root().size()) << text;
    expect_same_strings(text, document.root());
    accepted += raw->empty() ? 0 : 1;
    for (const auto& [raw_name, value] : *raw) {
      std::string name;
      ASSERT_TRUE(decode_raw_string("\"" + raw_name + "\"", &name)) << text;
      const auto found = document.root().find(name);
      ASSERT_TRUE(found) << text;
      std::string decoded;
      const bool is_text = decode_raw_string(value, &decoded);
      ASSERT_EQ(is_text, found->is_string()) << text;
      if (is_text) {
        ASSERT_EQ(decoded, found->text()) << text;
      }
    }
  }
  EXPECT_GT(accepted, 100);
}

std::vector<std::string> strings_of(std::string_view value) {
  std::vector<std::string> strings;
  EXPECT_TRUE(for_each_raw_string(value, [&](auto text) { strings.emplace_back(text); })) << value;
  return strings;
}

TEST(Raw, StringsAreThoseThatAreNoNames) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(strings_of("12"), Strings());
  EXPECT_EQ(strings_of(R"("a:b")"), Strings({R"("a:b")"}));
  EXPECT_EQ(strings_of(R"({"a":"x","b":["y",{"c" : "z\"q"},1,{}],"d":{"":""},"e":null})"),
            Strings({R"("x")", R"("y")", R"("z\"q")", R"("")"}));
  EXPECT_EQ(strings_of(R"([ "a" , "b\\" ,[ "c" ]])"), Strings({R"("a")", R"("b\\")", R"("c")"}));
}

TEST(Raw, AStringWithoutAnEndIsNone) {
  for (const auto* value : {R"(")", R"(["a)", R"({"a":"b\")", R"("\)"}) {
    EXPECT_FALSE(for_each_raw_string(value, [](auto) {})) << value;
  }
}

}  // namespace
}  // namespace varve::json
