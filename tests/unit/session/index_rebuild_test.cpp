// The index made anew beside the one in use: what it has, and who works meanwhile.
#include "session/upkeep/index_rebuild.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "session/upkeep/compaction.h"
#include "session_disk.h"
#include "support/no_memory/no_memory.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

std::string id_of(int number) { return "e" + std::to_string(number); }

class IndexRebuildTest : public testing::TestWithParam<uint64_t> {
 protected:
  IndexRebuildTest() {
    host_.context.settings.threads = GetParam();
    host_.context.settings.session_bytes_max = 0;
    disk_.make();
    session_ = disk_.open();
  }

  void fill(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(session_->add(entry_text(id_of(i), "tea number" + std::to_string(i))).ok());
    }
  }

  // Opened anew, so that a test sees what is read and may change it.
  WatchedStorage& open_watched() {
    session_->close();
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    WatchedStorage& storage = *owned;
    session_ = *Session::open(std::string(kSessionId), std::move(owned), host_.context);
    return storage;
  }

  // While the log is read for the first time, before its bytes come.
  void while_it_reads(const std::function<void()>& work) {
    disk_.disk.set_fault_hook([this, work,
                               done = false](const io::OperationInfo& operation) mutable {
      if (!done && operation.kind == io::OperationKind::kRead && operation.name == "memory.jsonl") {
        done = true;
        was_read_ = true;
        work();
      }
      return std::optional<io::Fault>();
    });
  }

  int64_t skipped_count() { return session_->stats()->get("corruption")->get_int64("skipped"); }

  std::string found(std::string_view word) {
    const auto answer = session_->query(R"({"text":")" + std::string(word) + R"("})");
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    std::string ids;
    if (!answer.ok()) return "";
    for (const auto& result : answer->results) ids += result.id() + " ";
    return ids;
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
  bool was_read_ = false;
};

TEST_P(IndexRebuildTest, MakesTheFileThatAQueryOfAllWordsMakes) {
  fill(300);
  ASSERT_TRUE(session_->remove(id_of(7), "").ok());
  (void)found("tea");  // all words
  session_->close();
  const std::string expected = disk_.bytes("index.bin");
  disk_.remove("index.bin");
  session_ = disk_.open();
  ASSERT_TRUE(session_->rebuild_index().ok());
  EXPECT_EQ(disk_.bytes("index.bin"), expected);
  EXPECT_EQ(found("number7"), "");
  EXPECT_EQ(found("number8"), "e8 ");
}

// A close, and a write, index a bounded part of them.
TEST_P(IndexRebuildTest, IndexesAllWordsHoweverManyThereAre) {
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(session_
                    ->add(entry_text(id_of(i),
                                     "rare" + std::to_string(i) + " " + std::string(300'000, 'x')))
                    .ok());
  }
  ASSERT_GT(disk_.bytes("memory.jsonl").size(), size_t{16} << 20);
  ASSERT_TRUE(session_->rebuild_index().ok());
  WatchedStorage& storage = open_watched();
  storage.read_bytes = 0;
  EXPECT_EQ(found("rare59"), "e59 ");
  EXPECT_LT(storage.read_bytes.load(), size_t{1} << 20) << "words were left for the query";
}

TEST_P(IndexRebuildTest, ReadersAndWritersGoOnMeanwhile) {
  fill(20);
  while_it_reads([&] {
    EXPECT_TRUE(session_->get(id_of(3)).ok());
    EXPECT_EQ(found("number4"), "e4 ");
    EXPECT_TRUE(session_->add(entry_text("meanwhile", "coffee")).ok());
    EXPECT_TRUE(session_->remove(id_of(5), "").ok());
    EXPECT_TRUE(disk_.open()->add(entry_text("of_others", "coffee")).ok());
  });
  ASSERT_TRUE(session_->rebuild_index().ok());
  ASSERT_TRUE(was_read_);
  EXPECT_EQ(session_->stats()->get_int64("entries"), 21);
  EXPECT_EQ(found("number5"), "");
  EXPECT_EQ(found("coffee").size(), std::string("meanwhile of_others ").size());
  EXPECT_TRUE(session_->get("of_others").ok());
}

TEST_P(IndexRebuildTest, BeginsAgainWhenTheLogIsReplaced) {
  fill(20);
  const auto other = disk_.open();
  while_it_reads([&] {
    EXPECT_TRUE(other->remove(id_of(3), "").ok());
    EXPECT_TRUE(other->compact({}).ok());
  });
  ASSERT_TRUE(session_->rebuild_index().ok());
  ASSERT_TRUE(was_read_);
  EXPECT_EQ(session_->stats()->get_int64("entries"), 19);
  EXPECT_EQ(found("number3"), "");
  EXPECT_EQ(found("number19"), "e19 ");
}

TEST_P(IndexRebuildTest, GivesUpWhenTheLogIsReplacedOverAndOver) {
  fill(3);
  WatchedStorage& storage = open_watched();
  int reads = 0;
  storage.change_read = [&](log::Stream, uint64_t, size_t) -> Result<size_t> {
    ++reads;
    return Status(Code::kGone, "replaced");
  };
  const auto report = session_->rebuild_index();
  storage.change_read = nullptr;
  EXPECT_EQ(report.code(), Code::kBusy);
  EXPECT_GT(reads, 1);
  EXPECT_EQ(found("number2"), "e2 ") << "the index in use stays";
}

TEST_P(IndexRebuildTest, ThatFailsLeavesTheIndexInUse) {
  fill(20);
  disk_.disk.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kRead}).on_file("memory.jsonl"));
  EXPECT_EQ(session_->rebuild_index().code(), Code::kIo);
  disk_.disk.set_fault_hook({});
  EXPECT_EQ(found("number4"), "e4 ");
  EXPECT_EQ(session_->stats()->get_int64("entries"), 20);
}

TEST_P(IndexRebuildTest, ThatFailsToReadWhatCameMeanwhileLeavesTheIndexInUse) {
  fill(20);
  WatchedStorage& storage = open_watched();
  const uint64_t size_bytes = disk_.bytes("memory.jsonl").size();
  bool was_added = false;
  int failure_count = 0;
  storage.change_read = [&](log::Stream stream, uint64_t offset, size_t got) -> Result<size_t> {
    if (stream != log::Stream::kEntries) return got;
    if (!std::exchange(was_added, true)) {
      EXPECT_TRUE(session_->add(entry_text("meanwhile", "coffee")).ok());
    }
    if (offset < size_bytes) return got;
    failure_count += 1;
    return Status(Code::kIo, "no read");
  };
  EXPECT_EQ(session_->rebuild_index().code(), Code::kIo);
  storage.change_read = nullptr;
  EXPECT_EQ(failure_count, 1);
  storage.read_bytes = 0;
  EXPECT_EQ(found("number4"), "e4 ");
  EXPECT_EQ(found("coffee"), "meanwhile ");
  EXPECT_LT(storage.read_bytes.load(), size_bytes) << "the index was made anew";
}

// By a person, or because what was behind it was never whole.
TEST_P(IndexRebuildTest, BeginsAgainWhenTheLogGotShorter) {
  fill(20);
  ASSERT_TRUE(session_->remove(id_of(5), "").ok());
  ASSERT_TRUE(session_->remove(id_of(6), "").ok());
  session_->close();
  const std::string log = disk_.bytes("memory.jsonl");
  const std::string tombstones = disk_.bytes("tombstones.jsonl");
  for (const std::string name : {"memory.jsonl", "tombstones.jsonl"}) {
    disk_.write("memory.jsonl", log);
    disk_.write("tombstones.jsonl", tombstones);
    WatchedStorage& storage = open_watched();
    bool was_cut = false;
    storage.change_read = [&](log::Stream stream, uint64_t, size_t got) -> Result<size_t> {
      if (stream == log::Stream::kEntries && !std::exchange(was_cut, true)) {
        const std::string bytes = disk_.bytes(name);
        disk_.write(name, bytes.substr(0, bytes.rfind('\n', bytes.size() - 2) + 1));
      }
      return got;
    };
    ASSERT_TRUE(session_->rebuild_index().ok()) << name;
    ASSERT_TRUE(was_cut);
    const bool is_log = name == "memory.jsonl";
    EXPECT_EQ(session_->stats()->get_int64("entries"), is_log ? 17 : 19) << name;
    EXPECT_EQ(found("number6"), is_log ? "" : "e6 ") << name;
    session_->close();
  }
}

TEST_P(IndexRebuildTest, TellsOfDamageAndOfATornTail) {
  fill(3);
  std::string log = disk_.bytes("memory.jsonl");
  const std::string first(lines_of(log).front());
  log += first;                     // an id for the second time
  log += "{\"id\":\"damaged\"}\n";  // no entry
  log += first;
  log += "{\"id\":\"torn";
  disk_.write("memory.jsonl", log);
  const uint64_t skipped_before = host_.counters.lines_skipped;
  ASSERT_TRUE(session_->rebuild_index().ok());
  EXPECT_EQ(session_->stats()->get_int64("entries"), 3);
  EXPECT_GE(host_.counters.lines_skipped - skipped_before, 3u);
  EXPECT_EQ(skipped_count(), 3);
  ASSERT_TRUE(session_->add(entry_text("next", "coffee")).ok());
  ASSERT_EQ(disk_.quarantine().size(), 1u);
  EXPECT_EQ(disk_.quarantine().front().bytes, "{\"id\":\"torn");
  EXPECT_EQ(found("coffee"), "next ");
}

TEST_P(IndexRebuildTest, TellsOfDamageThatCameMeanwhile) {
  fill(3);
  while_it_reads([&] {
    const std::string log = disk_.bytes("memory.jsonl");
    disk_.write("memory.jsonl",
                log + "{\"id\":\"damaged\"}\n" + std::string(lines_of(log).front()));
    EXPECT_TRUE(disk_.open()->add(entry_text("next", "coffee")).ok());
  });
  ASSERT_TRUE(session_->rebuild_index().ok());
  ASSERT_TRUE(was_read_);
  EXPECT_EQ(skipped_count(), 2);
  EXPECT_EQ(found("coffee"), "next ");
}

// The index that was made takes the place of the one in use as a whole, or not at all.
TEST_P(IndexRebuildTest, WhatWasDeletedStaysSoWhereverMemoryEnds) {
  fill(10);
  ASSERT_TRUE(session_->remove(id_of(7), "").ok());
  ASSERT_TRUE(session_->add(entry_text(id_of(10), "tea")).ok());
  int refused = 0;
  bool was_met = true;
  for (int64_t allowed = 0; was_met && allowed < 5000; ++allowed) {
    try {
      const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
      const auto rebuilt = session_->rebuild_index();
      was_met = limit.was_met();
      EXPECT_TRUE(rebuilt.ok() || rebuilt.code() == Code::kNoMemory);
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    ASSERT_EQ(session_->get(id_of(7)).code(), Code::kNotFound) << allowed;
    for (const int number : {6, 8, 10}) ASSERT_TRUE(session_->get(id_of(number)).ok()) << allowed;
  }
  EXPECT_FALSE(was_met);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, IndexRebuildTest, testing::Values(1, 2),
                         [](const auto& threads) { return threads.param == 1 ? "One" : "Two"; });

}  // namespace
}  // namespace varve::session
