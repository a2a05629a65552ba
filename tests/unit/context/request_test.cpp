#include "context/request.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace varve::context {
namespace {

Request parsed(std::string_view text) {
  auto request = parse_request(text);
  EXPECT_TRUE(request.ok()) << request.status().message();
  return request.ok() ? *request : Request();
}

TEST(ParseRequest, WithoutAnythingAsksForTheNewestWithin4000Tokens) {
  const Request request = parsed("");
  EXPECT_EQ(request.token_budget(), 4000U);
  ASSERT_EQ(request.retrievals.size(), 1U);
  EXPECT_TRUE(request.retrievals[0].is_recency);
  EXPECT_EQ(request.retrievals[0].query.sort_by, query::SortBy::kTime);
  EXPECT_EQ(request.retrievals[0].query.limit, 200U);
  EXPECT_EQ(request.rank.temporal, 1);
  EXPECT_EQ(request.rank.match, 0);
  EXPECT_EQ(request.format, Format::kMarkdown);
  EXPECT_TRUE(request.keep_together);
}

TEST(ParseRequest, AQuestionIsFoundBesideTheNewest) {
  const Request request = parsed(
      R"({"question":"say \"tea\"?","now":"2026-01-10T00:00:00Z","budget":{"max_tokens":80}})");
  ASSERT_EQ(request.retrievals.size(), 2U);
  EXPECT_EQ(request.retrievals[0].query.text, "say \"tea\"?");
  EXPECT_EQ(request.retrievals[0].query.sort_by, query::SortBy::kBest);
  EXPECT_EQ(request.retrievals[0].query.limit, 100U);
  EXPECT_EQ(request.retrievals[0].query.now_ms, request.now_ms);
  EXPECT_TRUE(request.retrievals[1].is_recency);
  EXPECT_GT(request.recent_share, 0);
  EXPECT_LT(request.recent_share, 0.5);
  EXPECT_EQ(request.rank.match, 1);
}

TEST(ParseRequest, AQuestionBesideRetrievalsIsOneMore) {
  const Request request = parsed(R"({"question":"tea?","retrieve":[{"importance":5}]})");
  ASSERT_EQ(request.retrievals.size(), 2U);
  EXPECT_EQ(request.retrievals[0].query.sort_by, query::SortBy::kImportance);
  EXPECT_EQ(request.retrievals[1].query.text, "tea?");
  EXPECT_EQ(request.recent_share, 0);
}

TEST(ParseRequest, ReadsEveryMember) {
  const Request request = parsed(R"({
      "retrieve":[{"recency":7},{"types":["tool_call"],"importance":3},{"types":["summary"]},
                  {"query":{"text":"tea","now":"2026-01-01T00:00:00Z"},"types":["finding"]}],
      "rank":[{"temporal":0.5},{"importance":0.25,"match":1},{"match":2}],
      "budget":{"max_tokens":1000,"reserve_tokens":400},"keep_together":false,
      "pinned":["a"],"exclude_ids":["b","c"],"format":"chat","now":"2026-02-01T00:00:00Z"})");
  ASSERT_EQ(request.retrievals.size(), 4U);
  EXPECT_EQ(request.retrievals[0].query.limit, 7U);
  EXPECT_EQ(request.retrievals[1].query.types, std::vector<std::string>{"tool_call"});
  EXPECT_FALSE(request.retrievals[1].is_recency);
  EXPECT_TRUE(request.retrievals[2].is_recency);
  EXPECT_EQ(request.retrievals[2].query.limit, 100U);
  EXPECT_EQ(request.retrievals[3].query.types, std::vector<std::string>{"finding"});
  EXPECT_NE(request.retrievals[3].query.now_ms, request.now_ms);  // its own
  EXPECT_EQ(request.rank.temporal, 0.5);
  EXPECT_EQ(request.rank.importance, 0.25);
  EXPECT_EQ(request.rank.match, 3);
  EXPECT_EQ(request.token_budget(), 600U);
  EXPECT_FALSE(request.keep_together);
  EXPECT_EQ(request.pinned, std::vector<std::string>{"a"});
  EXPECT_EQ(request.exclude_ids.size(), 2U);
  EXPECT_EQ(request.format, Format::kChat);
}

// More of what is wrong, with its places, is tested in tests/capi/context_test.cpp.
TEST(ParseRequest, TypesAloneAskForTheNewestOfThem) {
  const Request request = parsed(R"({"retrieve":[{"types":["decision"]}]})");
  ASSERT_EQ(request.retrievals.size(), 1U);
  EXPECT_TRUE(request.retrievals[0].is_recency);
  EXPECT_EQ(request.retrievals[0].query.types, std::vector<std::string>{"decision"});
  EXPECT_EQ(request.retrievals[0].query.sort_by, query::SortBy::kTime);
  EXPECT_EQ(request.retrievals[0].query.limit, 100U);
}

TEST(ParseRequest, NamesTheFirstPartThatIsWrong) {
  const auto of = [](const std::string& text) {
    const auto request = parse_request(text);
    EXPECT_EQ(request.code(), Code::kInvalidArgument) << text;
    return request.status().place().member;
  };
  EXPECT_EQ(of(R"({"budget":{"max_tokens":-1},"retrieve":[{"recency":-1}]})"), "budget.max_tokens");
  EXPECT_EQ(of(R"({"question":")" + std::string(70'000, 'x') + "\"}"), "question");
  EXPECT_EQ(of(R"({"retrieve":[{"query":{"text":7}}]})"), "retrieve[0].query.text");
  EXPECT_EQ(of(R"({"budget":{"max_tokens":1,"reserve_tokens":2}})"), "budget.reserve_tokens");
  EXPECT_EQ(of(R"({"pinned":["a","not an id"]})"), "pinned[1]");
  EXPECT_EQ(of(R"({"format":"xml"})"), "format");
}

// Queries within a request are parsed as texts of their own; their offsets are not the caller's.
TEST(ParseRequest, AWrongQueryIsToldAtItsPlaceInTheRequest) {
  const std::string text = R"({"pinned":[],"retrieve":[{"query":{"limit":3,"limt":3}}]})";
  const Status wrong = parse_request(text).status();
  const size_t place = text.find(R"({"limit")");
  EXPECT_EQ(wrong.place().offset, place);
  EXPECT_EQ(wrong.message(),
            "member 'retrieve[0].query.limt': is unknown (at byte " + std::to_string(place) + ")");
  const Status long_one =
      parse_request(R"({"question":")" + std::string(70'000, 'x') + "\"}").status();
  EXPECT_EQ(long_one.message(), "member 'question': may have up to 65536 bytes (at byte 12)");
}

TEST(ParseRequest, ATypeStandsOnce) {
  EXPECT_EQ(parse_request(R"({"retrieve":[{"types":["a"],"query":{"types":["b"]}}]})").code(),
            Code::kInvalidArgument);
}

TEST(ParseRequest, TheLargestBudgetIsANumberLikeAnyOther) {
  EXPECT_EQ(parsed(R"({"budget":{"max_tokens":18446744073709551615}})").token_budget(), UINT64_MAX);
}

}  // namespace
}  // namespace varve::context
