#include "context/call_ids.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace varve::context {
namespace {

using transfer::ToolTurn;

// Of a message: {id, tool} of each call or result.
EntryText message(Speaker speaker, const std::vector<std::pair<std::string, std::string>>& turns) {
  EntryText entry;
  entry.is_tool = true;
  entry.speaker = speaker;
  for (const auto& [id, tool] : turns) entry.turns.push_back({id, tool, false, tool, ""});
  return entry;
}

std::string ids_of(const EntryText& entry) {
  std::string ids;
  for (const ToolTurn& turn : entry.turns) ids += turn.call_id + " ";
  return ids;
}

TEST(NameCalls, NumbersThoseOfAMessageThatHaveNoIds) {
  EntryText two = message(Speaker::kAssistant, {{"", "f"}, {"", "g"}});
  EXPECT_TRUE(name_calls("e", &two));
  EXPECT_EQ(ids_of(two), "e_1 e_2 ");
}

// A single call is known by its entry.
TEST(NameCalls, LeavesASingleOneResultsAndThoseThatHaveIds) {
  for (EntryText entry : {message(Speaker::kAssistant, {{"", "f"}}),
                          message(Speaker::kAssistant, {{"", "f"}, {"b", "g"}}),
                          message(Speaker::kTool, {{"", "f"}, {"", "g"}})}) {
    const std::string ids = ids_of(entry);
    EXPECT_FALSE(name_calls("e", &entry));
    EXPECT_EQ(ids_of(entry), ids);
  }
}

TEST(HasUnnamedResult, IsOfResultsAlone) {
  EXPECT_TRUE(has_unnamed_result(message(Speaker::kTool, {})));
  EXPECT_TRUE(has_unnamed_result(message(Speaker::kTool, {{"a", "f"}, {"", "g"}})));
  EXPECT_FALSE(has_unnamed_result(message(Speaker::kTool, {{"a", "f"}})));
  EXPECT_FALSE(has_unnamed_result(message(Speaker::kAssistant, {{"", "f"}})));
  EXPECT_FALSE(has_unnamed_result(EntryText()));
}

TEST(UnansweredCalls, AreAnsweredByNameInTheirOrder) {
  UnansweredCalls calls(
      {{"1", "", false, "f", ""}, {"2", "", false, "g", ""}, {"3", "", false, "f", ""}});
  EntryText both = message(Speaker::kTool, {{"", "f"}, {"own", "h"}, {"", "f"}});
  EXPECT_TRUE(calls.answer(&both));
  EXPECT_EQ(ids_of(both), "1 own 3 ");
  EntryText one = message(Speaker::kTool, {});
  one.tool = "g";
  EXPECT_TRUE(calls.answer(&one));
  EXPECT_EQ(one.call_id, "2");
  EXPECT_FALSE(calls.answer(&one));
}

// To move all calls behind it for each one that is answered took minutes.
TEST(UnansweredCalls, OfOneMessageAreFoundAtOnceHoweverManyThereAre) {
  constexpr size_t kCallCount = 300'000;
  std::vector<ToolTurn> turns;
  EntryText results = message(Speaker::kTool, {});
  for (size_t i = 0; i < kCallCount; ++i) {
    turns.push_back({std::to_string(i), "", false, i % 2 == 0 ? "f" : "g", ""});
    results.turns.push_back({"", "", false, i < kCallCount / 2 ? "g" : "f", ""});
  }
  UnansweredCalls calls(std::move(turns));
  ASSERT_TRUE(calls.answer(&results));
  EXPECT_EQ(results.turns.front().call_id, "1");
  EXPECT_EQ(results.turns.back().call_id, std::to_string(kCallCount - 2));
}

}  // namespace
}  // namespace varve::context
