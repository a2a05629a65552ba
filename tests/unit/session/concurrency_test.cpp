// Threads of one process on one session, and the moments between two steps of a reader.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "entry/tombstone.h"
#include "io/posix.h"
#include "io/system_clock.h"
#include "session_disk.h"
#include "support/build_kind.h"
#include "unit/io/temporary_directory.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

constexpr int kThreads = 8;
constexpr int kAddsPerThread = test::kFastBuild ? 200 : 40;

std::string metadata_text() {
  CreateOptions options;
  options.session_id = kSessionId;
  return Metadata::make(options, test::kStartMs).encode();
}

TEST(Readers, WhoSawAnOlderTailDoNotTakeTheIndexBack) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  auto owned = std::make_unique<WatchedStorage>(*disk.storage());
  WatchedStorage& storage = *owned;
  const auto session = *Session::open(std::string(kSessionId), std::move(owned), host.context);
  ASSERT_TRUE(session->add(entry_text("first", std::string(100'000, 'x'))).ok());
  ASSERT_TRUE(session->add(entry_text("small")).ok());
  storage.read_bytes = 0;
  // Between a reader's look at the log and its use of what it saw, a writer adds.
  storage.after_tail = [&] { ASSERT_TRUE(session->add(entry_text("meanwhile")).ok()); };
  ASSERT_TRUE(session->get("small").ok());
  EXPECT_LT(storage.read_bytes.load(), 2000u) << "the log was read anew";
  storage.after_tail = [&] { ASSERT_TRUE(session->remove("small", "").ok()); };
  ASSERT_TRUE(session->get("meanwhile").ok());
  EXPECT_LT(storage.read_bytes.load(), 4000u) << "the log was read anew";
  EXPECT_EQ(session->get("small").code(), Code::kNotFound);
}

// A torn tail that a reader saw is cut off before it reads it, and what comes then is as long.
TEST(Readers, KnowWhatTheyReadAndNotWhatTheySawOfATornTail) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto other = disk.open();
  ASSERT_TRUE(other->add(entry_text("first")).ok());
  const size_t tombstone_bytes = entry::seal_tombstone({"first", "", host.clock.now_ms()}).size();
  disk.write("tombstones.jsonl", std::string(tombstone_bytes, '\0'));
  const auto plain = *disk.storage();
  auto owned = std::make_unique<WatchedStorage>(*disk.storage());
  WatchedStorage& storage = *owned;
  bool is_cut = false;
  storage.read_instead = [&](log::Stream stream, uint64_t offset, std::span<char> out) {
    if (stream == log::Stream::kTombstones && !std::exchange(is_cut, true)) {
      EXPECT_TRUE(other->kv_set("place", "1").ok());
    }
    return plain->read(stream, plain->tail()->generation, offset, out);
  };
  const auto session = *Session::open(std::string(kSessionId), std::move(owned), host.context);
  ASSERT_TRUE(is_cut);
  ASSERT_TRUE(other->remove("first", "").ok());
  ASSERT_EQ(disk.bytes("tombstones.jsonl").size(), tombstone_bytes);
  EXPECT_EQ(session->get("first").code(), Code::kNotFound);
}

TEST(WaitingWriter, ReadsWhatOthersWriteBeforeItHasTheLock) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  const auto other = disk.open();
  const auto holder = *disk.storage();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(other->add(entry_text("e" + std::to_string(i))).ok());
  ASSERT_TRUE(holder->lock(host.clock.monotonic_us(), "test", nullptr).ok());
  int tries = 0;
  int reads = 0;
  int reads_before_lock = 0;
  disk.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_try = operation.kind == io::OperationKind::kLock;
    if (operation.kind == io::OperationKind::kRead && operation.name == "memory.jsonl") ++reads;
    if (is_try && ++tries == 3) {
      reads_before_lock = reads;
      holder->unlock();
    }
    return std::nullopt;
  });
  EXPECT_TRUE(session->add(entry_text("mine")).ok());
  disk.disk.set_fault_hook({});
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(reads_before_lock, 1);
  EXPECT_EQ(reads, 1) << "read under the lock, or twice";
  EXPECT_EQ(session->stats()->get_int64("entries"), 11);
}

TEST(WaitingWriter, LeavesALongLogForWhenItHasTheLock) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  ASSERT_TRUE(disk.open()->add(entry_text("long", std::string(300'000, 'x'))).ok());
  const auto holder = *disk.storage();
  ASSERT_TRUE(holder->lock(host.clock.monotonic_us(), "test", nullptr).ok());
  int reads = 0;
  disk.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kRead && operation.name == "memory.jsonl") ++reads;
    return std::nullopt;
  });
  EXPECT_EQ(session->add(entry_text("mine")).code(), Code::kBusy);
  EXPECT_EQ(reads, 0);
  holder->unlock();
  EXPECT_TRUE(session->add(entry_text("mine")).ok());
  EXPECT_GT(reads, 0);
  disk.disk.set_fault_hook({});
}

TEST(GroupCommit, EightThreadsShareSyncsAndLoseNothing) {
  io::TemporaryDirectory directory;
  io::put_file(directory.path_of("memory.jsonl"), "");
  io::put_file(directory.path_of("metadata.json"), metadata_text());
  io::PosixFileSystem posix;
  io::SystemClock clock;
  io::SystemRandom random;
  EventLog events(clock);
  Counters counters;
  const Session::Context context{&clock, &random, &events, &counters, {}};
  const auto open_storage = [&] {
    return *log::DirectoryStorage::open(*posix.open_root(directory.path(), false),
                                        {&posix, &clock, &random});
  };
  const auto open = [&](std::unique_ptr<log::SessionStorage> storage) {
    return *Session::open(std::string(kSessionId), std::move(storage), context);
  };
  // Whoever writes waits for the others to come, however fast the disk is.
  std::atomic<int> adding{0};
  std::atomic<int> working{kThreads};
  auto watched = std::make_unique<WatchedStorage>(open_storage());
  watched->before_append = [&] {
    while (adding.load() < working.load()) std::this_thread::yield();
  };
  auto session = open(std::move(watched));
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kAddsPerThread; ++i) {
        const std::string id = "t" + std::to_string(thread) + "_" + std::to_string(i);
        adding += 1;
        const bool is_added = session->add(entry_text(id)).ok();
        adding -= 1;
        // What was answered is readable at once, by the one who asked.
        if (!is_added || !session->get(id).ok()) failed += 1;
      }
      working -= 1;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  constexpr uint64_t kAll = uint64_t{kThreads} * kAddsPerThread;
  EXPECT_EQ(counters.entries_added.load(), kAll);
  EXPECT_LT(counters.syncs.load(), kAll);
  EXPECT_EQ(counters.syncs.load(), counters.commits.load());
  session.reset();
  session = open(open_storage());
  const auto report = session->verify();
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
  EXPECT_EQ(report->get_int64("entries"), static_cast<int64_t>(kAll));
  EXPECT_EQ(report->get_int64("last_seq"), static_cast<int64_t>(kAll));
  for (int thread = 0; thread < kThreads; ++thread) {  // each thread's own order is kept
    int64_t seq = 0;
    for (int i = 0; i < kAddsPerThread; ++i) {
      const auto line = session->get("t" + std::to_string(thread) + "_" + std::to_string(i));
      ASSERT_TRUE(line.ok());
      const int64_t next = json::Tree::parse(*line)->get_int64("seq");
      ASSERT_GT(next, seq);
      seq = next;
    }
  }
}

TEST(GroupCommit, RequestsOfOneGroupGetTheirOwnAnswers) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  // All wait for the first, whose sync is held up until they have queued: one group follows.
  std::atomic<int> started{0};
  std::atomic<bool> held{false};
  disk.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kSyncData && !held.exchange(true)) {
      while (started.load() < kThreads) std::this_thread::yield();
    }
    return std::nullopt;
  });
  std::atomic<int> ok{0};
  std::atomic<int> exists{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      started += 1;
      // Two of each id: one of them is too late, whichever group it is in.
      const auto added = session->add(entry_text("e" + std::to_string(thread / 2)));
      ok += added.ok();
      exists += added.code() == Code::kAlreadyExists;
    });
  }
  for (auto& thread : threads) thread.join();
  disk.disk.set_fault_hook({});  // it uses what goes before the session does
  EXPECT_TRUE(held.load());
  EXPECT_EQ(ok.load(), kThreads / 2);
  EXPECT_EQ(exists.load(), kThreads / 2);
  EXPECT_EQ(session->stats()->get_int64("entries"), kThreads / 2);
  EXPECT_TRUE(session->verify()->get_bool("ok"));
}

TEST(Readers, SeeEveryAnsweredEntryWhileOthersWrite) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  std::atomic<int> added{0};
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done.load()) {
        const int seen = added.load();
        if (seen == 0) continue;
        const auto line = session->get("e" + std::to_string(seen - 1));
        if (!line.ok() || line->empty() || line->back() != '}') wrong += 1;
        // Every fifth was deleted before a later one was counted.
        const int older = seen / 2;
        if (session->get("e" + std::to_string(older)).ok() != (older % 5 != 4)) wrong += 1;
      }
    });
  }
  for (int i = 0; i < kAddsPerThread * 2; ++i) {
    const std::string id = "e" + std::to_string(i);
    if (!session->add(entry_text(id)).ok()) wrong += 1;
    if (i % 5 == 4) {
      if (!session->remove(id, "").ok()) wrong += 1;
      if (!session->add(entry_text("after_" + id)).ok()) wrong += 1;
    } else {
      added = i + 1;
    }
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

// From begin() on, a thread that asks a second time waits until all have asked once.
class MeetingClock final : public Clock {
 public:
  MeetingClock(Clock& clock, size_t thread_count) : clock_(clock), thread_count_(thread_count) {}
  int64_t now_ms() override { return clock_.now_ms(); }
  int64_t monotonic_us() override {
    std::unique_lock lock(mutex_);
    const int64_t now_us = clock_.monotonic_us();
    if (!has_begun_) return now_us;
    if (asked_.insert(std::this_thread::get_id()).second) {
      met_.notify_all();
    } else {  // the limit is for a defect: the test then fails instead of hanging
      met_.wait_for(lock, std::chrono::seconds(20), [&] { return asked_.size() == thread_count_; });
    }
    return now_us;
  }
  void sleep_us(int64_t duration_us) override { clock_.sleep_us(duration_us); }
  void begin() { has_begun_ = true; }

 private:
  Clock& clock_;
  const size_t thread_count_;
  bool has_begun_ = false;
  std::mutex mutex_;
  std::condition_variable met_;
  std::set<std::thread::id> asked_;
};

// One after the other, the last would hear so after eight timeouts.
TEST(AHeldLock, IsWaitedForByAllThreadsTogether) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  host.context.settings.lock_timeout_ms = 5000;
  MeetingClock clock(host.clock, kThreads);
  host.context.clock = &clock;
  const auto session = disk.open();
  const auto holder = *disk.storage();
  ASSERT_TRUE(holder->lock(host.clock.monotonic_us(), "test", nullptr).ok());
  const int64_t before_us = host.clock.slept_us();
  std::atomic<int> busy{0};
  clock.begin();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      if (session->kv_set("place", "1").code() == Code::kBusy) busy += 1;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(busy.load(), kThreads);
  EXPECT_EQ(host.clock.slept_us() - before_us, 5'000'000);
}

TEST(TwoHandles, WriteInTurnsFromManyThreads) {
  io::TemporaryDirectory directory;
  io::put_file(directory.path_of("memory.jsonl"), "");
  io::put_file(directory.path_of("metadata.json"), metadata_text());
  io::PosixFileSystem posix;
  io::SystemClock clock;
  io::SystemRandom random;
  EventLog events(clock);
  Counters counters;
  Session::Context context{&clock, &random, &events, &counters, {}};
  context.settings.lock_timeout_ms = 60'000;
  std::vector<std::shared_ptr<Session>> handles;
  for (int i = 0; i < 2; ++i) {
    handles.push_back(
        *Session::open(std::string(kSessionId),
                       *log::DirectoryStorage::open(*posix.open_root(directory.path(), false),
                                                    {&posix, &clock, &random}),
                       context));
  }
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kAddsPerThread / 2; ++i) {
        const std::string id = "t" + std::to_string(thread) + "_" + std::to_string(i);
        Session& mine = *handles[static_cast<size_t>(thread % 2)];
        Session& other = *handles[static_cast<size_t>((thread + 1) % 2)];
        if (!mine.add(entry_text(id)).ok() || !other.get(id).ok()) failed += 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  for (const auto& handle : handles) {
    const auto report = handle->verify();
    EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
    EXPECT_EQ(report->get_int64("entries"), 2 * kAddsPerThread);
  }
}

}  // namespace
}  // namespace varve::session
