// Recording the steps of a conversation.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>
#include <string_view>

#include "client.h"
#include "context_answers.h"

namespace varve_test {
namespace {

class ContextRecord : public testing::Test {
 protected:
  // The entry that was made.
  json::object record(std::string_view kind, std::string_view payload) {
    const Answer id = session.record(kind, payload);
    EXPECT_TRUE(id.ok()) << id.outcome;
    return id.ok() ? session.get(id.text).object() : json::object();
  }
  Store store;
  Session session{store};
};

TEST_F(ContextRecord, MessagesCarryTheirRole) {
  const json::object user = record("user_message", R"({"content":"hello"})");
  EXPECT_EQ(user.at("type").as_string(), "message");
  EXPECT_EQ(user.at("content"), json::value({{"role", "user"}, {"message", "hello"}}));
  const json::object assistant = record("assistant_message", R"("hi")");
  EXPECT_EQ(assistant.at("content"), json::value({{"role", "assistant"}, {"message", "hi"}}));
  EXPECT_EQ(session.query(R"({"content":{"role":"user"}})").count(), 1U);
}

TEST_F(ContextRecord, ContentThatIsNoTextAndOtherMembersStayAsTheyAre) {
  const json::object entry =
      record("user_message", R"({"content":[{"type":"image"}],"model":"m-1","role":"user"})");
  EXPECT_EQ(entry.at("content"),
            json::parse(R"({"content":[{"type":"image"}],"model":"m-1","role":"user"})"));
}

// Models that only call tools say null.
TEST_F(ContextRecord, AContentOfNullIsAnEmptyText) {
  EXPECT_EQ(record("assistant_message", R"({"content":null})").at("content"),
            json::value({{"role", "assistant"}, {"message", ""}}));
  EXPECT_EQ(record("assistant_message", R"({"content":null,"refusal":"No."})").at("content"),
            json::parse(R"({"role":"assistant","message":"","refusal":"No."})"));
  EXPECT_EQ(record("user_message", R"({"content":null,"message":"hi"})").at("content"),
            json::parse(R"({"role":"user","content":null,"message":"hi"})"));
}

// As an import makes of it, so that in a chat it is a turn with its results.
TEST_F(ContextRecord, AMessageWithCallsAndOneWithResultsAreOfTheirTypes) {
  const json::object call =
      record("assistant_message", R"({"content":[{"type":"text","text":"I look."},)"
                                  R"({"type":"tool_use","id":"t1","name":"look","input":{}}]})");
  EXPECT_EQ(call.at("type").as_string(), "tool_call");
  const json::object result =
      record("user_message", R"({"content":[{"type":"tool_result","tool_use_id":"t1",)"
                             R"("content":"a swan"},{"type":"text","text":"And?"}]})");
  EXPECT_EQ(result.at("type").as_string(), "tool_result");
  ASSERT_EQ(result.at("references").as_array().size(), 1U);
  EXPECT_EQ(result.at("references").as_array().front(), call.at("id"));
  record("assistant_message", R"({"content":null,"tool_calls":[)"
                              R"({"id":"c2","function":{"name":"hear","arguments":"{}"}}]})");
  record("tool_result", R"({"call_id":"c2","result":"a heron"})");
  const Answer chat = session.context(R"({"format":"chat"})");
  EXPECT_EQ(told_chat(json::parse(text_of(chat)).as_array()), R"(assistant: I look.
> t1 look {}
tool t1: a swan
user: And?
> c2 hear {}
tool c2: a heron)");
}

TEST_F(ContextRecord, ACallHasTheInputThatItCameWith) {
  for (const char* name : {"input", "args", "message"}) {
    const std::string given = R"("name":"f",")" + std::string(name) + R"(":{"city":"Lund"})";
    EXPECT_EQ(record("tool_call", "{" + given + "}").at("content"), json::parse("{" + given + "}"));
  }
  const Answer context = session.context(R"({"retrieve":[{"recency":1}]})");
  EXPECT_NE(context.text.find("tool_call: f {"), std::string::npos) << context.text;
}

TEST_F(ContextRecord, MembersOfTheEntryAreItsOwn) {
  const json::object entry = record("observation", R"({"id":"o","content":"rain","importance":0.9,
      "tags":["weather"],"timestamp":"2026-01-05T10:00:00Z","trace_id":"t","span_id":"s",
      "references":["x"],"relations":{"after":["y"]},"expires_at":"2126-01-01T00:00:00Z"})");
  EXPECT_EQ(entry.at("id").as_string(), "o");
  EXPECT_EQ(entry.at("content").as_string(), "rain");
  EXPECT_EQ(entry.at("importance").to_number<double>(), 0.9);
  EXPECT_EQ(entry.at("tags").as_array().size(), 1U);
  EXPECT_EQ(entry.at("trace_id").as_string(), "t");
  EXPECT_EQ(entry.at("span_id").as_string(), "s");
  EXPECT_EQ(entry.at("references").as_array().size(), 1U);
  EXPECT_TRUE(entry.contains("relations"));
  EXPECT_TRUE(entry.contains("expires_at"));
}

TEST_F(ContextRecord, EveryKindHasItsType) {
  for (const char* kind : {"observation", "event", "summary", "document"}) {
    const json::object entry = record(kind, R"({"content":{"a":1}})");
    EXPECT_EQ(entry.at("type").as_string(), kind);
    EXPECT_EQ(entry.at("content"), json::parse(R"({"a":1})"));
    EXPECT_EQ(record(kind, R"({"title":"T","content":"text"})").at("content"),
              json::parse(R"({"title":"T","content":"text"})"));
  }
  EXPECT_EQ(record("tool_call", R"({"name":"f"})").at("content"),
            json::parse(R"({"name":"f","arguments":{}})"));
}

TEST_F(ContextRecord, AResultRefersToTheCallOfItsId) {
  record("tool_call", R"({"id":"old","name":"f","call_id":"c1"})");
  record("tool_call", R"({"id":"other","name":"f","call_id":"c2"})");
  const json::object result = record("tool_result", R"({"call_id":"c1","result":1})");
  EXPECT_EQ(result.at("references"), json::parse(R"(["old"])"));
  const json::object again =
      record("tool_result", R"({"call_id":"c1","result":1,"references":["x","old"]})");
  EXPECT_EQ(again.at("references"), json::parse(R"(["x","old"])"));
  // It would belong to the first call that it names.
  const json::object behind =
      record("tool_result", R"({"call_id":"c1","result":1,"references":["x","other","old"]})");
  EXPECT_EQ(behind.at("references"), json::parse(R"(["old","x","other"])"));
}

TEST_F(ContextRecord, ACallIdOfNullIsNone) {
  const json::object call = record("tool_call", R"({"id":"first","name":"f","call_id":null})");
  EXPECT_EQ(call.at("content"), json::parse(R"({"name":"f","arguments":{}})"));
  const json::object result = record("tool_result", R"({"name":"f","result":1,"call_id":null})");
  EXPECT_EQ(result.at("references"), json::parse(R"(["first"])"));
  EXPECT_EQ(result.at("content"), json::parse(R"({"name":"f","result":1})"));
}

// As clients write what is not there.
TEST_F(ContextRecord, MembersOfAnEntryThatAreNullAreNotGiven) {
  const json::object entry =
      record("user_message", R"({"content":"hi","id":null,"timestamp":null,"importance":null,)"
                             R"("tags":null,"references":null,"relations":null,"trace_id":null,)"
                             R"("span_id":null,"expires_at":null,"ttl_seconds":null})");
  EXPECT_EQ(entry.at("content"), json::parse(R"({"role":"user","message":"hi"})"));
  EXPECT_EQ(entry.at("tags"), json::array());
}

TEST_F(ContextRecord, AMessageNeedsNoContentWhereItSaysSomethingElse) {
  const json::object call = record("assistant_message", R"({"tool_calls":[{"id":"t"}]})");
  EXPECT_EQ(call.at("content"),
            json::parse(R"({"role":"assistant","message":"","tool_calls":[{"id":"t"}]})"));
  EXPECT_EQ(call.at("type").as_string(), "tool_call");
}

TEST_F(ContextRecord, AnEmptyCallIdIsNone) {
  const json::object call = record("tool_call", R"({"id":"first","name":"f","call_id":""})");
  EXPECT_EQ(call.at("content"), json::parse(R"({"name":"f","arguments":{}})"));
  record("tool_call", R"({"id":"other","name":"g","call_id":""})");
  const json::object result = record("tool_result", R"({"name":"f","result":1,"call_id":""})");
  EXPECT_EQ(result.at("references"), json::parse(R"(["first"])"));
}

TEST_F(ContextRecord, AResultWithoutAnIdBelongsToTheLastOpenCallOfItsName) {
  record("tool_call", R"({"id":"first","name":"f","timestamp":"2026-01-05T10:00:00Z"})");
  record("tool_call", R"({"id":"second","name":"f","timestamp":"2026-01-05T10:01:00Z"})");
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":1})").at("references"),
            json::parse(R"(["second"])"));
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":1})").at("references"),
            json::parse(R"(["first"])"));
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":1})").at("references"),
            json::parse("[]"));
  EXPECT_EQ(record("tool_result", R"({"name":"g","result":1})").at("references"),
            json::parse("[]"));
}

// As chats have the id of a call.
TEST_F(ContextRecord, AResultBelongsToTheCallOfItsToolCallId) {
  record("tool_call", R"({"id":"one","name":"f","tool_call_id":"c1"})");
  record("tool_call", R"({"id":"two","name":"f","call_id":"c2"})");
  record("tool_call", R"({"id":"three","name":"f","call_id":"c3"})");
  EXPECT_EQ(
      record("tool_result", R"({"name":"f","result":1,"tool_call_id":"c1"})").at("references"),
      json::parse(R"(["one"])"));
  EXPECT_EQ(
      record("tool_result", R"({"name":"f","result":2,"tool_call_id":"c2"})").at("references"),
      json::parse(R"(["two"])"));
  // "three" has another id, so its name says nothing.
  EXPECT_EQ(
      record("tool_result", R"({"name":"f","result":9,"tool_call_id":"c9"})").at("references"),
      json::parse("[]"));
  record("tool_call", R"({"id":"open","name":"f"})");
  EXPECT_EQ(
      record("tool_result", R"({"name":"f","result":8,"tool_call_id":"c8"})").at("references"),
      json::parse(R"(["open"])"));
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":3,"tool_call_id":""})").at("references"),
            json::parse(R"(["three"])"));
}

// Programs import what was said so far, and go on.
TEST_F(ContextRecord, AResultBelongsToTheCallOfAnImportedMessage) {
  const std::string said =
      R"({"role":"assistant","tool_calls":[{"id":"o1","function":{"name":"f","arguments":"{}"}}]})"
      "\n"
      R"({"role":"assistant","content":[{"type":"tool_use","id":"a1","name":"f","input":{}},)"
      R"({"type":"tool_use","id":"a2","name":"g","input":{}}]})";
  ASSERT_TRUE(session.import_lines(said).ok());
  const json::array calls =
      session.query(R"({"types":["tool_call"],"sort_by":"time","order":"asc"})").list();
  ASSERT_EQ(calls.size(), 2U);
  const auto call = [&](size_t number) { return json::array{calls[number].at("entry").at("id")}; };
  EXPECT_EQ(record("tool_result", R"({"call_id":"o1","result":1})").at("references"), call(0));
  EXPECT_EQ(record("tool_result", R"({"call_id":"a2","result":2})").at("references"), call(1));
  EXPECT_EQ(
      record("tool_result", R"({"name":"f","tool_call_id":"a1","result":3})").at("references"),
      call(1));
  EXPECT_EQ(record("tool_result", R"({"call_id":"x","result":4})").at("references"), json::array());
  const Answer context = session.context(R"({"retrieve":[{"recency":9}],"format":"chat"})");
  EXPECT_EQ(context.object().at("dropped").as_int64(), 0);
  EXPECT_NE(context.text.find(R"(\"tool_call_id\":\"a2\")"), std::string::npos) << context.text;
}

// Calls of one name that run at once are answered in any order.
TEST_F(ContextRecord, AResultWithoutAnIdThatNamesItsCallBelongsToNoOther) {
  record("tool_call", R"({"id":"first","name":"f","timestamp":"2026-01-05T10:00:00Z"})");
  record("tool_call", R"({"id":"second","name":"f","timestamp":"2026-01-05T10:01:00Z"})");
  record("observation", R"({"id":"seen","content":"rain"})");
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":1,"references":["seen","first"]})")
                .at("references"),
            json::parse(R"(["seen","first"])"));
  EXPECT_EQ(
      record("tool_result", R"({"name":"f","result":2,"references":["seen"]})").at("references"),
      json::parse(R"(["second","seen"])"));
}

// A call that was answered by its call id alone is answered, and one that is given an earlier
// result is not.
TEST_F(ContextRecord, AResultWithoutAnIdPassesOverCallsThatWereAnsweredElsewhere) {
  record("tool_call", R"({"id":"open","name":"f","timestamp":"2026-01-05T10:00:00Z"})");
  record("tool_call",
         R"({"id":"answered","name":"f","call_id":"c1","timestamp":"2026-01-05T10:01:00Z"})");
  ASSERT_TRUE(session
                  .add(R"({"id":"theirs","type":"tool_result","content":{"call_id":"c1"},
      "timestamp":"2026-01-05T10:02:00Z"})")
                  .ok());
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":1})").at("references"),
            json::parse(R"(["open"])"));
  record("tool_call", R"({"id":"again","name":"f","call_id":"c1",
      "timestamp":"2026-01-05T10:03:00Z","references":["theirs"]})");
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":2})").at("references"),
            json::parse(R"(["again"])"));
}

TEST_F(ContextRecord, ARelationToACallDoesNotAnswerIt) {
  record("tool_call", R"({"id":"open","name":"f"})");
  record("tool_result", R"({"name":"g","result":1,"relations":{"contradicts":["open"]}})");
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":1})").at("references"),
            json::parse(R"(["open"])"));
}

// However many have one, and are newer.
TEST_F(ContextRecord, RelationsToACallDoNotHideItsResult) {
  record("tool_call", R"({"id":"open","name":"f","timestamp":"2026-01-05T10:00:00Z"})");
  record("tool_call", R"({"id":"answered","name":"f","timestamp":"2026-01-05T10:01:00Z"})");
  record("tool_result", R"({"name":"f","result":1,"timestamp":"2026-01-05T10:02:00Z"})");
  for (int i = 0; i < 100; ++i) {
    record("tool_result", R"({"name":"g","result":1,"relations":{"after":["answered"]}})");
  }
  EXPECT_EQ(record("tool_result", R"({"name":"f","result":2})").at("references"),
            json::parse(R"(["open"])"));
}

TEST_F(ContextRecord, WhatIsMissingOrWrongIsNamed) {
  struct Case {
    const char* kind;
    const char* payload;
    const char* member;
  };
  const Case cases[] = {
      {"note", R"({"content":"x"})", "kind"},
      {"", R"({"content":"x"})", "kind"},
      {"user_message", "{}", "content"},
      {"user_message", R"({"content":"x","role":"system"})", "role"},
      {"tool_call", R"({"arguments":{}})", "name"},
      {"tool_call", R"({"name":7})", "name"},
      {"tool_result", R"({"result":1})", "name"},
      {"tool_result", R"({"result":1,"call_id":null})", "name"},
      {"tool_result", R"({"result":1,"call_id":""})", "name"},
      {"tool_result", R"({"name":"f","result":1,"call_id":7})", "call_id"},
      {"tool_result", R"({"result":1,"call_id":["c"]})", "call_id"},
      {"tool_call", R"({"name":"f","call_id":7})", "call_id"},
      {"event", R"({"tags":["a"]})", "content"},
      {"event", R"({"content":"x","importance":2})", "importance"},
  };
  for (const Case& one : cases) {
    const Answer answer = session.record(one.kind, one.payload);
    EXPECT_EQ(answer.outcome.status, VARVE_INVALID_ARGUMENT) << one.kind << one.payload;
    EXPECT_EQ(answer.outcome.detail("member"), one.member) << one.kind << one.payload;
  }
  EXPECT_EQ(session.record("event", "[1]").outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session.record("event", "").outcome.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session.count().count, 0U);
}

TEST_F(ContextRecord, NoOffsetIsToldOfATextThatTheCallerDoesNotHave) {
  // Among the members of the entry made from it, tags come after the content.
  const Outcome wrong = session.record("event", R"({"tags":[7],"content":"x"})").outcome;
  EXPECT_EQ(wrong.detail("member"), "tags[0]") << wrong;
  EXPECT_EQ(wrong.detail("offset"), "") << wrong;
  EXPECT_EQ(wrong.message, "member 'tags[0]': must be a string");
  // The entry is one level deeper than the payload.
  const std::string inner = std::string(63, '[') + std::string(63, ']');
  const Outcome deep = session.record("event", R"({"a":)" + inner + "}").outcome;
  EXPECT_EQ(deep.status, VARVE_INVALID_ARGUMENT) << deep;
  EXPECT_TRUE(deep.message.starts_with("nested deeper than 64 levels in 'content.a[0]")) << deep;
  // What is wrong in the payload itself has its place.
  EXPECT_EQ(session.record("event", "[1]").outcome.detail("offset"), "0");
}

TEST_F(ContextRecord, TheMessageSaysWhatToGive) {
  const auto told = [&](std::string_view kind, std::string_view payload) {
    return session.record(kind, payload).outcome.message;
  };
  EXPECT_EQ(told("tool_call", "{}"), "'name' is missing; give the tool's name");
  EXPECT_EQ(told("tool_call", R"({"name":""})"),
            "'name' must be the tool's name, a string that is not empty");
  EXPECT_EQ(told("tool_result", R"({"result":1})"),
            "'name' is missing; a result needs the tool's name or the 'call_id' of its call");
  EXPECT_EQ(told("user_message", R"({"content":"x","role":"system"})"),
            "'role' is 'system', but user_message sets it to 'user'; leave it out");
  EXPECT_EQ(told("note", "{}").substr(0, 45), "'note' is not a kind; the kinds are user_mess");
}

TEST_F(ContextRecord, AMessageIsNotAsLongAsWhatIsWrong) {
  const std::string much(100'000, 'x');
  for (const std::string& role : {"\"" + much + "\"", "[\"" + much + "\"]"}) {
    const Outcome wrong =
        session.record("user_message", R"({"content":"x","role":)" + role + "}").outcome;
    EXPECT_EQ(wrong.detail("member"), "role");
    EXPECT_LT(wrong.message.size(), 300U) << wrong.message.substr(0, 100);
    EXPECT_TRUE(wrong.message.ends_with("leave it out")) << wrong.message.substr(0, 100);
  }
}

TEST_F(ContextRecord, AnIdIsUsedOnce) {
  record("event", R"({"id":"a","content":"x"})");
  EXPECT_EQ(session.record("event", R"({"id":"a","content":"y"})").outcome.status,
            VARVE_ALREADY_EXISTS);
}

}  // namespace
}  // namespace varve_test
