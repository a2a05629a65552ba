// Contexts across the sessions of a store while files fail, logs are replaced, and sessions go: the
// answer is the whole one, one without what is gone, or says what happened.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "context/build.h"
#include "context/counter.h"
#include "io/simulated.h"
#include "json/tree.h"
#include "session/upkeep/compaction.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::context {
namespace {

using store::Store;

constexpr std::string_view kRequest = R"({"retrieve":[{"recency":9},{"query":{"text":"tea"}}],)"
                                      R"("across":{}})";

// Session "own" and two others, on a disk that another process uses, too.
class Across : public testing::Test {
 protected:
  Across() {
    const auto store = open();
    add(*store, "own", R"({"id":"now","type":"finding","content":"evening"})");
    add(*store, "other", R"({"id":"call","type":"tool_call","content":{"call_id":"c"}})");
    add(*store, "other",
        R"({"id":"result","type":"tool_result","content":{"call_id":"c","result":"tea"}})");
    add(*store, "third", R"({"id":"now","type":"finding","content":"tea at night"})");
    store->close();
  }

  std::shared_ptr<Store> open(io::FileSystem* files = nullptr, std::string_view config = {}) {
    const Store::Environment environment{files == nullptr ? &disk_ : files, &clock_, &random_};
    auto opened = Store::open("store", config, environment);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  void add(Store& store, const std::string& session, const std::string& entry) {
    clock_.advance_ms(60'000);
    auto opened = store.create_session(R"({"if_exists":"open","session_id":")" + session + "\"}");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto added = (*opened)->add(entry);
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  // "session/id" of the items, or the failure.
  std::string places_of(const Result<std::string>& answer) {
    if (!answer.ok()) return std::string(answer.status().message());
    const auto tree = json::Tree::parse(*answer);
    EXPECT_TRUE(tree.ok());
    std::string places;
    for (const auto& item : tree->get("items")->items()) {
      places +=
          (places.empty() ? "" : " ") + item.get_string("session_id") + "/" + item.get_string("id");
    }
    return places;
  }
  Result<std::string> build_in(Store& store, std::string_view request = kRequest) {
    VARVE_TRY_ASSIGN(const auto own, store.open_session("own"));
    CountCache cache;
    return build(*own, &store, request, Counter(nullptr, nullptr, 1, &cache));
  }

  // Builds while another process acts before the number-th of our calls on files; empty when there
  // are fewer calls.
  template <typename Act>
  std::optional<Result<std::string>> build_beside(uint64_t number, Act&& act) {
    const auto store = open();
    const int64_t own_id = disk_.process_id();
    uint64_t seen = 0;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.process_id == own_id && ++seen == number) act();
      return std::nullopt;
    });
    auto answer = build_in(*store);
    disk_.set_fault_hook({});
    if (seen < number) return std::nullopt;
    return answer;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> other_disk_ = disk_.process(4711);
};

constexpr std::string_view kWhole = "other/call other/result third/now own/now";

TEST_F(Across, AFailingDiskIsToldOrLeavesASessionOutAndTheNextBuildIsWhole) {
  for (const int os_errno : {EIO, EMFILE}) {
    int whole_count = 0;
    uint64_t number = 1;
    for (bool happened = true; happened; ++number) {
      SCOPED_TRACE("call " + std::to_string(number) + ", error " + std::to_string(os_errno));
      const auto store = open();
      const io::FailNth fault(number, os_errno);
      disk_.set_fault_hook(fault);
      const auto answer = build_in(*store);
      disk_.set_fault_hook({});
      happened = fault.matched() >= number;
      if (answer.ok()) {
        const std::string places = places_of(answer);
        const std::set<std::string_view> possible = {kWhole, "other/call other/result own/now",
                                                     "third/now own/now",
                                                     "other/call other/result third/now"};
        EXPECT_TRUE(possible.contains(places)) << places;
        whole_count += places == kWhole ? 1 : 0;
      } else {
        EXPECT_EQ(answer.code(), Code::kIo) << answer.status().message();
      }
      EXPECT_EQ(places_of(build_in(*store)), kWhole);
    }
    EXPECT_GT(number, 20u);
    EXPECT_GT(whole_count, 0);
  }
}

// The host has others open. What could not be opened any more is told to be left out.
TEST_F(Across, WithoutDescriptorsForAllItIsFromThoseThatAreOpen) {
  int fewer_count = 0;
  uint64_t number = 1;
  for (bool happened = true; happened; ++number) {
    SCOPED_TRACE("opening " + std::to_string(number));
    const auto store = open(nullptr, R"({"performance":{"max_kept_sessions":0}})");
    const auto own = store->open_session("own");
    const io::FailNth fault(number, EMFILE, true, {io::OperationKind::kOpenDirectory});
    disk_.set_fault_hook(fault);
    const auto answer = build_in(*store);
    disk_.set_fault_hook({});
    happened = fault.matched() >= number;
    if (!answer.ok()) {
      EXPECT_EQ(answer.status().place().os_errno, EMFILE) << answer.status().message();
      continue;
    }
    const auto dropped_count = json::Tree::parse(*answer)->get_count("dropped");
    if (dropped_count == 0) {
      EXPECT_EQ(places_of(answer), kWhole);
    } else {
      EXPECT_EQ(places_of(answer), "third/now own/now");
      EXPECT_EQ(dropped_count, 1u);
      fewer_count += 1;
    }
  }
  EXPECT_EQ(fewer_count, 1);
}

TEST_F(Across, ALogThatIsReplacedUnderABuildChangesNothingInIt) {
  const auto other = open(other_disk_.get());
  const auto compact_all = [&] {
    for (const char* id : {"own", "other", "third"}) {
      EXPECT_TRUE((*other->open_session(id))->compact({}).ok());
    }
  };
  uint64_t number = 1;
  for (; const auto answer = build_beside(number, compact_all); ++number) {
    EXPECT_EQ(places_of(*answer), kWhole) << "call " << number;
  }
  EXPECT_GT(number, 20u);
}

TEST_F(Across, ASessionThatIsDeletedUnderABuildIsInItOrNot) {
  const auto other = open(other_disk_.get());
  const auto drop = [&] { EXPECT_TRUE(other->delete_session("third").ok()); };
  std::set<std::string> seen_places;
  for (uint64_t number = 1; const auto answer = build_beside(number, drop); ++number) {
    SCOPED_TRACE("call " + std::to_string(number));
    const std::string places = places_of(*answer);
    EXPECT_TRUE(places == kWhole || places == "other/call other/result own/now") << places;
    EXPECT_NE((*answer)->find(R"("dropped":0)"), std::string::npos) << "it is not left out";
    seen_places.insert(places);
    EXPECT_EQ(places_of(build_in(*open())), "other/call other/result own/now");
    add(*other, "third", R"({"id":"now","type":"finding","content":"tea at night"})");
  }
  EXPECT_EQ(seen_places.size(), 2u);
}

TEST_F(Across, TheOwnSessionThatIsGoneIsNotFound) {
  const auto store = open();
  const auto own = *store->open_session("own");
  ASSERT_TRUE(store->delete_session("own").ok());
  CountCache cache;
  const auto answer = build(*own, store.get(), kRequest, Counter(nullptr, nullptr, 1, &cache));
  EXPECT_EQ(answer.code(), Code::kNotFound) << answer.status().message();
}

// More sessions have something than are open at once: the best are in, the others are told.
TEST_F(Across, TheEntriesAreFromAsManySessionsAsAreOpenAtOnce) {
  const auto store = open();
  const size_t count = store->open_at_once_max() + 3;
  for (size_t i = 0; i < count; ++i) {
    add(*store, "s" + std::to_string(i), R"({"type":"finding","content":"kettle"})");
  }
  const auto answer = build_in(*store, R"({"retrieve":[{"query":{"text":"kettle","limit":1000}},)"
                                       R"({"query":{"text":"kettle evening","limit":1000}}],)"
                                       R"("budget":{"max_tokens":100000},"across":{}})");
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  const auto tree = json::Tree::parse(*answer);
  EXPECT_EQ(tree->get("items")->items().size(), store->open_at_once_max() + 1) << "and its own";
  EXPECT_EQ(tree->get_count("dropped"), 3u) << "each once";
  EXPECT_TRUE(tree->get_bool("truncated"));
}

// Of those that are not open as well: it was not left out for want of room.
TEST_F(Across, WhatIsExcludedIsNotDropped) {
  const auto store = open();
  const size_t count = store->open_at_once_max() + 3;
  for (size_t i = 0; i < count; ++i) {
    add(*store, "s" + std::to_string(i), R"({"id":"all","type":"finding","content":"kettle"})");
  }
  const auto answer = build_in(*store, R"({"retrieve":[{"query":{"text":"kettle","limit":1000}}],)"
                                       R"("exclude_ids":["all"],"across":{}})");
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(places_of(answer), "");
  EXPECT_EQ(json::Tree::parse(*answer)->get_count("dropped"), 0u) << *answer;
}

TEST_F(Across, WithoutAStoreThereIsNothingToRecallFrom) {
  const auto store = open();
  CountCache cache;
  const auto answer =
      build(**store->open_session("own"), nullptr, kRequest, Counter(nullptr, nullptr, 1, &cache));
  EXPECT_EQ(answer.code(), Code::kUnsupported);
}

}  // namespace
}  // namespace varve::context
