// When index.bin is saved, and what opening with it costs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "fuzz/memory_host.h"
#include "index/snapshot_file.h"
#include "snapshot_use.h"
#include "support/no_memory/no_memory.h"
#include "unit/index/snapshot_editor.h"

namespace varve::session {
namespace {

// --- an entry without the other rows -------------------------------------------------------------

TEST_F(SnapshotUse, OpeningAndAGetReadAFewBlocksOfIt) {
  fill(20'000);
  ASSERT_GT(disk_.bytes("index.bin").size(), 400'000u);
  std::shared_ptr<Session> session;
  const Reads opening = reads_of([&] { session = disk_.open(); }, "index.bin");
  EXPECT_EQ(opening.bytes, index::kSnapshotHeaderBytes);
  const Reads getting = reads_of(
      [&] {
        ASSERT_TRUE(session->get("e1234").ok());
        EXPECT_EQ(session->get("e20000").code(), Code::kNotFound);
      },
      "index.bin");
  EXPECT_LT(getting.bytes, 25 * index::kSnapshotBlockBytes);
  // Whatever else asks has all of them.
  EXPECT_EQ(session->stats()->get_int64("entries"), 20'000);
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 0);
  EXPECT_TRUE(index_stats(*session).get_bool("loaded"));
}

// What queries read grows with what they look at; of each entry they take its type, the length of
// its text and a mark, seven bytes.
TEST_F(SnapshotUse, AQueryReadsTheRowsThatItLooksAt) {
  fill(10'000);
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("rare", "a word of its own")).ok());
  ASSERT_TRUE(session->query(R"({"text":"own"})").ok());
  session->close();
  const uint64_t whole_bytes = disk_.bytes("index.bin").size();
  session = disk_.open();
  const auto ask = [&](const std::string& query, size_t count) {
    const auto found = session->query(query);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->results.size(), count) << query;
  };
  const Reads by_word =
      reads_of([&] { ask(R"({"text":"own","sort_by":"match"})", 1); }, "index.bin");
  EXPECT_LT(by_word.bytes * 3, whole_bytes);
  const Reads by_time = reads_of([&] { ask(R"({"sort_by":"time","limit":5})", 5); }, "index.bin");
  EXPECT_LT(by_time.bytes * 3, whole_bytes);
  // Times and importances of all of them, and no more.
  const Reads by_relevance = reads_of([&] { ask(R"({"limit":5})", 5); }, "index.bin");
  EXPECT_LT(by_relevance.bytes * 2, whole_bytes);
  // Who writes has all of them, checked.
  ASSERT_TRUE(session->remove("e77", "").ok());
  EXPECT_EQ(session->stats()->get_int64("entries"), 10'000);
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 0);
}

// Nobody but the query makes what was added to lists small in a process that only asks.
TEST_F(SnapshotUse, AReaderByTagCompressesWhatOthersAdd) {
  auto writer = disk_.open();
  auto reader = disk_.open();
  const std::string prefix(55, 'x');
  const std::string query = R"({"tags":{"include":["all"]},"sort_by":"time","limit":1})";
  for (int i = 0; i < 25'000; ++i) {
    const std::string id = "e" + std::to_string(i);
    const std::string entry = R"({"type":"note","content":"x","tags":["all",")" + prefix + id +
                              R"("],"id":")" + id + "\"}";
    ASSERT_TRUE(writer->add(entry).ok());
    if (i % 100 != 99) continue;
    ASSERT_TRUE(reader->query(query).ok());
  }
  const int64_t kept_bytes = index_stats(*reader).get_int64("facets_memory_bytes");
  // Each tag as it is, which has 55 bytes in common with the next one, takes 100.
  EXPECT_GT(kept_bytes, 0);
  EXPECT_LT(kept_bytes, 25'000 * 60);
}

TEST_F(SnapshotUse, ManyGetsReadAllRowsOnce) {
  fill(300);
  auto session = disk_.open();
  const auto get_all = [&] {
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(session->get("e" + std::to_string(i)).ok());
  };
  EXPECT_GT(reads_of(get_all, "index.bin").bytes, 0u);
  EXPECT_EQ(reads_of(get_all, "index.bin").bytes, 0u);
}

TEST_F(SnapshotUse, WhatIsDeletedOrExpiredIsNotFoundInItsRow) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("stays")).ok());
  ASSERT_TRUE(session->add(entry_text("goes")).ok());
  ASSERT_TRUE(session->add(R"({"id":"ends","type":"note","content":"x","ttl_seconds":60})").ok());
  session->close();
  session = disk_.open();
  ASSERT_TRUE(session->remove("goes", "").ok());
  // Each by a handle of its own: of three rows the second get reads all, and finds them otherwise.
  const auto reopen = [&] {
    session.reset();
    session = disk_.open();
  };
  reopen();
  EXPECT_TRUE(session->get("ends").ok());
  host_.clock.advance_ms(61'000);
  reopen();
  const auto gone = session->get("goes");
  EXPECT_EQ(gone.code(), Code::kNotFound);
  EXPECT_EQ(gone.status().message(), "entry 'goes' was deleted");
  reopen();
  const auto ended = session->get("ends");
  EXPECT_EQ(ended.code(), Code::kNotFound);
  EXPECT_EQ(ended.status().message(), "entry 'ends' has expired");
  reopen();
  const auto never = session->get("never");
  EXPECT_EQ(never.code(), Code::kNotFound);
  EXPECT_EQ(never.status().message(), "entry 'never' does not exist");
  EXPECT_TRUE(session->get("stays").ok());
}

TEST_F(SnapshotUse, AnotherHandlesDeletionIsSeenWithoutTheRows) {
  fill(10);
  auto reader = disk_.open();
  auto writer = disk_.open();
  EXPECT_TRUE(reader->get("e3").ok());
  ASSERT_TRUE(writer->remove("e3", "").ok());
  EXPECT_EQ(reader->get("e3").code(), Code::kNotFound);
  ASSERT_TRUE(writer->add(entry_text("new")).ok());
  EXPECT_TRUE(reader->get("new").ok());
  EXPECT_EQ(reader->get("e3").code(), Code::kNotFound);
  EXPECT_EQ(reader->stats()->get_int64("entries"), 10);
}

// Whether somebody asked by words, and what may wait then.
class BulkLoad : public SnapshotUse,
                 public testing::WithParamInterface<std::pair<bool, uint64_t>> {};

INSTANTIATE_TEST_SUITE_P(Words, BulkLoad,
                         testing::Values(std::pair(true, uint64_t{4} << 20),
                                         std::pair(false, uint64_t{16} << 20)),
                         [](const testing::TestParamInfo<std::pair<bool, uint64_t>>& waiting) {
                           return waiting.param.first ? "Asked" : "NeverAsked";
                         });

TEST_P(BulkLoad, LeavesWordsThatEndAndNoAddPaysForThem) {
  constexpr uint64_t kAddedMax = uint64_t{9} << 10;  // by one add
  constexpr uint64_t kStepMax = 8 * kAddedMax;
  const auto [is_asked, kMayWait] = GetParam();
  host_.context.settings.session_bytes_max = 0;
  std::string content;
  while (content.size() < 8000) content += "word ";
  std::string lines;
  const uint64_t load_count = (kMayWait + 3'800'000) / content.size();
  for (uint64_t i = 0; i < load_count; ++i) {
    lines += entry_text("b" + std::to_string(i), content) + "\n";
  }
  auto session = disk_.open();
  if (is_asked) {
    ASSERT_TRUE(session->query(R"({"text":"word"})").ok());
  }
  ASSERT_TRUE(session->add_batch(lines).ok());
  const auto waiting_bytes = [&] {
    const int64_t indexed = index_stats(*session).get_int64("words_of_entries");
    return (session->stats()->get_int64("entries") - indexed) * 8000;
  };
  ASSERT_GT(waiting_bytes(), static_cast<int64_t>(kMayWait) + (3 << 19));
  uint64_t read_bytes = 0;
  int count = 0;
  for (; waiting_bytes() > static_cast<int64_t>(kMayWait) && count < 1000; ++count) {
    const Reads reads = reads_of(
        [&] { ASSERT_TRUE(session->add(entry_text("a" + std::to_string(count), content)).ok()); });
    ASSERT_LE(reads.bytes, kStepMax);  // what an add reads of the log are lines to index
    read_bytes += reads.bytes;
    ASSERT_LE(read_bytes, 2 * kAddedMax * static_cast<uint64_t>(count + 1));
  }
  EXPECT_LT(count, 350) << "what waits does not end";
  // And then it stays so.
  for (int i = 0; i < 50; ++i, ++count) {
    const Reads reads = reads_of(
        [&] { ASSERT_TRUE(session->add(entry_text("a" + std::to_string(count), content)).ok()); });
    ASSERT_LE(reads.bytes, kStepMax);
    ASSERT_LE(waiting_bytes(), static_cast<int64_t>(kMayWait + 2 * kStepMax));
  }
}

TEST_F(SnapshotUse, AWriterThatNobodyAskedByWordsLeavesMoreOfThem) {
  host_.context.settings.session_bytes_max = 0;
  const std::string content(8000, 'x');
  std::string lines;
  for (int i = 0; i < 1900; ++i) lines += entry_text("b" + std::to_string(i), content) + "\n";
  auto session = disk_.open();
  ASSERT_TRUE(session->add_batch(lines).ok());
  for (int i = 0; i < 20; ++i) {
    const Reads reads = reads_of(
        [&] { ASSERT_TRUE(session->add(entry_text("a" + std::to_string(i), content)).ok()); });
    ASSERT_EQ(reads.bytes, 0U);
  }
  EXPECT_EQ(index_stats(*session).get_int64("words_of_entries"), 0);
}

TEST_F(SnapshotUse, ASmallAddBehindABulkLoadIndexesAFewLines) {
  const std::string content(1000, 'x');
  std::string lines;
  for (int i = 0; i < 7000; ++i) lines += entry_text("b" + std::to_string(i), content) + "\n";
  auto session = disk_.open();
  ASSERT_TRUE(session->query(R"({"text":"x"})").ok());  // so that no more than 4 MB may wait
  ASSERT_TRUE(session->add_batch(lines).ok());
  uint64_t steps = 0;
  for (int i = 0; i < 400; ++i) {
    const Reads reads =
        reads_of([&] { ASSERT_TRUE(session->add(entry_text("a" + std::to_string(i), "x")).ok()); });
    ASSERT_LE(reads.bytes, uint64_t{18} << 10);
    steps += reads.bytes > 0 ? 1 : 0;
  }
  EXPECT_GT(steps, 5U);
}

// Who adds one entry to a long log does not write the index of all at its end; what is left out of
// it stays short.
TEST_F(SnapshotUse, ASessionThatEndsSavesItsIndexWhenEnoughIsNotInIt) {
  fill(6000);
  const uint64_t covered_bytes = disk_.bytes("memory.jsonl").size();
  ASSERT_GT(covered_bytes / 64, uint64_t{16} << 10);
  int saves = 0;
  uint64_t left_bytes = 0;  // out of index.bin
  uint64_t left_bytes_most = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string before = disk_.bytes("index.bin");
    const uint64_t log_bytes = disk_.bytes("memory.jsonl").size();
    ASSERT_TRUE(disk_.open()->add(entry_text("a" + std::to_string(i), std::string(800, 'x'))).ok());
    const bool is_saved = disk_.bytes("index.bin") != before;
    saves += is_saved ? 1 : 0;
    left_bytes = is_saved ? 0 : left_bytes + disk_.bytes("memory.jsonl").size() - log_bytes;
    left_bytes_most = std::max(left_bytes_most, left_bytes);
    auto session = disk_.open();
    ASSERT_TRUE(index_stats(*session).get_bool("loaded"));
    ASSERT_EQ(found_by_word(*session), 100u);
    ASSERT_TRUE(session->get("a" + std::to_string(i)).ok());
  }
  EXPECT_GE(saves, 1);
  EXPECT_LE(saves, 5);
  EXPECT_LE(left_bytes_most, covered_bytes / 64 + 4096);
}

TEST_F(SnapshotUse, WhatAnotherHandleSavedIsNotSavedAgain) {
  fill(10);
  auto session = disk_.open();
  auto other = disk_.open();
  int count = 0;
  const auto saves_by = [&](Session& writer, size_t content_bytes) {
    disk_.disk.clear_trace();
    const std::string id = "s" + std::to_string(count++);
    EXPECT_TRUE(writer.add(entry_text(id, std::string(content_bytes, 'x'))).ok());
    int saves = 0;
    for (const auto& line : disk_.disk.trace()) {
      saves +=
          line.find(" rename ") != std::string::npos && line.find("index.bin") != std::string::npos;
    }
    return saves;
  };
  EXPECT_EQ(saves_by(*session, 900'000), 0);
  EXPECT_EQ(saves_by(*session, 900'000), 1);
  EXPECT_EQ(saves_by(*other, 10), 0) << "saved again";
  EXPECT_EQ(saves_by(*other, 900'000), 0);
  EXPECT_EQ(saves_by(*other, 900'000), 1);
  EXPECT_EQ(saves_by(*session, 10), 0) << "saved again";
}

// Rows that others added are read behind those of index.bin, which are opened for it.
TEST(RowsOfOthers, AreFoundWhereverMemoryEnded) {
  int refused = 0;
  bool was_met = true;
  for (int64_t allowed = 0; was_met && allowed < 1000; ++allowed) {
    fuzz::MemoryHost host;
    {
      const auto session = *host.open();
      for (int i = 0; i < 30; ++i)
        ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i))).ok());
    }
    {
      const auto session = *host.open();
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(session->remove("e" + std::to_string(i), "").ok());
    }
    const auto reader = *host.open();
    ASSERT_TRUE((*host.open())->add(entry_text("more")).ok());
    try {
      const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
      (void)reader->get("e7").ok();
      was_met = limit.was_met();
    } catch (const std::bad_alloc&) {
      ++refused;
    }
    ASSERT_EQ(reader->get("e2").code(), Code::kNotFound) << allowed;
    for (const auto id : {"e7", "more"}) ASSERT_TRUE(reader->get(id).ok()) << id << allowed;
  }
  EXPECT_FALSE(was_met);
  EXPECT_GT(refused, 20);
}

TEST_F(SnapshotUse, ItIsSavedAtCloseAndOpeningReadsNoMoreThanTheLastLine) {
  auto session = disk_.open();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i), std::string(500, 'x'))).ok());
  }
  EXPECT_FALSE(disk_.read("index.bin").has_value());
  session.reset();
  ASSERT_TRUE(disk_.read("index.bin").has_value());
  const Reads opening = reads_of([&] { session = disk_.open(); });
  EXPECT_LT(opening.bytes, 2000u);
  EXPECT_TRUE(index_stats(*session).get_bool("loaded"));
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 0);
  const Reads getting = reads_of([&] { ASSERT_TRUE(session->get("e150").ok()); });
  EXPECT_EQ(getting.count, 1u);
  EXPECT_LT(getting.bytes, 1000u);
}

TEST_F(SnapshotUse, OpeningReadsTheTailThatItDoesNotCover) {
  auto session = disk_.open();
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i), std::string(500, 'x'))).ok());
  }
  session.reset();
  const std::string snapshot = disk_.bytes("index.bin");
  const uint64_t covered = disk_.bytes(log::kEntriesFile).size();
  session = disk_.open();
  for (int i = 300; i < 310; ++i) {
    ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i))).ok());
  }
  ASSERT_TRUE(session->remove("e5", "").ok());
  session.reset();
  disk_.write("index.bin", snapshot);
  const uint64_t tail = disk_.bytes(log::kEntriesFile).size() - covered;
  const Reads opening = reads_of([&] { session = disk_.open(); });
  EXPECT_GE(opening.bytes, tail);
  EXPECT_LT(opening.bytes, tail + 2000);
  EXPECT_EQ(session->stats()->get_int64("entries"), 309);
  EXPECT_TRUE(session->get("e309").ok());
  EXPECT_EQ(session->get("e5").code(), Code::kNotFound);
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 0);
}

TEST_F(SnapshotUse, ItIsSavedWhenTheLogGrewByAMegabyte) {
  auto session = disk_.open();
  int added = 0;
  while (!disk_.read("index.bin") && added < 100) {
    ASSERT_TRUE(
        session->add(entry_text("e" + std::to_string(added++), std::string(40'000, 'x'))).ok());
  }
  const uint64_t log_bytes = disk_.bytes(log::kEntriesFile).size();
  EXPECT_GT(log_bytes, uint64_t{1} << 20);
  EXPECT_LT(log_bytes, (uint64_t{1} << 20) + 100'000);
  EXPECT_EQ(index_stats(*session).get_int64("covered_bytes"), static_cast<int64_t>(log_bytes));
  // Not again with the next entry.
  const std::string before = disk_.bytes("index.bin");
  ASSERT_TRUE(session->add(entry_text("one_more")).ok());
  EXPECT_EQ(disk_.bytes("index.bin"), before);
}

TEST_F(SnapshotUse, WhatWasNeverLookedAtIsReadBeforeTheNextIsSaved) {
  auto session = disk_.open();
  for (int i = 0; i < 2000; ++i) {  // keys and lists of many blocks
    const std::string number = std::to_string(i);
    ASSERT_TRUE(session
                    ->add(R"({"id":"e)" + number + R"(","type":"note","content":"apple pear)" +
                          number + R"(","tags":["colour)" + number + "\"]}")
                    .ok());
  }
  session.reset();
  session = disk_.open();
  ASSERT_EQ(*session->count(R"({"tags":{"include":["colour7"]},"text":"pear7"})"), 1U);
  disk_.disk.set_fault_hook(io::FailNth(1, EIO, true).on_file("index.bin"));
  ASSERT_TRUE(session->add(entry_text("one_more")).ok());
  ASSERT_TRUE(session->sync().ok());
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1) << "it could not be read";
  disk_.disk.set_fault_hook(nullptr);
  ASSERT_TRUE(session->sync().ok());
  session.reset();
  session = disk_.open();
  EXPECT_EQ(*session->count(R"({"tags":{"include":["colour1234"]},"text":"pear1234"})"), 1U);
  const json::Tree report = *session->verify(true);
  EXPECT_TRUE(report.get_bool("ok")) << report.canonical();
}

TEST_F(SnapshotUse, ItIsNotWrittenWhenNothingChanged) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  session.reset();
  const SessionFiles before = disk_.files();
  host_.clock.advance_ms(1000);
  session = disk_.open();
  ASSERT_TRUE(session->get("a").ok());
  session.reset();
  EXPECT_EQ(disk_.files().snapshot, before.snapshot);
  EXPECT_EQ(disk_.files().metadata, before.metadata) << "reading a session does not write it";
}

TEST_F(SnapshotUse, AnEmptySessionHasNone) {
  auto session = disk_.open();
  ASSERT_TRUE(session->sync().ok());
  session.reset();
  EXPECT_FALSE(disk_.read("index.bin").has_value());
}

TEST_F(SnapshotUse, RebuildingTheIndexReplacesIt) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  session.reset();
  const std::string right = disk_.bytes("index.bin");
  session = disk_.open();
  disk_.write("index.bin", "something else");
  ASSERT_TRUE(session->rebuild_index().ok());
  EXPECT_EQ(disk_.bytes("index.bin"), right);
}

// Others may write all the time; then the lock is rarely had at once.
TEST_F(SnapshotUse, ARebuildWaitsForTheLockAsAWriteDoes) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  const auto other = disk_.disk.process(7);
  const auto holder = *disk_.storage(other.get());
  ASSERT_TRUE(holder->lock(host_.clock.monotonic_us(), "write", nullptr).ok());
  const int64_t before_us = host_.clock.slept_us();
  ASSERT_TRUE(session->rebuild_index().ok());
  EXPECT_EQ(host_.clock.slept_us() - before_us, 5'000'000);
  EXPECT_EQ(host_.counters.lock_timeouts.load(), 1u);
  EXPECT_EQ(index_stats(*session).get_int64("covered_bytes"), 0);
  holder->unlock();
  ASSERT_TRUE(session->rebuild_index().ok());
  EXPECT_GT(index_stats(*session).get_int64("covered_bytes"), 0);
}

TEST_F(SnapshotUse, AFailureToSaveItFailsNothing) {
  auto session = disk_.open();
  disk_.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.name.starts_with("index.bin")) return io::Fault{ENOSPC};
    return std::nullopt;
  });
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  EXPECT_TRUE(session->sync().ok());
  session.reset();
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_FALSE(disk_.read("index.bin").has_value());
  for (const auto& name : disk_.disk.list_all()) {
    EXPECT_EQ(name.find(".tmp-"), std::string::npos) << name;
  }
  session = disk_.open();
  EXPECT_TRUE(session->get("a").ok());
}

TEST_F(SnapshotUse, AnUnreadableOneCostsARebuild) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  session.reset();
  disk_.disk.set_fault_hook(io::FailNth(1, EIO, true).on_file("index.bin"));
  session = disk_.open();
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(session->get("a").ok());
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1);
}

TEST_F(SnapshotUse, AFileThatIsNoFileInItsPlaceCostsARebuild) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  session.reset();
  disk_.remove("index.bin");
  disk_.disk.plant_other(path_of("index.bin"));
  session = disk_.open();
  ASSERT_NE(session, nullptr);
  EXPECT_TRUE(session->get("a").ok());
}

}  // namespace
}  // namespace varve::session
