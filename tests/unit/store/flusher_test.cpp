#include "store/flusher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/simulated.h"
#include "io/system_clock.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Flusher, StopsAtOnceAfterALastFlush) {
  int flushes = 0;
  {
    Flusher flusher(hours(24), [&] { flushes += 1; });
  }
  EXPECT_EQ(flushes, 1);
}

TEST(Flusher, FlushesOverAndOverOnItsOwnThread) {
  std::mutex mutex;
  std::condition_variable changed;
  int flushes = 0;
  std::thread::id thread;
  Flusher flusher(milliseconds(1), [&] {
    const std::lock_guard guard(mutex);
    flushes += 1;
    thread = std::this_thread::get_id();
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return flushes >= 3; });
  EXPECT_NE(thread, std::this_thread::get_id());
}

// A store whose flusher is fast, and a session of it whose lock another process has.
class FlusherBesideALock : public testing::Test {
 protected:
  static constexpr std::string_view kConfig =
      R"({"durability":"interval","performance":{"batch_write_interval_ms":10},)"
      R"("concurrency":{"lock_timeout_ms":60000}})";

  void SetUp() override {
    store_ = *Store::open("store", kConfig, {&disk_, &clock_, &random_});
    blocked_ = *store_->create_session(R"({"session_id":"blocked"})");
    free_ = *store_->create_session(R"({"session_id":"free"})");
    auto sessions = *(*disk_.open_root("store", false))->open_directory("sessions");
    file_ = *(*sessions->open_directory("blocked"))->open("lock", io::OpenMode::kUpdateOrCreate);
  }
  static void add(session::Session& session) {
    ASSERT_TRUE(session.add(R"({"type":"message","content":"hello"})").ok());
  }
  static bool becomes_durable(session::Session& session, int64_t seq) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (session.stats()->get_int64("durable_seq") < seq) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }
  // Until the flusher was slower, and leaves something to be made durable.
  void take_lock() {
    for (;;) {
      add(*blocked_);
      if (!*file_->try_lock()) continue;
      const auto stats = blocked_->stats();
      if (stats->get_int64("durable_seq") < stats->get_int64("last_seq")) return;
      ASSERT_TRUE(file_->unlock().ok());
    }
  }

  io::SystemClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<session::Session> blocked_;
  std::shared_ptr<session::Session> free_;
  std::unique_ptr<io::File> file_;
};

TEST_F(FlusherBesideALock, OthersAreFlushedMeanwhile) {
  take_lock();
  for (int64_t seq = 1; seq <= 5; ++seq) {
    add(*free_);
    EXPECT_TRUE(becomes_durable(*free_, seq)) << seq;
  }
  ASSERT_TRUE(file_->unlock().ok());
  EXPECT_TRUE(becomes_durable(*blocked_, blocked_->stats()->get_int64("last_seq")));
}

TEST_F(FlusherBesideALock, OthersAreFlushedWhileAThreadWaitsForIt) {
  take_lock();
  const int64_t last_seq = blocked_->stats()->get_int64("last_seq");
  std::thread waiting([&] { add(*blocked_); });
  for (int64_t seq = 1; seq <= 5; ++seq) {
    add(*free_);
    EXPECT_TRUE(becomes_durable(*free_, seq)) << seq;
  }
  EXPECT_TRUE(file_->unlock().ok());
  waiting.join();
  EXPECT_TRUE(becomes_durable(*blocked_, last_seq + 1));
}

TEST_F(FlusherBesideALock, OneThatStaysBusyIsToldAndFlushedWhenItCanBe) {
  const auto store = *Store::open("store", R"({"durability":"os"})", {&disk_, &clock_, &random_});
  const FlushRounds::Sessions sessions = {*store->open_session("blocked"),
                                          *store->open_session("free")};
  for (const auto& session : sessions) add(*session);
  while (!*file_->try_lock()) std::this_thread::yield();
  std::vector<std::string> told;
  FlushRounds rounds(clock_, 1, 0, [&](const std::string& id, const Status& failure) {
    EXPECT_EQ(failure.code(), Code::kBusy);
    told.push_back(id);
  });
  rounds.run(sessions);
  EXPECT_EQ(told, std::vector<std::string>{"blocked"});
  EXPECT_EQ(sessions[0]->stats()->get_int64("durable_seq"), 0);
  EXPECT_EQ(sessions[1]->stats()->get_int64("durable_seq"), 1);
  ASSERT_TRUE(file_->unlock().ok());
  rounds.run(sessions);
  EXPECT_EQ(told.size(), 1U);
  EXPECT_EQ(sessions[0]->stats()->get_int64("durable_seq"), 1);
}

TEST_F(FlusherBesideALock, OneThatAnotherProcessDeletedIsNoFailure) {
  const auto store = *Store::open("store", R"({"durability":"os"})", {&disk_, &clock_, &random_});
  const FlushRounds::Sessions sessions = {*store->open_session("free")};
  add(*sessions.front());
  ASSERT_TRUE(store_->delete_session("free").ok());
  ASSERT_EQ(sessions.front()->flush(0).code(), Code::kNotFound) << "or nothing is tested";
  std::vector<std::string> told;
  FlushRounds rounds(clock_, 1, 0,
                     [&](const std::string& id, const Status&) { told.push_back(id); });
  rounds.run(sessions);
  EXPECT_EQ(told, std::vector<std::string>());
}

// Two sessions whose locks another process has, and a clock that only waiting moves.
class RoundsBesideLocks : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *Store::open("store", R"({"durability":"os"})", {&disk_, &clock_, &random_});
    const auto folders = *(*disk_.open_root("store", false))->open_directory("sessions");
    for (const std::string id : {"one", "two"}) {
      sessions_.push_back(*store_->create_session(R"({"session_id":")" + id + "\"}"));
      ASSERT_TRUE(sessions_.back()->add(R"({"type":"message","content":"hello"})").ok());
      const auto folder = *folders->open_directory(id);
      locks_.push_back(*folder->open("lock", io::OpenMode::kUpdateOrCreate));
      ASSERT_TRUE(*locks_.back()->try_lock());
    }
  }
  FlushRounds rounds(uint64_t patience_ms, uint64_t late_ms) {
    return {clock_, patience_ms, late_ms,
            [this](const std::string& id, const Status&) { told_ += id + " "; }};
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::shared_ptr<Store> store_;
  FlushRounds::Sessions sessions_;
  std::vector<std::unique_ptr<io::File>> locks_;
  std::string told_;
};

TEST_F(RoundsBesideLocks, AllThatAreBusyShareThePatience) {
  FlushRounds rounds = this->rounds(100, 60'000);
  rounds.run(sessions_);
  EXPECT_GE(clock_.slept_us(), 90'000);
  EXPECT_LE(clock_.slept_us(), 110'000);
  EXPECT_EQ(told_, "");
}

TEST_F(RoundsBesideLocks, OneThatStaysBusyIsToldAgainWhenAsMuchTimeHasPassed) {
  FlushRounds rounds = this->rounds(2, 1000);
  rounds.run(sessions_);
  EXPECT_EQ(told_, "");
  clock_.advance_ms(1000);
  rounds.run(sessions_);
  EXPECT_EQ(told_, "one two ");
  clock_.advance_ms(500);
  rounds.run(sessions_);
  EXPECT_EQ(told_, "one two ");
  clock_.advance_ms(500);
  rounds.run(sessions_);
  EXPECT_EQ(told_, "one two one two ");
}

}  // namespace
}  // namespace varve::store
