// Calls and their results in a context: both are in, or both are out.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>

#include "context_answers.h"

namespace varve_test {
namespace {

class ToolContext : public testing::Test {
 protected:
  ToolContext() {
    add("call", "tool_call", 1, R"({"name":"find","arguments":{},"call_id":"c1"})");
    add("noise", "message", 2, R"({"role":"user","message":"hm"})");
    add("result", "tool_result", 3,
        R"({"name":"find","result":")" + std::string(400, 'x') + R"( kayak","call_id":"c1"})");
    add("again", "tool_call", 4, R"({"name":"find","arguments":{},"call_id":"c1"})");
    add("other", "tool_result", 5, R"({"name":"find","result":"no","call_id":"c1"})");
  }
  void add(const std::string& id, const std::string& type, int minute, const std::string& content,
           const std::string& more = "") {
    EXPECT_TRUE(session
                    .add(R"({"id":")" + id + R"(","type":")" + type +
                         R"(","timestamp":"2026-01-05T10:0)" + std::to_string(minute) +
                         R"(:00Z","content":)" + content + more + "}")
                    .ok());
  }
  Store store;
  Session session{store};
};

TEST_F(ToolContext, ACallAndItsResultAreBothIn) {
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"text":"kayak"}}]})")), "call result");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"ids":["again"]}}]})")),
            "again other");
  EXPECT_EQ(ids_of(session.context(R"({"pinned":["result"],"retrieve":[]})")), "call result");
}

// Over by the clock, whatever ages are counted to.
TEST_F(ToolContext, AResultThatHasExpiredDoesNotComeWithItsCall) {
  add("brief", "tool_call", 6, R"({"name":"tide","call_id":"c9"})");
  add("over", "tool_result", 7, R"({"name":"tide","result":"low","call_id":"c9"})",
      R"(,"expires_at":"2026-01-06T00:00:00Z")");
  EXPECT_EQ(
      ids_of(session.context(R"({"now":"2026-01-05T12:00:00Z","pinned":["brief"],"retrieve":[]})")),
      "brief");
}

TEST_F(ToolContext, ACallAndItsResultAreBothOutWhenOneDoesNotFit) {
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"ids":["call","noise"]}}],
                                       "budget":{"max_tokens":60}})")),
            "noise");
}

TEST_F(ToolContext, TheyAreTakenOneByOneWhenTheyNeedNotStayTogether) {
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"ids":["call","noise"]}}],
                                       "budget":{"max_tokens":60},"keep_together":false})")),
            "call noise");
}

TEST_F(ToolContext, ReferencesTieAResultToItsCallToo) {
  add("plain", "tool_call", 6, R"({"name":"look"})");
  add("seen", "tool_result", 7, R"({"result":"a heron"})", R"(,"references":["plain"])");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"text":"heron"}}]})")), "plain seen");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"ids":["plain"]}}]})")), "plain seen");
}

// A reference and a call id that disagree: the reference says which call it is, and other results
// of that id stay with their own call.
TEST_F(ToolContext, AReferenceDecidesAgainstTheCallId) {
  add("one", "tool_call", 6, R"({"name":"look","call_id":"c5"})");
  add("two", "tool_call", 6, R"({"name":"look","call_id":"c6"})");
  add("of_one", "tool_result", 7, R"({"result":"a swan","call_id":"c5"})");
  add("of_two", "tool_result", 8, R"({"result":"a heron","call_id":"c5"})",
      R"(,"references":["two"])");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"text":"heron"}}]})")), "two of_two");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"text":"swan"}}]})")), "one of_one");
}

// Whichever of them is found first.
TEST_F(ToolContext, AResultByReferenceBringsTheResultsThatItsCallHasById) {
  add("one", "tool_call", 6, R"({"name":"look","call_id":"c5"})");
  add("by_id", "tool_result", 7, R"({"result":"a swan","call_id":"c5"})");
  add("by_name", "tool_result", 8, R"({"result":"a heron"})", R"(,"references":["one"])");
  add("by_both", "tool_result", 9, R"({"result":"a grebe","call_id":"c6"})",
      R"(,"references":["one"])");
  for (const char* found : {"swan", "heron", "grebe", "look"}) {
    EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"text":")" + std::string(found) +
                                     R"("}}]})")),
              "one by_id by_name by_both")
        << found;
    EXPECT_EQ(ids_of(session.context(R"({"exclude_ids":["one"],"retrieve":[{"query":{"text":")" +
                                     std::string(found) + R"("}}]})")),
              found == std::string("look") ? "" : "by_id by_name by_both")
        << found;
  }
}

TEST_F(ToolContext, ARelationToACallDoesNotTieAResultToIt) {
  add("one", "tool_call", 6, R"({"name":"look","call_id":"c5"})");
  add("two", "tool_call", 7, R"({"name":"look","call_id":"c6"})");
  add("seen", "tool_result", 8, R"({"result":"a heron","call_id":"c6"})",
      R"(,"relations":{"contradicts":["one"]})");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"text":"heron"}}]})")), "two seen");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"ids":["one"]}}]})")), "one");
}

// The index leaves out of what an entry refers to what its own id starts with.
TEST_F(ToolContext, SoDoReferencesToIdsThatStartAsTheirOwn) {
  add("mem_01a", "tool_call", 6, R"({"name":"look"})");
  add("mem_01b", "tool_result", 7, R"({"result":"a heron"})", R"(,"references":["mem_01a"])");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"text":"heron"}}]})")),
            "mem_01a mem_01b");
  EXPECT_EQ(ids_of(session.context(R"({"retrieve":[{"query":{"ids":["mem_01a"]}}]})")),
            "mem_01a mem_01b");
}

TEST_F(ToolContext, ACallWithMoreResultsThanTokensIsLeftOut) {
  add("loud", "tool_call", 6, R"({"name":"tail","call_id":"c2"})");
  const auto add_results = [&](int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) {
      lines += R"({"type":"tool_result","timestamp":"2026-01-05T10:07:00Z",)"
               R"("content":{"call_id":"c2"}})"
               "\n";
    }
    ASSERT_TRUE(session.add_batch(lines).ok());
  };
  add_results(60);
  add("after", "message", 8, R"({"role":"user","message":"stop"})");
  const std::string request = R"({"retrieve":[{"recency":62}],"budget":{"max_tokens":)";
  EXPECT_EQ(ids_of(session.context(request + "50}}")), "after");
  EXPECT_EQ(session.context(request + "9000}}").object().at("items").as_array().size(), 62U);
  add_results(4096 - 60);
  const std::string wide = R"({"retrieve":[{"query":{"ids":["loud","after"]}}],)"
                           R"("budget":{"max_tokens":900000}})";
  EXPECT_EQ(session.context(wide).object().at("items").as_array().size(), 4098U);
  add_results(1);  // with more no time is spent on them
  EXPECT_EQ(ids_of(session.context(wide)), "after");
}

TEST_F(ToolContext, AResultWithoutItsCallStandsAlone) {
  ASSERT_TRUE(session.remove("call").ok());
  const std::string request = R"({"retrieve":[{"query":{"text":"kayak"}},{"recency":1}],"format":)";
  EXPECT_EQ(ids_of(session.context(request + R"("markdown"})")), "result again other");
  // No message answers a call that is not there: it is something that is recalled.
  const Answer chat =
      session.context(R"({"retrieve":[{"types":["tool_result"],"recency":9}],"format":"chat"})");
  const json::array messages = json::parse(text_of(chat)).as_array();
  ASSERT_EQ(messages.size(), 3U) << text_of(chat);
  EXPECT_EQ(messages[0].as_object().at("role").as_string(), "user");
  EXPECT_TRUE(holds(messages[0].as_object().at("content").as_string(), "kayak"));
  EXPECT_EQ(messages[1].as_object().at("role").as_string(), "assistant");
  EXPECT_EQ(messages[2].as_object().at("role").as_string(), "tool");
  EXPECT_EQ(messages[2].as_object().at("tool_call_id").as_string(), "c1");
}

}  // namespace
}  // namespace varve_test
