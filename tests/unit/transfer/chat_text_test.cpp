// What the messages of a chat say to who reads them.
#include "transfer/chat_text.h"

#include <gtest/gtest.h>

#include <string>

#include "json/tree.h"

namespace varve::transfer {
namespace {

json::Tree tree(std::string_view text) {
  auto parsed = json::Tree::parse(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : json::Tree();
}

std::string call_text(std::string_view call) {
  const auto calls = calls_in(tree(R"({"tool_calls":[)" + std::string(call) + "]}"));
  return calls.empty() ? "none" : calls.front().text;
}

TEST(ChatText, ACallIsItsNameAndTheFirstThatItIsGiven) {
  EXPECT_EQ(call_text(R"({"id":"1","name":"f","arguments":{"a":1},"input":"b"})"), "f {\"a\":1}");
  EXPECT_EQ(call_text(R"({"id":"1","name":"f","arguments":null,"input":"b"})"), "f b");
  EXPECT_EQ(call_text(R"({"id":"1","name":"f","arguments":null})"), "f");
  EXPECT_EQ(call_text(R"({"id":"1","arguments":"x"})"), "none") << "it tells no name";
}

TEST(ChatText, WhatIsSaidBesideResultsIsNothingWhereThereAreNone) {
  const std::string text = R"({"type":"text","text":"so"})";
  EXPECT_EQ(said_beside_results(tree("[" + text + R"(,{"type":"tool_result"}])")), "so");
  EXPECT_EQ(said_beside_results(tree("[" + text + "]")), "");
}

}  // namespace
}  // namespace varve::transfer
