#include "query/parse.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "entry/content_key.h"
#include "query/cursor.h"

namespace varve::query {
namespace {

Query parsed(std::string_view text, Scope scope = Scope::kSession) {
  auto query = parse_query(text, scope);
  EXPECT_TRUE(query.ok()) << text << ": " << query.status().message();
  return query.ok() ? *query : Query();
}

TEST(ParseQuery, EmptyTextAndEmptyObjectAreTheQueryWithoutConditions) {
  for (const auto text : {"", "{}", " { } "}) {
    const Query query = parsed(text);
    EXPECT_FALSE(query.has_text());
    EXPECT_TRUE(query.types.empty() && query.tags_include.empty() && query.tags_exclude.empty());
    EXPECT_FALSE(query.start_ms || query.end_ms || query.last_ms || query.now_ms || query.after);
    EXPECT_EQ(query.importance_min, 0);
    EXPECT_EQ(query.relevance_min, 0);
    EXPECT_EQ(query.sort_by, SortBy::kRelevance);
    EXPECT_FALSE(query.ascending || query.explain || query.tags_match_all);
    EXPECT_EQ(query.limit, 100u);
    EXPECT_EQ(query.depth_max, 1u);
  }
}

// Many a caller gives the words themselves.
TEST(ParseQuery, WhatIsNoObjectIsToldWhatAQueryIs) {
  constexpr std::string_view kExample = R"(; a query is an object, such as {"text":"tea"})";
  for (const std::string_view text : {"tea", "\"tea\"", " what do we drink?", "[]", "7", "null"}) {
    for (const Scope scope : {Scope::kSession, Scope::kStore, Scope::kCount, Scope::kDelete}) {
      const auto refused = parse_query(text, scope);
      EXPECT_EQ(refused.code(), Code::kInvalidArgument) << text;
      EXPECT_TRUE(refused.status().message().ends_with(kExample)) << refused.status().message();
      EXPECT_TRUE(refused.status().place().offset) << text;
    }
  }
  for (const std::string_view text : {"{", R"( {"text":7})", R"({"test":"tea"})"}) {
    const auto refused = parse_query(text, Scope::kSession);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << text;
    EXPECT_FALSE(refused.status().message().ends_with(kExample)) << refused.status().message();
  }
}

// A program that looked for what to delete, and found nothing, would delete everything.
TEST(ParseQuery, AnEmptyConditionOfADeletionIsRefused) {
  for (const std::string_view text :
       {"", R"({"ids":[]})", R"({"types":[]})", R"({"references":[]})", R"({"text":""})",
        R"({"trace_id":""})", R"({"content":{}})", R"({"time":{}})", R"({"tags":{}})",
        R"({"tags":{"include":[]}})", R"({"types":["a"],"tags":{"include":["x"],"exclude":[]}})",
        R"({"references":["a"],"relation":""})"}) {
    const auto refused = parse_query(text, Scope::kDelete);
    ASSERT_EQ(refused.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(refused.status().message().find("is empty"), std::string::npos) << text;
    EXPECT_TRUE(parse_query(text, Scope::kSet).ok()) << "no condition: " << text;
    EXPECT_TRUE(parse_query(text, Scope::kSession).ok()) << text;
  }
  for (const std::string_view text : {"{}", R"({"ids":["a"]})", R"({"min_importance":0})"}) {
    EXPECT_TRUE(parse_query(text, Scope::kDelete).ok()) << text;
  }
}

// A setting of conditions is none itself.
TEST(ParseQuery, ADeletionWithSettingsAndNoConditionIsRefused) {
  const std::pair<std::string_view, std::string_view> refusals[] = {
      {R"({"tags":{"match":"any"}})", "tags.match"},
      {R"({"tags":{"match":"all"}})", "tags.match"},
      {R"({"tags":{"exclude":["keep"],"match":"all"}})", "tags.match"},
      {R"({"now":"2026-01-01T00:00:00Z"})", "now"}};
  for (const auto& [text, member] : refusals) {
    const auto refused = parse_query(text, Scope::kDelete);
    ASSERT_EQ(refused.code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(refused.status().place().member, member) << text;
    EXPECT_TRUE(parse_query(text, Scope::kCount).ok()) << text;
  }
  for (const std::string_view text :
       {R"({"tags":{"include":["x"],"match":"all"}})", R"({"tags":{"exclude":["keep"]}})",
        R"({"min_importance":0,"now":"2026-01-01T00:00:00Z"})"}) {
    EXPECT_TRUE(parse_query(text, Scope::kDelete).ok()) << text;
  }
}

TEST(ParseQuery, MembersOfOtherQueriesAreNotCalledUnknown) {
  for (const Scope scope : {Scope::kSet, Scope::kDelete}) {
    for (const std::string_view text :
         {R"({"limit":3})", R"({"sort_by":"time"})", R"({"order":null})", R"({"after":"x"})",
          R"({"explain":true})"}) {
      const auto refused = parse_query(text, scope);
      ASSERT_EQ(refused.code(), Code::kInvalidArgument) << text;
      EXPECT_NE(refused.status().message().find("is about results"), std::string::npos) << text;
    }
  }
  const auto refused = parse_query(R"({"text":"a","user_id":"ann"})", Scope::kSession);
  ASSERT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("'user_id': selects sessions"), std::string::npos);
}

// Nor is nobody everybody.
TEST(ParseQuery, EmptyOwnersAndSessionsAreRefused) {
  for (const std::string_view text :
       {R"({"user_id":""})", R"({"agent_id":""})", R"({"session_ids":[]})"}) {
    EXPECT_EQ(parse_query(text, Scope::kStore).code(), Code::kInvalidArgument) << text;
  }
}

TEST(ParseQuery, EveryMemberIsRead) {
  const Query query = parsed(R"({"text":"oauth* -implicit","types":["decision","finding"],
    "tags":{"include":["security","b"],"exclude":["deprecated"],"match":"all"},
    "time":{"start":"1970-01-01T00:00:01Z","end":"1970-01-01T00:00:02.500Z","last":"7d"},
    "min_importance":0.7,"min_relevance":1.25,"references":["mem_a","b"],"relation":"caused_by",
    "max_depth":64,"ids":["x"],"trace_id":"t-1","content":{"role":"user","n":3,"ok":true,"no":null},
    "sort_by":"importance","order":"asc","limit":7,"now":"1970-01-01T00:00:03Z","explain":true})");
  EXPECT_EQ(query.text, "oauth* -implicit");
  EXPECT_EQ(query.types, (std::vector<std::string>{"decision", "finding"}));
  EXPECT_EQ(query.tags_include, (std::vector<std::string>{"security", "b"}));
  EXPECT_EQ(query.tags_exclude, (std::vector<std::string>{"deprecated"}));
  EXPECT_TRUE(query.tags_match_all);
  EXPECT_EQ(query.start_ms, 1000);
  EXPECT_EQ(query.end_ms, 2500);
  EXPECT_EQ(query.last_ms, 604'800'000);
  EXPECT_EQ(query.importance_min, 0.7);
  EXPECT_EQ(query.relevance_min, 1.25);
  EXPECT_EQ(query.references, (std::vector<std::string>{"mem_a", "b"}));
  EXPECT_EQ(query.relation, "caused_by");
  EXPECT_EQ(query.depth_max, 64u);
  EXPECT_EQ(query.ids, (std::vector<std::string>{"x"}));
  EXPECT_EQ(query.trace_id, "t-1");
  ASSERT_EQ(query.content_keys.size(), 4u);  // by name
  EXPECT_TRUE(query.content_keys[0].starts_with(std::string("n\0", 2)));
  EXPECT_EQ(query.content_keys[3], entry::content_string_key("role", "user"));
  EXPECT_EQ(query.sort_by, SortBy::kImportance);
  EXPECT_TRUE(query.ascending);
  EXPECT_EQ(query.limit, 7u);
  EXPECT_EQ(query.now_ms, 3000);
  EXPECT_TRUE(query.explain);
}

TEST(ParseQuery, AQuestionIsATextWithoutSigns) {
  const Query question = parsed(R"({"question":"why -p?","text":""})");
  EXPECT_EQ(question.text, "why -p?");
  EXPECT_TRUE(question.is_question);
  EXPECT_EQ(question.sort_by, SortBy::kBest);
  const Query text = parsed(R"({"text":"why -p?","question":""})");
  EXPECT_FALSE(text.is_question);
  EXPECT_NE(text.hash, question.hash) << "a cursor of one is none of the other";
}

TEST(ParseQuery, AQuestionBesideATextIsRefused) {
  const auto refused = parse_query(R"({"text":"a","question":"b"})", Scope::kSession);
  ASSERT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("'question': cannot stand beside 'text'"),
            std::string::npos)
      << refused.status().message();
}

TEST(ParseQuery, SessionsAreChosenOnlyAcrossSessions) {
  const Query query =
      parsed(R"({"user_id":"u","agent_id":"a","session_ids":["s1","s2"]})", Scope::kStore);
  EXPECT_EQ(query.user_id, "u");
  EXPECT_EQ(query.agent_id, "a");
  EXPECT_EQ(query.session_ids, (std::vector<std::string>{"s1", "s2"}));
  for (const Scope scope : {Scope::kSession, Scope::kSet}) {
    for (const auto text : {R"({"user_id":"u"})", R"({"agent_id":"a"})", R"({"session_ids":[]})"}) {
      EXPECT_EQ(parse_query(text, scope).code(), Code::kInvalidArgument) << text;
    }
  }
}

TEST(ParseQuery, OrderAndPagesAreRefusedForExportingAndDeleting) {
  for (const auto text : {R"({"sort_by":"time"})", R"({"order":"asc"})", R"({"limit":1})",
                          R"({"after":null})", R"({"explain":false})"}) {
    EXPECT_EQ(parse_query(text, Scope::kSet).code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(parse_query(text, Scope::kDelete).code(), Code::kInvalidArgument) << text;
    EXPECT_TRUE(parse_query(text, Scope::kSession).ok()) << text;
  }
}

std::string cursor_of(const Query& query) {
  Cursor cursor;
  cursor.query_hash = query.hash;
  cursor.now_ms = 1234;
  cursor.last_id = "mem_z";
  cursor.key = 0.5;
  cursor.id = "mem_a";
  return format_cursor(cursor);
}

// So that one query can be asked for a page and for the number of all its results.
TEST(ParseQuery, CountingTakesOrderAndPagesAndForgetsThem) {
  const std::string text = R"({"text":"tea","sort_by":"time","order":"asc","explain":true)";
  const std::string cursor = cursor_of(parsed(text + "}"));
  const auto counted =
      parse_query(text + R"(,"limit":1,"after":")" + cursor + R"("})", Scope::kCount);
  ASSERT_TRUE(counted.ok()) << counted.status().message();
  const Query plain = *parse_query(R"({"text":"tea"})", Scope::kCount);
  EXPECT_EQ(counted->sort_by, plain.sort_by);
  EXPECT_EQ(counted->limit, plain.limit);
  EXPECT_FALSE(counted->ascending);
  EXPECT_FALSE(counted->explain);
  EXPECT_FALSE(counted->after.has_value());
  EXPECT_FALSE(counted->now_ms.has_value()) << "the cursor's time is that of its pages";
}

TEST(ParseQuery, CountingRefusesAWrongOrderAsAQueryDoes) {
  for (const std::string_view text :
       {R"({"limit":-1})", R"({"sort_by":"size"})", R"({"order":"up"})", R"({"after":"x"})",
        R"({"explain":1})"}) {
    EXPECT_EQ(parse_query(text, Scope::kCount).code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(parse_query(text, Scope::kCount).status().message(),
              parse_query(text, Scope::kSession).status().message());
  }
}

TEST(ParseQuery, BestIsTheOrderWithTextAndRelevanceWithout) {
  EXPECT_EQ(parsed(R"({"text":"tea"})").sort_by, SortBy::kBest);
  EXPECT_EQ(parsed(R"({"text":""})").sort_by, SortBy::kRelevance);
  EXPECT_EQ(parsed(R"({"text":"tea","sort_by":"time"})").sort_by, SortBy::kTime);
  EXPECT_EQ(parsed(R"({"sort_by":"best"})").sort_by, SortBy::kBest);
  EXPECT_EQ(parsed(R"({"sort_by":"match"})").sort_by, SortBy::kMatch);
  EXPECT_EQ(parsed(R"({"sort_by":"relevance"})").sort_by, SortBy::kRelevance);
}

TEST(ParseQuery, SpansTakeSecondsMinutesHoursDaysAndWeeks) {
  struct Case {
    const char* span;
    int64_t ms;
  };
  for (const Case& one :
       {Case{"1s", 1000}, Case{"90m", 5'400'000}, Case{"24h", 86'400'000}, Case{"7d", 604'800'000},
        Case{"2w", 1'209'600'000}, Case{"999999999s", 999'999'999'000},
        Case{"999999999w", int64_t{1} << 50}}) {
    EXPECT_EQ(parsed(R"({"time":{"last":")" + std::string(one.span) + R"("}})").last_ms, one.ms);
  }
  for (const std::string span : {"7", "d", "7y", "7 d", "-7d", "0d", "1.5h", "7D", "7dd", "0w",
                                 "9999999999w", "99999999999d", "+7d"}) {
    const auto query = parse_query(R"({"time":{"last":")" + span + R"("}})", Scope::kSession);
    EXPECT_EQ(query.code(), Code::kInvalidArgument) << span;
    EXPECT_EQ(query.status().place().member, "time.last") << span;
  }
}

TEST(ParseQuery, NumbersTakeTheirWholeRange) {
  EXPECT_EQ(parsed(R"({"limit":0})").limit, 0u);
  EXPECT_EQ(parsed(R"({"limit":18446744073709551615})").limit, kLimitNone);
  EXPECT_EQ(parsed(R"({"min_importance":1,"min_relevance":2})").relevance_min, 2);
  EXPECT_EQ(parsed(R"({"min_importance":0.0})").importance_min, 0);
}

TEST(ParseQuery, AnEmptyRangeIsNoContradiction) {
  const Query query =
      parsed(R"({"time":{"start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:00:00Z"}})");
  EXPECT_EQ(query.start_ms, query.end_ms);
}

// Each is wrong in one place: the error names the member, and the byte where its value stands,
// which the mark "@" shows and is not part of the query.
struct Wrong {
  const char* text;
  const char* member;
};

class ParseQueryError : public ::testing::TestWithParam<Wrong> {};

TEST_P(ParseQueryError, NamesMemberAndByteOffset) {
  std::string text = GetParam().text;
  const size_t offset = text.find('@');
  ASSERT_NE(offset, std::string::npos);
  text.erase(offset, 1);
  const auto query = parse_query(text, Scope::kStore);
  ASSERT_EQ(query.code(), Code::kInvalidArgument) << text;
  EXPECT_EQ(query.status().place().member, GetParam().member) << query.status().message();
  EXPECT_EQ(query.status().place().offset, offset) << query.status().message();
  EXPECT_NE(query.status().message().find("byte"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseQueryError,
    ::testing::Values(
        Wrong{R"({"text":@1})", "text"}, Wrong{R"({"types":@"decision"})", "types"},
        Wrong{R"({"types":["a",@2]})", "types[1]"},
        Wrong{R"({"types":[@"Not A Type"]})", "types[0]"}, Wrong{R"({"tags":@["a"]})", "tags"},
        Wrong{R"({"tags":{"include":@"a"}})", "tags.include"},
        Wrong{R"({"tags":{"exclude":[@null]}})", "tags.exclude[0]"},
        Wrong{R"({"tags":{"match":@"some"}})", "tags.match"},
        Wrong{R"({"tags":{"match":@1}})", "tags.match"},
        Wrong{R"({"tags":{"any":@["a"]}})", "tags.any"}, Wrong{R"({"time":@"7d"})", "time"},
        Wrong{R"({"time":{"start":@0}})", "time.start"},
        Wrong{R"({"time":{"end":@"yesterday"}})", "time.end"},
        Wrong{R"({"time":{"last":@7}})", "time.last"},
        Wrong{R"({"time":{"since":@"2026-01-01T00:00:00Z"}})", "time.since"},
        Wrong{R"({"time":{"end":@"2025-12-31T23:59:59Z","start":"2026-01-01T00:00:00Z"}})",
              "time.end"},
        Wrong{R"({"min_importance":@1.5})", "min_importance"},
        Wrong{R"({"min_importance":@-0.1})", "min_importance"},
        Wrong{R"({"min_importance":@"high"})", "min_importance"},
        Wrong{R"({"min_relevance":@2.5})", "min_relevance"},
        Wrong{R"({"min_relevance":@null})", "min_relevance"},
        Wrong{R"({"references":@"mem_a"})", "references"},
        Wrong{R"({"references":["a",@"not an id"]})", "references[1]"},
        Wrong{R"({"relation":@"caused_by"})", "relation"},
        Wrong{R"({"references":["a"],"relation":@1})", "relation"},
        Wrong{R"({"max_depth":@2})", "max_depth"},
        Wrong{R"({"references":["a"],"max_depth":@0})", "max_depth"},
        Wrong{R"({"references":["a"],"max_depth":@65})", "max_depth"},
        Wrong{R"({"references":["a"],"max_depth":@1.5})", "max_depth"},
        Wrong{R"({"ids":[@""]})", "ids[0]"}, Wrong{R"({"ids":@{}})", "ids"},
        Wrong{R"({"trace_id":@1})", "trace_id"}, Wrong{R"({"content":@"user"})", "content"},
        Wrong{R"({"content":{"role":@["user"]}})", "content.role"},
        Wrong{R"({"content":{"role":@{}}})", "content.role"},
        Wrong{R"({"sort_by":@"date"})", "sort_by"}, Wrong{R"({"sort_by":@1})", "sort_by"},
        Wrong{R"({"order":@"up"})", "order"}, Wrong{R"({"order":@true})", "order"},
        Wrong{R"({"limit":@-1})", "limit"}, Wrong{R"({"limit":@1.5})", "limit"},
        Wrong{R"({"limit":@18446744073709551616})", "limit"}, Wrong{R"({"limit":@"10"})", "limit"},
        Wrong{R"({"now":@1768055025678})", "now"}, Wrong{R"({"now":@"today"})", "now"},
        Wrong{R"({"explain":@1})", "explain"}, Wrong{R"({"after":@1})", "after"},
        Wrong{R"({"after":@"2"})", "after"}, Wrong{R"({"user_id":@1})", "user_id"},
        Wrong{R"({"agent_id":@[]})", "agent_id"}, Wrong{R"({"session_ids":@"s"})", "session_ids"},
        Wrong{R"({"session_ids":[@"a/b"]})", "session_ids[0]"},
        Wrong{R"({"text":"tea","limits":@5})", "limits"}, Wrong{R"({"":@5})", R"([""])"},
        Wrong{R"(@[])", ""}, Wrong{R"(@"tea")", ""}, Wrong{R"(@7)", ""}));

TEST(ParseQuery, WhatIsNotJsonTellsWhere) {
  for (const auto text : {"{", "tea", "{\"text\":\"a\"} x", "{\"text\":\"a\",\"text\":\"b\"}",
                          "{\"text\":\"\xff\"}"}) {
    const auto query = parse_query(text, Scope::kSession);
    EXPECT_EQ(query.code(), Code::kInvalidArgument) << text;
    EXPECT_TRUE(query.status().place().offset.has_value()) << text;
  }
}

TEST(ParseQuery, ATextHasALimit) {
  const auto with_text = [](size_t size_bytes) {
    return parse_query(R"({"text":")" + std::string(size_bytes, 'a') + R"("})", Scope::kSession);
  };
  EXPECT_TRUE(with_text(65536).ok());
  EXPECT_EQ(with_text(65537).code(), Code::kInvalidArgument);
  EXPECT_EQ(with_text(65537).status().place().member, "text");
}

// --- after ---------------------------------------------------------------------------------------

TEST(ParseQuery, AfterGoesOnWithTheSameQueryWhateverItsLimitAndLayout) {
  const std::string cursor = cursor_of(parsed(R"({"text":"tea","types":["finding"],"limit":3})"));
  const Query next = parsed(R"({ "limit": 9, "types": ["finding"], "explain": true, "text": "tea",
                                 "after": ")" +
                            cursor + R"("})");
  ASSERT_TRUE(next.after.has_value());
  EXPECT_EQ(next.after->id, "mem_a");
  EXPECT_EQ(next.now_ms, 1234) << "ages stay what they were on the first page";
  EXPECT_FALSE(parsed(R"({"after":null})").after.has_value());
}

TEST(ParseQuery, ACursorOfAnotherQueryIsRefused) {
  const std::string cursor = cursor_of(parsed(R"({"text":"tea"})"));
  for (const auto others :
       {R"("text":"coffee")", R"("text":"tea","types":["finding"])",
        R"("text":"tea","order":"asc")", R"("text":"tea","min_relevance":0.1)"}) {
    const std::string text = R"({"after":")" + cursor + R"(",)" + others + "}";
    const auto query = parse_query(text, Scope::kSession);
    EXPECT_EQ(query.code(), Code::kInvalidArgument) << text;
    EXPECT_EQ(query.status().place().member, "after");
    EXPECT_EQ(query.status().place().offset, 9u);
  }
}

TEST(ParseQuery, ACursorOfASessionIsNoneOfTheStoreNorTheReverse) {
  for (const auto scope : {Scope::kSession, Scope::kStore, Scope::kCount}) {
    Cursor cursor;
    cursor.query_hash = parse_query("{}", scope)->hash;
    cursor.id = "mem_a";
    if (scope == Scope::kStore) cursor.last_id = "mem_z";
    const auto query = parse_query(R"({"after":")" + format_cursor(cursor) + R"("})", scope);
    EXPECT_EQ(query.code(), Code::kInvalidArgument);
    EXPECT_EQ(query.status().place().member, "after");
    EXPECT_EQ(query.status().place().offset, 9u);
  }
}

// Each would be asked about each entry.
TEST(ParseQuery, ATagThatIsNamedVeryOftenIsOneCondition) {
  std::string tags = R"("a","b")";
  for (int i = 0; i < 1000; ++i) tags += R"(,"a","b")";
  const auto query = parse_query(
      R"({"tags":{"include":[)" + tags + R"(],"exclude":[)" + tags + "]}}", Scope::kSession);
  ASSERT_TRUE(query.ok());
  EXPECT_EQ(query->tags_include, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(query->tags_exclude, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace varve::query
