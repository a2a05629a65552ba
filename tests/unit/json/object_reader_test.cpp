#include "json/object_reader.h"

#include <string>

#include <gtest/gtest.h>

namespace varve::json {
namespace {

struct Options {
  bool flag = true;
  uint64_t count = 5;
  double share = 0.25;
  std::string name = "none";
  std::vector<std::string> tags = {"old"};
  std::vector<std::string> ids;
  std::vector<std::string> types;
  std::optional<int64_t> until;
  uint64_t inner = 0;
};

Status read(std::string_view text, Options* options) {
  Document document;
  VARVE_TRY(document.parse(text));
  ObjectReader reader(text, document.root());
  reader.read_bool("flag", &options->flag);
  reader.read_uint("count", &options->count, 1, 100);
  reader.read_double("share", &options->share, 0, 1);
  reader.read_string("name", &options->name);
  reader.read_strings("tags", &options->tags);
  reader.read_ids("ids", &options->ids);
  reader.read_types("types", &options->types);
  reader.read_time("until", &options->until);
  if (const auto inner = reader.read_object("inner")) {
    ObjectReader inner_reader(text, *inner);
    inner_reader.read_uint("x", &options->inner, 0, 9);
    VARVE_TRY(inner_reader.finish());
  }
  if (const auto any = reader.read_any("any"); any && any->kind() == Kind::kNull) {
    reader.fail(*any, "must not be null");
  }
  return reader.finish();
}

TEST(ObjectReader, ReadsEveryMember) {
  Options options;
  const Status status = read(R"({"flag":false,"count":100,"share":1,"name":"x","tags":["a","b"],)"
                             R"("ids":["A-1_"],"types":["tool_call"],)"
                             R"("until":"1970-01-01T00:00:01Z","inner":{"x":9},"any":[1]})",
                             &options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(options.flag);
  EXPECT_EQ(options.count, 100u);
  EXPECT_EQ(options.share, 1);
  EXPECT_EQ(options.name, "x");
  EXPECT_EQ(options.tags, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.ids, std::vector<std::string>{"A-1_"});
  EXPECT_EQ(options.types, std::vector<std::string>{"tool_call"});
  EXPECT_EQ(options.until, 1000);
  EXPECT_EQ(options.inner, 9u);
}

TEST(ObjectReader, BothEndsOfARangeAreInIt) {
  Options options;
  EXPECT_TRUE(read(R"({"count":1,"share":0,"inner":{"x":0}})", &options).ok());
  EXPECT_EQ(options.count, 1u);
  EXPECT_EQ(options.share, 0);
  EXPECT_TRUE(read(R"({"count":100,"share":1,"inner":{"x":9}})", &options).ok());
  EXPECT_EQ(options.count, 100u);
  EXPECT_EQ(options.share, 1);
}

TEST(ObjectReader, AbsentMembersLeaveTheDefaults) {
  Options options;
  ASSERT_TRUE(read("{}", &options).ok());
  EXPECT_TRUE(options.flag);
  EXPECT_EQ(options.count, 5u);
  EXPECT_EQ(options.share, 0.25);
  EXPECT_EQ(options.name, "none");
  EXPECT_EQ(options.tags, std::vector<std::string>{"old"});
  EXPECT_EQ(options.until, std::nullopt);
}

TEST(ObjectReader, NamesTheMemberAndTheOffsetOfWhatIsWrong) {
  const struct {
    const char* text;
    const char* member;
    size_t offset;
    const char* message;
  } cases[] = {
      {R"({"flag":1})", "flag", 8, "true or false"},
      {R"({"count":0})", "count", 9, "an integer from 1 to 100"},
      {R"({"count":101})", "count", 9, "an integer from 1 to 100"},
      {R"({"count":-1})", "count", 9, "an integer from 1 to 100"},
      {R"({"count":1.5})", "count", 9, "an integer from 1 to 100"},
      {R"({"count":"7"})", "count", 9, "an integer from 1 to 100"},
      {R"({"count":18446744073709551616})", "count", 9, "an integer from 1 to 100"},
      {R"({"share":1.01})", "share", 9, "a number from 0 to 1"},
      {R"({"share":null})", "share", 9, "a number from 0 to 1"},
      {R"({"name":[]})", "name", 8, "a string"},
      {R"({"tags":"a"})", "tags", 8, "an array of strings"},
      {R"({"tags":["a","b",3]})", "tags[2]", 17, "a string"},
      {R"({"ids":["a","b c"]})", "ids[1]", 12, "'b c' is not an id: 1 to 128 of A-Z a-z 0-9 _ -"},
      {R"({"ids":["-a"]})", "ids[0]", 8, "'-a' is not an id"},
      {R"({"ids":["-a"]})", "ids[0]", 8, "not starting with -"},
      {R"({"ids":[7]})", "ids[0]", 8, "a string"},
      {R"({"types":["a","Up"]})", "types[1]", 14, "'Up' is not a type: [a-z][a-z0-9_]{0,31}"},
      {R"({"until":"soon"})", "until", 9, "RFC 3339"},
      {R"({"inner":[]})", "inner", 9, "an object"},
      {R"({"inner":{"x":10}})", "inner.x", 14, "an integer from 0 to 9"},
      {R"({"inner":{"y":1}})", "inner.y", 14, "is unknown"},
      {R"({"any":null})", "any", 7, "must not be null"},
      {R"({"flag":true, "auto":1})", "auto", 21, "is unknown"},
  };
  for (const auto& test : cases) {
    Options options;
    const Status status = read(test.text, &options);
    ASSERT_EQ(status.code(), Code::kInvalidArgument) << test.text;
    EXPECT_EQ(status.place().member, test.member) << test.text;
    EXPECT_EQ(status.place().offset, test.offset) << test.text;
    EXPECT_NE(status.message().find(test.message), std::string::npos) << status.message();
    EXPECT_NE(status.message().find(test.member), std::string::npos) << status.message();
  }
}

TEST(ObjectReader, AMessageQuotesTheStartOfWhatIsLong) {
  const std::string start(60, 'x');
  const std::string character = "\u00e9\u00e9\u00e9";  // of two bytes each: the third has no room
  for (const std::string_view member : {"ids", "types"}) {
    Options options;
    const std::string text = start + character + std::string(1 << 20, ' ');
    const Status status = read("{\"" + std::string(member) + "\":[\"" + text + "\"]}", &options);
    EXPECT_NE(status.message().find("'" + start + "\u00e9\u00e9...' is not a"), std::string::npos)
        << status.message().substr(0, 1000);
    EXPECT_LT(status.message().size(), 300u);
  }
}

TEST(ObjectReader, WhatIsNotAnObjectIsRefused) {
  Options options;
  const Status status = read(" [1]", &options);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.place().offset, 1u);
  EXPECT_EQ(status.place().member, "");
}

TEST(ObjectReader, TheFirstFailureIsReported) {
  Options options;
  EXPECT_EQ(read(R"({"name":1,"flag":1,"zzz":1})", &options).place().member, "flag");
}

TEST(WithoutOffset, LeavesTheRestOfTheFailureAsItIs) {
  Options options;
  const Status wrong = read(R"({"count":0})", &options);
  EXPECT_EQ(wrong.message(), "member 'count': must be an integer from 1 to 100 (at byte 9)");
  const Status told = without_offset(wrong);
  EXPECT_EQ(told.code(), wrong.code());
  EXPECT_EQ(told.message(), "member 'count': must be an integer from 1 to 100");
  EXPECT_EQ(told.place().member, "count");
  EXPECT_FALSE(told.place().offset);

  Place place;
  place.offset = 4;
  const Status missing(Code::kInvalidArgument, "'x' is missing (in the object at byte 4)", place);
  EXPECT_EQ(without_offset(missing).message(), "'x' is missing");
  const Status other(Code::kSizeLimit, "too large (at byte 4)");
  EXPECT_EQ(without_offset(other).message(), other.message()) << "not an offset of its own";
}

TEST(WithoutOffset, IsAlsoOfWhatTheParserRefuses) {
  const std::string inner = std::string(66, '[') + std::string(66, ']');
  Document document;
  const Status deep = document.parse(R"({" at byte 9":)" + inner + "}");
  ASSERT_TRUE(deep.message().starts_with("nested deeper than 64 levels at byte 77 in '"))
      << deep.message();
  const Status told = without_offset(deep);
  EXPECT_TRUE(told.message().starts_with(R"(nested deeper than 64 levels in '[" at byte 9"])"))
      << told.message();
  EXPECT_EQ(told.place().member, deep.place().member);
  EXPECT_FALSE(told.place().offset);
}

TEST(WithExample, IsForWhatIsNoObject) {
  constexpr std::string_view kExample = "it looks like {}";
  Place place;
  place.offset = 1;
  const Status wrong(Code::kInvalidArgument, "no JSON", place);
  EXPECT_EQ(with_example(wrong, " tea", kExample).message(), "no JSON; it looks like {}");
  EXPECT_EQ(with_example(wrong, "", kExample).message(), "no JSON; it looks like {}");
  EXPECT_EQ(with_example(wrong, " tea", kExample).place().offset, 1U);
  EXPECT_EQ(with_example(wrong, "\n {\"a\"", kExample).message(), "no JSON");
  const Status other(Code::kSizeLimit, "too large");
  EXPECT_EQ(with_example(other, "tea", kExample).message(), "too large");
  EXPECT_TRUE(with_example(Status(), "tea", kExample).ok());
}

TEST(AtPlace, NamesTheCallersMemberAndOffset) {
  Options options;
  const Status inner = read(R"({"count":0})", &options);
  const Status told = at_place(inner, "queries[1].count", 70);
  EXPECT_EQ(told.message(),
            "member 'queries[1].count': must be an integer from 1 to 100 (at byte 70)");
  EXPECT_EQ(told.place().member, "queries[1].count");
  EXPECT_EQ(told.place().offset, 70U);
}

TEST(ObjectReader, AFailedMemberLeavesItsOutputUntouched) {
  Options options;
  EXPECT_FALSE(read(R"({"tags":["a",1],"count":7})", &options).ok());
  EXPECT_EQ(options.tags, std::vector<std::string>{"old"});
  EXPECT_EQ(options.count, 7u);
}

TEST(ObjectReader, UnknownMembersMayBeAllowed) {
  const std::string text = R"({"flag":false,"zzz":1})";
  Document document;
  ASSERT_TRUE(document.parse(text).ok());
  bool flag = true;
  ObjectReader reader(text, document.root());
  reader.read_bool("flag", &flag);
  reader.allow_unknown();
  EXPECT_TRUE(reader.finish().ok());
  EXPECT_FALSE(flag);
  reader.fail(document.root(), "must not be");
  EXPECT_FALSE(reader.finish().ok()) << "what is wrong stays wrong";
}

// To look each of them up from the first on took 86,000,000,000 comparisons.
TEST(ObjectReader, VeryManyMembersAreEachFoundAtOnce) {
  std::string text = "{";
  for (uint32_t i = 0; i < Limits().members_max; ++i) text += "\"m" + std::to_string(i) + "\":0,";
  text.back() = '}';
  Document document;
  ASSERT_TRUE(document.parse(text).ok());
  for (int round = 0; round < 40; ++round) {
    ObjectReader reader(text, document.root());
    document.root().for_each_member(
        [&](std::string_view name, Value) { return reader.read_any(name).has_value(); });
    ASSERT_TRUE(reader.finish().ok());
  }
}

}  // namespace
}  // namespace varve::json
