#include "json/document.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "json/canonical.h"

namespace varve::json {
namespace {

using std::string_literals::operator""s;

Status parse(std::string_view text, const Limits& limits = {}) {
  // On the heap and without a terminator, so that reading past the end is noticed.
  const auto copy = std::make_unique<char[]>(text.size());
  std::copy(text.begin(), text.end(), copy.get());
  Document document;
  return document.parse({copy.get(), text.size()}, limits);
}

std::string nested(size_t depth, std::string_view inside = "") {
  return std::string(depth, '[').append(inside).append(depth, ']');
}

TEST(Document, ReadsEveryKindOfValue) {
  Document document;
  ASSERT_TRUE(document
                  .parse(R"({"n":null,"t":true,"f":false,"i":-12,"d":1.5,"s":"a\nb",)"
                         R"("a":[1,"x",[]],"o":{"k":{}}})")
                  .ok());
  const Value root = document.root();
  ASSERT_TRUE(root.is_object());
  EXPECT_EQ(root.size(), 8u);
  EXPECT_EQ(root.find("n")->kind(), Kind::kNull);
  EXPECT_TRUE(root.find("t")->as_bool());
  EXPECT_TRUE(root.find("f")->is_bool());
  EXPECT_FALSE(root.find("f")->as_bool());
  EXPECT_EQ(root.find("i")->as_int64(), -12);
  EXPECT_EQ(root.find("i")->as_uint64(), std::nullopt);
  EXPECT_EQ(root.find("d")->as_double(), 1.5);
  EXPECT_EQ(root.find("d")->as_int64(), std::nullopt);
  EXPECT_EQ(root.find("s")->text(), "a\nb");
  EXPECT_EQ(root.find("a")->size(), 3u);
  EXPECT_EQ(root.find("o")->find("k")->size(), 0u);
  EXPECT_FALSE(root.find("missing").has_value());
  EXPECT_FALSE(root.find("s")->find("k").has_value());
}

TEST(Document, ScalarsMayStandAlone) {
  for (const char* text : {"null", "true", "0", "\"\"", " [] ", "{}\r\n", "\t-1.5e3"}) {
    EXPECT_TRUE(parse(text).ok()) << text;
  }
}

TEST(Document, VisitsItemsInOrderAndMembersInCanonicalOrder) {
  Document document;
  ASSERT_TRUE(document.parse(R"({"b":[3,[4,5],{"x":6},7],"é":1,"a":2})").ok());
  std::string keys;
  document.root().for_each_member([&](std::string_view key, Value) {
    keys.append(key).append(" ");
    return true;
  });
  EXPECT_EQ(keys, "a b é ");
  std::string items;
  document.root().find("b")->for_each_item([&](Value item) {
    append_canonical(item, items);
    items += ' ';
    return item.kind() != Kind::kObject;
  });
  EXPECT_EQ(items, "3 [4,5] {\"x\":6} ");
}

TEST(Document, IntegersOf64BitsPassUnharmed) {
  Document document;
  ASSERT_TRUE(document
                  .parse("[9223372036854775807,-9223372036854775808,18446744073709551615,"
                         "18446744073709551616,9007199254740993,1.0,1e3]")
                  .ok());
  std::vector<Value> items;
  document.root().for_each_item([&](Value item) {
    items.push_back(item);
    return true;
  });
  EXPECT_EQ(items[0].as_int64(), INT64_MAX);
  EXPECT_EQ(items[1].as_int64(), INT64_MIN);
  EXPECT_EQ(items[1].as_uint64(), std::nullopt);
  EXPECT_EQ(items[2].as_uint64(), UINT64_MAX);
  EXPECT_EQ(items[2].as_int64(), std::nullopt);
  EXPECT_EQ(items[3].as_uint64(), std::nullopt);
  EXPECT_EQ(items[3].kind(), Kind::kInteger);
  EXPECT_EQ(items[4].as_int64(), 9007199254740993);
  EXPECT_EQ(items[5].as_int64(), 1);
  EXPECT_EQ(items[6].as_int64(), 1000);
  std::string out;
  append_canonical(document.root(), out);
  EXPECT_EQ(out,
            "[9223372036854775807,-9223372036854775808,18446744073709551615,"
            "18446744073709551616,9007199254740993,1,1000]");
}

TEST(Document, NulsInStringsAndKeysAreKept) {
  Document document;
  ASSERT_TRUE(document.parse(R"({"a\u0000b":"x\u0000y"})").ok());
  EXPECT_EQ(document.root().find("a\0b"s)->text(), "x\0y"s);
}

struct Refusal {
  std::string text;
  const char* what;
  size_t offset;
  const char* member;
};

void expect_refused(std::initializer_list<Refusal> cases) {
  for (const Refusal& test : cases) {
    const Status status = parse(test.text);
    ASSERT_EQ(status.code(), Code::kInvalidArgument) << test.text;
    EXPECT_NE(status.message().find(test.what), std::string::npos)
        << test.text << ": " << status.message();
    EXPECT_EQ(status.place().offset, test.offset) << test.text << ": " << status.message();
    EXPECT_EQ(status.place().member, test.member) << test.text << ": " << status.message();
    EXPECT_NE(status.message().find("at byte " + std::to_string(test.offset)), std::string::npos)
        << status.message();
  }
}

TEST(Document, RefusesBrokenStructure) {
  expect_refused({
      {"", "the text is empty", 0, ""},
      {" \n ", "the text is empty", 0, ""},
      {"{\"a\":1", "ends too early", 6, ""},
      {"{\"a\":", "ends too early", 5, "a"},
      {"{\"a\"", "ends too early", 4, "a"},
      {"[1,", "ends too early", 3, "[1]"},
      {"tru", "ends too early", 3, ""},
      {"-", "ends too early", 1, ""},
      {"1e", "ends too early", 2, ""},
      {"{\"a\":1} x", "unexpected 'x' after the value", 8, ""},
      {"{}{}", "unexpected '{' after the value", 2, ""},
      {"1 2", "after the value", 2, ""},
      {"{\"a\":1}\0"s, "unexpected byte 0x00 after the value", 7, ""},
      {"\0\0\0"s, "unexpected byte 0x00", 0, ""},
      {"\xEF\xBB\xBF{}", "byte order mark", 0, ""},
      {"\xFF\xFE{\0}\0"s, "this is UTF-16, and JSON is UTF-8", 0, ""},
      {"\xFE\xFF\0{\0}"s, "this is UTF-16, and JSON is UTF-8", 0, ""},
      {"[nulx]", "unexpected 'nulx'", 1, "[0]"},
      {"[True]", "unexpected 'True'", 1, "[0]"},
      {"[undefined]", "unexpected 'undefined'", 1, "[0]"},
      {"[1,]", "unexpected ']'", 3, "[1]"},
      {"{\"a\":1,}", "unexpected '}'", 7, ""},
      {"{a:1}", "unexpected 'a'", 1, ""},
      {"{'a':1}", "unexpected '''", 1, ""},
      {"{\"a\" 1}", "unexpected '1'", 5, "a"},
      {"{\"a\":1 \"b\":2}", "unexpected '\"'", 7, ""},
      {"[1 2]", "unexpected '2'", 3, "[1]"},
      {"[// x\n1]", "JSON has no comments", 1, "[0]"},
      {"{\"odd key\":[[x]]}", "unexpected 'x'", 13, "[\"odd key\"][0][0]"},
  });
}

TEST(Document, RefusesBrokenStrings) {
  expect_refused({
      {"{\"a\":\"b\nc\"}", "control character 0x0a", 7, "a"},
      {"[\"a\0b\"]"s, "control character 0x00", 3, "[0]"},
      {"[\"a\\x41\"]", "unknown escape", 3, "[0]"},
      {"[\"a\\u12\"]", "\\u without four hexadecimal digits", 3, "[0]"},
      {"[\"a\\u12G4 and more text\"]", "\\u without four hexadecimal digits", 3, "[0]"},
      {"[\"abc", "ends inside a string", 5, "[0]"},
      {"[\"abc\\", "unknown escape", 5, "[0]"},
      {"{\"abc", "ends inside a string", 5, ""},
  });
}

TEST(Document, RefusesInvalidUtf8AndLoneSurrogates) {
  expect_refused({
      {"{\"a\":\"xy\xFFz\"}", "invalid UTF-8, byte 0xff", 8, "a"},
      {"{\"a\":\"xy\\n\xC3\"}", "invalid UTF-8, byte 0xc3", 10, "a"},
      {"{\"a\":\"\xC0\xAF\"}", "invalid UTF-8, byte 0xc0", 6, "a"},
      {"{\"a\":\"\xED\xA0\x80\"}", "invalid UTF-8, byte 0xed", 6, "a"},
      {"{\"a\":\"\xF4\x90\x80\x80\"}", "invalid UTF-8, byte 0xf4", 6, "a"},
      {"{\"a\":\"\xE2\x82", "invalid UTF-8, byte 0xe2", 6, "a"},
      {"{\"k\xFF\":1}", "invalid UTF-8, byte 0xff", 3, ""},
      {"{\"a\":\"\\ud800\"}", "lone surrogate \\ud800", 6, "a"},
      {"{\"a\":\"\\ud800 and more text\"}", "lone surrogate \\ud800", 6, "a"},
      {"{\"a\":\"\\udc00\\udc00 and more\"}", "lone surrogate \\udc00", 6, "a"},
      {"{\"a\":\"\\udc00 and more text\"}", "lone surrogate \\udc00", 6, "a"},
      {"{\"a\":\"\\udc00\"}", "lone surrogate \\udc00", 6, "a"},
      {"{\"a\":\"x\\uD800\\u0041 and more\"}", "lone surrogate \\uD800", 7, "a"},
      {"{\"a\":\"x\\uD800\\uD800 and more\"}", "lone surrogate \\uD800", 7, "a"},
      {"{\"a\":\"\\ud83d\\ude00\\ude00\"}", "lone surrogate \\ude00", 18, "a"},
  });
}

TEST(Document, RefusesNumbersThatJsonHasNot) {
  expect_refused({
      {"{\"a\":NaN}", "NaN is not a JSON number", 5, "a"},
      {"[0,-Infinity]", "-Infinity is not a JSON number", 3, "[1]"},
      {"[Infinity]", "Infinity is not a JSON number", 1, "[0]"},
      {"{\"a\":nan}", "nan is not a JSON number", 5, "a"},
      {"[01]", "unexpected '1'", 2, "[1]"},
      {"[+1]", "unexpected '+'", 1, "[0]"},
      {"[.5]", "unexpected '.'", 1, "[0]"},
      {"[1.]", "unexpected ']'", 3, "[0]"},
      {"{\"a\":[0,1e400]}", "a number exceeds the range of a double", 8, "a[1]"},
      {"{\"a\":{\"b\":-1e400}}", "a number exceeds the range of a double", 10, "a.b"},
      {"[1e99999999999]", "exponent is out of range", 1, "[0]"},
      {"[0,1e-99999999999]", "exponent is out of range", 3, "[1]"},
      {"[0E+99999999999]", "exponent is out of range", 1, "[0]"},
      {"[1e2000000001]", "exponent is out of range", 1, "[0]"},
      {"[1e-2000000001]", "exponent is out of range", 1, "[0]"},
      {"[1e" + std::string(2000, '9') + "]", "exponent is out of range", 1, "[0]"},
      {"[1e2000000000]", "a number exceeds the range of a double", 1, "[0]"},
      {"[1e" + std::string(2000, '0') + "1]", "a number has more than", 1, "[0]"},
      {"[" + std::string(400, '7') + "]", "a number exceeds the range of a double", 1, "[0]"},
  });
}

TEST(Document, RefusesDuplicateMembersAndNamesTheSecond) {
  const struct {
    std::string text;
    size_t offset;
    const char* member;
  } cases[] = {
      {R"({"a":1,"a":1})", 7, "a"},
      {R"({"a":1,"\u0061":1})", 7, "a"},
      {R"({"b":[0,{"x":{},"y":1,"x":2}],"a":1})", 22, "b[1].x"},
      {R"({"content":{"a":"{\"q\":","b":2,"a":3}})", 32, "content.a"},
      {R"({"c":1,"b":1,"c":2,"b":3})", 13, "c"},
      {R"({"b":1,"c":1,"b":2,"c":3})", 13, "b"},
      {R"({"":1,"":2})", 6, "[\"\"]"},
  };
  for (const auto& test : cases) {
    const Status status = parse(test.text);
    ASSERT_EQ(status.code(), Code::kInvalidArgument) << test.text;
    EXPECT_EQ(status.place().offset, test.offset) << status.message();
    EXPECT_EQ(status.place().member, test.member);
    const std::string expected = "member '"s + test.member + "' appears twice";
    EXPECT_EQ(status.message().substr(0, expected.size()), expected);
  }
  EXPECT_TRUE(parse(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]})").ok());
}

TEST(Document, DepthIsLimited) {
  EXPECT_TRUE(parse(nested(64)).ok());
  const Status status = parse(nested(65));
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.place().offset, 64u);
  EXPECT_NE(status.message().find("nested deeper than 64 levels at byte 64"), std::string::npos);
  EXPECT_EQ(parse(nested(1000000)).place().offset, 64u);

  std::string objects;
  for (int i = 0; i < 64; ++i) objects += "{\"k\":";
  EXPECT_TRUE(parse(objects + "1" + std::string(64, '}')).ok());
  const Status deep = parse(objects + "{}" + std::string(64, '}'));
  EXPECT_EQ(deep.place().offset, 64u * 5);
  EXPECT_EQ(deep.place().member.substr(0, 6), "k.k.k.");

  Limits limits;
  limits.depth_max = 128;
  EXPECT_TRUE(parse(nested(128), limits).ok());
  EXPECT_FALSE(parse(nested(129), limits).ok());
}

TEST(Document, LimitsOnTextNumbersAndMembers) {
  Limits limits;
  limits.text_bytes_max = 10;
  EXPECT_TRUE(parse("\"12345678\"", limits).ok());
  const Status too_long = parse("\"123456789\"", limits);
  EXPECT_EQ(too_long.code(), Code::kSizeLimit);
  EXPECT_EQ(too_long.place().size, 11u);
  EXPECT_EQ(too_long.place().limit, 10u);

  limits = {};
  limits.number_chars_max = 5;
  EXPECT_TRUE(parse("[12345]", limits).ok());
  const Status long_number = parse("[0,123456]", limits);
  EXPECT_EQ(long_number.code(), Code::kInvalidArgument);
  EXPECT_EQ(long_number.place().offset, 3u);
  EXPECT_EQ(long_number.place().member, "[1]");

  limits = {};
  limits.members_max = 2;
  EXPECT_TRUE(parse(R"({"a":{"x":1,"y":2},"b":1})", limits).ok());
  const Status many = parse(R"({"a":{"x":1,"y":2,"z":3}})", limits);
  EXPECT_EQ(many.code(), Code::kInvalidArgument);
  EXPECT_EQ(many.place().member, "a");
}

TEST(Document, IsEmptyAfterAFailureAndReusableAfterIt) {
  Document document;
  ASSERT_TRUE(document.parse(R"({"a":[1,2,3]})").ok());
  ASSERT_FALSE(document.parse(R"({"a":[1,2,3)").ok());
  ASSERT_TRUE(document.parse(R"({"b":"x"})").ok());
  EXPECT_EQ(document.root().find("b")->text(), "x");
  EXPECT_FALSE(document.root().find("a").has_value());
  EXPECT_EQ(document.root().size(), 1u);
}

TEST(Document, EveryCodePointPassesRawAndEscaped) {
  for (uint32_t c = 0x20; c <= 0x10FFFF; c += (c < 0x3000 || c > 0xFFF0 ? 1 : 7)) {
    if (c == '"' || c == '\\' || (c >= 0xD800 && c <= 0xDFFF)) continue;
    if (c > 0x10100 && c < 0x10FF00) c += 0x101;
    char escaped[16];
    if (c < 0x10000) {
      snprintf(escaped, sizeof escaped, "\\u%04X", c);
    } else {
      snprintf(escaped, sizeof escaped, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
               0xDC00 + ((c - 0x10000) & 0x3FF));
    }
    Document document;
    ASSERT_TRUE(document.parse("[\""s + escaped + "\"]").ok()) << escaped;
    std::string raw;
    append_canonical(document.root(), raw);
    std::string_view inside = std::string_view(raw).substr(2);
    ASSERT_EQ(take_code_point(inside), c);
    ASSERT_TRUE(parse(raw).ok()) << escaped;
  }
}

// The parser's own UTF-8 check against ours, on random bytes around the interesting borders.
TEST(Document, AcceptsExactlyWellFormedUtf8) {
  std::mt19937 random(8785);
  const uint8_t bytes[] = {0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF,
                           0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
  size_t accepted = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text;
    const size_t size = 1 + random() % 5;
    for (size_t k = 0; k < size; ++k) {
      text += static_cast<char>(bytes[random() % sizeof bytes]);
    }
    // Behind an escape another path of the parser is taken.
    const std::string prefix = i % 2 == 0 ? "\"" : "\"\\n";
    const std::string whole = prefix + text + "\"";
    const Status status = parse(whole);
    const auto invalid_at = find_invalid_utf8(text);
    ASSERT_EQ(status.ok(), !invalid_at.has_value());
    if (status.ok()) {
      ++accepted;
    } else {
      ASSERT_EQ(status.place().offset, prefix.size() + *invalid_at);
    }
  }
  EXPECT_GT(accepted, 1000u);
}

TEST(Document, EveryCutOfATextIsRefusedAtOrBeforeTheCut) {
  const std::string text =
      R"({"a":[1,-2.5e+10,{"é":"x\u00e9\ud83d\ude00\n😀"}],"b":null,"c":true,"d":false,"e":""})";
  ASSERT_TRUE(parse(text).ok());
  for (size_t size = 0; size < text.size(); ++size) {
    const Status status = parse(text.substr(0, size));
    ASSERT_EQ(status.code(), Code::kInvalidArgument) << size;
    ASSERT_LE(*status.place().offset, size);
  }
}

TEST(Document, MutatedTextsNeverBreakTheParser) {
  const std::string text =
      R"({"a":[1,-2.5e+10,{"é":"x\u00e9\ud83d\ude00\n😀"}],"b":null,"c":true,"d":false,"e":""})";
  std::mt19937 random(4242);
  int accepted = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string mutated = text;
    for (size_t k = 0; k < 1 + random() % 3; ++k) {
      const size_t at = random() % mutated.size();
      switch (random() % 3) {
        case 0: mutated[at] = static_cast<char>(random()); break;
        case 1: mutated.erase(at, 1 + random() % 4); break;
        default: mutated.insert(at, 1, "{}[]\",:\\u0e-"[random() % 12]); break;
      }
    }
    Document document;
    const Status status = document.parse(mutated);
    if (!status.ok()) {
      ASSERT_LE(*status.place().offset, mutated.size());
      continue;
    }
    // Accepted: then its canonical form is JSON, and its own canonical form.
    ++accepted;
    std::string once;
    append_canonical(document.root(), once);
    ASSERT_TRUE(document.parse(once).ok()) << once;
    std::string twice;
    append_canonical(document.root(), twice);
    ASSERT_EQ(once, twice);
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Document, LongStringsWithEscapesArriveWhole) {
  std::string text = "\"";
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    text += i % 7 == 0 ? "\\n" : i % 11 == 0 ? "\\ud83d\\ude00" : "é";
    expected += i % 7 == 0 ? "\n" : i % 11 == 0 ? "😀" : "é";
  }
  Document document;
  ASSERT_TRUE(document.parse(text + '"').ok());
  EXPECT_EQ(document.root().text(), expected);
}

TEST(Document, OffsetAndPathOfEveryValue) {
  const std::string text =
      R"( { "b" : [ 10 , "x\"]" , { "c d" : true } , [ ] ] , "a" : null , "é" : { "z" : -1 } } )";
  Document document;
  ASSERT_TRUE(document.parse(text).ok());
  const auto check = [&](Value value, std::string_view path, std::string_view starts_with) {
    EXPECT_EQ(document.path_of(value), path);
    EXPECT_EQ(text.substr(document.offset_of(value, text), starts_with.size()), starts_with);
  };
  const Value root = document.root();
  check(root, "", "{ \"b\"");
  const Value array = *root.find("b");
  check(array, "b", "[ 10");
  std::vector<Value> items;
  array.for_each_item([&](Value item) {
    items.push_back(item);
    return true;
  });
  check(items[0], "b[0]", "10");
  check(items[1], "b[1]", "\"x\\\"]\"");
  check(items[2], "b[2]", "{ \"c d\"");
  check(*items[2].find("c d"), "b[2][\"c d\"]", "true");
  check(items[3], "b[3]", "[ ] ]");
  check(*root.find("a"), "a", "null");
  check(*root.find("é")->find("z"), "[\"é\"].z", "-1");
}

TEST(Document, LongKeysAreShortenedInPaths) {
  std::string key(63, 'k');
  key += "éééé";
  const Status status = parse("{\"" + key + "\":x}");
  EXPECT_EQ(status.place().member, std::string(63, 'k') + "...");
}

TEST(Document, ManyMembersAreFoundWhateverTheirOrder) {
  std::string text = "{";
  for (int i = 0; i < 2000; ++i) {
    text += "\"k" + std::to_string((i * 7919) % 2000) + "\":" + std::to_string(i) + ",";
  }
  text.back() = '}';
  Document document;
  ASSERT_TRUE(document.parse(text).ok());
  for (int i = 0; i < 2000; ++i) {
    const auto value = document.root().find("k" + std::to_string((i * 7919) % 2000));
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(value->as_int64(), i);
  }
  EXPECT_FALSE(document.root().find("k2000").has_value());
}

}  // namespace
}  // namespace varve::json
