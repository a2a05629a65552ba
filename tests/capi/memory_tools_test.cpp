// Messages that call tools or bring results, recorded as the interfaces of models have them.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>
#include <string_view>
#include <vector>

#include "client.h"
#include "context_answers.h"
#include "memory_client.h"

namespace varve_test {
namespace {

class MemoryTools : public testing::Test {
 protected:
  // Returns its id.
  std::string record(std::string_view message) {
    const Answer answer = memory.record("chat", message);
    EXPECT_TRUE(answer.ok()) << answer.outcome;
    return answer.text;
  }
  [[nodiscard]] json::object entry(std::string_view id) const {
    return Session::open(store, "chat").get(id).object();
  }
  // The ids that it refers to, with blanks between.
  [[nodiscard]] std::string references_of(std::string_view id) const {
    std::string ids;
    const json::object referring = entry(id);
    for (const auto& reference : referring.at("references").as_array()) {
      ids += (ids.empty() ? "" : " ") + std::string(reference.as_string());
    }
    return ids;
  }
  // As told_chat().
  [[nodiscard]] std::string chat() const {
    const Answer answer =
        Session::open(store, "chat").context(R"({"format":"chat","retrieve":[{"recency":50}]})");
    return told_chat(json::parse(text_of(answer)).as_array());
  }

  Store store;
  Memory memory{store};
};

TEST_F(MemoryTools, CallsInAListAndTheirResultsAreTurns) {
  record(R"({"role":"user","content":"Rain in Lund or Kiel?"})");
  const std::string call =
      record(R"({"role":"assistant","content":null,"tool_calls":[)"
             R"({"id":"c1","function":{"name":"rain","arguments":"{\"in\":\"Lund\"}"}},)"
             R"({"id":"c2","function":{"name":"rain","arguments":"{\"in\":\"Kiel\"}"}}]})");
  const std::string second = record(R"({"role":"tool","tool_call_id":"c2","content":"dry"})");
  const std::string first =
      record(R"({"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"wet"}]})");
  record(R"({"role":"assistant","content":"In Lund."})");
  EXPECT_EQ(entry(call).at("type").as_string(), "tool_call");
  EXPECT_EQ(entry(first).at("type").as_string(), "tool_result");
  EXPECT_EQ(references_of(first), call);
  EXPECT_EQ(references_of(second), call);
  EXPECT_EQ(chat(), R"(user: Rain in Lund or Kiel?
> c1 rain {"in":"Lund"}
> c2 rain {"in":"Kiel"}
tool c2: dry
tool c1: wet
assistant: In Lund.)");
}

TEST_F(MemoryTools, CallsAndResultsAmongPartsAreTurns) {
  record(R"({"role":"user","content":"Rain in Lund?"})");
  const std::string call =
      record(R"({"role":"assistant","content":[{"type":"text","text":"I look."},)"
             R"({"type":"tool_use","id":"t1","name":"rain","input":{"in":"Lund"}}]})");
  const std::string result =
      record(R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",)"
             R"("content":[{"type":"text","text":"wet"}]},{"type":"text","text":"And now?"}]})");
  EXPECT_EQ(entry(call).at("type").as_string(), "tool_call");
  EXPECT_EQ(entry(result).at("type").as_string(), "tool_result");
  EXPECT_EQ(references_of(result), call);
  EXPECT_EQ(chat(), R"(user: Rain in Lund?
assistant: I look.
> t1 rain {"in":"Lund"}
tool t1: wet
user: And now?)");
}

// As Gemini has them, and as a memory gives back what was imported.
TEST_F(MemoryTools, CallsAndResultsAmongPartsBesideTheContentAreTurns) {
  record(R"({"role":"user","content":"Rain in Lund?"})");
  const std::string call =
      record(R"({"role":"model","content":null,"parts":[)"
             R"({"functionCall":{"id":"c1","name":"rain","args":{"in":"Lund"}}}]})");
  const std::string result =
      record(R"({"role":"user","content":null,"parts":[)"
             R"({"functionResponse":{"id":"c1","name":"rain","response":{"result":"wet"}}}]})");
  EXPECT_EQ(references_of(result), call);
  EXPECT_EQ(chat(), R"(user: Rain in Lund?
> c1 rain {"in":"Lund"}
tool c1: rain wet)");
}

// Of one id, or of a name where there is no id, as Ollama has it.
// OpenAI's responses have them between the messages.
TEST_F(MemoryTools, CallsAndResultsThatAreNoMessagesAreTurns) {
  record(R"({"role":"user","content":"Rain in Lund?"})");
  const std::string call = record(R"({"type":"function_call","id":"fc_1","call_id":"c1",)"
                                  R"("name":"rain","arguments":"{\"in\":\"Lund\"}"})");
  const std::string result =
      record(R"({"type":"function_call_output","call_id":"c1","output":"wet"})");
  record(R"({"role":"assistant","content":"Yes."})");
  EXPECT_EQ(references_of(result), call);
  EXPECT_EQ(chat(), R"(user: Rain in Lund?
> c1 rain {"in":"Lund"}
tool c1: wet
assistant: Yes.)");
}

TEST_F(MemoryTools, AListHasNoItemOfACallThatWasForgotten) {
  ASSERT_TRUE(memory.say("chat", "user", "look").ok());
  std::vector<std::string> calls;
  for (const std::string id : {"c1", "c2"}) {
    calls.push_back(record(R"({"type":"function_call","name":"f","call_id":")" + id + R"("})"));
    record(R"({"type":"function_call_output","output":"wet","call_id":")" + id + R"("})");
  }
  const auto count = [&] {
    return memory.context("chat").object().at("entries").as_array().size();
  };
  EXPECT_EQ(count(), 5U);
  ASSERT_EQ(memory.remove(calls.front()).status, VARVE_OK);
  EXPECT_EQ(count(), 3U);
  // Of a call that was recorded once more, the result has one.
  ASSERT_EQ(memory.remove(calls.back()).status, VARVE_OK);
  EXPECT_EQ(count(), 1U);
  record(R"({"type":"function_call","name":"f","call_id":"c2"})");
  EXPECT_EQ(count(), 3U);
}

// As Ollama has pictures.
TEST_F(MemoryTools, PicturesBesideTheContentAreTold) {
  record(R"({"role":"user","content":"Who?","images":["AAAA"]})");
  EXPECT_EQ(chat(), "user: Who?\n\n[image]");
}

TEST_F(MemoryTools, AResultAnswersTheLastCall) {
  const auto call = [&](const std::string& more) {
    return record(R"({"role":"assistant","content":"","tool_calls":[{)" + more +
                  R"("function":{"name":"rain","arguments":{}}}]})");
  };
  const std::string c1 = R"("id":"c1",)";
  call(c1);
  const std::string latest = call(c1);
  const std::string by_id = record(R"({"role":"tool","tool_call_id":"c1","content":"wet"})");
  EXPECT_EQ(references_of(by_id), latest);
  const std::string unnamed = call("");
  const std::string by_name = record(R"({"role":"tool","tool_name":"rain","content":"dry"})");
  EXPECT_EQ(references_of(by_name), unnamed);
}

// Farther back than those that are read together, and after a restart.
TEST_F(MemoryTools, AResultFindsACallBehindManyOthers) {
  const auto call = [&](const std::string& id) {
    return record(R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
                  R"(","function":{"name":"rain"}}]})");
  };
  const std::string too_old = call("c0");
  const std::string wanted = call("c1");
  for (int i = 2; i <= 100; ++i) call("c" + std::to_string(i));
  memory.clear();
  EXPECT_EQ(references_of(record(R"({"role":"tool","tool_call_id":"c1","content":"wet"})")),
            wanted);
  EXPECT_EQ(references_of(record(R"({"role":"tool","tool_call_id":"c0","content":"wet"})")), "");
}

TEST_F(MemoryTools, WhatARecordedResultSaysOfItselfStays) {
  record(R"({"id":"call","role":"assistant","content":null,)"
         R"("tool_calls":[{"id":"c1","function":{"name":"f"}}]})");
  const std::string other = record(R"({"id":"other","role":"user","content":"x"})");
  const std::string own =
      record(R"({"role":"tool","tool_call_id":"c1","content":"1","references":["other"]})");
  EXPECT_EQ(references_of(own), other);
  const std::string said =
      record(R"({"role":"tool","tool_call_id":"c1","content":"2","type":"message"})");
  EXPECT_EQ(entry(said).at("type").as_string(), "message");
  EXPECT_EQ(references_of(said), "");
}

// The first of a session, whose call was in another one.
TEST_F(MemoryTools, AResultOfNoCallIsRecorded) {
  EXPECT_EQ(references_of(record(R"({"role":"tool","tool_call_id":"c1","content":"wet"})")), "");
}

// In the middle, too, whatever the list of a memory's context begins with.
TEST_F(MemoryTools, AListHasNoResultOfACallThatWasForgotten) {
  const auto call = [&](const std::string& id) {
    return memory.record("chat", R"({"id":"e)" + id + R"(","role":"assistant","content":")" + id +
                                     R"(","tool_calls":[{"id":")" + id +
                                     R"(","function":{"name":"f"}}]})");
  };
  const auto answer_to = [&](const std::string& id, const std::string& more = "") {
    return memory.record("chat", R"({"role":"tool","content":"of )" + id + R"(","tool_call_id":")" +
                                     id + R"(")" + more + "}");
  };
  ASSERT_TRUE(memory.say("chat", "user", "look").ok());
  ASSERT_TRUE(call("c1").ok());
  ASSERT_TRUE(answer_to("c1").ok());
  ASSERT_TRUE(call("c2").ok());
  ASSERT_TRUE(answer_to("c2", R"(,"references":["gone"])").ok());
  ASSERT_TRUE(answer_to("c3").ok());
  EXPECT_EQ(memory.contents("chat"), "look c1 of c1 c2 of c2 of c3");
  const auto tokens = [&] {
    return memory.context("chat").object().at("token_count").to_number<int64_t>();
  };
  const int64_t before = tokens();
  ASSERT_EQ(memory.remove("ec1").status, VARVE_OK);
  EXPECT_EQ(memory.contents("chat"), "look c2 of c2 of c3");  // nobody knows of a call of c3
  EXPECT_LT(tokens(), before);
  memory.clear();
  EXPECT_EQ(memory.contents("chat"), "look c2 of c2 of c3");
}

// However a chat comes into the log, it is the same there.
TEST_F(MemoryTools, ARecordedChatIsWhatAnImportMakesOfIt) {
  const std::vector<std::string> messages = {
      R"({"role":"user","content":"Rain?"})",
      R"({"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"f"}}]})",
      R"({"role":"tool","content":"wet","tool_call_id":"c1"})",
      R"({"role":"assistant","content":"Yes."})"};
  std::string list;
  for (const auto& message : messages) {
    record(message);
    list += (list.empty() ? "[" : ",") + message;
  }
  const Session imported(store, R"({"session_id":"imported"})");
  ASSERT_TRUE(imported.import_lines(list + "]").ok());
  const auto shape_of = [](const Session& session) {
    std::string shape;
    const json::array found = session.query(R"({"sort_by":"time","order":"asc"})").list();
    for (const auto& one : found) {
      const json::object& entry = one.at("entry").as_object();
      shape += std::string(entry.at("type").as_string()) + " " +
               json::serialize(entry.at("content")) + " " +
               std::to_string(entry.at("references").as_array().size()) + "\n";
    }
    return shape;
  };
  EXPECT_EQ(shape_of(Session::open(store, "chat")), shape_of(imported));
}

}  // namespace
}  // namespace varve_test
