#include "json/canonical.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace varve::json {
namespace {

std::string canonical(std::string_view text) {
  Document document;
  const Status status = document.parse(text);
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok()) return status.message();
  std::string out;
  append_canonical(document.root(), out);
  return out;
}

std::string of_double(double number) {
  std::string out;
  append_double(number, out);
  return out;
}

// source: RFC 8785 appendix B, every row that is a number.
TEST(Canonical, NumbersOfRfc8785AppendixB) {
  const struct {
    uint64_t bits;
    const char* text;
  } cases[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& test : cases) {
    EXPECT_EQ(of_double(std::bit_cast<double>(test.bits)), test.text) << std::hex << test.bits;
  }
}

// source: RFC 8785 sections 3.2.2 and 3.2.4.
TEST(Canonical, SampleOfRfc8785ByteForByte) {
  const std::string input = R"({
  "numbers": [333333333.33333329, 1E30, 4.50,
              2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
})";
  const std::vector<uint8_t> expected = {
      0x7b, 0x22, 0x6c, 0x69, 0x74, 0x65, 0x72, 0x61, 0x6c, 0x73, 0x22, 0x3a, 0x5b, 0x6e, 0x75,
      0x6c, 0x6c, 0x2c, 0x74, 0x72, 0x75, 0x65, 0x2c, 0x66, 0x61, 0x6c, 0x73, 0x65, 0x5d, 0x2c,
      0x22, 0x6e, 0x75, 0x6d, 0x62, 0x65, 0x72, 0x73, 0x22, 0x3a, 0x5b, 0x33, 0x33, 0x33, 0x33,
      0x33, 0x33, 0x33, 0x33, 0x33, 0x2e, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x33, 0x2c, 0x31,
      0x65, 0x2b, 0x33, 0x30, 0x2c, 0x34, 0x2e, 0x35, 0x2c, 0x30, 0x2e, 0x30, 0x30, 0x32, 0x2c,
      0x31, 0x65, 0x2d, 0x32, 0x37, 0x5d, 0x2c, 0x22, 0x73, 0x74, 0x72, 0x69, 0x6e, 0x67, 0x22,
      0x3a, 0x22, 0xe2, 0x82, 0xac, 0x24, 0x5c, 0x75, 0x30, 0x30, 0x30, 0x66, 0x5c, 0x6e, 0x41,
      0x27, 0x42, 0x5c, 0x22, 0x5c, 0x5c, 0x5c, 0x5c, 0x5c, 0x22, 0x2f, 0x22, 0x7d};
  EXPECT_EQ(canonical(input), std::string(expected.begin(), expected.end()));
}

// source: RFC 8785 section 3.2.3.
TEST(Canonical, SortingSampleOfRfc8785) {
  EXPECT_EQ(canonical(R"({
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
})"),
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xC2\x80\":\"Control\","
            "\"\xC3\xB6\":\"Latin Small Letter O With Diaeresis\",\"\xE2\x82\xAC\":\"Euro Sign\","
            "\"\xF0\x9F\x98\x80\":\"Emoji: Grinning Face\","
            "\"\xEF\xAC\xB3\":\"Hebrew Letter Dalet With Dagesh\"}");
}

TEST(Canonical, NumberTokens) {
  const struct {
    const char* token;
    const char* text;
    bool is_integer;
  } cases[] = {
      {"0", "0", true},
      {"-0", "0", true},
      {"-0.0", "0", true},
      {"0e5", "0", true},
      {"1.0", "1", true},
      {"1e2", "100", true},
      {"-12.50", "-12.5", false},
      {"1E-7", "1e-7", false},
      {"0.1e-6", "1e-7", false},
      {"123456789012345", "123456789012345", true},
      {"-999999999999999", "-999999999999999", true},
      // Integers keep their digits where a double would change them.
      {"9007199254740992", "9007199254740992", true},
      {"9007199254740993", "9007199254740993", true},
      {"-9007199254740993", "-9007199254740993", true},
      {"1152921504606846976", "1152921504606846976", true},
      {"9223372036854775807", "9223372036854775807", true},
      {"-9223372036854775808", "-9223372036854775808", true},
      {"18446744073709551615", "18446744073709551615", true},
      {"100000000000000000000", "100000000000000000000", true},
      {"123456789012345678901234567890", "123456789012345678901234567890", true},
      // ECMAScript's form denotes the same integer: RFC 8785 decides.
      {"1000000000000000000000", "1e+21", false},
      {"-1000000000000000000000", "-1e+21", false},
      {"1200000000000000000000", "1.2e+21", false},
      {"1000000000000000000001", "1000000000000000000001", true},
      {"1000000000000000000000000", "1e+24", false},
      // A token with a point or an exponent is a double, whatever its digits.
      {"9007199254740993.0", "9007199254740992", true},
      {"1e21", "1e+21", false},
      // Too small for a double.
      {"1e-400", "0", true},
      {"-1e-400", "0", true},
      {"0.00000000000000000000001e-310", "0", true},
      {"0e999999999", "0", true},
      {"1e-2147483640", "0", true},
      {"5e-324", "5e-324", false},
      {"2.2250738585072011e-308", "2.225073858507201e-308", false},
      {"1.7976931348623158e308", "1.7976931348623157e+308", false},
      {"0.3000000000000000444089209850062616169452667236328125", "0.30000000000000004", false},
  };
  for (const auto& test : cases) {
    std::string text;
    bool is_integer = false;
    ASSERT_TRUE(append_number(test.token, text, &is_integer)) << test.token;
    EXPECT_EQ(text, test.text) << test.token;
    EXPECT_EQ(is_integer, test.is_integer) << test.token;
  }
}

TEST(Canonical, RefusesNumbersBeyondADouble) {
  for (const std::string& token :
       {std::string("1e400"), std::string("-1e400"), std::string("1e309"),
        std::string("1.7976931348623159e308"), std::string("0.001e312"),
        "1" + std::string(400, '0'), std::string(400, '9'), std::string("1e2147483640"),
        "0." + std::string(50, '0') + "1e999"}) {
    std::string text = "before";
    bool is_integer = false;
    EXPECT_FALSE(append_number(token, text, &is_integer)) << token;
    EXPECT_EQ(text, "before") << token;
  }
}

TEST(Canonical, EveryDoubleReadsBackTheSame) {
  std::mt19937_64 random(20260110);
  for (int i = 0; i < 100000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const std::string text = of_double(number);
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
    std::string again;
    bool is_integer = false;
    ASSERT_TRUE(append_number(text, again, &is_integer)) << text;
    ASSERT_EQ(again, text);
  }
}

TEST(Canonical, FractionsAreWrittenInTheFewestDigits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const int scale = static_cast<int>(random() % 74);
    const double number = std::ldexp(static_cast<double>(random() >> 11), -scale);
    std::array<char, 40> shortest;
    const auto end = std::to_chars(shortest.data(), shortest.data() + shortest.size(), number,
                                   std::chars_format::scientific);
    const auto digits_of = [](std::string_view text) {
      std::string digits;
      for (const char c : text.substr(0, text.find('e'))) {
        if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits += c;
      }
      while (digits.ends_with('0')) digits.pop_back();
      return digits;
    };
    const std::string_view wanted(shortest.data(), static_cast<size_t>(end.ptr - shortest.data()));
    ASSERT_EQ(digits_of(of_double(number)), digits_of(wanted)) << wanted;
  }
}

// Those that are their own canonical form are not converted; all must come out as if they were.
TEST(Canonical, DecimalsAreWhatTheirDoubleIsWrittenAs) {
  std::mt19937_64 random(12);
  const auto digits = [&](size_t count) {
    std::string text;
    for (; count > 0; --count)
      text += static_cast<char>('0' + (random() % 3 == 0 ? 0 : random() % 10));
    return text;
  };
  for (int round = 0; round < 300'000; ++round) {
    std::string whole = digits(random() % 10);
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
    if (whole.empty()) whole = "0";
    std::string token = random() % 4 == 0 ? "-" + whole : whole;
    token += "." + digits(1 + random() % 12);
    double number = 0;
    std::from_chars(token.data(), token.data() + token.size(), number);
    ASSERT_EQ(canonical(token), of_double(number)) << token;
  }
}

TEST(Canonical, FormatsAroundTheTurningPointsOfNotation) {
  const struct {
    double number;
    const char* text;
  } cases[] = {
      {123456.789, "123456.789"},
      {0.5, "0.5"},
      {-0.001, "-0.001"},
      {1e20, "100000000000000000000"},
      {1e21, "1e+21"},
      {1.5e21, "1.5e+21"},
      {1e-6, "0.000001"},
      {1e-7, "1e-7"},
      {1.25e-7, "1.25e-7"},
      {9007199254740991.0, "9007199254740991"},
      {-4503599627370495.5, "-4503599627370495.5"},
      {1e100, "1e+100"},
      {2.5e-300, "2.5e-300"},
  };
  for (const auto& test : cases) EXPECT_EQ(of_double(test.number), test.text);
}

TEST(Canonical, StringsEscapeOnlyWhatMustBe) {
  for (int c = 0; c < 0x80; ++c) {
    const char byte = static_cast<char>(c);
    std::string expected(1, byte);
    switch (byte) {
      case '\b': expected = "\\b"; break;
      case '\t': expected = "\\t"; break;
      case '\n': expected = "\\n"; break;
      case '\f': expected = "\\f"; break;
      case '\r': expected = "\\r"; break;
      case '"': expected = "\\\""; break;
      case '\\': expected = "\\\\"; break;
      default:
        if (c < 0x20) {
          char text[8];
          snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(c));
          expected = text;
        }
    }
    // At every place of a word of eight bytes, which is how runs are looked through.
    for (size_t before = 0; before < 10; ++before) {
      std::string out;
      append_string(std::string(before, 'a') + byte + "é", out);
      ASSERT_EQ(out, '"' + std::string(before, 'a') + expected + "é\"") << c;
    }
  }
}

// Strings that stood in the text without escapes are not looked through again.
TEST(Canonical, StringsOfADocumentAreThoseOfTheirText) {
  static constexpr std::string_view kParts[] = {"a",
                                                "some words ",
                                                "\\n",
                                                "\\\"",
                                                "\\\\",
                                                "\\/",
                                                "\\u0041",
                                                "\\u0007",
                                                "\xC3\xA9",
                                                "\x7F",
                                                "\\u00e9",
                                                "\\ud83d\\ude00",
                                                "0123456789abcdef0123456789"};
  std::mt19937 random(6);
  Document document;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = "[";
    for (int strings = 0; strings < 3; ++strings) {
      text += strings == 0 ? "\"" : ",\"";
      for (size_t n = random() % 4; n > 0; --n) text += kParts[random() % std::size(kParts)];
      text += "\"";
    }
    text += "]";
    ASSERT_TRUE(document.parse(text).ok()) << text;
    document.root().for_each_item([&](Value item) {
      std::string expected;
      append_string(item.text(), expected);
      std::string written;
      append_canonical(item, written);
      EXPECT_EQ(written, expected) << text;
      return true;
    });
  }
}

TEST(Canonical, StringsKeepEverythingElseRaw) {
  const std::string text = "\x7F/\xC2\x80\xE2\x80\xA8€\xEF\xBF\xBF😀\xF4\x8F\xBF\xBF";
  std::string out;
  append_string(text, out);
  EXPECT_EQ(out, '"' + text + '"');
}

TEST(Canonical, CompareAgreesWithUtf16) {
  // Each with its UTF-16 form, from which the expected order is computed.
  const std::vector<std::pair<std::string, std::u16string>> keys = {
      {"", u""},
      {std::string(1, '\0'), std::u16string(1, u'\0')},
      {"1", u"1"},
      {"a", u"a"},
      {"aa", u"aa"},
      {"ab", u"ab"},
      {"b", u"b"},
      {"\xC2\x80", u"\u0080"},
      {"é", u"\u00e9"},
      {"\xED\x9F\xBF", u"\ud7ff"},
      {"\xEE\x80\x80", u"\ue000"},
      {"\xEF\xAC\xB3", u"\ufb33"},
      {"\xEF\xBF\xBF", u"\uffff"},
      {"\xF0\x90\x80\x80", u"\U00010000"},
      {"😀", u"\U0001f600"},
      {"\xF4\x8F\xBF\xBF", u"\U0010ffff"},
      {"a😀", u"a\U0001f600"},
      {"a\xEF\xBF\xBF", u"a\uffff"},
      {"😀\xEE\x80\x80", u"\U0001f600\ue000"},
      {"😀😀", u"\U0001f600\U0001f600"},
  };
  const auto sign = [](int number) { return (number > 0) - (number < 0); };
  for (const auto& [left, left16] : keys) {
    for (const auto& [right, right16] : keys) {
      EXPECT_EQ(sign(compare_utf16(left, right)), sign(left16.compare(right16)))
          << left << " and " << right;
    }
  }
}

TEST(Canonical, CanonicalTextIsItsOwnCanonicalForm) {
  const char* const texts[] = {
      R"( { "b" : [ 1.50 , { "z" : null , "a" : "\u00e9\/" } ] , "a" : [ ] , "" : { } } )",
      R"([[],[[]],{},{"a":{}},"",0,-1.5e300,true,false,null])",
      "9007199254740993",
      R"("\u0000\u001f\ud83d\ude00")",
  };
  for (const char* text : texts) {
    const std::string once = canonical(text);
    EXPECT_EQ(canonical(once), once);
  }
  EXPECT_EQ(canonical(texts[0]), R"({"":{},"a":[],"b":[1.5,{"a":"é/","z":null}]})");
}

}  // namespace
}  // namespace varve::json
