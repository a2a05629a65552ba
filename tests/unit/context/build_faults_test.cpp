// Contexts while something fails or changes under them: the host's counter at its k-th call, the
// k-th call on files, a log that is replaced. The answer is the whole one, or says what happened.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "context/build.h"
#include "context/counter.h"
#include "context/record.h"
#include "session/upkeep/compaction.h"
#include "unit/session/session_disk.h"

namespace varve::context {
namespace {

using session::Host;
using session::Session;
using session::SessionDisk;

// What is done at each call of the counter; what it answers.
using Counting = std::function<int32_t(uint64_t call, uint64_t tokens, uint64_t* tokens_out)>;

struct HostCounter {
  Counting counting;
  uint64_t calls = 0;
};

int32_t count_for_host(void* host, const char*, size_t len, uint64_t* tokens_out) {
  auto& counter = *static_cast<HostCounter*>(host);
  counter.calls += 1;
  const uint64_t tokens = len / 4 + 1;
  *tokens_out = tokens;
  return counter.counting ? counter.counting(counter.calls, tokens, tokens_out) : 0;
}

// A conversation with two calls of tools, of which one has no call before its result.
class ContextGround {
 public:
  ContextGround() {
    host.context.settings.cached_entries_max = 0;  // what is read is read from the disk
    place.make();
    const auto writer = place.open();
    add(*writer, R"({"id":"q1","type":"message","content":{"role":"user","message":"tea?"}})");
    add(*writer, R"({"id":"lost","type":"tool_result","content":{"call_id":"z","result":"tea"}})");
    add(*writer, R"({"id":"call","type":"tool_call","content":{"call_id":"c","name":"brew"}})");
    add(*writer, R"({"id":"result","type":"tool_result",)"
                 R"("content":{"call_id":"c","name":"brew","result":"tea"}})");
    add(*writer, R"({"id":"dead","type":"finding","content":"tea is a secret"})");
    add(*writer, R"({"id":"f1","type":"finding","content":"tea at night","importance":0.9})");
    add(*writer, R"({"id":"q2","type":"message","content":{"role":"user","message":"and now?"}})");
    EXPECT_TRUE(writer->remove("dead", "").ok());
  }

  void add(Session& into, const std::string& entry) {
    const auto added = into.add(entry);
    EXPECT_TRUE(added.ok()) << added.status().message();
    host.clock.advance_ms(60'000);
  }
  Result<std::string> build_with(Session& session, const std::string& request,
                                 HostCounter* counter = nullptr) {
    const Counter counting(counter == nullptr ? nullptr : &count_for_host, counter, 1, &cache);
    return build(session, nullptr, request, counting);
  }
  // A line that was right when it was indexed.
  void damage(const std::string& id) {
    std::string lines = place.bytes("memory.jsonl");
    const size_t at = lines.find("\"id\":\"" + id + "\"");
    ASSERT_NE(at, std::string::npos);
    lines[at + 6] ^= 1;
    place.write("memory.jsonl", lines);
  }

  Host host;
  SessionDisk place{host};
  CountCache cache;
};

std::string items_of(const Result<std::string>& answer) {
  if (!answer.ok()) return answer.status().message();
  const auto tree = json::Tree::parse(*answer);
  EXPECT_TRUE(tree.ok());
  std::string ids;
  for (const auto& item : tree->get("items")->items()) {
    ids += (ids.empty() ? "" : " ") + item.get_string("id");
  }
  return ids;
}

struct Asked {
  const char* name;
  const char* request;
  const char* items;
};
void PrintTo(const Asked& asked, std::ostream* out) { *out << asked.name; }

const Asked kAsked[] = {
    {"Newest", "", "q1 lost call result f1 q2"},
    {"Question", R"({"question":"tea"})", "q1 lost call result f1 q2"},
    {"Chat", R"({"question":"tea","format":"chat"})", "lost q1 call result f1 q2"},
    {"Json", R"({"question":"tea","format":"json","exclude_ids":["q1"]})",
     "lost call result f1 q2"},
    // Behind what is dead: its row is another one once the log is replaced.
    {"Excluded", R"({"question":"tea","exclude_ids":["f1"]})", "q1 lost call result q2"},
    {"Pinned",
     R"({"pinned":["f1","result"],"exclude_ids":["q1"],"retrieve":[{"query":{"text":"tea"}}]})",
     "call result f1 lost"},
    {"Pipeline",
     R"({"retrieve":[{"importance":3},{"recency":1},)"
     R"({"query":{"text":"tea"},"types":["finding"]}]})",
     "call result f1 q2"},
};

class ContextFaults : public testing::TestWithParam<Asked> {
 protected:
  static const char* request() { return GetParam().request; }
};

TEST_P(ContextFaults, ACounterThatFailsAtAnyCallEndsTheBuildAndNothingIsKeptOfIt) {
  ContextGround ground;
  const auto session = ground.place.open();
  HostCounter counter;
  const auto whole = ground.build_with(*session, request(), &counter);
  ASSERT_EQ(items_of(whole), GetParam().items);
  const uint64_t calls = counter.calls;
  ASSERT_GT(calls, 2u);
  for (uint64_t number = 1; number <= calls; ++number) {
    SCOPED_TRACE("call " + std::to_string(number));
    ground.cache = CountCache();
    HostCounter failing;
    failing.counting = [&](uint64_t call, uint64_t, uint64_t*) { return call == number ? -3 : 0; };
    const auto failed = ground.build_with(*session, request(), &failing);
    EXPECT_EQ(failed.code(), Code::kCallback);
    EXPECT_NE(failed.status().message().find("-3"), std::string::npos);
    EXPECT_EQ(failing.calls, number) << "it is not asked again";
    HostCounter again;
    EXPECT_EQ(*ground.build_with(*session, request(), &again), *whole);
  }
}

TEST_P(ContextFaults, ACounterThatAnswersNonsenseOnceIsTakenAtItsWord) {
  for (const uint64_t nonsense : {uint64_t{0}, UINT64_MAX}) {
    uint64_t number = 1;
    for (bool happened = true; happened; ++number) {
      SCOPED_TRACE("call " + std::to_string(number) + " answers " + std::to_string(nonsense));
      ContextGround ground;
      const auto session = ground.place.open();
      HostCounter counter;
      counter.counting = [&](uint64_t call, uint64_t, uint64_t* tokens_out) {
        if (call == number) *tokens_out = nonsense;
        return 0;
      };
      const auto answer = ground.build_with(*session, request(), &counter);
      ASSERT_TRUE(answer.ok()) << answer.status().message();
      const auto tree = json::Tree::parse(*answer);
      EXPECT_LE(tree->get_int64("token_count"), 4000);
      EXPECT_EQ(answer->find("secret"), std::string::npos);
      EXPECT_EQ(tree->get("items")->items().empty(), tree->get_string("text").empty());
      happened = counter.calls >= number;
    }
    EXPECT_GT(number, 3u);
  }
}

TEST_P(ContextFaults, AFailingDiskIsToldAndTheNextBuildIsWhole) {
  ContextGround ground;
  const auto whole = ground.build_with(*ground.place.open(), request());
  ASSERT_EQ(items_of(whole), GetParam().items);
  uint64_t number = 1;
  for (bool happened = true; happened; ++number) {
    SCOPED_TRACE("call " + std::to_string(number));
    const auto session = ground.place.open();
    const io::FailNth fault(number, EIO);
    ground.place.disk.set_fault_hook(fault);
    const auto answer = ground.build_with(*session, request());
    ground.place.disk.set_fault_hook({});
    happened = fault.matched() >= number;
    if (answer.ok()) {
      EXPECT_EQ(*answer, *whole);
    } else {
      EXPECT_TRUE(happened);
      EXPECT_EQ(answer.code(), Code::kIo) << answer.status().message();
    }
    EXPECT_EQ(*ground.build_with(*session, request()), *whole);
  }
  EXPECT_GT(number, 5u);
}

// Another process, before each of the calls on files in turn.
TEST_P(ContextFaults, ALogThatIsReplacedUnderABuildChangesNothingInIt) {
  ContextGround alone;
  const auto whole = alone.build_with(*alone.place.open(), request());
  const std::string text = json::Tree::parse(*whole)->get_string("text");
  uint64_t number = 1;
  for (bool happened = true; happened; ++number) {
    SCOPED_TRACE("call " + std::to_string(number));
    ContextGround ground;
    const auto other_process = ground.place.disk.process(2);
    const auto other = ground.place.open(other_process.get());
    const auto session = ground.place.open();
    const int64_t own_id = ground.place.disk.process_id();
    uint64_t seen = 0;
    ground.place.disk.set_fault_hook(
        [&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
          if (operation.process_id != own_id || ++seen != number) return std::nullopt;
          EXPECT_TRUE(other->compact({}).ok());
          return std::nullopt;
        });
    const auto answer = ground.build_with(*session, request());
    ground.place.disk.set_fault_hook({});
    happened = seen >= number;
    ASSERT_TRUE(answer.ok()) << answer.status().message();
    EXPECT_EQ(items_of(answer), GetParam().items);  // ranks differ: words that are gone count less
    EXPECT_EQ(json::Tree::parse(*answer)->get_string("text"), text);
  }
  EXPECT_GT(number, 5u);
}

INSTANTIATE_TEST_SUITE_P(Of, ContextFaults, testing::ValuesIn(kAsked),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(ContextBesideOthers, ALogThatIsReplacedOverAndOverIsBusy) {
  ContextGround ground;
  const auto other_process = ground.place.disk.process(2);
  const auto other = ground.place.open(other_process.get());
  const auto session = ground.place.open();
  const int64_t own_id = ground.place.disk.process_id();
  int replaced_count = 0;
  ground.place.disk.set_fault_hook(
      [&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
        if (operation.process_id != own_id) return std::nullopt;
        const auto id = other->add(R"({"type":"finding","content":1})");
        if (id.ok() && other->remove(*id, "").ok() && other->compact({}).ok()) replaced_count += 1;
        return std::nullopt;
      });
  const auto answer =
      ground.build_with(*session, R"({"exclude_ids":["q1"],"retrieve":[{"recency":1}]})");
  ground.place.disk.set_fault_hook({});
  EXPECT_GT(replaced_count, 7);
  EXPECT_EQ(answer.code(), Code::kBusy) << answer.status().message();
  EXPECT_EQ(items_of(ground.build_with(*session, R"({"retrieve":[{"recency":1}]})")), "q2");
}

TEST(ContextUnreadable, WhatCannotBeReadIsLeftOutAndStandsInNobodysWay) {
  ContextGround ground;
  ground.place.remove("index.bin");  // an index that was made of the log is believed
  const auto session = ground.place.open();
  ASSERT_EQ(items_of(ground.build_with(*session, "")), "q1 lost call result f1 q2");
  ground.damage("q2");
  EXPECT_EQ(items_of(ground.build_with(*session, R"({"question":"tea now"})")),
            "q1 lost call result f1");
  EXPECT_EQ(items_of(ground.build_with(*session, R"({"pinned":["q2","f1"]})")),
            "f1 q1 lost call result");
}

// Nobody said anything there that a model could miss.
TEST(ContextUnreadable, WhatCannotBeReadLeavesNoGapBetweenTurns) {
  ContextGround ground;
  ground.place.remove("index.bin");  // an index that was made of the log is believed
  const auto session = ground.place.open();
  ASSERT_EQ(items_of(ground.build_with(*session, "")), "q1 lost call result f1 q2");
  ground.damage("q2");
  const auto answer = ground.build_with(*session, R"({"format":"chat"})");
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  const auto tree = json::Tree::parse(*answer);
  std::string turns;
  for (const auto& item : tree->get("items")->items()) {
    if (item.get_string("source") == "recent") turns += item.get_string("id") + " ";
  }
  EXPECT_EQ(turns, "q1 call result f1 ") << "a result without a call is none";
}

TEST(ContextUnreadable, ACallWhoseResultCannotBeReadIsLeftOutWithIt) {
  ContextGround ground;
  ground.place.remove("index.bin");  // an index that was made of the log is believed
  const auto session = ground.place.open();
  ASSERT_EQ(items_of(ground.build_with(*session, "")), "q1 lost call result f1 q2");
  ground.damage("result");
  EXPECT_EQ(items_of(ground.build_with(*session, R"({"retrieve":[{"types":["tool_call"]}]})")), "");
  EXPECT_EQ(items_of(ground.build_with(*session, "")), "q1 lost f1 q2");
}

TEST(ContextTools, AnExcludedResultDoesNotComeWithItsCall) {
  ContextGround ground;
  const auto session = ground.place.open();
  EXPECT_EQ(items_of(ground.build_with(
                *session, R"({"retrieve":[{"types":["tool_call"]}],"exclude_ids":["result"]})")),
            "call");
}

// Its own call is deleted when the one before, of the same number, is in already.
TEST(ContextTools, AResultWhoseCallIsInAlreadyIsTakenToIt) {
  ContextGround ground;
  const auto session = ground.place.open();
  ground.add(*session, R"({"id":"c1","type":"tool_call","content":{"call_id":"n","name":"f"}})");
  ground.add(*session, R"({"id":"c2","type":"tool_call","content":{"call_id":"n","name":"f"}})");
  ground.add(*session, R"({"id":"r","type":"tool_result","content":{"call_id":"n","result":1}})");
  HostCounter counter;
  counter.counting = [&](uint64_t call, uint64_t, uint64_t*) {
    // The first is of the frame, the second of the call, the third of the day that it is under.
    return call != 3 || session->remove("c2", "").ok() ? 0 : -1;
  };
  const auto answer =
      ground.build_with(*session, R"({"pinned":["c1","r"],"retrieve":[]})", &counter);
  EXPECT_EQ(items_of(answer), "c1 r");
}

// --- records -------------------------------------------------------------------------------------

class Recorded : public testing::Test {
 protected:
  // The entry as it was recorded, without what the session gives it.
  std::string recorded(const std::string& kind, const std::string& payload) {
    const auto id = record(*session_, kind, payload);
    if (!id.ok()) return id.status().place().member + ": " + id.status().message();
    const auto entry = json::Tree::parse(*session_->get(*id));
    const json::Tree* references = entry->get("references");
    return entry->get("content")->canonical() +
           (references->items().empty() ? "" : " " + references->canonical());
  }

  ContextGround ground_;
  std::shared_ptr<Session> session_ = ground_.place.open();
};

TEST_F(Recorded, AMessageThatIsOneAlreadyStaysAsItIs) {
  EXPECT_EQ(recorded("user_message", R"({"message":"hi"})"), R"({"message":"hi","role":"user"})");
  EXPECT_EQ(recorded("user_message", R"({"message":"hi","content":"more"})"),
            R"({"content":"more","message":"hi","role":"user"})");
  EXPECT_EQ(recorded("user_message", R"({"content":[1]})"), R"({"content":[1],"role":"user"})");
}

TEST_F(Recorded, AToolHasANameThatIsText) {
  EXPECT_TRUE(recorded("tool_call", R"({"name":""})").starts_with("name: "));
  EXPECT_TRUE(recorded("tool_call", R"({"name":7})").starts_with("name: "));
  EXPECT_TRUE(recorded("tool_result", R"({"call_id":"c","name":7})").starts_with("name: "));
}

TEST_F(Recorded, AResultRefersToItsCallOnceAndFirst) {
  EXPECT_EQ(recorded("tool_result", R"({"call_id":"c","references":["q1"]})"),
            R"({"call_id":"c"} ["call","q1"])");
  EXPECT_EQ(recorded("tool_result", R"({"call_id":"c","references":["q1","call"]})"),
            R"({"call_id":"c"} ["q1","call"])");
  for (const char* wrong : {"7", "[7]"}) {
    const std::string payload = R"({"call_id":"c","references":)" + std::string(wrong) + "}";
    EXPECT_TRUE(recorded("tool_result", payload).starts_with("references")) << wrong;
  }
}

TEST_F(Recorded, AFailingDiskIsToldAndNothingIsRecordedTwice) {
  for (const char* payload : {R"({"call_id":"c","result":1})", R"({"name":"brew","result":1})"}) {
    uint64_t number = 1;
    for (bool happened = true; happened; ++number) {
      SCOPED_TRACE("call " + std::to_string(number) + " of " + payload);
      ContextGround ground;
      const auto session = ground.place.open();
      const uint64_t before = *session->count("{}");
      const io::FailNth fault(number, EIO);
      ground.place.disk.set_fault_hook(fault);
      const auto id = record(*session, "tool_result", payload);
      ground.place.disk.set_fault_hook({});
      happened = fault.matched() >= number;
      EXPECT_TRUE(id.ok() || happened);
      EXPECT_TRUE(id.ok() || id.code() == Code::kIo) << id.status().message();
      const auto reopened = ground.place.open();
      EXPECT_EQ(*reopened->count("{}"), before + (id.ok() ? 1 : 0));
    }
    EXPECT_GT(number, 5u);
  }
}

}  // namespace
}  // namespace varve::context
