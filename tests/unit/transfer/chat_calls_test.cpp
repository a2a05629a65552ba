#include "transfer/chat_calls.h"

#include <gtest/gtest.h>

namespace varve::transfer {
namespace {

using Ids = std::vector<std::string>;

class ChatCallsTest : public testing::Test {
 protected:
  json::Value message(std::string_view text) {
    EXPECT_TRUE(document_.parse(text).ok()) << text;
    return document_.root();
  }
  void note(std::string_view text, const std::string& id) { calls_.note(message(text), id); }
  Ids answered_by(std::string_view text) { return calls_.answered_by(message(text)); }

  ChatCalls calls_;
  json::Document document_;
};

TEST_F(ChatCallsTest, AreFoundByTheirIdsInEveryForm) {
  note(R"({"role":"assistant","content":null,"tool_calls":[{"id":"a"},{"id":"b"}]})", "one");
  note(R"({"role":"assistant","content":["x",{"type":"tool_use","id":"c"}]})", "two");
  note(R"({"role":"assistant","content":[{"type":"server_tool_use","id":"d"}]})", "three");
  note(R"({"role":"assistant","content":[{"type":"mcp_tool_use","id":"e"}]})", "four");
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"e","content":"x"})"), Ids{"four"});
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"b","content":"x"})"), Ids{"one"});
  EXPECT_EQ(answered_by(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"c"},)"
                        R"({"type":"tool_result","tool_use_id":"a"},)"
                        R"({"type":"tool_result","tool_use_id":"b"},)"
                        R"({"type":"tool_result","tool_use_id":"d"}]})"),
            (Ids{"two", "one", "three"}));
}

TEST_F(ChatCallsTest, OfFunctionsAreFoundByTheirName) {
  note(R"({"role":"assistant","content":null,"function_call":{"name":"f"}})", "one");
  EXPECT_EQ(answered_by(R"({"role":"function","name":"f","content":"x"})"), Ids{"one"});
  EXPECT_EQ(answered_by(R"({"role":"user","name":"f","content":"x"})"), Ids{});
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"f","content":"x"})"), Ids{});
}

TEST_F(ChatCallsTest, OfOneIdTheLastIsMeant) {
  note(R"({"role":"assistant","tool_calls":[{"id":"a"}]})", "one");
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"a"})"), Ids{"one"});
  note(R"({"role":"assistant","tool_calls":[{"id":"a"}]})", "two");
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"a"})"), Ids{"two"});
}

// As a context tells a call: the id is that of the call, and no result of it.
TEST_F(ChatCallsTest, AreNeitherResultsNorAreResultsCalls) {
  const std::string call = R"({"role":"assistant","tool_call_id":"a","content":"f 1"})";
  const std::string result = R"({"role":"tool","tool_call_id":"a","content":"x"})";
  note(call, "call");
  EXPECT_EQ(answered_by(call), Ids{});
  note(result, "result");
  EXPECT_EQ(answered_by(result), Ids{"call"});
}

TEST_F(ChatCallsTest, AreTheLatestOnly) {
  note(R"({"role":"assistant","tool_calls":[{"id":"first"},{"id":"second"}]})", "one");
  for (size_t i = 1; i < ChatCalls::kCallsMax; ++i) {
    note(R"({"role":"assistant","tool_calls":[{"id":"other"}]})", "two");
  }
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"first"})"), Ids{});
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"second"})"), Ids{"one"});
}

TEST_F(ChatCallsTest, OfOtherShapesAreNotNoted) {
  for (const auto text :
       {R"({"role":"assistant","tool_calls":{"id":"a"}})",
        R"({"role":"x","tool_calls":["a",null]})",
        R"({"role":"x","tool_calls":[{"id":1}],"function_call":"f"})", R"({"role":"x","id":"a"})",
        R"({"role":"x","content":[{"type":"text","id":"a"},{"id":"a"}]})",
        R"({"role":"x","content":{"type":"tool_use","id":"a"}})"}) {
    note(text, "one");
  }
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"a"})"), Ids{});
  EXPECT_EQ(answered_by(R"({"role":"function","name":"f"})"), Ids{});
}

TEST_F(ChatCallsTest, AreNotAnsweredByOtherShapes) {
  note(R"({"role":"assistant","tool_calls":[{"id":"a"}],"function_call":{"name":"f"}})", "one");
  for (const auto text :
       {R"({"role":"tool","tool_call_id":1})", R"({"role":"tool","tool_call_id":["a"]})",
        R"({"role":"tool"})", R"({"role":"function","name":["f"]})", R"({"role":"function"})",
        R"({"role":"user","content":[{"type":"text","tool_use_id":"a"},"a",null]})",
        R"({"role":"user","content":[{"type":"tool_result","id":"a"}]})",
        R"({"role":"user","content":{"type":"tool_result","tool_use_id":"a"}})"}) {
    EXPECT_EQ(answered_by(text), Ids{}) << text;
  }
}

}  // namespace
}  // namespace varve::transfer
