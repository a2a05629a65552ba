// Groups of requests, as threads and imports queue them, and writers that do not take the lock. One
// request by itself: writer_test.cpp.
#include "session/writer.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "entry/entry.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

class PausingClock final : public test::ManualClock {
 public:
  void sleep_us(int64_t duration_us) override {
    ManualClock::sleep_us(duration_us);
    if (on_sleep) on_sleep();
  }
  std::function<void()> on_sleep;
};

class Groups : public testing::Test {
 protected:
  Groups() {
    host_.context.clock = &clock_;
    disk_.make();
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    EXPECT_TRUE(core_->load().ok());
    writer_ = std::make_unique<Writer>(*core_);
  }
  WriteRequest adding(const std::string& id) {
    json::Document scratch;
    entry::DraftOptions options;
    options.session_id = kSessionId;
    options.now_ms = host_.clock.now_ms();
    WriteRequest request;
    auto draft = entry::draft(entry_text(id), options, ids_, scratch);
    EXPECT_TRUE(draft.ok()) << draft.status().message();
    if (draft.ok()) request.drafts.push_back(*std::move(draft));
    return request;
  }
  WriteRequest deleting(const std::string& id) {
    WriteRequest request;
    request.kind = WriteRequest::Kind::kDelete;
    request.tombstones.push_back({id, "why", host_.clock.now_ms()});
    return request;
  }
  Code add(const std::string& id) {
    std::vector<WriteRequest> requests;
    requests.push_back(adding(id));
    writer_->submit(requests);
    message_ = requests[0].status.message();
    return requests[0].status.code();
  }
  // Behind one that waits in its append until both are queued.
  void add_two_in_one_group(const std::string& number) {
    std::vector<std::thread> threads;
    const auto add_one = [&](const std::string& id) {
      std::vector<WriteRequest> requests;
      requests.push_back(adding(id));
      writer_->submit(requests);
    };
    storage_->before_append = [&] {
      if (!threads.empty()) return;
      threads.emplace_back(add_one, "second" + number);
      threads.emplace_back(add_one, "third" + number);
      while (writer_->queued_call_count() < 3) std::this_thread::yield();
    };
    const uint64_t before = host_.counters.commits.load();
    add_one("first" + number);
    for (auto& thread : threads) thread.join();
    storage_->before_append = nullptr;
    ASSERT_EQ(host_.counters.commits.load(), before + 2);
  }
  // That come at the same time.
  uint64_t commits_of_two_calls(const std::string& number) {
    const uint64_t before = host_.counters.commits.load();
    std::barrier start(2);
    const auto add_one = [&](const std::string& id) {
      std::vector<WriteRequest> requests;
      requests.push_back(adding(id));
      start.arrive_and_wait();
      writer_->submit(requests);
      EXPECT_TRUE(requests[0].status.ok());
    };
    std::thread other(add_one, "other" + number);
    add_one("one" + number);
    other.join();
    return host_.counters.commits.load() - before;
  }
  bool has(const std::string& id) { return core_->entries.read(id).ok(); }
  [[nodiscard]] std::string log() const { return disk_.bytes(log::kEntriesFile); }
  // As somebody who does not take the lock.
  void append_foreign(const std::string& bytes) { disk_.write(log::kEntriesFile, log() + bytes); }

  PausingClock clock_;
  Host host_;
  SessionDisk disk_{host_};
  IdGenerator ids_{host_.clock, host_.random};
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Writer> writer_;
  std::string message_;
};

TEST_F(Groups, EachRequestHasItsOwnAnswerWhenTheDiskFailsThemAll) {
  ASSERT_EQ(add("taken"), Code::kOk);
  std::vector<WriteRequest> requests;
  requests.push_back(adding("taken"));
  requests.push_back(adding("new"));
  disk_.disk.set_fault_hook(io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend}));
  writer_->submit(requests);
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_EQ(requests[0].status.code(), Code::kAlreadyExists);
  EXPECT_EQ(requests[1].status.code(), Code::kNoSpace);
  EXPECT_FALSE(has("new"));
  EXPECT_EQ(add("new"), Code::kOk) << "its id is free";
}

TEST_F(Groups, WhatIsOfAnotherKindComesAfterwards) {
  std::vector<WriteRequest> requests;
  requests.push_back(adding("a"));
  requests.push_back(deleting("a"));
  requests.push_back(adding("b"));
  writer_->submit(requests);
  for (const auto& request : requests) EXPECT_TRUE(request.status.ok());
  EXPECT_EQ(requests[1].deleted_count, 1u) << "it was there by then";
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(has("b"));
  EXPECT_EQ(host_.counters.commits.load(), 3u);
}

TEST_F(Groups, MoreThanAGroupTakesAreSeveral) {
  std::vector<WriteRequest> requests;
  for (int i = 0; i < 600; ++i) requests.push_back(adding("e" + std::to_string(i)));
  writer_->submit(requests);
  for (const auto& request : requests) ASSERT_TRUE(request.status.ok());
  EXPECT_EQ(host_.counters.commits.load(), 2u);
  EXPECT_TRUE(has("e0"));
  EXPECT_TRUE(has("e599"));
}

// The first of two calls that come to an idle writer would go alone. It pauses, and the other
// comes.
TEST_F(Groups, CallsThatWroteTogetherWaitForEachOther) {
  add_two_in_one_group("s");
  clock_.on_sleep = [&] {
    while (writer_->queued_call_count() < 2) std::this_thread::yield();
  };
  EXPECT_EQ(commits_of_two_calls("s"), 1u);
}

// And pauses a bounded time, once: who did not come is not expected again.
TEST_F(Groups, WhoDoesNotComeIsWaitedForOnce) {
  add_two_in_one_group("s");
  const int64_t before_us = clock_.slept_us();
  EXPECT_EQ(add("alone"), Code::kOk);
  const int64_t waited_us = clock_.slept_us() - before_us;
  EXPECT_GT(waited_us, 0);
  EXPECT_LE(waited_us, 100);
  EXPECT_EQ(add("again"), Code::kOk);
  EXPECT_EQ(clock_.slept_us(), before_us + waited_us);
}

TEST_F(Groups, WhoNeedNotSyncWaitsForNobody) {
  host_.context.settings.durability = log::Durability::kOs;
  core_->durability = log::Durability::kOs;
  add_two_in_one_group("s");
  const int64_t before_us = clock_.slept_us();
  EXPECT_EQ(add("alone"), Code::kOk);
  EXPECT_EQ(clock_.slept_us(), before_us);
}

TEST_F(Groups, WhatOneCallWroteAtOnceIsNoSignOfOthers) {
  for (int round = 0; round < 50; ++round) {
    const std::string number = std::to_string(round);
    std::vector<WriteRequest> requests;
    for (const auto name : {"a", "b", "c"}) requests.push_back(adding(name + number));
    writer_->submit(requests);
    ASSERT_EQ(commits_of_two_calls(number), 2u);
  }
}

TEST_F(Groups, OfTwoWhoDeleteTheSameOneDid) {
  ASSERT_EQ(add("a"), Code::kOk);
  std::vector<WriteRequest> requests;
  requests.push_back(deleting("a"));
  requests.push_back(deleting("a"));
  requests.push_back(deleting("nobody"));
  writer_->submit(requests);
  EXPECT_EQ(requests[0].deleted_count, 1u);
  EXPECT_EQ(requests[1].deleted_count, 0u);
  EXPECT_EQ(requests[2].deleted_count, 0u);
  for (const auto& request : requests) EXPECT_TRUE(request.status.ok());
  EXPECT_EQ(lines_of(disk_.bytes(log::kTombstonesFile)).size(), 1u);
}

TEST_F(Groups, AnAppendOfSomebodyWithoutTheLockIsReadAndFollowed) {
  SessionDisk other(host_);
  other.make();
  ASSERT_TRUE(other.open()->add(entry_text("theirs")).ok());
  const std::string line = other.bytes(log::kEntriesFile);
  bool is_done = false;
  storage_->before_append = [&] {
    if (!std::exchange(is_done, true)) append_foreign(line);
  };
  EXPECT_EQ(add("mine"), Code::kOk) << message_;
  EXPECT_TRUE(has("theirs"));
  EXPECT_TRUE(has("mine"));
  EXPECT_NE((**core_->entries.read("mine")).find("\"seq\":2"), std::string_view::npos);
  is_done = false;
  EXPECT_EQ(add("theirs"), Code::kAlreadyExists);
}

TEST_F(Groups, WhoAppendsWithoutTheLockOverAndOverIsToldOf) {
  storage_->before_append = [&] { append_foreign("\n"); };
  EXPECT_EQ(add("mine"), Code::kBusy);
  EXPECT_EQ(
      message_,
      "another program keeps appending to the log without taking the session's lock; stop it, "
      "then try again");
  storage_->before_append = nullptr;
  EXPECT_FALSE(has("mine"));
  EXPECT_EQ(add("mine"), Code::kOk);
}

TEST_F(Groups, ALogThatCannotBeLookedAtAfterAConflictIsAnError) {
  storage_->before_append = [&] {
    append_foreign("\n");
    storage_->change_tail = [](const log::Tail&) { return Status(Code::kIo, "no tail"); };
  };
  EXPECT_EQ(add("mine"), Code::kIo);
  storage_->before_append = nullptr;
  storage_->change_tail = nullptr;
  EXPECT_EQ(add("mine"), Code::kOk) << message_;
}

TEST_F(Groups, AFailureWithoutAFileIsToldWithoutOne) {
  std::vector<std::string> lines;
  host_.keep_lines(Level::kError, &lines);
  WriteRequest request;
  request.kind = WriteRequest::Kind::kCall;
  request.call = [] { return Status(Code::kCorruption, "on purpose"); };
  writer_->submit(std::span(&request, 1));
  host_.events.deliver();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("on purpose"), std::string::npos) << lines[0];
  EXPECT_EQ(lines[0].find("\"file\""), std::string::npos) << lines[0];
}

// --- readers between an append and what follows it -----------------------------------------------

TEST_F(Groups, AReaderThatSawThePartOfAWriteSeesTheWhole) {
  ASSERT_EQ(add("a"), Code::kOk);
  storage_->before_append = [&] {
    const std::string before = log();
    append_foreign("{\"torn");
    EXPECT_TRUE(core_->catch_up().ok());
    disk_.write(log::kEntriesFile, before);
  };
  EXPECT_EQ(add("b"), Code::kOk) << message_;
  storage_->before_append = nullptr;
  EXPECT_TRUE(has("b"));
  EXPECT_EQ(add("c"), Code::kOk) << message_;
  EXPECT_TRUE(disk_.quarantine().empty()) << "nothing was torn";
}

TEST_F(Groups, AReaderThatSawThePartOfADeletionSeesTheWhole) {
  ASSERT_EQ(add("a"), Code::kOk);
  storage_->before_append = [&] {
    disk_.write(log::kTombstonesFile, "{\"torn");
    EXPECT_TRUE(core_->catch_up().ok());
    disk_.write(log::kTombstonesFile, "");
  };
  std::vector<WriteRequest> requests;
  requests.push_back(deleting("a"));
  writer_->submit(requests);
  storage_->before_append = nullptr;
  EXPECT_TRUE(requests[0].status.ok()) << requests[0].status.message();
  EXPECT_FALSE(has("a"));
  EXPECT_EQ(add("b"), Code::kOk);
}

TEST_F(Groups, AReaderThatCaughtUpInBetweenHasTheLinesOnce) {
  int seen_count = 0;
  storage_->while_syncing = [&] {
    EXPECT_TRUE(core_->catch_up().ok());
    seen_count += 1;
  };
  EXPECT_EQ(add("a"), Code::kOk);
  std::vector<WriteRequest> requests;
  requests.push_back(deleting("a"));
  writer_->submit(requests);
  EXPECT_TRUE(requests[0].status.ok());
  EXPECT_FALSE(has("a"));
  EXPECT_EQ(core_->index.size(), 1u);
  EXPECT_EQ(core_->index.coverage.skipped_count, 0u);
  EXPECT_EQ(seen_count, 2);
}

// Its read fails in the middle of the log: the index is made anew by whoever asks next.
TEST_F(Groups, AReaderThatFailedInBetweenHidesNothing) {
  ASSERT_EQ(add("a"), Code::kOk);
  storage_->while_syncing = [&] {
    storage_->change_read = [](log::Stream, uint64_t, size_t) {
      return Status(Code::kIo, "no read");
    };
    EXPECT_EQ(core_->catch_up().code(), Code::kIo);
    storage_->change_read = nullptr;
  };
  EXPECT_EQ(add("b"), Code::kOk);
  EXPECT_TRUE(has("a"));
  EXPECT_TRUE(has("b"));
  std::vector<WriteRequest> requests;
  requests.push_back(deleting("a"));
  writer_->submit(requests);
  EXPECT_TRUE(requests[0].status.ok());
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(has("b"));
}

}  // namespace
}  // namespace varve::session
