// What the messages of a chat say to who reads them.
#include "transfer/chat_text.h"

#include <gtest/gtest.h>

#include <string>

#include "parsed_tree.h"

namespace varve::transfer {
namespace {

std::string call_text(std::string_view call) {
  const auto calls = calls_in(parsed(R"({"tool_calls":[)" + std::string(call) + "]}"));
  return calls.empty() ? "none" : calls.front().text;
}

TEST(ChatText, ACallIsItsNameAndTheFirstThatItIsGiven) {
  EXPECT_EQ(call_text(R"({"id":"1","name":"f","arguments":{"a":1},"input":"b"})"), "f {\"a\":1}");
  EXPECT_EQ(call_text(R"({"id":"1","name":"f","arguments":null,"input":"b"})"), "f b");
  EXPECT_EQ(call_text(R"({"id":"1","name":"f","arguments":null})"), "f");
  EXPECT_EQ(call_text(R"({"id":"1","arguments":"x"})"), "none") << "it tells no name";
}

std::string result_text(const std::string& response) {
  const auto results = results_in(parsed(R"({"parts":[{"functionResponse":)" + response + "}]}"));
  return results.empty() ? "none" : results.front().text;
}

// Gemini's: an object, which has what it has under a name that somebody chose.
TEST(ChatText, AResponseIsItsNameAndWhatItGave) {
  const auto given = [](const std::string& response) {
    return result_text(R"({"name":"f","response":)" + response + "}");
  };
  EXPECT_EQ(given(R"({"result":"sun"})"), "f sun");
  EXPECT_EQ(given(R"({"output":{"b":1,"a":[]}})"), R"(f {"a":[],"b":1})");
  EXPECT_EQ(given(R"({"temperature":20})"), R"(f {"temperature":20})");
  EXPECT_EQ(given(R"({"result":"sun","page":1})"), R"(f {"page":1,"result":"sun"})");
  EXPECT_EQ(given(R"({"error":"no such city"})"), "f error: no such city");
  EXPECT_EQ(given(R"("sun")"), "f sun");
  EXPECT_EQ(given("null"), "f");
  EXPECT_EQ(result_text(R"({"response":{"result":"sun"}})"), "sun");
}

TEST(ChatText, APartMayStandWithoutAList) {
  const auto calls = calls_in(parsed(R"({"parts":{"type":"tool_use","id":"a","name":"f"}})"));
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls.front().call_id, "a");
  const auto results = results_in(
      parsed(R"({"parts":{"type":"tool_result","toolUseId":"a","content":"x","isError":true}})"));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results.front().call_id, "a");
  EXPECT_EQ(results.front().text, "error: x");
  EXPECT_TRUE(is_unsaid(parsed(R"({"type":"tool_use"})")));
  EXPECT_FALSE(is_unsaid(parsed(R"({"type":"text"})")));
}

TEST(ChatText, AnAnsweredCallStandsBeforeWhatCameOutOfIt) {
  const json::Tree parts = parsed(
      R"([{"type":"text","text":"I look."},{"type":"server_tool_use","name":"f","input":{"a":1}},)"
      R"({"type":"mcp_tool_result","content":"sun"},{"type":"tool-g","toolCallId":"b",)"
      R"("state":"output-available","input":{},"output":"rain"},{"type":"text","text":"So."}])");
  EXPECT_EQ(with_answered_calls(text_of_content(parts), parts),
            "I look.\nf {\"a\":1}\n\nsun\ng {}\nrain\n\nSo.");
  // Of a text that is not theirs nobody knows where it stands.
  EXPECT_EQ(with_answered_calls("Another.", parts), "Another.\nf {\"a\":1}\ng {}");
  EXPECT_EQ(with_answered_calls("", parts), "f {\"a\":1}\ng {}");
  const json::Tree open = parsed(R"([{"type":"tool_use","id":"t","name":"f","input":{}}])");
  EXPECT_EQ(with_answered_calls("I look.", open), "I look.");
}

TEST(ChatText, WhatIsSaidBesideResultsIsNothingWhereThereAreNone) {
  const std::string text = R"({"type":"text","text":"so"})";
  EXPECT_EQ(said_beside_results(parsed("[" + text + R"(,{"type":"tool_result"}])")), "so");
  EXPECT_EQ(said_beside_results(parsed("[" + text + "]")), "");
  EXPECT_EQ(said_beside_results(parsed("[" + text + R"(,{"functionResponse":{"name":"f"}}])")),
            "so");
}

}  // namespace
}  // namespace varve::transfer
