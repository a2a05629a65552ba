// Sessions and entries that expire, and the sweep that removes them.
#include "store/sweep.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "io/simulated.h"
#include "session/upkeep/compaction.h"
#include "store/store.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace varve::store {
namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr std::string_view kSweptEntry = R"({"id":"a","type":"message","content":"hello"})";

class SweepTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto opened = Store::open(GetParam(), "", {&disk_, &clock_, &random_});
    ASSERT_TRUE(opened.ok());
    store_ = *opened;
  }
  std::shared_ptr<session::Session> create(const std::string& options) {
    auto created = store_->create_session(options);
    EXPECT_TRUE(created.ok()) << created.status().message();
    return created.ok() ? *created : nullptr;
  }
  json::Tree sweep() {
    auto report = store_->sweep();
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree();
  }
  size_t listed() { return store_->sessions("")->get("sessions")->items().size(); }
  Code opened(std::string_view id) { return store_->open_session(id).code(); }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::shared_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Over, SweepTest, testing::Values("store", "memory:"),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           return parameter.param == "store" ? "Directory" : "Memory";
                         });

TEST_P(SweepTest, AFixedTtlCountsFromCreationAndHidesTheSessionAtOnce) {
  auto session = create(R"({"session_id":"s1","ttl_hours":2,"ttl_policy":"fixed"})");
  clock_.advance_ms(kHourMs);
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  clock_.advance_ms(kHourMs - 1);
  EXPECT_EQ(opened("s1"), Code::kOk);
  clock_.advance_ms(1);
  EXPECT_EQ(opened("s1"), Code::kNotFound) << "although somebody has it open";
  session.reset();
  EXPECT_EQ(opened("s1"), Code::kNotFound);
  EXPECT_EQ(listed(), 0u);
  EXPECT_EQ(store_->query(R"({"text":"hello"})")->results.size(), 0u);
  const json::Tree report = sweep();
  EXPECT_EQ(report.get_int64("sessions_removed"), 1);
  EXPECT_GT(report.get_int64("bytes_freed"), 0);
  EXPECT_FALSE(disk_.exists("store/sessions/s1"));
  EXPECT_EQ(sweep().get_int64("sessions_checked"), 0);
}

// What a handle that was open before answers, by call.
using CallsOfAHandle = std::vector<std::pair<std::string, Status>>;
CallsOfAHandle call_all(session::Session& session) {
  const float vector[] = {1.0F, 0.0F};
  return {{"add", session.add(R"({"type":"message","content":1})").status()},
          {"add_batch", session.add_batch(R"([{"type":"message","content":1}])").status()},
          {"get", session.get("a").status()},
          {"remove", session.remove("a", "")},
          {"remove_where", session.remove_where(R"({"text":"hello"})", "").status()},
          {"put_vector", session.put_vector("a", vector)},
          {"query", session.query(R"({"text":"hello"})").status()},
          {"count", session.count("{}").status()},
          {"tags", session.tags().status()},
          {"kv_set", session.kv_set("a", "1")},
          {"kv_get", session.kv_get("a").status()},
          {"kv_delete", session.kv_delete("a")},
          {"kv_list", session.kv_list().status()},
          {"transcript_append", session.transcript_append("user", "hello")},
          {"transcript_last", session.transcript_last(1).status()},
          {"metadata", session.metadata().status()},
          {"update", session.update(R"({"title":"x"})")},
          {"sync", session.sync()},
          {"stats", session.stats().status()},
          {"stats_with_usage", session.stats_with_usage().status()},
          {"files", session.files().status()},
          {"verify", session.verify().status()},
          {"repair", session.repair(false).status()},
          {"migrate", session.migrate(false).status()},
          {"compact", session.compact({}).status()},
          {"rebuild_index", session.rebuild_index().status()},
          {"index_listing", session.index_listing().status()},
          {"export_text", exported_text(session, "jsonl").status()},
          {"import_text", session.import_text(R"({"type":"message","content":1})").status()}};
}

TEST_P(SweepTest, AnOpenHandleAnswersAsWhoOpensItOnceTheTtlIsOver) {
  const auto session = create(R"({"session_id":"s1","ttl_hours":2,"ttl_policy":"fixed"})");
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  clock_.advance_ms(2 * kHourMs - 1);
  for (const auto& [name, status] : call_all(*session)) {
    EXPECT_EQ(status.message().find("has expired (ttl_hours)"), std::string::npos) << name;
  }
  clock_.advance_ms(1);
  const Status refused = store_->open_session("s1").status();
  ASSERT_EQ(refused.code(), Code::kNotFound);
  for (const auto& [name, status] : call_all(*session)) {
    EXPECT_EQ(status.code(), Code::kNotFound) << name;
    EXPECT_EQ(status.message(), refused.message()) << name;
  }
  EXPECT_TRUE(store_->sync().ok()) << "what was answered before is made durable";
  EXPECT_TRUE(store_->stats().ok());
  EXPECT_EQ(sweep().get_int64("sessions_removed"), 1) << "nothing brought it back";
}

TEST_P(SweepTest, ASlidingTtlCountsFromTheLastWrite) {
  auto session = create(R"({"session_id":"s1","ttl_hours":2})");
  for (int i = 0; i < 5; ++i) {
    clock_.advance_ms(kHourMs + kHourMs / 2);
    ASSERT_TRUE(session->add(R"({"type":"message","content":1})").ok());
    EXPECT_EQ(sweep().get_int64("sessions_removed"), 0) << "while it is being written to";
    EXPECT_EQ(opened("s1"), Code::kOk);
  }
  session.reset();
  clock_.advance_ms(2 * kHourMs);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
  EXPECT_EQ(sweep().get_int64("sessions_removed"), 1);
}

TEST_P(SweepTest, ADeletionIsAWriteToo) {
  auto session = create(R"({"session_id":"s1","ttl_hours":2})");
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  clock_.advance_ms(kHourMs + kHourMs / 2);
  ASSERT_TRUE(session->remove("a", "").ok());
  clock_.advance_ms(kHourMs);
  EXPECT_EQ(opened("s1"), Code::kOk);
  session.reset();
  clock_.advance_ms(2 * kHourMs);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
}

TEST_P(SweepTest, WithoutATtlOrWithZeroASessionStays) {
  create(R"({"session_id":"s1"})");
  create(R"({"session_id":"s2","ttl_hours":0})");
  clock_.advance_ms(1000 * 24 * kHourMs);
  const json::Tree report = sweep();
  EXPECT_EQ(report.get_int64("sessions_checked"), 2);
  EXPECT_EQ(report.get_int64("sessions_removed"), 0);
  EXPECT_EQ(listed(), 2u);
}

TEST_P(SweepTest, TheListIsTidiedWhenMostOfItIsOfSessionsThatAreGone) {
  for (int i = 0; i < 10; ++i) create(R"({"session_id":"kept)" + std::to_string(i) + "\"}");
  const auto cursor = [&] { return store_->sessions(R"({"limit":1})")->get_string("next"); };
  const auto is_valid = [&](const std::string& after) {
    return store_->sessions(R"({"limit":1,"after":")" + after + "\"}").ok();
  };
  std::string before = cursor();
  int gone_count = 0;
  for (; gone_count < 110; ++gone_count) {
    create(R"({"session_id":"brief","ttl_hours":1})").reset();
    clock_.advance_ms(kHourMs + 1);
    if (gone_count < 109) {
      ASSERT_TRUE(store_->delete_session("brief").code() == Code::kOk);
    }
  }
  EXPECT_TRUE(is_valid(before));
  EXPECT_EQ(sweep().get_int64("sessions_removed"), 1);
  EXPECT_TRUE(is_valid(before)) << "110 rows are no trouble, and cursors are of use";
  create(R"({"session_id":"brief","ttl_hours":1})").reset();
  clock_.advance_ms(kHourMs + 1);
  EXPECT_EQ(sweep().get_int64("sessions_removed"), 1);
  EXPECT_FALSE(is_valid(before)) << "the list was written anew";
  EXPECT_EQ(listed(), 10u);
  before = cursor();
  sweep();
  EXPECT_TRUE(is_valid(before)) << "there is nothing to tidy";
}

TEST_P(SweepTest, TheIdOfAnExpiredSessionIsFree) {
  ASSERT_TRUE(create(R"({"session_id":"s1","ttl_hours":1})")->add(kSweptEntry).ok());
  clock_.advance_ms(2 * kHourMs);
  const auto again = create(R"({"session_id":"s1"})");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->get("a").code(), Code::kNotFound);
  EXPECT_EQ(listed(), 1u);
}

TEST_P(SweepTest, ATtlCanBeTakenBackAndGivenLater) {
  auto session = create(R"({"session_id":"s1","ttl_hours":1})");
  ASSERT_TRUE(session->update(R"({"ttl_hours":null})").ok());
  clock_.advance_ms(9 * kHourMs);
  EXPECT_EQ(opened("s1"), Code::kOk);
  ASSERT_TRUE(session->update(R"({"ttl_hours":1,"ttl_policy":"sliding"})").ok());
  EXPECT_EQ(opened("s1"), Code::kOk);
  EXPECT_EQ(session->update(R"({"ttl_policy":"never"})").code(), Code::kInvalidArgument);
  clock_.advance_ms(kHourMs);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
}

TEST_P(SweepTest, ExpiredEntriesGoFromTheFiles) {
  const auto session = create(R"({"session_id":"s1"})");
  const std::string soon = format_rfc3339(clock_.now_ms() + kHourMs);
  ASSERT_TRUE(
      session->add(R"({"id":"b","type":"message","content":"zebra","expires_at":")" + soon + "\"}")
          .ok());
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  EXPECT_EQ(sweep().get_int64("sessions_compacted"), 0);
  clock_.advance_ms(kHourMs);
  EXPECT_EQ(session->get("b").code(), Code::kNotFound) << "at once";
  const json::Tree report = sweep();
  EXPECT_EQ(report.get_int64("sessions_compacted"), 1);
  EXPECT_EQ(report.get_int64("entries_dropped"), 1);
  EXPECT_TRUE(session->get("a").ok());
  if (GetParam() == "store") {
    EXPECT_EQ(disk_.read_file("store/sessions/s1/memory.jsonl")->find("zebra"), std::string::npos);
  }
  EXPECT_EQ(sweep().get_int64("sessions_compacted"), 0);
}

TEST_P(SweepTest, BytesOfVectorsAreFreedToo) {
  const auto session = create(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  ASSERT_TRUE(
      session->add(R"({"id":"b","type":"message","content":"tea","ttl_seconds":3600})").ok());
  ASSERT_TRUE(session->put_vector("b", std::vector<float>(1'000, 0.5F)).ok());
  const auto bytes = [&] {
    const json::Tree stats = *session->stats();
    return stats.get("size_bytes")->get_count("log") +
           stats.get("size_bytes")->get_count("vectors");
  };
  const uint64_t before = bytes();
  clock_.advance_ms(kHourMs);
  const uint64_t freed = sweep().get_count("bytes_freed");
  EXPECT_EQ(freed, before - bytes());
}

// It went when it was deleted, and is no reason to write the log anew.
TEST_P(SweepTest, AnEntryThatWasDeletedBeforeItExpiredIsNotSweptOut) {
  const auto session = create(R"({"session_id":"s1"})");
  ASSERT_TRUE(
      session->add(R"({"id":"b","type":"message","content":"tea","ttl_seconds":3600})").ok());
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  ASSERT_TRUE(session->remove("b", "").ok());
  clock_.advance_ms(2 * kHourMs);
  EXPECT_EQ(session->expired_entry_count(), 0U);
  EXPECT_EQ(sweep().get_int64("sessions_compacted"), 0);
}

TEST_P(SweepTest, AClockThatWasAYearAheadDoesNotTakeWhatItDidNotSweep) {
  ASSERT_TRUE(create(R"({"session_id":"s1","ttl_hours":24})")->add(kSweptEntry).ok());
  const int64_t right_ms = clock_.now_ms();
  clock_.advance_ms(int64_t{365} * 24 * kHourMs);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
  clock_.set_now_ms(right_ms);
  EXPECT_EQ(opened("s1"), Code::kOk);
}

// What was written while a machine's clock was not set, or fell back to the day of its image.
TEST_P(SweepTest, ASessionWrittenToByAClockBeforeItsCreationIsNotTaken) {
  const int64_t right_ms = clock_.now_ms();
  auto session = create(R"({"session_id":"s1","ttl_hours":24})");
  for (const int64_t wrong_ms : {int64_t{60'000}, right_ms - 900 * 24 * kHourMs}) {
    clock_.set_now_ms(wrong_ms);
    const auto added = session->add(R"({"type":"message","content":"hello"})");
    ASSERT_TRUE(added.ok());
    const json::Tree sessions = *store_->sessions("");
    EXPECT_EQ(sessions.get("sessions")->items()[0].get_string("last_accessed"),
              format_rfc3339(wrong_ms))
        << "before the session ends: the machine may lose its power first";
    session.reset();
    clock_.set_now_ms(right_ms + 72 * kHourMs);
    EXPECT_EQ(listed(), 1u);
    ASSERT_EQ(opened("s1"), Code::kOk);
    session = *store_->open_session("s1");
    EXPECT_TRUE(session->get(*added).ok());
    EXPECT_EQ(sweep().get_int64("sessions_removed"), 0);
    clock_.advance_ms(24 * kHourMs - 1);
    EXPECT_EQ(opened("s1"), Code::kOk) << "a sweep counts its ttl anew";
  }
  clock_.advance_ms(1);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
  EXPECT_EQ(sweep().get_int64("sessions_removed"), 1);
}

TEST_P(SweepTest, ASessionMadeBeforeTheClockWasSetIsNotTaken) {
  const int64_t right_ms = clock_.now_ms();
  clock_.set_now_ms(60'000);
  ASSERT_TRUE(create(R"({"session_id":"s1","ttl_hours":1})")->add(kSweptEntry).ok());
  ASSERT_TRUE(create(R"({"session_id":"s2","ttl_hours":1,"ttl_policy":"fixed"})").get());
  clock_.set_now_ms(right_ms);
  EXPECT_EQ(listed(), 2u);
  EXPECT_EQ(sweep().get_int64("sessions_removed"), 0);
  ASSERT_EQ(opened("s1"), Code::kOk);
  EXPECT_TRUE((*store_->open_session("s1"))->get("a").ok());
  clock_.advance_ms(kHourMs);
  EXPECT_EQ(opened("s1"), Code::kNotFound) << "it was idle for an hour of the right clock";
  EXPECT_EQ(opened("s2"), Code::kOk) << "nobody knows when it was made";
}

TEST_P(SweepTest, AClockThatIsSetBackForAWhileDoesNotMakeASessionOlder) {
  const auto session = create(R"({"session_id":"s1","ttl_hours":0.5})");
  for (int i = 0; i < 10; ++i) {
    clock_.advance_ms(kHourMs / 4);
    ASSERT_TRUE(session->add(R"({"type":"message","content":1})").ok());
  }
  const int64_t right_ms = clock_.now_ms();
  clock_.set_now_ms(right_ms - kHourMs);
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  ASSERT_TRUE(session->sync().ok());
  clock_.set_now_ms(right_ms + kHourMs / 2 - 1);
  EXPECT_EQ(opened("s1"), Code::kOk);
}

// It may be years ahead: the first write by the right clock counts, and the session ends in time.
TEST_P(SweepTest, AClockThatWasAheadDoesNotKeepASessionForYears) {
  const auto session = create(R"({"session_id":"s1","ttl_hours":24})");
  const int64_t right_ms = clock_.now_ms();
  ASSERT_TRUE(session->update(R"({"ttl_hours":99999})").ok());
  clock_.advance_ms(4 * 365 * 24 * kHourMs);
  ASSERT_TRUE(session->update(R"({"ttl_hours":24})").ok());
  clock_.set_now_ms(right_ms + kHourMs);
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  clock_.advance_ms(24 * kHourMs - 1);
  EXPECT_EQ(opened("s1"), Code::kOk);
  clock_.advance_ms(1);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
}

TEST(SweepBesideAWriter, AHandleKnowsThatAnotherProcessRenewedTheSession) {
  io::SimulatedFileSystem disk;
  const auto other_process = disk.process(2001);
  test::ManualClock clock;
  test::SeededRandom random;
  const auto store = *Store::open("store", "", {&disk, &clock, &random});
  const auto other = *Store::open("store", "", {other_process.get(), &clock, &random});
  const auto handle = *store->create_session(R"({"session_id":"s1","ttl_hours":2})");
  const auto writer = *other->open_session("s1");
  for (int i = 0; i < 3; ++i) {
    clock.advance_ms(kHourMs + kHourMs / 2);
    const std::string id = std::to_string(i);
    ASSERT_TRUE(writer->add(R"({"type":"message","content":1,"id":")" + id + "\"}").ok());
    EXPECT_TRUE(handle->get(id).ok()) << id;
  }
  EXPECT_TRUE(handle->add(kSweptEntry).ok());
  clock.advance_ms(2 * kHourMs);
  EXPECT_EQ(handle->get("a").code(), Code::kNotFound);
  EXPECT_EQ(writer->add(R"({"type":"message","content":1})").code(), Code::kNotFound);
}

// Between the look at the ttl, by a clock that goes ahead, and the lock another process writes: the
// session is in use again.
TEST(SweepBesideAWriter, KeepsASessionThatIsWrittenToAtTheLastMoment) {
  io::SimulatedFileSystem disk;
  const auto own = disk.process(2001);
  test::ManualClock clock;
  test::SeededRandom random;
  const auto sweeper = *Store::open("store", "", {own.get(), &clock, &random});
  const auto other = *Store::open("store", "", {&disk, &clock, &random});
  const auto writer = *other->create_session(R"({"session_id":"s1","ttl_hours":1})");
  const int64_t right_ms = clock.now_ms();
  clock.advance_ms(2 * kHourMs);
  bool written = false;
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (!written && operation.process_id == 2001 && operation.kind == io::OperationKind::kLock &&
        operation.path.find("/s1/") != std::string::npos) {
      written = true;
      clock.set_now_ms(right_ms);
      EXPECT_TRUE(writer->add(kSweptEntry).ok());
    }
    return std::nullopt;
  });
  const auto report = sweeper->sweep();
  disk.set_fault_hook({});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(written);
  EXPECT_EQ(report->get_int64("sessions_removed"), 0);
  EXPECT_EQ(report->get("problems")->items().size(), 0u);
  ASSERT_TRUE(sweeper->open_session("s1").ok());
  EXPECT_TRUE((*sweeper->open_session("s1"))->get("a").ok()) << "what was answered is there";
}

// --- quotas --------------------------------------------------------------------------------------

class Quotas : public testing::Test {
 protected:
  std::shared_ptr<Store> open(std::string_view storage) {
    const std::string config = "{\"storage\":" + std::string(storage) + "}";
    auto opened = Store::open("store", config, {&disk_, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  static std::string entry() {
    return R"({"type":"message","content":")" + std::string(10'000, 'x') + "\"}";
  }
  // How many such entries fit.
  static int fill(session::Session& session) {
    int count = 0;
    while (count < 1000 && session.add(entry()).ok()) ++count;
    return count;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

TEST_F(Quotas, AUserHasSoManySessions) {
  const auto store = open(R"({"max_user_sessions":2})");
  ASSERT_TRUE(store->create_session(R"({"session_id":"s1","user_id":"u"})").ok());
  ASSERT_TRUE(store->create_session(R"({"session_id":"s2","user_id":"u"})").ok());
  const auto refused = store->create_session(R"({"session_id":"s3","user_id":"u"})");
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.status().place().limit, 2u);
  EXPECT_TRUE(store->create_session(R"({"user_id":"v"})").ok()) << "another user";
  EXPECT_TRUE(store->create_session("").ok()) << "nobody's";
  ASSERT_TRUE(store->delete_session("s1").ok());
  EXPECT_TRUE(store->create_session(R"({"session_id":"s3","user_id":"u"})").ok());
}

TEST_F(Quotas, AnIdThatIsAnotherUsersNowCountsForThatUser) {
  const auto store = open(R"({"max_user_sessions":1})");
  ASSERT_TRUE(store->create_session(R"({"session_id":"s1","user_id":"u"})").ok());
  ASSERT_TRUE(store->delete_session("s1").ok());
  ASSERT_TRUE(store->create_session(R"({"session_id":"s1","user_id":"v"})").ok());
  EXPECT_TRUE(store->create_session(R"({"session_id":"s2","user_id":"u"})").ok());
  EXPECT_EQ(store->create_session(R"({"session_id":"s3","user_id":"v"})").code(), Code::kSizeLimit);
}

TEST_F(Quotas, OfTwoThreadsThatMakeTheLastSessionOneIsRefused) {
  const auto store = open(R"({"max_user_sessions":1})");
  const auto create = [&](const std::string& id) {
    return store->create_session(R"({"user_id":"u","session_id":")" + id + "\"}").code();
  };
  std::future<Code> second;
  std::atomic<bool> has_begun{false};
  // The first was counted and its directory is being made: the other has some time to come between.
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kMakeDirectory && !has_begun.exchange(true)) {
      second = std::async(std::launch::async, create, "s2");
      second.wait_for(std::chrono::milliseconds(100));
    }
    return std::nullopt;
  });
  EXPECT_EQ(create("s1"), Code::kOk);
  ASSERT_TRUE(second.valid());
  EXPECT_EQ(second.get(), Code::kSizeLimit);
  disk_.set_fault_hook({});
}

TEST_F(Quotas, AUsersSessionsTogetherHaveALimit) {
  const auto store = open(R"({"max_user_size_mb":0.2})");  // 209,715 bytes
  const auto one = *store->create_session(R"({"session_id":"s1","user_id":"u"})");
  const auto two = *store->create_session(R"({"session_id":"s2","user_id":"u"})");
  const auto other = *store->create_session(R"({"session_id":"s3","user_id":"v"})");
  const int in_one = fill(*one);
  EXPECT_GE(in_one, 18);
  EXPECT_LE(in_one, 20);
  const auto refused = two->add(entry());
  ASSERT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.status().place().limit, 209'715u);
  EXPECT_NE(refused.status().message().find("user 'u'"), std::string::npos);
  EXPECT_TRUE(other->add(entry()).ok()) << "another user";
  ASSERT_TRUE(store->delete_session("s1").ok());
  EXPECT_TRUE(two->add(entry()).ok());
}

TEST_F(Quotas, CountKeysAndTurnsAtOnce) {
  const auto store = open(R"({"max_user_size_mb":0.2})");
  const auto one = *store->create_session(R"({"session_id":"s1","user_id":"u"})");
  const auto two = *store->create_session(R"({"session_id":"s2","user_id":"u"})");
  ASSERT_TRUE(two->add(entry()).ok());
  ASSERT_TRUE(one->kv_set("k", "v").ok());
  int turns = 0;
  while (turns < 200 && one->transcript_append("user", std::string(2000, 't')).ok()) ++turns;
  EXPECT_GT(turns, 90);
  EXPECT_LT(turns, 105);
  EXPECT_EQ(two->add(entry()).code(), Code::kSizeLimit);
}

TEST_F(Quotas, CountWhatAnotherProcessWrote) {
  const auto store = open(R"({"max_user_size_mb":0.2})");
  const auto other_process = open(R"({"max_user_size_mb":0})");
  const auto mine = *store->create_session(R"({"session_id":"s1","user_id":"u"})");
  ASSERT_TRUE(mine->add(entry()).ok());
  const auto theirs = *other_process->create_session(R"({"session_id":"s2","user_id":"u"})");
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(theirs->add(entry()).ok());
  ASSERT_TRUE(theirs->sync().ok());
  clock_.advance_ms(60'000);
  EXPECT_EQ(mine->add(entry()).code(), Code::kSizeLimit);
}

// Its figures here are those of the last call that used it here.
TEST_F(Quotas, CountWhatAnotherProcessWroteToASessionThatIsOpenHereAndNotUsed) {
  const auto store = open(R"({"max_user_size_mb":0.2})");
  const auto other_process = open(R"({"max_user_size_mb":0})");
  const auto mine = *store->create_session(R"({"session_id":"s1","user_id":"u"})");
  const auto idle = *store->create_session(R"({"session_id":"s2","user_id":"u"})");
  auto theirs = *other_process->open_session("s2");
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(theirs->add(entry()).ok());
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(theirs->transcript_append("u", entry()).ok());
  clock_.advance_ms(60'000);
  EXPECT_EQ(mine->add(entry()).code(), Code::kSizeLimit);
  ASSERT_EQ(*theirs->remove_where(R"({"types":["message"]})", ""), 15u);
  ASSERT_TRUE(theirs->compact({}).ok());
  ASSERT_TRUE(theirs->update(R"({"transcript_cap":1})").ok());
  clock_.advance_ms(60'000);
  EXPECT_TRUE(mine->add(entry()).ok());
  EXPECT_EQ(idle->get("nothing").code(), Code::kNotFound);
}

TEST_P(SweepTest, UpkeepIsNoWriteAndKeepsNoSessionAlive) {
  auto session = create(R"({"session_id":"s1","ttl_hours":2})");
  const std::string soon = format_rfc3339(clock_.now_ms() + kHourMs);
  ASSERT_TRUE(
      session->add(R"({"id":"b","type":"message","content":"x","expires_at":")" + soon + "\"}")
          .ok());
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  clock_.advance_ms(kHourMs + kHourMs / 2);
  EXPECT_EQ(sweep().get_int64("sessions_compacted"), 1);
  ASSERT_TRUE(session->compact({session::CompactionCause::kPurge}).ok());
  EXPECT_EQ(session->update(R"({"version":1})").code(), Code::kInvalidArgument);
  ASSERT_TRUE(session->sync().ok());
  EXPECT_TRUE(session->get("a").ok());
  session.reset();
  clock_.advance_ms(kHourMs / 2);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
  EXPECT_EQ(sweep().get_int64("sessions_removed"), 1);
}

TEST_P(SweepTest, ASessionThatIsClosedCountsFromItsLastWrite) {
  auto session = create(R"({"session_id":"s1","ttl_hours":16})");
  clock_.advance_ms(kHourMs);
  ASSERT_TRUE(session->add(kSweptEntry).ok());
  clock_.advance_ms(kHourMs);
  session.reset();
  clock_.advance_ms(15 * kHourMs - 1);
  EXPECT_EQ(opened("s1"), Code::kOk);
  clock_.advance_ms(1);
  EXPECT_EQ(opened("s1"), Code::kNotFound);
}

}  // namespace
}  // namespace varve::store
