// A tool call with so many results that a context has no room for them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "context/build.h"
#include "context/counter.h"
#include "entry/content_key.h"
#include "json/tree.h"
#include "session/query/selection.h"
#include "unit/session/session_disk.h"
#include "unit/session/watched_storage.h"

namespace varve::context {
namespace {

using session::Host;
using session::SessionDisk;

class LargeToolCall : public testing::Test {
 protected:
  void SetUp() override {
    host_.context.settings.session_bytes_max = 0;
    host_.context.settings.entry_bytes_max = 0;
    disk_.make();
    session_ = disk_.open();
  }
  void add(uint32_t results, uint32_t references) {
    std::string named = R"("call")";
    for (uint32_t i = 0; i < references; ++i) named += ",\"nobody" + std::to_string(i) + '"';
    std::string lines = R"({"id":"call","type":"tool_call",)"
                        R"("content":{"call_id":"c","name":"brew"}})"
                        "\n";
    for (uint32_t i = 0; i < results; ++i) {
      lines += R"({"type":"tool_result","content":{"call_id":"c","result":"tea"},"references":[)" +
               named + "]}\n";
    }
    lines += R"({"id":"other","type":"finding","content":"tea at night"})"
             "\n";
    const auto added = session_->add_batch(lines);
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  // Ids in it.
  std::string build_with(uint64_t tokens) {
    return build_of(R"({"question":"tea","budget":{"max_tokens":)" + std::to_string(tokens) +
                    R"(},"retrieve":[{"query":{"text":"tea","limit":10000}}]})");
  }
  std::string build_newest() {
    return build_of(R"({"budget":{"max_tokens":100000000},"retrieve":[{"recency":1000000}]})");
  }
  std::string build_of(const std::string& request) {
    const Counter counter(nullptr, nullptr, 1, &cache_);
    const auto built = build(*session_, nullptr, request, counter);
    EXPECT_TRUE(built.ok()) << built.status().message();
    if (!built.ok()) return "";
    const auto tree = json::Tree::parse(*built);
    return std::to_string(tree->get("items")->items().size());
  }

  Host host_;
  SessionDisk disk_{host_};
  CountCache cache_;
  std::shared_ptr<session::Session> session_;
};

// To gather the call anew from each of its results read 2,400,000,000 references.
TEST_F(LargeToolCall, IsGatheredOnceWhereThereIsNoRoomForIt) {
  add(3000, 300);
  EXPECT_EQ(build_with(1000), "1") << "the finding";
}

TEST_F(LargeToolCall, OfMoreResultsThanAnyContextTakesIsLookedForOnce) {
  add(4097, 300);
  EXPECT_EQ(build_with(1'000'000), "1");
}

// To count 4,097 of them anew for each of the others read 400,000,000 postings.
TEST_F(LargeToolCall, OfFarMoreResultsIsLookedForOnce) {
  add(100'000, 0);
  EXPECT_EQ(build_newest(), "1") << "the finding";
}

TEST_F(LargeToolCall, IsKnownForItOnceItWasCounted) {
  add(4097, 0);
  const auto selected = session_->select_ids({"call"}, 0);
  ASSERT_TRUE(selected.ok());
  const session::Selected& call = selected->front();
  const std::string key = entry::content_string_key("call_id", "c");
  session::KnownCalls known;
  for (int i = 0; i < 2; ++i) {
    const auto found = session_->select_tool_call(call, key, 0, &known);
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found->is_crowded);
    EXPECT_EQ(found->entries.size(), 1u);
  }
  // What is known is not counted again.
  known.crowded.clear();
  ASSERT_TRUE(session_
                  ->add_batch(R"({"id":"few","type":"tool_call","content":{"call_id":"c"}})"
                              "\n"
                              R"({"type":"tool_result","content":{"call_id":"c"}})"
                              "\n")
                  .ok());
  const auto few = session_->select_ids({"few"}, 0);
  ASSERT_TRUE(few.ok());
  EXPECT_EQ(session_->select_tool_call(few->front(), key, 0, &known)->entries.size(), 2u);
  known.crowded[key].insert(few->front().place.row);
  EXPECT_EQ(session_->select_tool_call(few->front(), key, 0, &known)->entries.size(), 1u);
}

TEST_F(LargeToolCall, IsWholeWhereThereIsRoom) {
  add(50, 1);
  EXPECT_EQ(build_with(100'000), "52");
}

// To look for the call anew from each of them read 5,000,000,000 postings.
TEST_F(LargeToolCall, ThatIsNotThereIsLookedForOnce) {
  std::string lines;
  for (uint32_t i = 0; i < 100'000; ++i) {
    lines += R"({"type":"tool_result","content":{"call_id":"c","result":"tea"}})"
             "\n";
  }
  ASSERT_TRUE(session_->add_batch(lines).ok());
  EXPECT_EQ(build_newest(), "100000");
}

// To read what a result refers to anew for each call read 1,000,000,000 references.
TEST_F(LargeToolCall, OfManyWhoseResultsReferToAllIsThatOfTheFirst) {
  constexpr uint32_t kCount = 1000;
  std::string lines;
  std::string calls;
  for (uint32_t i = 0; i < kCount; ++i) {
    const std::string id = "call" + std::to_string(i);
    calls += (calls.empty() ? "\"" : ",\"") + id + '"';
    lines += R"({"id":")" + id + R"(","type":"tool_call","content":{"name":"brew"}})" + "\n";
  }
  for (uint32_t i = 0; i < kCount; ++i) {
    lines += R"({"type":"tool_result","content":{"result":"tea"},"references":[)" + calls + "]}\n";
  }
  ASSERT_TRUE(session_->add_batch(lines).ok());
  EXPECT_EQ(build_newest(), "2000");
}

// One result more than an interface takes: it cannot be messages, and has no room as what is
// recalled. That is found out once, and not by each of its results again.
TEST_F(LargeToolCall, ThatCannotBeMessagesIsReadAtMostTwice) {
  constexpr uint32_t kResults = 100;
  add(kResults, 1);
  const uint64_t log_bytes = disk_.bytes(log::kEntriesFile).size();
  host_.context.settings.cached_entries_max = 0;  // each reading is one of the log
  auto owned = std::make_unique<session::WatchedStorage>(*disk_.storage());
  session::WatchedStorage& storage = *owned;
  session_ =
      *session::Session::open(std::string(session::kSessionId), std::move(owned), host_.context);
  // The first build reads what every later one has in memory.
  const std::string request = R"({"format":"chat","budget":{"max_tokens":600},)"
                              R"("retrieve":[{"recency":1000}]})";
  EXPECT_EQ(build_of(request), "1") << "the finding";
  storage.read_bytes = 0;
  EXPECT_EQ(build_of(request), "1");
  EXPECT_GT(storage.read_bytes, log_bytes);
  EXPECT_LT(storage.read_bytes, 3 * log_bytes);
}

// To look for the rank of each call among all candidates compared 10,000,000,000 rows.
TEST_F(LargeToolCall, ManyOfThemAreRankedAtOnce) {
  std::string lines;
  for (uint32_t i = 0; i < 100'000; ++i) {
    const std::string content =
        R"("content":{"call_id":"c)" + std::to_string(i) + R"(","name":"b"})";
    lines += R"({"type":"tool_call",)" + content + "}\n";
    lines += R"({"type":"tool_result",)" + content + "}\n";
  }
  ASSERT_TRUE(session_->add_batch(lines).ok());
  EXPECT_EQ(build_newest(), "200000");
}

}  // namespace
}  // namespace varve::context
