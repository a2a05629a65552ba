// What becomes of the lines of memory servers and of the messages of chats.
#include "transfer/convert.h"

#include <gtest/gtest.h>

#include <string>

#include "base/ids.h"

namespace varve::transfer {
namespace {

class Convert : public testing::Test {
 protected:
  json::Value parse(std::string_view text) {
    EXPECT_TRUE(document_.parse(text).ok()) << text;
    return document_.root();
  }
  json::Tree knowledge(std::string_view text) {
    auto entry = entry_of_knowledge(parse(text));
    EXPECT_TRUE(entry.ok()) << entry.status().message();
    return entry.ok() ? *entry : json::Tree();
  }
  json::Tree message(std::string_view text, uint64_t ordinal = 0) {
    auto entry = entry_of_message(parse(text), ordinal);
    EXPECT_TRUE(entry.ok()) << entry.status().message();
    return entry.ok() ? *entry : json::Tree();
  }
  static std::string content(const json::Tree& entry) { return entry.get("content")->canonical(); }

  json::Document document_;
};

TEST_F(Convert, TellsKindsApart) {
  const std::vector<std::pair<std::string, ImportFormat>> cases = {
      {R"({"type":"finding","content":1})", ImportFormat::kJsonl},
      {R"({"type":"entity","name":"a","entityType":"b","observations":[]})", ImportFormat::kMcp},
      {R"({"type":"relation","from":"a","to":"b","relationType":"c"})", ImportFormat::kMcp},
      // Entries of our own may have such types.
      {R"({"type":"entity","name":"a","entityType":"b","content":1})", ImportFormat::kJsonl},
      {R"({"type":"relation","content":1})", ImportFormat::kJsonl},
      {R"({"type":"relation","from":"a","to":"b"})", ImportFormat::kJsonl},
      {R"({"type":"function_call","call_id":"c","role":"user"})", ImportFormat::kJsonl},
      {R"({"role":"user","content":"x"})", ImportFormat::kChat},
      {R"({"role":"assistant","tool_calls":[]})", ImportFormat::kChat},
      // As the APIs of OpenAI (responses) and Anthropic answer.
      {R"({"type":"message","role":"user","content":"x"})", ImportFormat::kChat},
      {R"({"id":"msg_1","type":"message","role":"assistant","content":[]})", ImportFormat::kChat},
      {R"({"id":"m","type":"message","role":"user","content":"x"})", ImportFormat::kJsonl},
      {R"({"type":"message","role":"user","content":"x","tags":["a"]})", ImportFormat::kJsonl},
      {R"({"type":"message","role":"user","content":[],"checksum":"x"})", ImportFormat::kJsonl},
      {R"({"type":"finding","role":"user","content":"x"})", ImportFormat::kJsonl},
      {R"({"type":"message","role":"user"})", ImportFormat::kJsonl},
      {R"({"type":"message","content":[]})", ImportFormat::kJsonl},
      {R"({"role":1,"content":"x"})", ImportFormat::kJsonl},
      // Null is what is not there.
      {R"({"type":null,"role":"user","content":"x"})", ImportFormat::kChat},
      {R"({"id":null,"type":"message","role":"user","content":"x","tags":null})",
       ImportFormat::kChat},
      {R"({"type":"function_call","call_id":"c","role":null,"content":null})", ImportFormat::kChat},
      {R"({"type":"message","role":"user","content":null})", ImportFormat::kJsonl},
      {"[1]", ImportFormat::kJsonl},
      {"null", ImportFormat::kJsonl},
  };
  for (const auto& [text, kind] : cases) {
    EXPECT_EQ(kind_of(parse(text), ImportFormat::kAuto), kind) << text;
    EXPECT_EQ(kind_of(parse(text), ImportFormat::kJsonl), ImportFormat::kJsonl) << text;
    EXPECT_EQ(kind_of(parse(text), ImportFormat::kJson), ImportFormat::kJsonl) << text;
    EXPECT_EQ(kind_of(parse(text), ImportFormat::kMcp), ImportFormat::kMcp) << text;
    EXPECT_EQ(kind_of(parse(text), ImportFormat::kChat), ImportFormat::kChat) << text;
  }
}

TEST_F(Convert, IdsAreTheBeginningOfASha256) {
  // echo -n Ann | sha256sum
  EXPECT_EQ(stable_id("entity", "Ann"), "entity_17239b6e250110330eda64a29c610bf1");
  EXPECT_TRUE(is_valid_id(stable_id("relation", "x")));
}

TEST_F(Convert, AnEntityKeepsEverythingItHad) {
  const json::Tree entry = knowledge(R"({"type":"entity","name":"Ann","entityType":"Team Lead",)"
                                     R"("observations":["a","b",3],"x":{}})");
  EXPECT_EQ(entry.get_string("type"), "finding");
  EXPECT_EQ(entry.get_string("id"), stable_id("entity", "Ann"));
  EXPECT_EQ(entry.get("tags")->canonical(), R"(["Team-Lead"])");
  EXPECT_EQ(content(entry),
            R"({"entityType":"Team Lead","message":"Ann (Team Lead): a; b","name":"Ann",)"
            R"("observations":["a","b",3],"x":{}})");
}

TEST_F(Convert, AnEntityWhoseKindCannotBeATagHasNone) {
  const std::string kind(65, 'k');
  const json::Tree entry =
      knowledge(R"({"type":"entity","name":"Ann","entityType":")" + kind + R"("})");
  EXPECT_EQ(entry.get("tags"), nullptr);
  EXPECT_EQ(entry.get("content")->get_string("entityType"), kind);
}

TEST_F(Convert, ARelationNamesTheEntitiesAtItsEnds) {
  const json::Tree entry =
      knowledge(R"({"type":"relation","from":"Ann","to":"Bo","relationType":"knows"})");
  const std::string ann = stable_id("entity", "Ann");
  const std::string bo = stable_id("entity", "Bo");
  EXPECT_EQ(entry.get("references")->canonical(), "[\"" + ann + "\",\"" + bo + "\"]");
  EXPECT_EQ(entry.get("relations")->canonical(),
            "{\"from\":[\"" + ann + "\"],\"to\":[\"" + bo + "\"]}");
  EXPECT_EQ(content(entry),
            R"({"from":"Ann","message":"Ann knows Bo","relationType":"knows","to":"Bo"})");
  const json::Tree itself =
      knowledge(R"({"type":"relation","from":"Ann","to":"Ann","relationType":"knows"})");
  EXPECT_EQ(itself.get("references")->canonical(), "[\"" + ann + "\"]");
}

TEST_F(Convert, RelationsThatReadAlikeHaveIdsOfTheirOwn) {
  const json::Tree one =
      knowledge(R"({"type":"relation","from":"a b","to":"d","relationType":"c"})");
  const json::Tree other =
      knowledge(R"({"type":"relation","from":"a","to":"d","relationType":"b c"})");
  EXPECT_NE(one.get_string("id"), other.get_string("id"));
}

TEST_F(Convert, WhatIsNoKnowledgeIsRefused) {
  for (const auto text :
       {R"({"type":"entity","name":1,"entityType":"b"})", R"({"type":"entity","name":"a"})",
        R"({"type":"relation","from":"a"})", R"({"type":"other"})", "[]", "1"}) {
    EXPECT_EQ(entry_of_knowledge(parse(text)).code(), Code::kInvalidArgument) << text;
  }
}

TEST_F(Convert, AMessageOfTextIsReadable) {
  const json::Tree entry = message(R"({"role":"user","content":"Hello","name":"ann"})");
  EXPECT_EQ(entry.get_string("type"), "message");
  EXPECT_EQ(content(entry), R"({"message":"Hello","name":"ann","role":"user"})");
  EXPECT_EQ(entry.get("timestamp"), nullptr);
}

TEST_F(Convert, MessagesAreToldApartByPlaceAndContent) {
  const std::string hello = R"({"role":"user","content":"Hello"})";
  EXPECT_EQ(message(hello, 3).get_string("id"),
            message(R"({ "content" : "Hello", "role":"user"})", 3).get_string("id"));
  EXPECT_NE(message(hello, 3).get_string("id"), message(hello, 4).get_string("id"));
  EXPECT_NE(message(hello, 3).get_string("id"),
            message(R"({"role":"user","content":"hello"})", 3).get_string("id"));
}

// By it a conversation is known that an earlier build imported.
TEST_F(Convert, TheIdOfAMessageDoesNotChange) {
  const std::string call = R"({"functionCall":{"name":"get_weather","args":{"city":"Paris"}}})";
  EXPECT_EQ(
      message(R"({"role":"model","parts":[{"text":"I look."},)" + call + "]}", 1).get_string("id"),
      "chat_577538d334c8ef53aa0e532115d30779");
}

TEST_F(Convert, PartsAreKeptUnlessTheyAreOneText) {
  EXPECT_EQ(content(message(R"({"role":"user","content":[{"type":"text","text":"Hello"}]})")),
            R"({"message":"Hello","role":"user"})");
  EXPECT_EQ(content(message(R"({"role":"user","content":["Hello"]})")),
            R"({"message":"Hello","role":"user"})");
  EXPECT_EQ(
      content(message(
          R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})")),
      R"({"message":"a\n\nb","parts":[{"text":"a","type":"text"},{"text":"b","type":"text"}],)"
      R"("role":"user"})");
  EXPECT_EQ(content(message(R"({"role":"user","content":[{"type":"text","text":"a","cache":1}]})")),
            R"({"message":"a","parts":[{"cache":1,"text":"a","type":"text"}],"role":"user"})");
  EXPECT_EQ(content(message(R"({"role":"user","content":[{"type":"image","source":{"d":1}}]})")),
            R"({"message":"[image]","parts":[{"source":{"d":1},"type":"image"}],"role":"user"})");
}

TEST_F(Convert, PartsOfEveryKindAreReadable) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:x"}})",
       "a\n\n[image_url]"},
      {R"({"type":"input_audio","input_audio":{"data":"x"}})", "[input_audio]"},
      {R"({"type":"file","file":{"filename":"a.pdf","file_data":"x"}})", "[file a.pdf]"},
      {R"({"type":"resource_link","uri":"file:///a","name":"a"})", "[resource_link a]"},
      {R"({"type":"resource","resource":{"uri":"file:///a","text":"inside"}})", "inside"},
      {R"({"type":"document","title":"b","source":{"type":"base64","data":"x"}})", "[document b]"},
      {R"({"type":"document","source":{"type":"text","data":"inside"}})", "inside"},
      {R"({"type":"document","source":{"type":"content","content":[{"text":"inside"}]}})",
       "inside"},
      {R"({"type":"refusal","refusal":"No."})", "No."},
      {R"({"type":"tool_result","content":[{"type":"image","source":{}}]})", "[image]"},
      {R"({"type":"tool_result","content":"gone","is_error":true})", "error: gone"},
      {R"({"type":"tool_result","is_error":true})", "error"},
      {R"({"type":"tool_result","content":"ok","is_error":false})", "ok"},
      {R"({"type":"tool_use","name":"f"},{"type":"tool_result"})", ""},
      {R"({"type":"thinking","thinking":"Hm"},{"type":"redacted_thinking","data":"x"})", ""},
      {R"({"type":"reasoning","text":"Hm"},{"type":"text","text":"Yes."})", "Yes."},
      {R"({"text":"Hm","thought":true},{"text":"Yes.","thought":false})", "Yes."},
      {R"({"type":"web_search_tool_result","content":[{"type":"web_search_result"}]})", ""},
      {R"({"type":"text","text":{"value":"Hello","annotations":[]}})", "Hello"},
      {R"({"type":"text","text":{"value":7}})", ""},
      {R"({"x":1},7,null)", ""},
  };
  for (const auto& [parts, text] : cases) {
    const json::Tree entry = message(R"({"role":"user","content":[)" + parts + "]}");
    EXPECT_EQ(entry.get("content")->get_string("message"), text) << parts;
    EXPECT_EQ(entry.get("content")->get("message") == nullptr, text.empty()) << parts;
  }
  EXPECT_EQ(content(message(
                R"({"role":"assistant","content":null,"audio":{"id":"x","transcript":"Hello"}})")),
            R"({"audio":{"id":"x","transcript":"Hello"},"message":"Hello","role":"assistant"})");
}

// As the Model Context Protocol has messages.
TEST_F(Convert, WhatGeminiRunsAndWhatCameOutIsReadable) {
  const auto told = [this](const std::string& parts) {
    const json::Tree entry = message(R"({"role":"model","parts":[{"text":"So."},)" + parts + "]}");
    return entry.get("content")->get_string("message");
  };
  EXPECT_EQ(told(R"({"executableCode":{"language":"PYTHON","code":"1+1"}},)"
                 R"({"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"2"}})"),
            "So.\n\n1+1\n\n2");
  EXPECT_EQ(told(R"({"text":null,"executable_code":{"code":"1/0"},"thought":null},)"
                 R"({"code_execution_result":{"outcome":"OUTCOME_FAILED","output":"no"}})"),
            "So.\n\n1/0\n\nerror: no");
  EXPECT_EQ(told(R"({"codeExecutionResult":{"outcome":"OUTCOME_DEADLINE_EXCEEDED"}})"),
            "So.\n\nerror");
  EXPECT_EQ(told(R"({"codeExecutionResult":{"outcome":"OUTCOME_OK"}})"), "So.");
}

TEST_F(Convert, WhatAToolGaveIsReadableAsCohereHasIt) {
  const json::Tree entry = message(R"({"role":"tool","tool_call_id":"a","content":[)"
                                   R"({"type":"document","document":{"data":"{\"t\":7}"}},)"
                                   R"({"type":"document","document":{"data":{"t":8}}}]})");
  EXPECT_EQ(entry.get("content")->get_string("message"), "{\"t\":7}\n\n{\"t\":8}");
}

TEST_F(Convert, AContentThatIsOnePartIsReadable) {
  EXPECT_EQ(content(message(R"({"role":"user","content":{"type":"text","text":"Hi"}})")),
            R"({"message":"Hi","role":"user"})");
  EXPECT_EQ(content(message(R"({"role":"user","content":{"type":"image","data":"x"}})")),
            R"({"message":"[image]","parts":{"data":"x","type":"image"},"role":"user"})");
  EXPECT_EQ(content(message(R"({"role":"user","content":{"a":1}})")),
            R"({"parts":{"a":1},"role":"user"})");
}

TEST_F(Convert, PartsWithoutAContentAreSaidToo) {
  EXPECT_EQ(content(message(R"({"role":"model","parts":[{"text":"a"},{"text":"b"}]})")),
            R"({"message":"a\n\nb","parts":[{"text":"a"},{"text":"b"}],"role":"model"})");
  const std::string call = R"({"parts":[{"functionCall":{"name":"f"}}],"role":"model"})";
  EXPECT_EQ(content(message(call)), call);
  const std::string result =
      R"("parts":[{"functionResponse":{"name":"f","response":{"result":"sun"}}}],"role":"user"})";
  EXPECT_EQ(content(message("{" + result)), R"({"message":"f sun",)" + result);
  const std::string blocks = R"("blocks":[{"block_type":"text","text":"a"}],)";
  EXPECT_EQ(content(message("{" + blocks + R"("role":"user"})")),
            "{" + blocks + R"("message":"a","role":"user"})");
}

TEST_F(Convert, CallsAndResultsOfToolsHaveTheirTypes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"role":"tool","tool_call_id":"1","content":"x"})", "tool_result"},
      {R"({"role":"function","name":"f","content":"x"})", "tool_result"},
      {R"({"role":"assistant","content":null,"tool_calls":[{"id":"1"}]})", "tool_call"},
      {R"({"role":"assistant","content":"x","tool_calls":[]})", "message"},
      {R"({"role":"assistant","content":null,"function_call":{"name":"f"}})", "tool_call"},
      {R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use"}]})",
       "tool_call"},
      {R"({"role":"user","content":[{"type":"tool_result","content":"x"}]})", "tool_result"},
      {R"({"role":"user","content":[{"type":"tool_result"},{"type":"text","text":"a"}]})",
       "tool_result"},
      {R"({"role":"user","content":[{"type":"tool_result"},"a"]})", "tool_result"},
      {R"({"role":"assistant","content":"x","tool_call_id":"1"})", "message"},
      {R"({"role":"assistant","content":"x","tool_call_id":null})", "message"},
      // A part without a list.
      {R"({"role":"assistant","content":{"type":"tool_use","id":"1","name":"f"}})", "tool_call"},
      {R"({"role":"user","content":{"type":"tool_result","toolUseId":"1"}})", "tool_result"},
      {R"({"role":"user","content":{"type":"text","text":"x"}})", "message"},
      // Gemini's.
      {R"({"role":"model","parts":[{"text":"x"},{"functionCall":{"name":"f"}}]})", "tool_call"},
      {R"({"role":"model","parts":[{"function_call":{"name":"f"}}]})", "tool_call"},
      {R"({"role":"user","parts":[{"functionResponse":{"name":"f"}}]})", "tool_result"},
      {R"({"role":"user","parts":[{"function_response":{"name":"f"}},{"text":"x"}]})",
       "tool_result"},
      {R"({"role":"model","parts":[{"text":"x","function_call":null,"function_response":null}]})",
       "message"},
      // As the SDKs of several APIs write every message.
      {R"({"role":"assistant","content":"x","function_call":null,"tool_calls":null})", "message"},
  };
  for (const auto& [text, type] : cases) {
    EXPECT_EQ(message(text).get_string("type"), type) << text;
  }
  EXPECT_EQ(content(message(cases[2].first)), R"({"role":"assistant","tool_calls":[{"id":"1"}]})");
  EXPECT_EQ(message(cases[6].first).get("content")->get_string("message"), "x");
}

// Items of OpenAI's responses stand beside the messages.
// What Vercel's AI SDK sends to a model, and what it keeps to show it again.
TEST_F(Convert, CallsAndResultsOfTheAiSdkAreThoseOfTools) {
  const json::Tree call = message(R"({"role":"assistant","content":[{"type":"text","text":"So."},)"
                                  R"({"type":"tool-call","toolCallId":"a","toolName":"f"}]})");
  EXPECT_EQ(call.get_string("type"), "tool_call");
  EXPECT_EQ(call.get("content")->get_string("message"), "So.");
  const auto result = [this](const std::string& outcome) {
    const json::Tree entry = message(R"({"role":"tool","content":[{"type":"tool-result",)"
                                     R"("toolCallId":"a","toolName":"f",)" +
                                     outcome + "}]}");
    return entry.get_string("type") + ": " + entry.get("content")->get_string("message");
  };
  EXPECT_EQ(result(R"("output":{"type":"text","value":"sun"})"), "tool_result: sun");
  EXPECT_EQ(result(R"("output":{"type":"json","value":{"t":7}})"), R"(tool_result: {"t":7})");
  EXPECT_EQ(result(R"("output":{"type":"error-text","value":"no"})"), "tool_result: error: no");
  EXPECT_EQ(result(R"("output":{"type":"content","value":[{"type":"text","text":"sun"},)"
                   R"({"type":"media","data":"iVBOR"}]})"),
            "tool_result: sun\n\n[media]");
  EXPECT_EQ(result(R"("result":{"t":7},"isError":false)"), R"(tool_result: {"t":7})");
  const auto kept = [this](const std::string& part) {
    const json::Tree entry = message(R"({"role":"assistant","parts":[{"type":"step-start"},)" +
                                     part + R"(,{"type":"text","text":"So."}]})");
    return entry.get_string("type") + ": " + entry.get("content")->get_string("message");
  };
  EXPECT_EQ(kept(R"({"type":"tool-f","state":"output-available","output":{"t":7}})"),
            "tool_call: {\"t\":7}\n\nSo.");
  EXPECT_EQ(kept(R"({"type":"dynamic-tool","toolName":"f","state":"output-error",)"
                 R"("errorText":"no"})"),
            "tool_call: error: no\n\nSo.");
  EXPECT_EQ(kept(R"({"type":"tool-f","state":"input-streaming"})"), "tool_call: So.");
  EXPECT_EQ(kept(R"({"type":"tool-f"})"), "message: [tool-f]\n\nSo.") << "nobody's";
}

// Their parts have no type.
TEST_F(Convert, CallsAndResultsOfBedrockAreThoseOfTools) {
  const auto told = [this](const std::string& parts) {
    const json::Tree entry = message(R"({"role":"user","content":[)" + parts + "]}");
    return entry.get_string("type") + ": " + entry.get("content")->get_string("message");
  };
  EXPECT_EQ(told(R"({"reasoningContent":{"reasoningText":{"text":"Hm"}}},{"text":"So."},)"
                 R"({"toolUse":{"toolUseId":"a","name":"f","input":{}}})"),
            "tool_call: So.");
  EXPECT_EQ(told(R"({"toolResult":{"toolUseId":"a","status":"success","content":[)"
                 R"({"text":"sun"},{"json":{"t":7}},{"image":{"format":"png","source":{}}}]}})"),
            "tool_result: sun\n\n{\"t\":7}\n\n[image]");
  EXPECT_EQ(told(R"({"toolResult":{"toolUseId":"a","status":"error","content":[{"text":"no"}]}})"),
            "tool_result: error: no");
  EXPECT_EQ(told(R"({"document":{"name":"a","format":"pdf","source":{}}},{"video":{}})"),
            "message: [document a]\n\n[video]");
}

TEST_F(Convert, CallsAndOutputsOfResponsesAreThoseOfTools) {
  const std::string call =
      R"({"arguments":"{}","call_id":"c","id":"fc_1","name":"f","type":"function_call"})";
  const std::string output = R"({"call_id":"c","output":"sun","type":"function_call_output"})";
  for (const auto& item : {call, output}) {
    EXPECT_EQ(kind_of(parse(item), ImportFormat::kAuto), ImportFormat::kChat);
    EXPECT_EQ(content(message(item)), item);
  }
  EXPECT_EQ(message(call).get_string("type"), "tool_call");
  EXPECT_EQ(message(output).get_string("type"), "tool_result");
  EXPECT_EQ(content(message(R"({"call_id":"c","type":"custom_tool_call_output","output":[)"
                            R"({"type":"input_text","text":"sun"},{"type":"input_image"}]})")),
            R"({"call_id":"c","message":"sun\n\n[input_image]","parts":[)"
            R"({"text":"sun","type":"input_text"},{"type":"input_image"}],)"
            R"("type":"custom_tool_call_output"})");
  for (const auto text :
       {R"({"type":"function_call","name":"f"})", R"({"type":"reasoning","call_id":"c"})",
        R"({"type":"function_call","call_id":"c","content":"x"})"}) {
    EXPECT_EQ(kind_of(parse(text), ImportFormat::kAuto), ImportFormat::kJsonl) << text;
  }
}

TEST_F(Convert, CallsOfOpenAisOwnToolsAreThoseOfTools) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"type":"web_search_call","id":"ws_1","action":{"query":"ferries"}})", "tool_call"},
      {R"({"type":"mcp_call","id":"mcp_1","name":"f","arguments":"{}","output":"x"})", "tool_call"},
      {R"({"type":"local_shell_call","call_id":"c","action":{"command":["ls"]}})", "tool_call"},
      {R"({"type":"local_shell_call_output","id":"c","output":"x"})", "tool_result"},
      {R"({"type":"computer_call","id":"cu_1","call_id":"c"})", "tool_call"},
      {R"({"type":"apply_patch_call_output","call_id":"c","output":"done"})", "tool_result"},
  };
  for (const auto& [item, type] : cases) {
    EXPECT_EQ(kind_of(parse(item), ImportFormat::kAuto), ImportFormat::kChat) << item;
    EXPECT_EQ(message(item).get_string("type"), type) << item;
    EXPECT_EQ(content(message(item)), json::Tree::parse(item)->canonical());
  }
  // A call that a program is to answer has the id by which it does so.
  for (const auto text :
       {R"({"type":"local_shell_call","id":"ls_1"})", R"({"type":"mcp_call"})",
        R"({"type":"shell_call_output","output":"x"})", R"({"type":"call","call_id":"c"})"}) {
    EXPECT_EQ(kind_of(parse(text), ImportFormat::kAuto), ImportFormat::kJsonl) << text;
  }
}

TEST_F(Convert, OfOutputsInPartsIsTheirText) {
  const auto told = [this](const std::string& output) {
    return message(R"({"type":"shell_call_output","call_id":"c","output":)" + output + "}")
        .get("content")
        ->get_string("message");
  };
  EXPECT_EQ(told(R"([{"stdout":"a","stderr":"b"},{"stdout":"c","stderr":""}])"), "a\n\nb\n\nc");
  EXPECT_EQ(told(R"({"type":"computer_screenshot","image_url":"data:image/png;base64,AAAA"})"),
            "[computer_screenshot]");
  // Of a function's object nobody knows what is its text.
  EXPECT_EQ(told(R"({"degrees":21})"), "");
}

TEST_F(Convert, TheMessagesOwnMembersAreNotReplaced) {
  EXPECT_EQ(content(message(R"({"role":"user","message":"mine","parts":1,"content":["a",{}]})")),
            R"({"content_parts":["a",{}],"content_text":"a","message":"mine","parts":1,)"
            R"("role":"user"})");
  EXPECT_EQ(content(message(R"({"role":"user","message":1,"content_text":2,"content":"a"})")),
            R"({"content_text":2,"content_text_":"a","message":1,"role":"user"})");
  EXPECT_EQ(content(message(R"({"role":"user","message":null,"parts":null,"content":["a",{}]})")),
            R"({"message":"a","parts":["a",{}],"role":"user"})");
}

TEST_F(Convert, WhatStandsUnderMessageAlreadyStays) {
  EXPECT_EQ(message(R"({"role":"user","message":"own","parts":["a"]})")
                .get("content")
                ->get_string("message"),
            "own");
  EXPECT_EQ(content(message(R"({"role":"user","content":""})")), R"({"message":"","role":"user"})");
  EXPECT_EQ(knowledge(R"({"type":"entity","name":"a","entityType":"b","message":"own"})")
                .get("content")
                ->get_string("message"),
            "own");
}

TEST_F(Convert, ANumberIsOfMillisecondsFromTheYear1973On) {
  EXPECT_EQ(
      message(R"({"role":"user","content":"x","timestamp":200000000000})").get_string("timestamp"),
      "1976-05-03T19:33:20.000Z");
  EXPECT_EQ(
      message(R"({"role":"user","content":"x","timestamp":99999999999})").get_string("timestamp"),
      "5138-11-16T09:46:39.000Z");
}

TEST_F(Convert, TimesOfSeveralFormsAreRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("timestamp":"2026-01-10T15:20:00.5+01:00")", "2026-01-10T14:20:00.500Z"},
      {R"("created_at":1768054800)", "2026-01-10T14:20:00.000Z"},
      {R"("created":1768054800.25)", "2026-01-10T14:20:00.250Z"},
      {R"("createdAt":"2026-01-10T14:20:00Z")", "2026-01-10T14:20:00.000Z"},
      {R"("timestamp":1768054800000)", "2026-01-10T14:20:00.000Z"},
      {R"("timestamp":1768054800000000)", "2026-01-10T14:20:00.000Z"},
      {R"("timestamp":1768054800000000000)", "2026-01-10T14:20:00.000Z"},
      {R"("timestamp":"1768054800.25")", "2026-01-10T14:20:00.250Z"},
      {R"("timestamp":"2026-01-10T14:20:00.123456")", "2026-01-10T14:20:00.123Z"},
      {R"("timestamp":"2026-01-10 14:20:00")", "2026-01-10T14:20:00.000Z"},
      {R"("timestamp":"2026-01-10T15:20:00+0100")", "2026-01-10T14:20:00.000Z"},
      {R"("timestamp":"2026-01-10 15:50:00.5 +0130")", "2026-01-10T14:20:00.500Z"},
      {R"("timestamp":"2026-01-10 13:20:00.25-01")", "2026-01-10T14:20:00.250Z"},
      {R"("timestamp":"2026-01-10 14:20:00 UTC")", "2026-01-10T14:20:00.000Z"},
      {R"("timestamp":"2026-01-10 14:20:00 CET")", ""},
      {R"("timestamp":"2026-01-10T14:20:00+2400")", ""},
      {R"("timestamp":"2026-01-10T14:20:00+1")", ""},
      {R"("timestamp":"2026-01-10 ")", ""},
      {R"("timestamp":"1.2.3")", ""},
      {R"("timestamp":"")", ""},
      {R"("timestamp":"2026-01-10")", ""},
      {R"("timestamp":"yesterday","created":0)", "1970-01-01T00:00:00.000Z"},
      {R"("timestamp":"yesterday")", ""},
      {R"("timestamp":-5)", ""},
      {R"("timestamp":1e300)", ""},
      {R"("timestamp":null)", ""},
  };
  for (const auto& [member, expected] : cases) {
    const json::Tree entry = message(R"({"role":"user","content":"x",)" + member + "}");
    EXPECT_EQ(entry.get_string("timestamp"), expected) << member;
    EXPECT_NE(content(entry).find(member.substr(0, member.find(':'))), std::string::npos);
  }
}

TEST_F(Convert, WhatIsNoMessageIsRefused) {
  for (const auto text : {R"({"content":"x"})", R"({"role":1})", "[]", "\"user\""}) {
    EXPECT_EQ(entry_of_message(parse(text), 0).code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace varve::transfer
