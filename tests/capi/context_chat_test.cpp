// Contexts in the format "chat" by the rules of the interfaces that take messages: a call is
// followed by its results, and a message says something.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>
#include <string_view>

#include "client.h"
#include "context_answers.h"

namespace varve_test {
namespace {

class ContextChat : public testing::Test {
 protected:
  void add(const std::string& id, const std::string& type, int minute, const std::string& content) {
    EXPECT_TRUE(session
                    .add(R"({"id":")" + id + R"(","type":")" + type +
                         R"(","timestamp":"2026-01-05T10:0)" + std::to_string(minute) +
                         R"(:00Z","content":)" + content + "}")
                    .ok());
  }
  void say(const std::string& id, int minute, const std::string& role, const std::string& text) {
    add(id, "message", minute, json::serialize(json::object{{"role", role}, {"message", text}}));
  }

  // items: their ids, with a "!" behind those that are messages.
  struct Chat {
    std::string text;
    json::array messages;
    std::string told;
    std::string items;
  };
  Chat chat(const std::string& more = "") {
    const Answer answer =
        session.context(R"({"retrieve":[{"recency":20}],"format":"chat")" + more + "}");
    EXPECT_TRUE(answer.ok()) << answer.outcome;
    Chat chat;
    if (!answer.ok()) return chat;
    const json::object context = answer.object();
    chat.text = context.at("text").as_string();
    chat.messages = json::parse(chat.text).as_array();
    chat.told = told_chat(chat.messages);
    for (const auto& item : context.at("items").as_array()) {
      chat.items += (chat.items.empty() ? "" : " ");
      chat.items += item.as_object().at("id").as_string();
      if (item.as_object().at("source").as_string() == "recent") chat.items += "!";
    }
    return chat;
  }

  // The id that a result has of its call.
  static std::string id_in(const json::value& result) {
    return text_in(result.as_object(), "tool_call_id");
  }

  // Of calls f, g, f and the results fog of g, sun and rain of f, which begin with their tool's
  // name where an API has it in them.
  void expect_answers_in_order_of_names(const std::string& name_of_f = "",
                                        const std::string& name_of_g = "") {
    const Chat chat = this->chat();
    ASSERT_EQ(chat.messages.size(), 4U) << chat.text;
    const std::string id = id_in(chat.messages[2]).substr(0, id_in(chat.messages[2]).size() - 1);
    EXPECT_TRUE(id.starts_with("chat_") && id.ends_with("_")) << id;
    EXPECT_EQ(chat.told, "> " + id + "1 f {\"n\":1}\n> " + id + "2 g {}\n> " + id +
                             "3 f {\"n\":2}\ntool " + id + "2: " + name_of_g + "fog\ntool " + id +
                             "1: " + name_of_f + "sun\ntool " + id + "3: " + name_of_f + "rain");
  }

  Store store;
  Session session{store};
};

// One by one, as agents run their tools: what was said meanwhile stands behind.
TEST_F(ContextChat, ResultsFollowTheirCallAtOnce) {
  say("before", 1, "user", "Look around.");
  add("first", "tool_call", 2, R"({"name":"look","call_id":"c5"})");
  add("second", "tool_call", 2, R"({"name":"hear","call_id":"c6"})");
  say("meanwhile", 3, "user", "Hurry!");
  add("heard", "tool_result", 4, R"({"result":"a heron","call_id":"c6"})");
  add("seen", "tool_result", 5, R"({"result":"a swan","call_id":"c5"})");
  const Chat chat = this->chat();
  EXPECT_EQ(chat.items, "before! first! seen! second! heard! meanwhile!");
  EXPECT_EQ(chat.told, R"(user: Look around.
> c5 look {}
tool c5: a swan
> c6 hear {}
tool c6: a heron
user: Hurry!)");
}

// The clock of the machine that ran the tool may be late.
TEST_F(ContextChat, AResultStandsBehindItsCallWhateverItsTime) {
  add("call", "tool_call", 5, R"({"name":"look","call_id":"c5"})");
  add("result", "tool_result", 2, R"({"result":"a swan","call_id":"c5"})");
  say("before", 3, "user", "Look around.");
  EXPECT_EQ(chat().items, "before! call! result!");
}

TEST_F(ContextChat, ACallThatNothingAnswersIsNoMessage) {
  say("before", 1, "user", "Look around.");
  add("killed", "tool_call", 2, R"({"name":"look","call_id":"c5"})");
  say("after", 3, "user", "Are you there?");
  const Chat chat = this->chat();
  EXPECT_EQ(chat.items, "killed before! after!");
  EXPECT_NE(chat.text.find("tool_call: look"), std::string::npos) << chat.text;
  EXPECT_EQ(chat.text.find("tool_call_id"), std::string::npos) << chat.text;
  add("late", "tool_result", 4, R"({"result":"a swan","call_id":"c5"})");
  EXPECT_EQ(this->chat().items, "before! killed! late! after!");
  EXPECT_EQ(this->chat(R"(,"keep_together":false)").items, "killed late before! after!");
}

TEST_F(ContextChat, WhatHasNoTextIsNoMessage) {
  say("question", 1, "user", "Which colour?");
  say("silent", 2, "assistant", "");
  say("blank", 3, "assistant", " \n\t");
  say("wide", 4, "user", "\u3000\u00a0\u2028\u200b");
  for (int attempt = 0; attempt < 2; ++attempt) {  // the second knows the counts
    EXPECT_EQ(chat().items, "question! silent! blank! wide!");
    EXPECT_EQ(chat().text, R"([{"role":"user","content":"Which colour?"}])");
  }
}

// OpenAI's interface refuses all messages for a name such as these.
TEST_F(ContextChat, ANameHasNoBlanksAndSixtyFourBytesAtMost) {
  say("a", 1, "Ann B. <Lee|x>/\\y", "tea");
  say("b", 2, "安\u3000娜\u00a0é", "rum");
  say("c", 3, "x" + std::string(40, 'y') + "安安安安安安安安安安", "milk");
  add("d", "my_note", 4, R"("cake")");
  const json::array messages = chat().messages;
  ASSERT_EQ(messages.size(), 4U);
  const char* names[] = {"Ann_B.__Lee_x___y", "安_娜_é",
                         "xyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy安安安安安安安", "my_note"};
  for (size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(messages[i].as_object().at("name").as_string(), names[i]);
  }
}

// As they were called, in one message.
TEST_F(ContextChat, EachCallOfAnImportedMessageHasItsId) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","content":"I look.","tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
      {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"a","content":"1"},
      {"role":"tool","tool_call_id":"b","content":"2"},
      {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}},
                                     {"type":"tool_use","id":"d","name":"g","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"3"},
        {"type":"tool_result","tool_use_id":"d","content":[{"type":"text","text":"4"}]}]}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(assistant: I look.
> a f {}
> b g {}
tool a: 1
tool b: 2
> c f {}
> d g {}
tool c: 3
tool d: 4)");
}

TEST_F(ContextChat, CallsAreAnsweredInWhateverOrderTheirIdsAre) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","tool_calls":[
      {"id":"b","type":"function","function":{"name":"f","arguments":"{}"}},
      {"id":"a","type":"function","function":{"name":"g","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"b","content":"1"},
      {"role":"tool","tool_call_id":"a","content":"2"}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(> b f {}
> a g {}
tool b: 1
tool a: 2)");
}

// Anthropic's interface takes results only at the beginning of the next message of the user, who
// may say something in it, too.
TEST_F(ContextChat, WhatIsSaidBesideResultsStandsBehindThem) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","content":[
        {"type":"text","text":"\n\n"},
        {"type":"tool_use","id":"c","name":"f","input":{}},
        {"type":"tool_use","id":"d","name":"g","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"3"},
        {"type":"tool_result","tool_use_id":"d","content":"4"},
        {"type":"text","text":"Hurry!"}]}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(> c f {}
> d g {}
tool c: 3
tool d: 4
user: Hurry!)");
  const Answer plain = session.context(R"({"format":"markdown"})");
  EXPECT_NE(plain.text.find("tool_result: 3\\n    4\\n    user: Hurry!\\n"), std::string::npos)
      << plain.text;
}

// Ids that begin anew with every turn: the result of a call that was deleted is not that of the
// call before it, which has its own.
TEST_F(ContextChat, AResultWhoseCallWasDeletedDoesNotAnswerAnEarlierOneOfThatId) {
  const auto record = [&](const char* kind, const std::string& payload) {
    const Answer id = session.record(kind, payload);
    EXPECT_TRUE(id.ok()) << id.outcome;
    return id.text;
  };
  const std::string first = record("tool_call", R"({"name":"look","call_id":"call_0"})");
  const std::string seen = record("tool_result", R"({"result":"a swan","call_id":"call_0"})");
  const std::string second = record("tool_call", R"({"name":"look","call_id":"call_0"})");
  const std::string heron = record("tool_result", R"({"result":"a heron","call_id":"call_0"})");
  ASSERT_TRUE(session.remove(second).ok());
  EXPECT_EQ(chat().items, heron + " " + first + "! " + seen + "!");
  EXPECT_EQ(chat(R"(,"exclude_ids":[")" + first + R"("])").items, seen + " " + heron);
  ASSERT_TRUE(session.remove(seen).ok());
  EXPECT_EQ(chat().items, first + "! " + heron + "!");  // as far as anybody can tell
}

// Such a message brings the result itself.
TEST_F(ContextChat, ACallOfTheServersOwnToolAwaitsNoResult) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","content":"Is it windy?"},
      {"role":"assistant","content":[
        {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"wind"}},
        {"type":"web_search_tool_result","tool_use_id":"s","content":[]},
        {"type":"text","text":"A little."}]}])")
                  .ok());
  EXPECT_EQ(chat().text, R"([{"role":"user","content":"Is it windy?"},
{"role":"assistant","content":"web_search {\"query\":\"wind\"}\n\nA little."}])");
}

TEST_F(ContextChat, ACallOfAnMcpServerIsToldWithItsResult) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","content":"Is it windy?"},
      {"role":"assistant","content":[
        {"type":"text","text":"I look."},
        {"type":"mcp_tool_use","id":"m","name":"wind","server_name":"w","input":{"at":"Kiel"}},
        {"type":"mcp_tool_result","tool_use_id":"m","is_error":false,
         "content":[{"type":"text","text":"3 knots"}]},
        {"type":"text","text":"A little."}]}])")
                  .ok());
  EXPECT_EQ(chat().text, R"([{"role":"user","content":"Is it windy?"},
{"role":"assistant","content":"I look.\nwind {\"at\":\"Kiel\"}\n\n3 knots\n\nA little."}])");
}

// An agent appends what the API answered to the messages as it came.
TEST_F(ContextChat, AnAnswerOfAnApiIsSaidByItsRole) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","content":"Look around."},
      {"id":"msg_1","type":"message","role":"assistant","stop_reason":"tool_use",
       "content":[{"type":"tool_use","id":"t","name":"look","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a swan"}]},
      {"id":"msg_2","type":"message","role":"assistant","status":"completed",
       "content":[{"type":"output_text","text":"A swan.","annotations":[]}]}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(user: Look around.
> t look {}
tool t: a swan
assistant: A swan.)");
}

TEST_F(ContextChat, CallsOfResponsesHaveTheirOutputs) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","content":"Sun?"},
      {"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{\"n\":1}"},
      {"type":"custom_tool_call","id":"fc_2","call_id":"b","name":"g","input":"x"},
      {"type":"function_call_output","call_id":"a","output":"sun"},
      {"type":"custom_tool_call_output","call_id":"b",
       "output":[{"type":"input_text","text":"rain"}]},
      {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Both."}]}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(user: Sun?
> a f {"n":1}
tool a: sun
> b g {"input":"x"}
tool b: rain
assistant: Both.)");
}

TEST_F(ContextChat, CallsOfOpenAisOwnToolsAreSaidAndThoseOfProgramsAnswered) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","content":"Sun?"},
      {"type":"mcp_call","id":"m","name":"sun","arguments":"{}","output":"yes"},
      {"type":"shell_call","id":"s","call_id":"c","action":{"commands":["date"]}},
      {"type":"shell_call_output","call_id":"c","output":[{"stdout":"noon","stderr":""}]},
      {"role":"assistant","content":"At noon."}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(user: Sun?
assistant: sun {}
yes
> c shell {"action":{"commands":["date"]}}
tool c: noon
assistant: At noon.)");
}

// They have no ids: that of the entry stands for it.
TEST_F(ContextChat, CallsOfGeminiHaveTheirResponses) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","parts":[{"text":"Sun?"}]},
      {"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"f","args":{"n":1}}}]},
      {"role":"function","parts":[{"functionResponse":{"name":"f","response":{"result":"sun"}}}]},
      {"role":"model","parts":[{"function_call":{"id":"b","name":"g","args":{}},"text":null}]},
      {"role":"user","parts":[{"function_response":{"id":"b","name":"g","response":{"error":"x"}},
                               "text":null}]},
      {"role":"model","parts":[{"text":"Sun."}]}])")
                  .ok());
  const Chat chat = this->chat();
  ASSERT_EQ(chat.messages.size(), 6U) << chat.text;
  const std::string id = id_in(chat.messages[2]);
  EXPECT_TRUE(id.starts_with("chat_")) << id;
  EXPECT_EQ(chat.told, "user: Sun?\nassistant: I look.\n> " + id + " f {\"n\":1}\ntool " + id +
                           ": f sun\n> b g {}\ntool b: g error: x\nassistant: Sun.");
}

TEST_F(ContextChat, CallsOfOllamaHaveTheirResults) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","content":"Sun?"},
      {"role":"assistant","content":"","tool_calls":[
        {"function":{"name":"f","arguments":{"n":1}}}]},
      {"role":"tool","content":"sun","tool_name":"f"}])")
                  .ok());
  const Chat chat = this->chat();
  ASSERT_EQ(chat.messages.size(), 3U) << chat.text;
  const std::string id = id_in(chat.messages[2]);
  EXPECT_EQ(chat.told, "user: Sun?\n> " + id + " f {\"n\":1}\ntool " + id + ": sun");
}

// Several at once, of which none has an id: results are told apart by the names of their tools, and
// those of one tool are in the order of its calls.
TEST_F(ContextChat, CallsOfGeminiWithoutIdsHaveTheirResultsByName) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"model","parts":[
        {"functionCall":{"name":"f","args":{"n":1}}},{"functionCall":{"name":"g"}},
        {"functionCall":{"name":"f","args":{"n":2}}}]},
      {"role":"user","parts":[
        {"functionResponse":{"name":"g","response":{"result":"fog"}}},
        {"functionResponse":{"name":"f","response":{"result":"sun"}}},
        {"functionResponse":{"name":"f","response":{"result":"rain"}}}]}])")
                  .ok());
  expect_answers_in_order_of_names("f ", "g ");
}

TEST_F(ContextChat, CallsOfOllamaWithoutIdsHaveTheirResultsByName) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","content":"","tool_calls":[
        {"function":{"name":"f","arguments":{"n":1}}},{"function":{"name":"g"}},
        {"function":{"name":"f","arguments":{"n":2}}}]},
      {"role":"tool","content":"fog","tool_name":"g"},
      {"role":"tool","content":"sun","tool_name":"f"},
      {"role":"tool","content":"rain","tool_name":"f"}])")
                  .ok());
  expect_answers_in_order_of_names();
}

// Of one call nobody knows what came out.
TEST_F(ContextChat, CallsWithoutIdsOfWhichOneHasNoResultAreNoMessages) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","content":"","tool_calls":[
        {"function":{"name":"f"}},{"function":{"name":"g"}}]},
      {"role":"tool","content":"fog","tool_name":"g"},
      {"role":"tool","content":"mist","tool_name":"g"}])")
                  .ok());
  EXPECT_EQ(chat().text.find("tool_call_id"), std::string::npos) << chat().text;
}

// As the Model Context Protocol has messages.
TEST_F(ContextChat, CallsThatAreTheOnlyPartHaveTheirResults) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"user","content":{"type":"text","text":"Sun?"}},
      {"role":"assistant","content":{"type":"tool_use","id":"a","name":"f","input":{"n":1}}},
      {"role":"user","content":{"type":"tool_result","toolUseId":"a",
                                "content":[{"type":"text","text":"sun"}]}}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(user: Sun?
> a f {"n":1}
tool a: sun)");
}

// As libraries write what is not there.
TEST_F(ContextChat, AnIdThatIsNullIsNone) {
  ASSERT_TRUE(session
                  .import_lines(R"([
      {"role":"assistant","content":null,"tool_calls":[
        {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
        {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},
      {"role":"tool","call_id":null,"tool_call_id":"a","content":"sun","name":null},
      {"role":"tool","call_id":null,"tool_call_id":"b","content":"rain","name":null}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(> a f {}
> b g {}
tool a: sun
tool b: rain)");
}

// What a context gave is a chat again.
TEST_F(ContextChat, AnImportTakesItBack) {
  const std::string_view text =
      R"([{"role":"user","content":"Look around."},
{"role":"assistant","content":"I see.","tool_calls":[)"
      R"({"id":"a","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}},)"
      R"({"id":"b","type":"function","function":{"name":"hear","arguments":"{}"}}]},
{"role":"tool","content":"a swan","tool_call_id":"a"},
{"role":"tool","content":"","tool_call_id":"b"},
{"role":"assistant","content":null,"tool_calls":[)"
      R"({"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]},
{"role":"tool","content":"a heron","tool_call_id":"c"},
{"role":"assistant","content":"A swan."}])";
  ASSERT_TRUE(session.import_lines(std::string(text)).ok());
  EXPECT_EQ(chat().text, text);
}

// As an earlier version recorded what an agent gave it.
TEST_F(ContextChat, WhatIsNoCallAndNoResultHasNoIdOfACall) {
  add("call", "message", 1, R"({"role":"assistant","message":"I look.","tool_call_id":"a"})");
  add("result", "message", 2, R"({"role":"tool","message":"a swan","tool_call_id":"a"})");
  EXPECT_EQ(chat().text, R"([{"role":"assistant","content":"I look."},
{"role":"user","name":"tool","content":"a swan"}])");
}

// A result that was recorded again, as by an agent that was started anew: no interface takes both.
TEST_F(ContextChat, ACallThatIsAnsweredTwiceIsNoMessage) {
  say("before", 1, "user", "Look around.");
  add("call", "tool_call", 2, R"({"name":"look","call_id":"c5"})");
  add("seen", "tool_result", 3, R"({"result":"a swan","call_id":"c5"})");
  EXPECT_EQ(chat().items, "before! call! seen!");
  add("again", "tool_result", 4, R"({"result":"a swan","call_id":"c5"})");
  EXPECT_EQ(chat().items, "call seen again before!");
}

TEST_F(ContextChat, TwoResultsOfOneCallAnswerNoOther) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","content":null,"tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
      {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"a","content":"1"},
      {"role":"tool","tool_call_id":"a","content":"2"},
      {"role":"user","content":"And?"}])")
                  .ok());
  EXPECT_EQ(chat().messages.size(), 2U) << chat().text;
}

TEST_F(ContextChat, AMessageWithResultsOfTwoCallsIsNoMessage) {
  ASSERT_TRUE(session
                  .import_lines(R"([
      {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
      {"role":"assistant","content":[{"type":"tool_use","id":"b","name":"g","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},
                                {"type":"tool_result","tool_use_id":"b","content":"2"}]},
      {"role":"user","content":"And?"}])")
                  .ok());
  EXPECT_EQ(chat().messages.size(), 2U) << chat().text;
}

// No interface takes a result without the id of its call.
TEST_F(ContextChat, ACallAndItsResultAreNamedByTheCallsEntryWhereItHasNoId) {
  add("look-1", "tool_call", 1, R"({"name":"look","arguments":{}})");
  ASSERT_TRUE(session.record("tool_result", R"({"name":"look","result":"a swan"})").ok());
  for (int attempt = 0; attempt < 2; ++attempt) {  // the second knows the counts
    EXPECT_EQ(chat().told, R"(> look-1 look {}
tool look-1: a swan)");
  }
  ASSERT_TRUE(session
                  .import_lines(R"([
      {"role":"assistant","content":null,"function_call":{"name":"hear","arguments":"{}"}},
      {"role":"function","name":"hear","content":"a heron"}])")
                  .ok());
  const Chat chat = this->chat();
  ASSERT_EQ(chat.messages.size(), 4U) << chat.text;
  const std::string id = id_in(chat.messages[3]);
  EXPECT_TRUE(id.starts_with("chat_")) << id;
  EXPECT_TRUE(chat.told.ends_with("\n> " + id + " hear {}\ntool " + id + ": a heron")) << chat.told;
}

TEST_F(ContextChat, AResultRecordedByTheNameOfItsToolHasTheIdOfItsCall) {
  add("call", "tool_call", 1, R"({"name":"look","call_id":"c\"5"})");
  ASSERT_TRUE(session.record("tool_result", R"({"name":"look","result":"a swan"})").ok());
  EXPECT_EQ(chat().told, R"(> c"5 look {}
tool c"5: a swan)");
  const Answer small = session.context(R"({"format":"chat","budget":{"max_tokens":20}})");
  EXPECT_LE(small.object().at("token_count").as_int64(), 20);
}

TEST_F(ContextChat, CallsWithoutIdsHaveShortOnesWhateverThatOfTheirEntryIs) {
  const std::string entry_id(128, 'e');
  add(entry_id, "tool_call", 1,
      R"({"role":"assistant","tool_calls":[{"function":{"name":"f"}},{"function":{"name":"g"}}]})");
  for (const std::string name : {"g", "f"}) {
    ASSERT_TRUE(session
                    .add(R"({"type":"tool_result","references":[")" + entry_id +
                         R"("],"content":{"role":"tool","message":"x","tool_name":")" + name +
                         R"("},"timestamp":"2026-01-05T10:02:00Z"})")
                    .ok());
  }
  const Chat chat = this->chat();
  ASSERT_EQ(chat.messages.size(), 3U) << chat.text;
  const std::string g = id_in(chat.messages[1]);
  const std::string f = id_in(chat.messages[2]);
  EXPECT_EQ(g.size(), 37U) << g;
  EXPECT_EQ(chat.told, "> " + f + " f {}\n> " + g + " g {}\ntool " + g + ": x\ntool " + f + ": x");
}

// A server has run it already: it is said beside the call that it leaves to the program.
TEST_F(ContextChat, ACallOfTheServersIsSaidBesideAnother) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","content":[
        {"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"sun"}},
        {"type":"tool_use","id":"t","name":"f","input":{}}]},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}])")
                  .ok());
  EXPECT_EQ(chat().told, R"(assistant: web_search {"query":"sun"}
> t f {}
tool t: x)");
}

TEST_F(ContextChat, AResultThatIsATextHasTheIdOfItsCall) {
  add("call", "tool_call", 1, R"({"name":"look","call_id":"c1"})");
  ASSERT_TRUE(session
                  .add(R"({"type":"tool_result","content":"a swan","references":["call"],)"
                       R"("timestamp":"2026-01-05T10:02:00Z"})")
                  .ok());
  EXPECT_EQ(chat().told, R"(> c1 look {}
tool c1: a swan)");
}

// No interface takes a call that names no tool, or a name with other characters.
TEST_F(ContextChat, ACallNamesAToolAsInterfacesTakeIt) {
  add("unnamed", "tool_call", 1, R"({"arguments":"ls -l","call_id":"c0"})");
  ASSERT_TRUE(session.record("tool_result", R"({"call_id":"c0","result":"none"})").ok());
  add("call", "tool_call", 3,
      json::serialize(json::object{{"name", "my-files.l\u00edst/" + std::string(70, 'x')},
                                   {"arguments", "ls -l"},
                                   {"call_id", "c1"}}));
  add("result", "tool_result", 4, R"({"result":"a.txt","call_id":"c1"})");
  const std::string name = "my-files_l_st_" + std::string(50, 'x');
  EXPECT_TRUE(chat().told.ends_with("\n> c1 " + name + " {\"input\":\"ls -l\"}\ntool c1: a.txt"))
      << chat().told;
  EXPECT_NE(chat().text.find("tool_call: ls -l"), std::string::npos) << chat().text;
  EXPECT_NE(chat().text.find("tool_result: none"), std::string::npos) << chat().text;
}

// OpenAI's interface takes ids of forty bytes at most.
TEST_F(ContextChat, ALongIdOfACallIsAShortOne) {
  const std::string most(40, 'm');
  std::string calls;
  std::string results;
  for (const auto& id : {most, std::string(60, 'c') + "1", std::string(60, 'c') + "2"}) {
    calls += (calls.empty() ? "" : ",") + (R"({"id":")" + id + R"(","function":{"name":"f"}})");
    results += R"(,{"role":"tool","tool_call_id":")" + id + R"(","content":"x"})";
  }
  ASSERT_TRUE(
      session.import_lines(R"([{"role":"assistant","tool_calls":[)" + calls + "]}" + results + "]")
          .ok());
  add(std::string(50, 'e'), "tool_call", 1, R"({"name":"look"})");
  ASSERT_TRUE(session.record("tool_result", R"({"name":"look","result":"a swan"})").ok());
  const Chat chat = this->chat();
  ASSERT_EQ(chat.messages.size(), 6U) << chat.text;
  const std::string own = id_in(chat.messages[1]);
  const std::string first = id_in(chat.messages[4]);
  const std::string second = id_in(chat.messages[5]);
  for (const auto& id : {own, first, second}) EXPECT_EQ(id.size(), 37U) << id;
  EXPECT_EQ(chat.told, "> " + own + " look {}\ntool " + own + ": a swan\n> " + most + " f {}\n> " +
                           first + " f {}\n> " + second + " f {}\ntool " + most + ": x\ntool " +
                           first + ": x\ntool " + second + ": x");
}

// As a message each takes more than as a line of what is recalled.
TEST_F(ContextChat, ACallThatIsAnsweredOftenIsInWhereItsMessagesHadNoRoom) {
  add("call", "tool_call", 1, R"({"name":"look","call_id":"c1"})");
  for (int i = 2; i < 9; ++i) {
    add("r" + std::to_string(i), "tool_result", i, R"({"result":"a","call_id":"c1"})");
  }
  const auto context = [&](int64_t tokens) {
    return session
        .context(R"({"format":"chat","budget":{"max_tokens":)" + std::to_string(tokens) + "}}")
        .object();
  };
  const int64_t tokens = context(4000).at("token_count").as_int64();
  constexpr int64_t kRounding = 16;  // each part is counted on its own
  EXPECT_EQ(context(tokens + kRounding).at("dropped").as_int64(), 0);
  EXPECT_EQ(context(tokens + kRounding).at("token_count").as_int64(), tokens);
}

TEST_F(ContextChat, OfAMessageOfWhichOneCallHasNoResultNoneIsAMessage) {
  ASSERT_TRUE(session
                  .import_lines(R"([{"role":"assistant","content":null,"tool_calls":[
      {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},
      {"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},
      {"role":"tool","tool_call_id":"a","content":"5"},
      {"role":"user","content":"And?"}])")
                  .ok());
  const Chat chat = this->chat();
  ASSERT_EQ(chat.messages.size(), 2U) << chat.text;
  EXPECT_NE(chat.text.find("tool_call: f {}\\n    g {}\\ntool_result: 5\\n"), std::string::npos)
      << chat.text;
}

}  // namespace
}  // namespace varve_test
