// Tokens and money of a session, and of all of them.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

std::string used(std::string_view id, int64_t input, int64_t output, double cost,
                 std::string_view time = "2026-01-10T12:00:00Z") {
  return json::serialize(json::object{
      {"id", id},
      {"type", "message"},
      {"content", "answer"},
      {"timestamp", time},
      {"usage", {{"input_tokens", input}, {"output_tokens", output}, {"cost_usd", cost}}}});
}

// A member's value as it stands in the text, which has no braces inside it.
std::string member_of(const std::string& text, const std::string& name) {
  const size_t start = text.find("\"" + name + "\":{");
  if (start == std::string::npos) return "none";
  const size_t value = text.find('{', start);
  return text.substr(value, text.find('}', value) + 1 - value);
}

std::string usage_of(const Session& session) { return member_of(session.stats().text, "usage"); }

Answer store_usage(const Store& store, std::string_view filter = {}) {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_store_usage(store.get(), filter.data(), filter.size(), text, len, error);
  });
}

std::string total_of(const Store& store, std::string_view filter = {}) {
  return member_of(store_usage(store, filter).text, "total");
}

constexpr const char* kNothing = R"({"cost_usd":0,"entries":0,"input_tokens":0,"output_tokens":0})";

TEST(Usage, OfASessionIsTheSumOfItsEntries) {
  const Store store;
  const Session session(store);
  EXPECT_EQ(usage_of(session), kNothing);
  ASSERT_TRUE(session.add(used("a", 100, 20, 0.1)).ok());
  ASSERT_TRUE(session.add(used("b", 1, 2, 0.2)).ok());
  ASSERT_TRUE(session.add(entry("c")).ok());
  // 0.1 + 0.2 is no sum of doubles.
  EXPECT_EQ(usage_of(session),
            R"({"cost_usd":0.3,"entries":2,"input_tokens":101,"output_tokens":22})");
  ASSERT_TRUE(session.add(used("d", 1000, 0, 0)).ok());  // what was added since
  EXPECT_EQ(usage_of(session),
            R"({"cost_usd":0.3,"entries":3,"input_tokens":1101,"output_tokens":22})");
}

TEST(Usage, OfImportedChatsIsReadFromTheirContent) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session
                  .import_lines(R"({"role":"assistant","content":"Hi",)"
                                R"("usage":{"prompt_tokens":7,"completion_tokens":3}})")
                  .ok());
  EXPECT_EQ(usage_of(session), R"({"cost_usd":0,"entries":1,"input_tokens":7,"output_tokens":3})");
}

TEST(Usage, OfMessagesIsCountedToo) {
  const Store store;
  varve_memory_t* memory = nullptr;
  ASSERT_EQ(varve_memory_open(store.get(), nullptr, 0, &memory, nullptr), VARVE_OK);
  ASSERT_EQ(varve_memory_record(memory, "chat", VARVE_NUL_TERMINATED,
                                R"({"role":"assistant","content":"Hi","usage":{"input_tokens":5}})",
                                VARVE_NUL_TERMINATED, nullptr, nullptr, nullptr),
            VARVE_OK);
  varve_memory_close(memory);
  EXPECT_EQ(usage_of(Session::open(store, "chat")),
            R"({"cost_usd":0,"entries":1,"input_tokens":5,"output_tokens":0})");
}

TEST(Usage, OfDeletedAndExpiredEntriesIsNotCounted) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(used("a", 1, 1, 1)).ok());
  ASSERT_TRUE(session.add(used("b", 2, 2, 2)).ok());
  ASSERT_TRUE(session
                  .add(R"({"type":"message","content":"x","usage":{"input_tokens":99},)"
                       R"("expires_at":"2020-01-01T00:00:00Z"})")
                  .ok());
  (void)usage_of(session);
  ASSERT_TRUE(session.remove("a").ok());
  const std::string rest = R"({"cost_usd":2,"entries":1,"input_tokens":2,"output_tokens":2})";
  EXPECT_EQ(usage_of(session), rest);
  ASSERT_TRUE(answer_of([&](char** text, size_t* len, varve_error_t** error) {
                return varve_session_compact(session.get(), nullptr, 0, text, len, error);
              }).ok());
  EXPECT_EQ(usage_of(session), rest);  // rows have other numbers now
  ASSERT_TRUE(session.add(used("c", 1, 0, 0)).ok());
  EXPECT_EQ(usage_of(session), R"({"cost_usd":2,"entries":2,"input_tokens":3,"output_tokens":2})");
}

// As that of a machine whose time was wrong for a while.
TEST(Usage, OfAnEntryThatHadExpiredCountsAgainWhenTheClockIsSetBack) {
  const Store store;
  int64_t now_ms = 1'768'000'000'000;
  ASSERT_TRUE(
      store.set_clock([](void* told_ms) { return *static_cast<int64_t*>(told_ms); }, &now_ms).ok());
  const Session session(store);
  ASSERT_TRUE(session
                  .add(R"({"type":"message","content":"x","usage":{"input_tokens":5},)"
                       R"("ttl_seconds":60})")
                  .ok());
  now_ms += 60'000;
  EXPECT_EQ(usage_of(session), kNothing);
  now_ms -= 1;
  EXPECT_EQ(usage_of(session), R"({"cost_usd":0,"entries":1,"input_tokens":5,"output_tokens":0})");
}

TEST(Usage, OfWhatIsNoNumberIsNothing) {
  const Store store;
  const Session session(store);
  for (const char* usage :
       {"null", "7", "[]", "{}", R"({"tokens":5})", R"({"input_tokens":"5"})",
        R"({"input_tokens":-5})", R"({"input_tokens":1.5})", R"({"input_tokens":1e300})",
        R"({"cost_usd":-1})", R"({"cost_usd":1e300})", R"({"cost_usd":true})"}) {
    ASSERT_TRUE(
        session.add(R"({"type":"message","content":"x","usage":)" + std::string(usage) + "}").ok());
  }
  EXPECT_EQ(usage_of(session), kNothing);
  ASSERT_TRUE(session
                  .add(R"({"type":"message","content":"x",)"
                       R"("usage":{"input_tokens":-5,"output_tokens":6}})")
                  .ok());
  EXPECT_EQ(usage_of(session), R"({"cost_usd":0,"entries":1,"input_tokens":0,"output_tokens":6})");
}

TEST(Usage, SurvivesARestartAndIsSeenByOthers) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s"})");
    for (int i = 0; i < 600; ++i) {
      ASSERT_TRUE(session.add(used("e" + std::to_string(i), 1, 2, 0.001)).ok());
    }
  }
  const Store store(directory.path());
  const Session session = Session::open(store, "s");
  EXPECT_EQ(usage_of(session),
            R"({"cost_usd":0.6,"entries":600,"input_tokens":600,"output_tokens":1200})");
  const Store other(directory.path());
  ASSERT_TRUE(Session::open(other, "s").add(used("new", 1, 1, 0)).ok());
  EXPECT_EQ(usage_of(session),
            R"({"cost_usd":0.6,"entries":601,"input_tokens":601,"output_tokens":1201})");
}

TEST(Usage, PassesOverADamagedEntry) {
  const TempDirectory directory;
  const std::string log = directory.path() + "/sessions/s/memory.jsonl";
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s"})");
    ASSERT_TRUE(session.add(used("a", 1, 1, 0)).ok());
    ASSERT_TRUE(session.add(used("b", 2, 2, 0)).ok());
  }
  std::string bytes = read_file(log);
  bytes[bytes.find("answer")] = 'A';
  write_file(log, bytes);
  const Store store(directory.path());
  EXPECT_EQ(usage_of(Session::open(store, "s")),
            R"({"cost_usd":0,"entries":1,"input_tokens":2,"output_tokens":2})");
  EXPECT_EQ(total_of(store), R"({"cost_usd":0,"entries":1,"input_tokens":2,"output_tokens":2})");
}

TEST(Usage, DamageOfAnEntryThatWasReadIsPassedOver) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(used("a", 1, 1, 0)).ok());
  ASSERT_TRUE(session.add(used("b", 2, 2, 0)).ok());
  const std::string log = directory.path() + "/sessions/s/memory.jsonl";
  std::string bytes = read_file(log);
  bytes[bytes.find("answer")] = 'A';
  write_file(log, bytes);
  EXPECT_EQ(usage_of(session), R"({"cost_usd":0,"entries":1,"input_tokens":2,"output_tokens":2})");
}

TEST(Usage, OfAStoreIsTotalledBySessionAgentUserAndDay) {
  const Store store;
  const Session one(store, R"({"session_id":"one","user_id":"ada","agent_id":"chat"})");
  const Session two(store, R"({"session_id":"two","user_id":"bob","agent_id":"chat"})");
  const Session three(store, R"({"session_id":"three","user_id":"ada","agent_id":"code"})");
  const Session none(store, R"({"session_id":"none","user_id":"eve"})");
  ASSERT_TRUE(none.add(entry("x")).ok());
  ASSERT_TRUE(one.add(used("a", 1, 0, 0, "2026-01-09T23:59:59.999Z")).ok());
  ASSERT_TRUE(one.add(used("b", 2, 0, 0, "2026-01-10T00:00:00Z")).ok());
  ASSERT_TRUE(two.add(used("a", 4, 0, 0.5, "2026-01-11T01:00:00+02:00")).ok());
  ASSERT_TRUE(three.add(used("a", 8, 1, 0.25, "1969-12-31T23:00:00Z")).ok());
  const json::object report = store_usage(store).object();
  EXPECT_EQ(total_of(store),
            R"({"cost_usd":0.75,"entries":4,"input_tokens":15,"output_tokens":1})");
  EXPECT_NE(store_usage(store).text.find(
                R"("sessions":[)"
                R"({"agent_id":"chat","cost_usd":0,"entries":2,"input_tokens":3,"output_tokens":0,)"
                R"("session_id":"one","user_id":"ada"},)"
                R"({"agent_id":"code","cost_usd":0.25,"entries":1,"input_tokens":8,)"
                R"("output_tokens":1,"session_id":"three","user_id":"ada"},)"
                R"({"agent_id":"chat","cost_usd":0.5,"entries":1,"input_tokens":4,)"
                R"("output_tokens":0,"session_id":"two","user_id":"bob"}],)"),
            std::string::npos);
  const auto names = [&](const char* list, const char* name) {
    std::string text;
    for (const auto& item : report.at(list).as_array()) {
      text += std::string(item.at(name).as_string()) + "=" +
              std::to_string(item.at("input_tokens").to_number<int64_t>()) + " ";
    }
    return text;
  };
  EXPECT_EQ(names("agents", "agent_id"), "chat=7 code=8 ");
  EXPECT_EQ(names("users", "user_id"), "ada=11 bob=4 ");
  EXPECT_EQ(names("days", "day"), "1969-12-31=8 2026-01-09=1 2026-01-10=6 ");
  EXPECT_TRUE(report.at("problems").as_array().empty());
}

TEST(Usage, OfAStoreIsFiltered) {
  const Store store;
  const Session one(store, R"({"session_id":"one","user_id":"ada","agent_id":"chat"})");
  const Session two(store, R"({"session_id":"two","user_id":"bob","agent_id":"chat"})");
  ASSERT_TRUE(one.add(used("a", 1, 0, 0, "2026-01-09T00:00:00Z")).ok());
  ASSERT_TRUE(one.add(used("b", 2, 0, 0, "2026-01-10T00:00:00Z")).ok());
  ASSERT_TRUE(two.add(used("a", 4, 0, 0, "2026-01-10T00:00:00Z")).ok());
  const auto input = [&](std::string_view filter) {
    return store_usage(store, filter).object().at("total").at("input_tokens").to_number<int64_t>();
  };
  EXPECT_EQ(input(R"({"user_id":"ada"})"), 3);
  EXPECT_EQ(input(R"({"agent_id":"chat"})"), 7);
  EXPECT_EQ(input(R"({"session_ids":["two","two","none"]})"), 4);
  EXPECT_EQ(input(R"({"session_ids":["two"],"user_id":"ada"})"), 0);
  EXPECT_EQ(input(R"({"time":{"start":"2026-01-10T00:00:00Z"}})"), 6);
  EXPECT_EQ(input(R"({"time":{"end":"2026-01-10T00:00:00Z"}})"), 1);
  EXPECT_EQ(input(R"({"time":{"start":"2026-01-09T00:00:00.001Z","end":"2026-01-10T00:00:00Z"}})"),
            0);
  struct Case {
    const char* filter;
    const char* member;
  };
  for (const Case& given : std::vector<Case>{{R"({"users":"ada"})", "users"},
                                             {R"({"user_id":1})", "user_id"},
                                             {R"({"time":{"last":"7d"}})", "time.last"},
                                             {R"({"time":{"start":"now"}})", "time.start"},
                                             {R"({"session_ids":["a b"]})", "session_ids[0]"}}) {
    SCOPED_TRACE(given.filter);
    const Outcome outcome = store_usage(store, given.filter).outcome;
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail("member"), given.member);
  }
}

TEST(Usage, OfATimeThatEndsBeforeItBeginsIsRefused) {
  const Store store;
  const std::string_view time =
      R"({"time":{"start":"2026-02-01T00:00:00Z","end":"2026-01-01T00:00:00Z"}})";
  const Outcome refused = store_usage(store, time).outcome;
  EXPECT_EQ(refused.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.detail("member"), "time.end");
}

TEST(Usage, OfManyThreadsIsExact) {
  constexpr int kThreads = 4;
  constexpr int kEach = 100;
  const Store store;
  const Session session(store);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const std::string id = std::to_string(t) + "-" + std::to_string(i);
        EXPECT_TRUE(session.add(used(id, 1, 1, 0.01)).ok());
        if (i % 10 == 0) {
          EXPECT_TRUE(session.stats().ok());
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(usage_of(session),
            R"({"cost_usd":4,"entries":400,"input_tokens":400,"output_tokens":400})");
}

}  // namespace
}  // namespace varve_test
