#include "transfer/chat_calls.h"

#include <gtest/gtest.h>

#include "transfer/convert.h"

namespace varve::transfer {
namespace {

using Ids = std::vector<std::string>;

class ChatCallsTest : public testing::Test {
 protected:
  json::Tree entry_of(std::string_view text) {
    EXPECT_TRUE(document_.parse(text).ok()) << text;
    auto entry = entry_of_message(document_.root(), 0);
    EXPECT_TRUE(entry.ok()) << text;
    return entry.ok() ? *entry : json::Tree();
  }
  void note(std::string_view text, const std::string& id) {
    json::Tree entry = entry_of(text);
    entry.set("id", json::Tree::string(id));
    calls_.note(entry);
  }
  Ids answered_by(std::string_view text) { return calls_.answered_by(entry_of(text)); }

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

// Gemini's, as its interface and its library for Python write them.
TEST_F(ChatCallsTest, AmongPartsAreFoundByTheirIdsOrTheirNames) {
  note(R"({"role":"model","parts":[{"text":"I look."},)"
       R"({"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"name":"g"}}]})",
       "one");
  note(R"({"role":"model","parts":[{"text":null,"function_call":{"id":null,"name":"h"}}]})", "two");
  const auto answer = [this](const std::string& inner) {
    return answered_by(R"({"role":"user","parts":[)" + inner + "]}");
  };
  EXPECT_EQ(answer(R"({"functionResponse":{"id":"a","name":"g","response":{}}})"), Ids{"one"});
  EXPECT_EQ(answer(R"({"functionResponse":{"name":"g"}})"), Ids{"one"});
  EXPECT_EQ(answer(R"({"functionResponse":{"name":"f"}})"), Ids{"one"});
  EXPECT_EQ(answer(R"({"function_response":{"id":null,"name":"h"},"text":null})"), Ids{"two"});
  EXPECT_EQ(answer(R"({"functionResponse":{"name":"h"}},{"functionResponse":{"name":"g"}})"),
            (Ids{"two", "one"}));
  EXPECT_EQ(answer(R"({"functionResponse":{"id":"b","name":"f"}})"), Ids{}) << "of another id";
  EXPECT_EQ(answer(R"({"functionResponse":{"name":"a"}})"), Ids{}) << "an id is no name";
  EXPECT_EQ(answer(R"({"functionResponse":null},{"functionResponse":"f"})"), Ids{});
}

// Ollama's.
TEST_F(ChatCallsTest, WithoutAnIdInTheResultAreFoundByTheirName) {
  note(R"({"role":"assistant","content":"","tool_calls":[{"function":{"name":"f"}}]})", "one");
  note(R"({"role":"assistant","tool_calls":[{"id":"b","function":{"name":"g"}}]})", "two");
  for (const std::string id : {"", R"("tool_call_id":null,)"}) {
    EXPECT_EQ(answered_by(R"({"role":"tool",)" + id + R"("tool_name":"f"})"), Ids{"one"});
    EXPECT_EQ(answered_by(R"({"role":"tool",)" + id + R"("name":"f","tool_name":null})"),
              Ids{"one"});
    EXPECT_EQ(answered_by(R"({"role":"tool",)" + id + R"("name":"g"})"), Ids{"two"});
  }
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"a","name":"f"})"), Ids{});
  EXPECT_EQ(answered_by(R"({"role":"user","tool_name":"f"})"), Ids{});
}

// As the Model Context Protocol has messages.
TEST_F(ChatCallsTest, OfAPartWithoutAListAreThoseOfItsMessage) {
  note(R"({"role":"assistant","content":{"type":"tool_use","id":"a","name":"f"}})", "one");
  EXPECT_EQ(answered_by(R"({"role":"user","content":{"type":"tool_result","toolUseId":"a"}})"),
            Ids{"one"});
  EXPECT_EQ(answered_by(R"({"role":"user","content":[{"type":"tool_result","toolUseId":"a"}]})"),
            Ids{"one"});
}

TEST_F(ChatCallsTest, OfTheAiSdkAreFoundByTheirIds) {
  note(R"({"role":"assistant","content":[{"type":"tool-call","toolCallId":"a","toolName":"f"}]})",
       "one");
  note(R"({"role":"assistant","content":[{"type":"tool-call","toolCallId":"b","toolName":"f"}]})",
       "two");
  const auto answer = [this](const std::string& members) {
    return answered_by(R"({"role":"tool","content":[{"type":"tool-result",)" + members + "}]}");
  };
  EXPECT_EQ(answer(R"("toolCallId":"a","toolName":"f")"), Ids{"one"});
  EXPECT_EQ(answer(R"("toolName":"f")"), Ids{"two"});
}

TEST_F(ChatCallsTest, OfBedrockAreFoundByTheirIds) {
  note(R"({"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f"}}]})", "one");
  note(R"({"role":"assistant","content":[{"toolUse":{"toolUseId":"b","name":"f"}}]})", "two");
  EXPECT_EQ(answered_by(R"({"role":"user","content":[{"toolResult":{"toolUseId":"a"}}]})"),
            Ids{"one"});
}

TEST_F(ChatCallsTest, OfItemsAreFoundByTheirIds) {
  note(R"({"type":"function_call","call_id":"a","id":"fc_1","name":"f","role":null})", "one");
  EXPECT_EQ(answered_by(R"({"type":"function_call_output","call_id":"a","content":null})"),
            Ids{"one"});
  EXPECT_EQ(answered_by(R"({"type":"function_call_output","call_id":"fc_1"})"), Ids{});
  EXPECT_EQ(answered_by(R"({"type":"function_call","call_id":"a"})"), Ids{});
}

TEST_F(ChatCallsTest, AnOutputOfALocalShellNamesItsCallByItsOwnId) {
  note(R"({"type":"local_shell_call","call_id":"a","id":"ls_1"})", "one");
  note(R"({"type":"shell_call","call_id":"b","id":"sh_1"})", "two");
  EXPECT_EQ(answered_by(R"({"type":"local_shell_call_output","id":"a","output":"x"})"), Ids{"one"});
  EXPECT_EQ(answered_by(R"({"type":"shell_call_output","id":"a","call_id":"b"})"), Ids{"two"});
}

TEST_F(ChatCallsTest, AreFoundWhereThePartsHaveAnotherName) {
  note(R"({"role":"x","parts":"own","content":[{"type":"tool_use","id":"a"}]})", "one");
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"a"})"), Ids{"one"});
}

TEST_F(ChatCallsTest, OfOneIdTheLastIsMeant) {
  note(R"({"role":"assistant","tool_calls":[{"id":"a"}]})", "one");
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"a"})"), Ids{"one"});
  note(R"({"role":"assistant","tool_calls":[{"id":"a"}]})", "two");
  EXPECT_EQ(answered_by(R"({"role":"tool","tool_call_id":"a"})"), Ids{"two"});
}

TEST_F(ChatCallsTest, AreNeitherResultsNorAreResultsCalls) {
  const std::string call = R"({"role":"assistant","tool_call_id":"a","tool_calls":[{"id":"a"}]})";
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
        R"({"role":"x","content":[{"type":"text","id":"a"},{"id":"a"}]})"}) {
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
        R"({"role":"user","content":[{"type":"tool_result","id":"a"}]})"}) {
    EXPECT_EQ(answered_by(text), Ids{}) << text;
  }
}

}  // namespace
}  // namespace varve::transfer
