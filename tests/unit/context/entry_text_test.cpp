#include "context/entry_text.h"

#include <gtest/gtest.h>

#include <string>

namespace varve::context {
namespace {

EntryText read(const std::string& type, const std::string& content) {
  json::Document scratch;
  auto text = read_entry_text(R"({"content":)" + content + "}", type, scratch);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : EntryText();
}

std::string shown(const std::string& type, const std::string& content) {
  const EntryText text = read(type, content);
  return text.label + ": " + text.text;
}

TEST(EntryText, IsWhatWasSaidAndByWhom) {
  EXPECT_EQ(shown("message", R"({"role":"user","message":"hi"})"), "user: hi");
  EXPECT_EQ(shown("message", R"({"role":"Ann","content":"hi","model":"m"})"), "Ann: hi");
  EXPECT_EQ(shown("finding", R"("tea")"), "finding: tea");
  EXPECT_EQ(shown("finding", R"({"text":"tea"})"), "finding: tea");
  EXPECT_EQ(shown("decision", R"({"what":"tea","n":1})"), R"(decision: {"n":1,"what":"tea"})");
  EXPECT_EQ(shown("finding", "7"), "finding: 7");
  EXPECT_EQ(shown("message", R"({"role":"user","content":[1]})"), "user: [1]");
  EXPECT_EQ(shown("message", R"({"role":"a\nb","message":"x"})"), "a b: x");
  EXPECT_EQ(shown("finding", R"({"t\u0065xt":"t\u00e9a"})"), "finding: t\u00e9a");
  EXPECT_EQ(shown("finding", R"({ "b" : [ 1.0, "\u0041" ], "a" : 2 })"),
            R"(finding: {"a":2,"b":[1,"A"]})");
  EXPECT_EQ(shown("finding", R"({"a\"b":1,"text":"tea"})"), "finding: tea");
  EXPECT_EQ(shown("finding", R"({"a\"b":1})"), R"(finding: {"a\"b":1})");
  EXPECT_EQ(shown("tool_result", R"({"a\"b":1,"name":"f"})"), R"(tool_result: f {"a\"b":1})");
}

TEST(EntryText, OfToolsIsTheNameAndWhatWentInOrCameOut) {
  EXPECT_EQ(shown("tool_call", R"({"name":"f","arguments":{"a":1}})"), R"(tool_call: f {"a":1})");
  EXPECT_EQ(shown("tool_call", R"({"tool":"f"})"), "tool_call: f");
  EXPECT_EQ(shown("tool_result", R"({"name":"f","result":"ok"})"), "tool_result: f ok");
  EXPECT_EQ(shown("tool_result", R"({"role":"tool","message":"ok"})"), "tool_result: ok");
  EXPECT_EQ(shown("tool_result", R"({"x":1})"), R"(tool_result: {"x":1})");
  EXPECT_EQ(shown("tool_result", R"("ok")"), "tool_result: ok");
  EXPECT_EQ(shown("tool_result", R"({"tool":"f","call_id":"c","status":200,"body":[1]})"),
            R"(tool_result: f {"body":[1],"status":200})");
  EXPECT_EQ(shown("tool_result", R"({"call_id":"c","status":200})"),
            R"(tool_result: {"call_id":"c","status":200})");
}

TEST(EntryText, OfAMemberThatIsNullIsThatOfTheNext) {
  EXPECT_EQ(shown("message", R"({"role":"user","message":null,"text":"hi"})"), "user: hi");
  EXPECT_EQ(shown("message", R"({"role":"assistant","content":null})"), "assistant: ");
  EXPECT_EQ(shown("message", R"({"role":"assistant","audio":null})"), "assistant: ");
  EXPECT_EQ(shown("message", R"({"role":"assistant","content":null,"n":1})"),
            R"(assistant: {"content":null,"n":1,"role":"assistant"})");
  EXPECT_EQ(shown("message", R"({"role":"assistant","content":null,"refusal":"I will not."})"),
            "assistant: I will not.");
  EXPECT_EQ(shown("message", R"({"role":"assistant","message":"","refusal":"I will not."})"),
            "assistant: I will not.");
  EXPECT_EQ(shown("message", R"({"role":"assistant","message":"","refusal":null})"), "assistant: ");
  EXPECT_EQ(shown("message", R"({"role":"assistant","message":"Yes.","refusal":null})"),
            "assistant: Yes.");
  EXPECT_EQ(shown("finding", R"({"text":null})"), R"(finding: {"text":null})");
  EXPECT_EQ(shown("tool_result", R"({"name":"f","result":null})"), "tool_result: f null");
  EXPECT_EQ(shown("tool_result", R"({"name":null,"message":"ok"})"), "tool_result: ok");
  EXPECT_EQ(shown("tool_result", R"({"role":"tool","message":null,"name":"f"})"), "tool_result: f");
  EXPECT_EQ(shown("tool_result", R"({"role":"user","message":null,"parts":[)"
                                 R"({"functionResponse":{"name":"f","response":{"n":1}}}]})"),
            R"(tool_result: f {"n":1})");
  EXPECT_EQ(shown("tool_call", R"({"name":"f","arguments":null})"), "tool_call: f");
  EXPECT_EQ(shown("tool_call", R"({"name":"f","args":null,"id":7})"), "tool_call: f");
}

// As an import leaves a message without text: with the time and the thoughts that it came with.
TEST(EntryText, OfAMessageThatSaysNothingIsEmptyWhateverCameWithIt) {
  const std::string more =
      R"("timestamp":"2026-01-10T14:20:00Z","createdAt":1768054800,"reasoning_content":"Hm")";
  EXPECT_EQ(shown("message", R"({"role":"assistant",)" + more + "}"), "assistant: ");
  EXPECT_EQ(shown("message", R"({"role":"assistant","message":"",)" + more + "}"), "assistant: ");
  EXPECT_EQ(shown("message", R"({"role":"assistant","message":"","usage":{"output_tokens":1},)"
                             R"("id":"m","model":"x","name":"bot","type":"message"})"),
            "assistant: ");
  for (const std::string name : {"reasoning", "reasoning_details", "thinking", "thinking_blocks"}) {
    const std::string thought = R"(")" + name + R"(":["Hm"])";
    EXPECT_EQ(shown("message", R"({"role":"assistant","message":"",)" + thought + "}"),
              "assistant: ");
    EXPECT_NE(shown("finding", R"({"role":"CTO",)" + thought + "}"), "CTO: ") << "a fact";
  }
  EXPECT_EQ(shown("message", R"({"role":"user","message":"","file":"a.pdf"})"),
            R"(user: {"file":"a.pdf","message":"","role":"user"})");
  EXPECT_EQ(shown("message", R"({"role":"user","message":"","parts":[{"type":"image"}],"n":1})"),
            "user: [image]");
  EXPECT_EQ(shown("tool_result", R"({"role":"tool","tool_call_id":"c",)" + more + "}"),
            "tool_result: ");
}

TEST(EntryText, OfAMessageHasTheNameOfTheOneWhoSaysIt) {
  const auto name_in = [](const std::string& type, const std::string& members) {
    return read(type, R"({"message":"hi",)" + members + "}").name;
  };
  EXPECT_EQ(name_in("message", R"("name":"Ann","role":"user")"), "Ann");
  EXPECT_EQ(name_in("message", R"("name":" `\nLi\nNa","role":"user")"), "Li Na");
  for (const char* members :
       {R"("name":"user","role":"user")", R"("name":"Ann")", R"("name":7,"role":"user")",
        R"("name":null,"role":"user")", R"("name":"","role":"user")"}) {
    EXPECT_EQ(name_in("message", members), "") << members;
  }
  // Of a tool it is the tool's, of a fact the one that the fact is about.
  for (const char* type : {"tool_call", "tool_result", "finding"}) {
    EXPECT_EQ(name_in(type, R"("name":"Ann","role":"user")"), "") << type;
  }
}

// OpenAI's own tools have no name but their kind, and some have what came out beside.
TEST(EntryText, OfACallOfOpenAisOwnToolsIsWhatItDid) {
  EXPECT_EQ(shown("tool_call", R"({"type":"web_search_call","id":"w","status":"completed",)"
                               R"("action":{"query":"ferries"}})"),
            R"(tool_call: web_search {"action":{"query":"ferries"}})");
  EXPECT_EQ(shown("tool_call", R"({"type":"local_shell_call","id":"l","call_id":"c",)"
                               R"("action":{"command":["ls"]}})"),
            R"(tool_call: local_shell {"action":{"command":["ls"]}})");
  EXPECT_EQ(shown("tool_call", R"({"type":"image_generation_call","id":"i","result":"AAAA",)"
                               R"("revised_prompt":"a swan"})"),
            R"(tool_call: image_generation {"revised_prompt":"a swan"})");
  const std::string call = R"({"type":"mcp_call","id":"m","name":"roll","arguments":"{}",)";
  EXPECT_EQ(shown("tool_call", call + R"("output":"7","error":null})"), "tool_call: roll {}\n7");
  EXPECT_EQ(shown("tool_call", call + R"("output":null,"error":"no dice"})"),
            "tool_call: roll {}\nerror: no dice");
  // With the id by which a result would name it, it awaits one.
  EXPECT_EQ(shown("tool_call", call + R"("call_id":"c","output":"7"})"), "tool_call: roll {}");
  // Of another call, nobody knows that it is one of these.
  EXPECT_EQ(shown("tool_call", R"({"type":"phone_call","to":"Ann"})"),
            R"(tool_call: {"to":"Ann","type":"phone_call"})");
}

TEST(EntryText, OfAFactAboutSomebodyIsAllThatIsKnown) {
  const std::string ann = R"({"name":"Ann","role":"CTO"})";
  EXPECT_EQ(shown("finding", ann), "CTO: " + ann);
  EXPECT_EQ(shown("message", ann), "CTO: ");
  EXPECT_EQ(shown("finding", R"({"role":"CTO","name":""})"), "CTO: ");
}

// The model would take what failed for done.
TEST(EntryText, OfAResultHasItsErrorToo) {
  for (const char* nothing : {"null", R"("")"}) {
    EXPECT_EQ(shown("tool_result", R"({"name":"f","result":)" + std::string(nothing) +
                                       R"(,"error":"no such file"})"),
              "tool_result: f no such file");
  }
  EXPECT_EQ(shown("tool_result", R"({"name":"f","result":"half","error":{"code":5}})"),
            "tool_result: f half\nerror: {\"code\":5}");
  EXPECT_EQ(shown("tool_result", R"({"result":[1],"error":true})"),
            "tool_result: [1]\nerror: true");
  for (const char* none : {"null", "false", R"("")", "0", "{}", "[]"}) {
    EXPECT_EQ(
        shown("tool_result", R"({"name":"f","result":"ok","error":)" + std::string(none) + "}"),
        "tool_result: f ok");
  }
  EXPECT_EQ(shown("tool_result", R"({"role":"tool","message":"no such file","is_error":true})"),
            "tool_result: no such file\nerror: true");
  EXPECT_EQ(shown("tool_result", R"({"role":"tool","message":"ok","isError":false})"),
            "tool_result: ok");
  EXPECT_EQ(shown("tool_result", R"({"role":"tool","tool_call_id":"c"})"), "tool_result: ");
}

// As servers of the Model Context Protocol answer.
TEST(EntryText, OfAResultInPartsIsTheirText) {
  const std::string said = R"({"type":"text","text":"2 files"})";
  const std::string picture = R"({"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"})";
  EXPECT_EQ(
      shown("tool_result", R"({"name":"f","content":[)" + said + "," + picture + R"(],"n":1})"),
      "tool_result: f 2 files\n\n[image]");
  EXPECT_EQ(shown("tool_result", R"({"call_id":"c","result":[)" + picture + "]}"),
            "tool_result: [image]");
  EXPECT_EQ(shown("tool_result", R"({"name":"f","content":[)" + said + R"(],"isError":true})"),
            "tool_result: f 2 files\nerror: true");
  EXPECT_EQ(shown("tool_result", R"({"name":"f","output":[{"type":"input_text","text":"a"},)"
                                 R"({"type":"input_image","image_url":"data:,x"}]})"),
            "tool_result: f a\n\n[input_image]");
  EXPECT_EQ(shown("tool_result", R"({"name":"f","content":[{"type":"image","source":{"data":"x"}},)"
                                 R"({"type":"text","text":"a","annotations":null,"extra":null}]})"),
            "tool_result: f [image]\n\na");
  EXPECT_EQ(shown("tool_result", R"({"name":"f","content":[{"type":"text","text":""}]})"),
            "tool_result: f");
}

TEST(EntryText, OfAResultThatOnlyLooksLikePartsIsAllOfIt) {
  for (const std::string result :
       {R"([])", R"([1,"a"])", R"([{"text":"Inn","type":"hotel"}])", R"([{"text":"Inn"}])",
        R"([{"text":"a","type":"text"},{"name":"Inn","type":"hotel"}])",
        R"([{"text":7,"type":"text"}])", R"([{"beds":2,"text":"Inn","type":"text"}])",
        R"([{"name":"Inn","type":"image"}])", R"([{"type":"image"}])"}) {
    EXPECT_EQ(shown("tool_result", R"({"name":"f","result":)" + result + "}"),
              "tool_result: f " + result);
  }
  EXPECT_EQ(shown("tool_call", R"({"name":"f","arguments":[{"text":"a","type":"text"}]})"),
            R"(tool_call: f [{"text":"a","type":"text"}])");
}

// As an import leaves messages of the APIs of OpenAI and Anthropic.
TEST(EntryText, OfAMessageWithCallsHasEachOfThemAfterWhatWasSaid) {
  const std::string two =
      R"("tool_calls":[)"
      R"({"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":1}"}},)"
      R"({"id":"b","type":"custom","custom":{"name":"g","input":"x"}}])";
  EXPECT_EQ(shown("tool_call", R"({"role":"assistant","message":"I look.",)" + two + "}"),
            "tool_call: I look.\nf {\"n\":1}\ng x");
  EXPECT_EQ(shown("tool_call", R"({"role":"assistant","name":"bot",)" + two + "}"),
            "tool_call: f {\"n\":1}\ng x");
  EXPECT_EQ(shown("message", R"({"role":"assistant","message":"I look.",)" + two + "}"),
            "assistant: I look.\nf {\"n\":1}\ng x");
  EXPECT_EQ(shown("tool_call", R"({"role":"assistant","message":"I look.","parts":[
                {"type":"text","text":"I look."},
                {"type":"tool_use","id":"t","name":"f","input":{"b":1,"a":[]}}]})"),
            R"(tool_call: I look.
f {"a":[],"b":1})");
  EXPECT_EQ(shown("tool_call", R"({"role":"assistant",)"
                               R"("function_call":{"name":"f","arguments":"{}"}})"),
            "tool_call: f {}");
  EXPECT_EQ(shown("tool_call", R"({"role":"ai","tool_calls":[)"
                               R"({"id":"a","type":"tool_call","name":"f","args":{"n":1}}]})"),
            "tool_call: f {\"n\":1}");
  // A content of parts that was recorded as it is.
  EXPECT_EQ(shown("message", R"({"role":"assistant","message":[{"type":"text","text":"I look."},
                {"type":"tool_use","id":"t","name":"f","input":{"n":1}}]})"),
            "assistant: I look.\nf {\"n\":1}");
  EXPECT_EQ(shown("message", R"({"role":"assistant","content":[{"type":"thinking","thinking":"Hm"},
                {"type":"tool_use","id":"t","name":"f","input":{}}]})"),
            "assistant: f {}");
  EXPECT_EQ(shown("finding", R"({"content":[{"type":"tool_use","name":"f"}]})"),
            R"(finding: [{"name":"f","type":"tool_use"}])");
  // What names no tool is no call of one.
  EXPECT_EQ(shown("message", R"({"role":"user","message":"hi","tool_calls":["f",{"id":"1"},7]})"),
            "user: hi");
  EXPECT_EQ(
      shown("message", R"({"role":"user","message":"hi","parts":7,"function_call":"tool_use"})"),
      "user: hi");
}

// As an import leaves them, and of an earlier build's without the text of the result.
TEST(EntryText, OfGeminisPartsIsWhatTheyCallAndGive) {
  const std::string call = R"({"functionCall":{"name":"f","args":{"n":1}}})";
  EXPECT_EQ(shown("tool_call", R"({"role":"model","parts":[)" + call + "]}"),
            "tool_call: f {\"n\":1}");
  EXPECT_EQ(shown("tool_call", R"({"role":"model","message":"I look.","parts":[)"
                               R"({"text":"I look.","function_call":null},)"
                               R"({"text":null,"function_call":{"name":"f","args":{"n":1}}}]})"),
            "tool_call: I look.\nf {\"n\":1}");
  EXPECT_EQ(shown("message", R"({"role":"model","parts":[)" + call + "]}"), "model: f {\"n\":1}");
  const std::string result =
      R"("parts":[{"functionResponse":{"id":"a","name":"f","response":{"result":"sun"}}}]})";
  EXPECT_EQ(shown("tool_result", R"({"role":"user","message":"f sun",)" + result),
            "tool_result: f sun");
  EXPECT_EQ(shown("message", R"({"role":"user",)" + result), "user: f sun");
  const EntryText read_result =
      read("tool_result", R"({"role":"user","message":"f sun",)" + result);
  ASSERT_EQ(read_result.turns.size(), 1U);
  EXPECT_EQ(read_result.turns.front().call_id, "a");
}

// As an import leaves messages of the Model Context Protocol.
TEST(EntryText, OfAPartWithoutAListIsWhatItSays) {
  EXPECT_EQ(shown("tool_call", R"({"role":"assistant","parts":)"
                               R"({"type":"tool_use","id":"a","name":"f","input":{"n":1}}})"),
            "tool_call: f {\"n\":1}");
  const std::string result = R"({"role":"user","message":"sun","parts":)"
                             R"({"type":"tool_result","toolUseId":"a","content":"sun"}})";
  EXPECT_EQ(shown("tool_result", result), "tool_result: sun");
  ASSERT_EQ(read("tool_result", result).turns.size(), 1U);
  EXPECT_EQ(read("tool_result", result).turns.front().call_id, "a");
  EXPECT_EQ(shown("message", R"({"role":"user","parts":{"type":"image","data":"x"}})"),
            "user: [image]");
  EXPECT_EQ(shown("message", R"({"role":"user","parts":{"a":1}})"), R"(user: {"a":1})");
  EXPECT_EQ(shown("finding", R"({"name":"kit","parts":{"text":"a"}})"),
            R"(finding: {"name":"kit","parts":{"text":"a"}})");
}

TEST(EntryText, OfTheAiSdksPartsIsWhatTheyCallAndGive) {
  const EntryText call = read("tool_call", R"({"role":"assistant","parts":[{"type":"tool-call",)"
                                           R"("toolCallId":"a","toolName":"f","input":{"n":1}}]})");
  EXPECT_EQ(call.text, R"(f {"n":1})");
  ASSERT_EQ(call.turns.size(), 1U);
  EXPECT_EQ(call.turns.front().call_id, "a");
  const EntryText result =
      read("tool_result", R"({"role":"tool","message":"sun","parts":[{"type":"tool-result",)"
                          R"("toolCallId":"a","toolName":"f","result":"sun"}]})");
  EXPECT_EQ(result.text, "sun");
  ASSERT_EQ(result.turns.size(), 1U);
  EXPECT_EQ(result.turns.front().call_id, "a");
  EXPECT_EQ(result.turns.front().tool, "f");
  // With what came out beside it, a call awaits no result.
  for (const std::string part : {R"("type":"tool-f","state":"output-available")",
                                 R"("type":"dynamic-tool","toolName":"f","state":"x")",
                                 R"("type":"tool-call","toolName":"f","providerExecuted":true)"}) {
    const EntryText kept = read("tool_call", R"({"role":"assistant","message":"sun","parts":[{)" +
                                                 part + R"(,"toolCallId":"a","input":{}}]})");
    EXPECT_EQ(kept.text, "sun\nf {}") << part;
    EXPECT_TRUE(kept.is_answered) << part;
  }
}

TEST(EntryText, OfBedrocksPartsIsWhatTheyCallAndGive) {
  const EntryText call = read("tool_call", R"({"role":"assistant","parts":[{"toolUse":)"
                                           R"({"toolUseId":"a","name":"f","input":{"n":1}}}]})");
  EXPECT_EQ(call.text, R"(f {"n":1})");
  ASSERT_EQ(call.turns.size(), 1U);
  EXPECT_EQ(call.turns.front().call_id, "a");
  const EntryText result =
      read("tool_result", R"({"role":"user","message":"sun","parts":[{"toolResult":)"
                          R"({"toolUseId":"a","content":[{"text":"sun"}]}}]})");
  ASSERT_EQ(result.turns.size(), 1U);
  EXPECT_EQ(result.turns.front().call_id, "a");
  EXPECT_EQ(result.turns.front().text, "sun");
  EXPECT_EQ(shown("message", R"({"role":"assistant","parts":[{"reasoningContent":{}}]})"),
            "assistant: ");
}

// As Ollama has the name of a tool.
TEST(EntryText, OfAResultHasTheNameOfItsTool) {
  EXPECT_EQ(shown("tool_result", R"({"role":"tool","tool_name":"f","message":"sun"})"),
            "tool_result: f sun");
  EXPECT_EQ(shown("tool_result", R"({"tool_name":"f","status":200})"),
            R"(tool_result: f {"status":200})");
}

// Pictures and files of Gemini's, in both its spellings, and of Ollama's: their bytes say nothing.
TEST(EntryText, OfDataIsItsKind) {
  const auto said = [](const std::string& members) {
    return shown("message", R"({"role":"user",)" + members + "}");
  };
  const std::string image = R"({"inlineData":{"mimeType":"image/png","data":"iVBOR"}})";
  const std::string file = R"({"text":null,"inline_data":null,"file_data":{"display_name":"a.pdf",)"
                           R"("mime_type":"application/pdf","file_uri":"u"}})";
  EXPECT_EQ(said(R"("parts":[)" + image + "]"), "user: [image/png]");
  EXPECT_EQ(said(R"("parts":)" + image), "user: [image/png]");
  EXPECT_EQ(said(R"("message":[)" + image + "]"), "user: [image/png]");
  EXPECT_EQ(said(R"("message":"Look","parts":[{"text":"Look"},)" + image + "," + file + "]"),
            "user: Look\n\n[image/png]\n\n[application/pdf a.pdf]");
  EXPECT_EQ(said(R"("parts":[{"fileData":{"fileUri":"u"}}])"), "user: [file]");
  EXPECT_EQ(said(R"("message":"","images":["iVBOR","iVBOS"])"), "user: [image]\n\n[image]");
  EXPECT_EQ(said(R"("message":"Look","images":["iVBOR"])"), "user: Look\n\n[image]");
  EXPECT_EQ(shown("tool_call", R"({"role":"model","parts":[)" + image +
                                   R"(,{"functionCall":{"name":"f","args":{}}}]})"),
            "tool_call: [image/png]\nf {}");
}

// As imports left them, and as agents record them. The bytes of a picture say nothing.
TEST(EntryText, OfPartsIsWhatTheySay) {
  const auto said = [](const std::string& parts, const char* name = "message") {
    return shown("message", R"({"role":"user",")" + std::string(name) + R"(":[)" + parts + "]}");
  };
  const std::string image = R"({"type":"image","source":{"type":"base64","data":"iVBOR"}})";
  EXPECT_EQ(said(image, "parts"), "user: [image]");
  EXPECT_EQ(said(R"({"type":"text","text":"Look:"},)" + image), "user: Look:\n\n[image]");
  EXPECT_EQ(said(R"({"type":"refusal","refusal":"No."})", "parts"), "user: No.");
  const std::string thought = R"({"type":"thinking","thinking":"Hm","signature":"x"})";
  EXPECT_EQ(said(thought, "parts"), "user: ");
  EXPECT_EQ(said(thought + R"(,{"type":"redacted_thinking","data":"x"})"), "user: ");
  EXPECT_EQ(said(thought + R"(,"Yes.")"), "user: Yes.");
  const std::string geminis = R"({"text":"Hm","thought":true})";
  EXPECT_EQ(said(geminis, "parts"), "user: ");
  EXPECT_EQ(said(geminis + R"(,{"text":"Yes.","thoughtSignature":"x"})", "parts"), "user: Yes.");
  // The end of an answer of Gemini's, and what LlamaIndex calls a thought.
  EXPECT_EQ(said(R"({"text":"","thoughtSignature":"x"})", "parts"), "user: ");
  const std::string indexed = R"({"block_type":"thinking","content":"Hm"})";
  EXPECT_EQ(said(indexed + R"(,{"block_type":"text","text":"Yes."})", "parts"), "user: Yes.");
  EXPECT_EQ(said("[1]"), "user: [[1]]");
  // What somebody else calls so is no chat's.
  EXPECT_EQ(shown("finding", R"({"name":"kit","parts":["a","b"]})"),
            R"(finding: {"name":"kit","parts":["a","b"]})");
  EXPECT_EQ(shown("finding", R"({"content":[{"text":"a"}]})"), R"(finding: [{"text":"a"}])");
}

TEST(EntryText, KnowsSpeakersAndCalls) {
  EXPECT_EQ(read("message", R"({"role":"user","message":""})").speaker, Speaker::kUser);
  EXPECT_EQ(read("message", R"({"role":"assistant","message":""})").speaker, Speaker::kAssistant);
  EXPECT_EQ(read("message", R"({"role":"system","message":""})").speaker, Speaker::kOther);
  EXPECT_EQ(read("message", R"({"role":"human","message":""})").speaker, Speaker::kUser);
  for (const std::string role : {"model", "ai"}) {
    EXPECT_EQ(read("message", R"({"role":")" + role + R"(","message":""})").speaker,
              Speaker::kAssistant);
  }
  EXPECT_EQ(read("tool_call", "{}").speaker, Speaker::kAssistant);
  EXPECT_EQ(read("tool_call", R"("ls")").speaker, Speaker::kAssistant);
  EXPECT_EQ(read("tool_result", R"("ok")").speaker, Speaker::kTool);
  EXPECT_EQ(read("tool_result", "[1]").speaker, Speaker::kTool);
  EXPECT_EQ(read("finding", R"("ok")").speaker, Speaker::kOther);
  const EntryText result = read("tool_result", R"({"call_id":"c1","result":1})");
  EXPECT_EQ(result.speaker, Speaker::kTool);
  EXPECT_EQ(result.call_id, "c1");
  EXPECT_EQ(result.call_key, std::string("call_id\0sc1", 11));
  EXPECT_EQ(read("tool_result", R"({"tool_call_id":"c2"})").call_id, "c2");
  EXPECT_EQ(read("tool_result", R"({"call_id":3})").call_key, "");
  EXPECT_EQ(read("tool_result", R"({"call_id":null,"tool_call_id":"c2"})").call_key,
            std::string("tool_call_id\0sc2", 16));
  EXPECT_EQ(shown("tool_call", R"({"role":"assistant","input":null,"tool_calls":[{"name":"f"}]})"),
            "tool_call: f");
}

// Most entries are read without a Document; a name with an escape before the content leads to one.
TEST(EntryText, IsTheSameHoweverItIsRead) {
  const char* contents[] = {
      R"("tea \"now\"\n\tplease\\")",
      R"("")",
      R"("t\u00e9")",
      R"({"role":"user","message":"hi","text":"other"})",
      R"({"content":"hi","role":"a\nb","x":{"message":"inner"},"y":[{"role":"no"}]})",
      R"({"message":"hi","role":""})",
      R"({"message":"hi","name":"A\u006en","role":"user"})",
      R"({"message":"hi","role":7})",
      R"({"text":"hi"})",
      R"({"text":[1],"role":"user"})",
      R"({"message":null,"text":"hi"})",
      R"({"name":"f","result":"","error":{"b":1,"a":2}})",
      R"({"name":"f","result":"half","error":"\u0041"})",
      R"({"role":"assistant","content":null,"refusal":"no"})",
      R"({"role":"assistant"})",
      R"({"call_id":"c1","message":"hi","role":"tool"})",
      R"({"message":"hi","tool_call_id":"c1"})",
      R"({"message":"hi","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]})",
      R"({"parts":[{"type":"tool_use","name":"f","input":{"b":1,"a":2}}]})",
      R"({"x":1})",
      R"({"say \"x\"":1})",
      R"({"say \"x\"":1,"text":"hi"})",
      R"({"say \"x\"":[1],"tool":"f"})",
      R"({})",
      R"(7)",
      R"([{"message":"hi"}])",
  };
  for (const char* type : {"message", "tool_call", "tool_result", "finding"}) {
    for (const char* content : contents) {
      const std::string end = std::string(R"(:1,"content":)") + content + "}";
      json::Document scratch;
      const auto plain = read_entry_text(R"({"a")" + end, type, scratch);
      const auto parsed = read_entry_text(R"({"\u0061")" + end, type, scratch);
      ASSERT_TRUE(plain.ok() && parsed.ok()) << content;
      EXPECT_EQ(plain->label, parsed->label) << content;
      EXPECT_EQ(plain->text, parsed->text) << content;
      EXPECT_EQ(plain->role, parsed->role) << content;
      EXPECT_EQ(plain->name, parsed->name) << content;
      EXPECT_EQ(plain->speaker, parsed->speaker) << content;
      EXPECT_EQ(plain->call_id, parsed->call_id) << content;
      EXPECT_EQ(plain->call_key, parsed->call_key) << content;
    }
  }
}

TEST(EntryText, OfALineWithoutContentIsRefused) {
  json::Document scratch;
  EXPECT_EQ(read_entry_text(R"({"type":"x"})", "x", scratch).code(), Code::kCorruption);
}

TEST(EntryText, OfADamagedLineIsRefused) {
  json::Document scratch;
  for (const char* line : {"", "{", R"({"content":{"message":nope}})", R"({"content":{"message":1)",
                           R"({"content":"tea)", "[]", "7"}) {
    EXPECT_FALSE(read_entry_text(line, "message", scratch).ok()) << line;
  }
}

}  // namespace
}  // namespace varve::context
