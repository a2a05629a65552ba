// One part of a message, as each program writes it.
#include "transfer/chat_part.h"

#include <gtest/gtest.h>

#include <string>

#include "parsed_tree.h"

namespace varve::transfer {
namespace {

TEST(ChatPart, ACallTellsItsToolAndItsIdInEachForm) {
  for (const auto call : {R"({"type":"tool_use","id":"a","name":"f"})",
                          R"({"type":"tool-call","toolCallId":"a","toolName":"f"})",
                          R"({"type":"tool-f","state":"output-available","toolCallId":"a"})",
                          R"({"functionCall":{"id":"a","name":"f"}})",
                          R"({"toolUse":{"toolUseId":"a","name":"f"}})"}) {
    const json::Tree part = parsed(call);
    const json::Tree* found = call_in(part);
    ASSERT_NE(found, nullptr) << call;
    EXPECT_EQ(tool_name_of(*found), "f") << call;
    ASSERT_NE(id_of_call(*found), nullptr) << call;
    EXPECT_EQ(id_of_call(*found)->text(), "a") << call;
    EXPECT_EQ(result_in(part), nullptr) << call;
  }
}

TEST(ChatPart, AResultTellsTheIdOfItsCallInEachForm) {
  for (const auto result :
       {R"({"type":"tool_result","tool_use_id":"a","id":"own"})",
        R"({"type":"tool_result","toolUseId":"a"})", R"({"type":"tool-result","toolCallId":"a"})",
        R"({"functionResponse":{"id":"a"}})", R"({"toolResult":{"toolUseId":"a"}})"}) {
    const json::Tree part = parsed(result);
    const json::Tree* found = result_in(part);
    ASSERT_NE(found, nullptr) << result;
    ASSERT_NE(call_id_of(*found), nullptr) << result;
    EXPECT_EQ(call_id_of(*found)->text(), "a") << result;
    EXPECT_EQ(call_in(part), nullptr) << result;
  }
}

TEST(ChatPart, WhatIsNeitherIsNone) {
  for (const auto other : {R"({"type":"text","text":"tool_use"})", R"({"type":"tool-f"})",
                           R"({"functionCall":null})", R"({"toolUse":"f"})"}) {
    EXPECT_EQ(call_in(parsed(other)), nullptr) << other;
    EXPECT_EQ(result_in(parsed(other)), nullptr) << other;
  }
}

TEST(ChatPart, SomeCallsHaveWhatCameOut) {
  EXPECT_TRUE(has_outcome(parsed(R"({"type":"server_tool_use"})")));
  EXPECT_TRUE(has_outcome(parsed(R"({"type":"tool-call","providerExecuted":true})")));
  EXPECT_TRUE(has_outcome(parsed(R"({"type":"dynamic-tool","state":"output-error"})")));
  EXPECT_FALSE(has_outcome(parsed(R"({"type":"tool_use"})")));
  EXPECT_FALSE(has_outcome(parsed(R"({"type":"tool-call","providerExecuted":false})")));
}

TEST(ChatPart, WhatHasNoTextIsToldByItsKind) {
  EXPECT_EQ(text_of_part(parsed(R"({"type":"file","file":{"filename":"a.pdf"}})")), "[file a.pdf]");
  EXPECT_EQ(text_of_part(parsed(R"({"image":{"format":"png"}})")), "[image]");
  EXPECT_EQ(text_of_part(parsed(R"({"type":"thinking","thinking":"hm"})")), "");
  EXPECT_EQ(text_of_content(parsed(R"(["a",{"type":"text","text":"b"},{"type":"image"}])")),
            "a\n\nb\n\n[image]");
}

}  // namespace
}  // namespace varve::transfer
