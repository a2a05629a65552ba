#include "entry/content_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace varve::entry {
namespace {

using Keys = std::vector<std::string>;

Keys keys_of(std::string_view content) {
  json::Document document;
  EXPECT_TRUE(document.parse(content).ok()) << content;
  Keys keys = {"left over"};
  read_content_keys(document.root(), &keys);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// name, NUL, letter and value.
std::string key(std::string_view name, char kind, std::string_view value) {
  return std::string(name) + '\0' + kind + std::string(value);
}

TEST(ContentKey, ScalarsOfEveryKind) {
  EXPECT_EQ(keys_of(R"({"a":"text","b":12,"c":0.5,"d":true,"e":false,"f":null})"),
            Keys({key("a", 's', "text"), key("b", 'n', "12"), key("c", 'n', "0.5"),
                  key("d", 't', ""), key("e", 'f', ""), key("f", 'z', "")}));
}

TEST(ContentKey, ContainersHaveNone) {
  EXPECT_EQ(keys_of(R"({"a":[1,2],"b":{"c":1},"d":""})"), Keys({key("d", 's', "")}));
  for (const auto content : {"{}", "[]", R"(["a"])", R"("text")", "12", "null"}) {
    EXPECT_EQ(keys_of(content), Keys()) << content;
  }
}

TEST(ContentKey, KindsAreToldApart) {
  const std::set<Keys> different = {keys_of(R"({"a":"1"})"),    keys_of(R"({"a":1})"),
                                    keys_of(R"({"a":"true"})"), keys_of(R"({"a":true})"),
                                    keys_of(R"({"a":""})"),     keys_of(R"({"a":null})"),
                                    keys_of(R"({"a":false})"),  keys_of(R"({"a":"null"})")};
  EXPECT_EQ(different.size(), 8u);
}

TEST(ContentKey, NumbersAreComparedByTheirValue) {
  for (const auto content : {R"({"a":1.0})", R"({"a":1e0})", R"({"a":10e-1})"}) {
    EXPECT_EQ(keys_of(content), Keys({key("a", 'n', "1")})) << content;
  }
  EXPECT_EQ(keys_of(R"({"a":1e2})"), Keys({key("a", 'n', "100")}));
  EXPECT_EQ(keys_of(R"({"a":-0.50})"), Keys({key("a", 'n', "-0.5")}));
}

TEST(ContentKey, IntegersOf64BitsKeepEveryDigit) {
  for (const std::string number : {"9007199254740993", "9223372036854775807",
                                   "-9223372036854775808", "18446744073709551615"}) {
    EXPECT_EQ(keys_of("{\"a\":" + number + "}"), Keys({key("a", 'n', number)}));
  }
  EXPECT_NE(keys_of(R"({"a":9007199254740993})"), keys_of(R"({"a":9007199254740992})"));
}

TEST(ContentKey, StringsAreComparedExactly) {
  EXPECT_NE(keys_of(R"({"a":"User"})"), keys_of(R"({"a":"user"})"));
  EXPECT_EQ(keys_of(R"({"a":"\u00e9"})"), keys_of(R"({"a":"é"})"));
}

TEST(ContentKey, LongValuesStandAsTheirHash) {
  const std::string longest(64, 'x');
  EXPECT_EQ(keys_of("{\"a\":\"" + longest + "\"}"), Keys({key("a", 's', longest)}));
  const Keys hashed = keys_of("{\"a\":\"" + longest + "x\"}");
  ASSERT_EQ(hashed.size(), 1u);
  EXPECT_EQ(hashed[0].size(), 3u + 1 + 8);
  EXPECT_TRUE(hashed[0].starts_with(key("a", 's', "#")));
  EXPECT_EQ(keys_of("{\"a\":\"" + longest + "x\"}"), hashed);
  EXPECT_NE(keys_of("{\"a\":\"" + longest + "y\"}"), hashed);
  const Keys long_name = keys_of("{\"" + longest + "x\":1}");
  EXPECT_EQ(long_name[0].size(), 9u + 3);
  EXPECT_TRUE(long_name[0].ends_with(std::string("\0n1", 3)));
  EXPECT_NE(keys_of("{\"" + longest + "y\":1}"), long_name);
}

TEST(ContentKey, WhatLooksLikeAHashIsNoLongValue) {
  const std::string nine = "#12345678";
  const Keys keys = keys_of("{\"a\":\"" + nine + "\"}");
  EXPECT_NE(keys, Keys({key("a", 's', nine)})) << "some long text has this hash";
  EXPECT_EQ(keys_of(R"({"a":"#1234567"})"), Keys({key("a", 's', "#1234567")}));
  EXPECT_EQ(keys_of(R"({"a":"#123456789"})"), Keys({key("a", 's', "#123456789")}));
}

TEST(ContentKey, ANulInANameEndsNoName) {
  EXPECT_NE(keys_of(R"({"a\u0000sb":"c"})"), keys_of(R"({"a":"b\u0000sc"})"));
}

TEST(ContentKey, StringsOfAMemberStartWithItsPrefix) {
  const std::string name(80, 'n');
  for (const std::string& member : {std::string("role"), std::string(), name}) {
    const Keys keys = keys_of("{\"" + member + "\":\"user\"}");
    EXPECT_EQ(keys, Keys({content_string_prefix(member) + "user"}));
  }
  EXPECT_EQ(content_string_prefix("role"), key("role", 's', ""));
}

}  // namespace
}  // namespace varve::entry
