// Budgets and counters of contexts: what fits is in, and never a token too many.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "context_answers.h"

namespace varve_test {
namespace {

constexpr const char* kFormats[] = {"markdown", "chat", "json", "plain"};

// --- budgets -------------------------------------------------------------------------------------

TEST(ContextBudget, OfNothingGivesNothing) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(turn("a", 0, "user", "hello")).ok());
  for (const char* format : kFormats) {
    for (const char* budget : {R"({"max_tokens":0})", R"({"max_tokens":7})",
                               R"({"max_tokens":900,"reserve_tokens":900})"}) {
      const Answer context = session.context(R"({"pinned":["a"],"budget":)" + std::string(budget) +
                                             R"(,"format":")" + format + R"("})");
      EXPECT_EQ(text_of(context), "") << format << budget;
      EXPECT_EQ(number(context, "token_count"), 0);
      EXPECT_EQ(number(context, "dropped"), 1);
      EXPECT_TRUE(context.object().at("truncated").as_bool());
    }
  }
}

TEST(ContextBudget, SmallerThanThePinnedEntriesTakesThoseThatFitInTheirOrder) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(turn("big", 0, "user", std::string(4000, 'x'))).ok());
  ASSERT_TRUE(session.add(turn("one", 1, "user", "one")).ok());
  ASSERT_TRUE(session.add(turn("two", 2, "user", "two")).ok());
  const auto of = [&](const std::string& pinned, int64_t tokens) {
    return session.context(R"({"pinned":[)" + pinned +
                           R"(],"retrieve":[],"budget":{"max_tokens":)" + std::to_string(tokens) +
                           "}}");
  };
  const int64_t room_for_one = number(of(R"("two")", 900), "token_count");
  ASSERT_GT(room_for_one, 0);
  const Answer context = of(R"("big","two","one")", room_for_one);
  EXPECT_EQ(ids_of(context), "two") << context.text;
  EXPECT_EQ(number(context, "dropped"), 2);
}

// Beside a question the newest have a share of the room, and what is pinned comes before them.
TEST(ContextBudget, TakesWhatIsPinnedBeforeTheNewest) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(turn("large", 0, "user", std::string(2000, 'x'))).ok());
  for (int i = 1; i < 20; ++i) {
    ASSERT_TRUE(session.add(turn("m" + std::to_string(i), i, "user", "turn")).ok());
  }
  const auto of = [&](int64_t tokens) {
    return session.context(
        R"({"question":"Which kayak?","pinned":["large"],"budget":{"max_tokens":)" +
        std::to_string(tokens) + "}}");
  };
  const Answer context = of(number(of(5000), "token_count") - 50);
  EXPECT_TRUE(ids_of(context).starts_with("large ")) << context.text;
  EXPECT_TRUE(context.object().at("truncated").as_bool());
}

TEST(ContextBudget, AnEntryThatIsTooLargeIsPassedOverForSmallerOnes) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(turn("small", 0, "user", "small")).ok());
  ASSERT_TRUE(session.add(turn("large", 1, "user", std::string(4000, 'x'))).ok());
  EXPECT_EQ(ids_of(session.context(R"({"budget":{"max_tokens":100}})")), "small");
}

// --- counters ------------------------------------------------------------------------------------

// Counts as it is told, and how often it was asked.
struct HostCounter {
  std::function<uint64_t(std::string_view)> count;
  int32_t answer = 0;
  std::atomic<int> calls{0};
  static int32_t run(void* self, const char* text, size_t len, uint64_t* tokens_out) {
    auto& counter = *static_cast<HostCounter*>(self);
    counter.calls += 1;
    if (counter.count) *tokens_out = counter.count({text, len});
    return counter.answer;
  }
};

TEST(ContextCounter, OfTheHostDecidesInsteadOfTheEstimate) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(turn("a", 0, "user", "hello")).ok());
  HostCounter bytes{[](std::string_view text) { return text.size(); }};
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &bytes).ok());
  const Answer context = session.context(R"({"budget":{"max_tokens":4000}})");
  EXPECT_EQ(number(context, "token_count"), static_cast<int64_t>(text_of(context).size()));
  EXPECT_EQ(text_of(session.context(R"({"budget":{"max_tokens":40}})")), "");
  ASSERT_TRUE(store.set_token_counter(nullptr, nullptr).ok());
  EXPECT_EQ(ids_of(session.context(R"({"budget":{"max_tokens":40}})")), "a");
}

// Each format's text is counted whole, and fills its budget to the last byte.
TEST(ContextCounter, OfBytesHasRoomForATextOfExactlyTheBudget) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(turn("a", 0, "user", "hello")).ok());
  HostCounter bytes{[](std::string_view text) { return text.size(); }};
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &bytes).ok());
  for (const char* source : {"recency", "importance"}) {
    for (const char* format : kFormats) {
      const std::string request = R"({"retrieve":[{")" + std::string(source) +
                                  R"(":1}],"format":")" + format + R"(","budget":{"max_tokens":)";
      // An array's last entry has no ",\n" after it; it is counted with one.
      const bool is_array = format == std::string("json") || format == std::string("chat");
      const int64_t all =
          number(session.context(request + "1000}}"), "token_count") + (is_array ? 2 : 0);
      EXPECT_EQ(ids_of(session.context(request + std::to_string(all) + "}}")), "a") << format;
      EXPECT_EQ(ids_of(session.context(request + std::to_string(all - 1) + "}}")), "") << format;
    }
  }
}

// Alone, a result is recalled in a chat, and its line may be shorter than its message.
TEST(ContextCounter, ChangesNothingByWhatIsRemembered) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session
                  .add(R"({"id":"a","type":"tool_result","content":)"
                       R"({"name":"tide","result":"low","call_id":"call_0123456789"}})")
                  .ok());
  HostCounter bytes{[](std::string_view text) { return text.size(); }};
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &bytes).ok());
  const std::string request = R"({"format":"chat","budget":{"max_tokens":)";
  const int64_t all = number(session.context(request + "1000}}"), "token_count") + 2;
  EXPECT_EQ(ids_of(session.context(request + std::to_string(all) + "}}")), "a");
  EXPECT_EQ(ids_of(session.context(request + std::to_string(all) + "}}")), "a");
}

TEST(ContextCounter, IsAskedOfAnEntryOnce) {
  const Store store;
  const Session session(store);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(session.add(turn("m" + std::to_string(i), i, "user", "turn")).ok());
  }
  HostCounter counter{[](std::string_view text) { return text.size() / 4; }};
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  const Answer first = session.context();
  EXPECT_GT(counter.calls, 50);
  counter.calls = 0;
  EXPECT_EQ(session.context().text, first.text);
  EXPECT_EQ(counter.calls, 1);  // the whole text
  // Another function knows nothing of what the one before it counted.
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  counter.calls = 0;
  EXPECT_EQ(session.context().text, first.text);
  EXPECT_GT(counter.calls, 50);
}

TEST(ContextCounter, ThatFailsEndsTheCall) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(turn("a", 0, "user", "hello")).ok());
  HostCounter counter{[](std::string_view) { return 1; }, 7};
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  const Answer context = session.context();
  EXPECT_EQ(context.outcome.status, VARVE_CALLBACK);
  EXPECT_TRUE(holds(context.outcome.message, "returned 7")) << context.outcome.message;
  EXPECT_EQ(context.text, "");
  counter.answer = 0;
  EXPECT_EQ(ids_of(session.context()), "a");
}

TEST(ContextCounter, ThatAnswersZeroHasRoomForACallWithAnyNumberOfResults) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(R"({"type":"tool_call","content":{"name":"f","call_id":"c"}})").ok());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(session.add(R"({"type":"tool_result","content":{"call_id":"c"}})").ok());
  }
  HostCounter counter{[](std::string_view) { return 0; }};
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  const Answer context = session.context(R"({"budget":{"max_tokens":2}})");
  EXPECT_EQ(context.object().at("items").as_array().size(), 6U) << context.text;
}

TEST(ContextCounter, ThatAnswersNonsenseIsTakenAtItsWord) {
  const Store store;
  const Session session(store);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(session.add(turn("m" + std::to_string(i), i, "user", "turn")).ok());
  }
  HostCounter counter{[](std::string_view) { return uint64_t{1} << 63; }};
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  EXPECT_EQ(text_of(session.context()), "");
  counter.count = [](std::string_view) { return UINT64_MAX; };
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  EXPECT_EQ(text_of(session.context()), "");
  // Nothing costs anything: everything is in.
  counter.count = [](std::string_view) { return 0; };
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  for (const std::string tokens : {"1", "2", "5"}) {
    EXPECT_EQ(ids_of(session.context(R"({"budget":{"max_tokens":)" + tokens + "}}")),
              "m0 m1 m2 m3 m4");
  }
  // The whole is far more than its parts: what is taken last goes first.
  counter.count = [](std::string_view text) { return text.size() > 90 ? 5000 : 1; };
  ASSERT_TRUE(store.set_token_counter(&HostCounter::run, &counter).ok());
  const Answer some = session.context();
  EXPECT_LE(number(some, "token_count"), 4000);
}

// --- never above the budget ----------------------------------------------------------------------

std::string random_text(std::mt19937& random) {
  static const char* const kParts[] = {"word ",  "Zürich ",  "東京",    "🙂",       "```\n",
                                       "====\n", "\r\n",     "1234567", "{\"a\":1} ", "\"",
                                       "\\",     "ALLCAPS ", "\u2028",  "  ",         "user: "};
  std::string text;
  for (size_t n = random() % 60; n > 0; --n) text += kParts[random() % std::size(kParts)];
  return text;
}

// Messages that follow each other are read as what followed each other.
class ContextOfTurns : public testing::Test {
 protected:
  void SetUp() override {
    const std::string swan = "I saw a swan. " + std::string(2000, 'x');
    const std::string said[] = {"My name is Ann.", "Hello Ann!", swan, "I see.", "Thanks."};
    for (int i = 0; i < 5; ++i) {
      const std::string id(1, static_cast<char>('a' + i));
      ASSERT_TRUE(session.add(turn(id, i, i % 2 == 0 ? "user" : "assistant", said[i])).ok());
    }
  }
  // How many messages there are, and the sources of the items.
  [[nodiscard]] std::string chat_with(const std::string& members) const {
    const Answer context = session.context(R"({"format":"chat",)" + members + "}");
    std::string told = std::to_string(json::parse(text_of(context)).as_array().size());
    const json::object answer = context.object();
    for (const auto& item : answer.at("items").as_array()) {
      told += " " + text_in(item.as_object(), "id") + ":" + text_in(item.as_object(), "source");
    }
    return told;
  }

  Store store;
  Session session{store};
};

TEST_F(ContextOfTurns, HasNoneBeforeOneThatDoesNotFit) {
  EXPECT_EQ(chat_with(R"("budget":{"max_tokens":120})"),
            "3 a:recalled b:recalled d:recent e:recent");
  EXPECT_EQ(chat_with(R"("budget":{"max_tokens":4000})"),
            "5 a:recent b:recent c:recent d:recent e:recent");
  EXPECT_EQ(chat_with(R"("budget":{"max_tokens":120},"exclude_ids":["c"])"),
            "4 a:recent b:recent d:recent e:recent");
}

// Beside a question, what matches it is told for what it says, and is no turn.
TEST_F(ContextOfTurns, HasNoneBeforeOneThatIsRecalled) {
  EXPECT_EQ(chat_with(R"("question":"a swan","budget":{"max_tokens":480})"),
            "3 a:recalled b:recalled c:recalled d:recent e:recent");
}

TEST_F(ContextOfTurns, OnlyMessagesAreTurns) {
  const Answer context = session.context(R"({"budget":{"max_tokens":120}})");
  EXPECT_EQ(ids_of(context), "a b d e");
  EXPECT_FALSE(holds(context.text, "recalled")) << context.text;
}

TEST(ContextBudget, IsNeverExceededWhateverIsAskedOfWhomever) {
  std::mt19937 random(7);
  const Store store;
  const Session session(store);
  std::string lines;
  const char* const types[] = {"message", "finding", "tool_call", "tool_result"};
  for (int i = 0; i < 300; ++i) {
    json::object content{{"role", random() % 2 == 0 ? "user" : "Ann"},
                         {"message", random_text(random)},
                         {"call_id", "c" + std::to_string(random() % 40)}};
    lines += json::serialize(json::object{{"id", "e" + std::to_string(i)},
                                          {"type", types[random() % 4]},
                                          {"importance", static_cast<double>(random() % 10) / 10},
                                          {"content", content}}) +
             "\n";
  }
  ASSERT_TRUE(session.add_batch(lines).ok());
  HostCounter counters[] = {
      {[](std::string_view text) { return text.size(); }},
      {[](std::string_view text) { return (text.size() + 3) / 4; }},
      {[](std::string_view text) { return text.size() * text.size() / 1000; }},  // more than parts
      {[&random](std::string_view text) { return random() % (text.size() + 1); }},
      {[](std::string_view text) {
        return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
      }},
  };
  for (int round = 0; round < 600; ++round) {
    HostCounter* counter = round % 6 == 5 ? nullptr : &counters[round % 6];
    ASSERT_TRUE(
        store.set_token_counter(counter == nullptr ? nullptr : &HostCounter::run, counter).ok());
    uint64_t last = 0;
    if (counter != nullptr && round % 6 == 3) {
      counter->count = [&](std::string_view text) { return last = random() % (text.size() + 1); };
    }
    const uint64_t most = random() % (1U << (random() % 14));
    const uint64_t reserve = random() % 3 == 0 ? random() % (most + 1) : 0;
    json::object request{
        {"budget", {{"max_tokens", most}, {"reserve_tokens", reserve}}},
        {"format", kFormats[random() % 4]},
        {"keep_together", random() % 2 == 0},
    };
    if (random() % 2 == 0) request["question"] = "word of Ann in Zürich, user 1234567?";
    if (random() % 3 == 0) request["pinned"] = {"e1", "e2", "e" + std::to_string(random() % 300)};
    if (random() % 3 == 0) {
      request["retrieve"] =
          json::parse(R"([{"recency":40},{"importance":30},{"types":["tool_call"]},
                                            {"query":{"text":"word","limit":20}}])");
      request["rank"] = json::parse(R"([{"temporal":0.5},{"importance":0.3},{"match":0.2}])");
    }
    const Answer context = session.context(json::serialize(request));
    ASSERT_TRUE(context.ok()) << context.outcome << json::serialize(request);
    const std::string text = text_of(context);
    const json::object answer = context.object();
    const json::array& items = answer.at("items").as_array();
    const auto tokens = static_cast<uint64_t>(number(context, "token_count"));
    ASSERT_LE(tokens, most - reserve) << json::serialize(request);
    ASSERT_EQ(text.empty(), items.empty());
    if (counter != nullptr && !text.empty()) {
      // By the counter in force, of exactly this text.
      ASSERT_EQ(tokens, round % 6 == 3 ? last : counter->count(text));
    }
    std::set<std::string> ids;
    for (const auto& item : items) ids.insert(std::string(item.as_object().at("id").as_string()));
    ASSERT_EQ(ids.size(), items.size());
  }
  ASSERT_TRUE(store.set_token_counter(nullptr, nullptr).ok());
}

}  // namespace
}  // namespace varve_test
