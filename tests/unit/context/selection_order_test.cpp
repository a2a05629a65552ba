// What a retrieval's order says of how well an entry matches, and what a request is refused for.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "context/candidates.h"
#include "context/entry_text.h"
#include "context/request.h"
#include "session/session.h"
#include "unit/session/session_disk.h"

namespace varve::context {
namespace {

class Matches : public testing::Test {
 protected:
  Matches() {
    place_.make();
    session_ = place_.open();
    add("strong", "tea tea tea", 0.1F);
    add("weak", "tea and very many other words beside it", 0.9F);
  }
  void add(const std::string& id, const std::string& content, float along) {
    ASSERT_TRUE(session_->add(session::entry_text(id, content)).ok());
    const std::vector<float> vector = {along, -1.0F};
    ASSERT_TRUE(session_->put_vector(id, vector).ok());
    host_.clock.advance_ms(1000);
  }
  // Of each that a query finds: as a share of the best there is.
  std::map<std::string, double> of(const std::string& query) {
    const auto request = parse_request(R"({"retrieve":[{"query":)" + query + "}]}");
    EXPECT_TRUE(request.ok()) << request.status().message();
    const auto found = find_candidates(*session_, *request, session_->now_ms());
    EXPECT_TRUE(found.ok()) << found.status().message();
    std::map<std::string, double> matches;
    for (const auto& one : found->ranked) matches[session_->read(one.entry)->id] = one.match;
    return matches;
  }

  session::Host host_;
  session::SessionDisk place_{host_};
  std::shared_ptr<session::Session> session_;
};

TEST_F(Matches, OfAnOrderByMatchAreSharesOfTheBest) {
  for (const char* order : {"best", "match"}) {
    auto matches = of(R"({"text":"tea","sort_by":")" + std::string(order) + "\"}");
    EXPECT_EQ(matches["strong"], 1) << order;
    EXPECT_GT(matches["weak"], 0) << order;
    EXPECT_LT(matches["weak"], 1) << order;
  }
}

TEST_F(Matches, OfAnyOtherOrderAreWhatTheWordsSay) {
  const auto by_match = of(R"({"text":"tea","sort_by":"match"})");
  for (const char* order : {R"("time")", R"("importance")", R"("relevance")",
                            R"("time","order":"asc")", R"("match","order":"asc")"}) {
    auto matches = of(R"({"text":"tea","sort_by":)" + std::string(order) + "}");
    EXPECT_GT(matches["strong"], matches["weak"]) << order;
    EXPECT_GT(matches["weak"], 0) << order;
    EXPECT_LE(matches["strong"], 1) << order;
  }
}

TEST_F(Matches, AreNoneWithoutWordsOrVector) {
  EXPECT_EQ(of(R"({"sort_by":"match"})"),
            (std::map<std::string, double>{{"strong", 0}, {"weak", 0}}));
}

// The first of an order by match is worth nothing here: all vectors point away.
TEST_F(Matches, OfVectorsThatPointAwayAreWithinTheirRange) {
  for (const auto& [id, match] : of(R"({"vector":[0,1],"sort_by":"match"})")) {
    EXPECT_GE(match, 0) << id;
    EXPECT_LE(match, 1) << id;
  }
}

TEST_F(Matches, OfARetrievalThatFindsNothingAreNotThere) {
  EXPECT_TRUE(of(R"({"text":"absent"})").empty());
}

TEST(RefusedRequests, NameTheFirstPartThatIsWrong) {
  const auto of = [](const std::string& text) {
    const auto request = parse_request(text);
    EXPECT_EQ(request.code(), Code::kInvalidArgument) << text;
    return request.status().place().member;
  };
  EXPECT_EQ(of(R"({"budget":{"max_tokens":-1},"retrieve":[{"recency":-1}]})"), "budget.max_tokens");
  EXPECT_EQ(of(R"({"question":")" + std::string(70'000, 'x') + "\"}"), "question");
  EXPECT_EQ(of(R"({"retrieve":[{"query":{"text":7}}]})"), "retrieve[0].query.text");
  EXPECT_EQ(of(R"({"budget":{"max_tokens":1,"reserve_tokens":2}})"), "budget.reserve_tokens");
  EXPECT_EQ(of(R"({"pinned":["a","not an id"]})"), "pinned");
  EXPECT_EQ(of(R"({"format":"xml"})"), "format");
}

TEST(EntryTextOfDamage, IsRefused) {
  json::Document scratch;
  for (const char* line : {"", "{", R"({"content":{"message":nope}})", R"({"content":{"message":1)",
                           R"({"content":"tea)", "[]", "7"}) {
    EXPECT_FALSE(read_entry_text(line, "message", scratch).ok()) << line;
  }
}

}  // namespace
}  // namespace varve::context
