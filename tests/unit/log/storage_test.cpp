// The conformance suite of SessionStorage: every storage passes it.
#include "log/storage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "io/posix.h"
#include "io/simulated.h"
#include "io/system_clock.h"
#include "log/directory_storage.h"
#include "log/memory_storage.h"
#include "support/environment.h"
#include "unit/io/temporary_directory.h"

namespace varve::log {
namespace {

enum class Backend { kPosix, kSimulated, kMemory };

std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param == Backend::kPosix       ? "Posix"
         : info.param == Backend::kSimulated ? "Simulated"
                                             : "Memory";
}

class Storage : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::kPosix) {
      io::put_file(directory_.path_of("metadata.json"), "{}");
    } else if (GetParam() == Backend::kSimulated) {
      disk_.write_file("s/metadata.json", "{}");
    } else {
      memory_->documents["metadata.json"] = "{}";
    }
    storage_ = open();
    other_ = open();
    ASSERT_TRUE(storage_ && other_);
  }

  std::unique_ptr<SessionStorage> open() {
    auto opened = try_open();
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  Result<std::unique_ptr<SessionStorage>> try_open() {
    if (GetParam() == Backend::kMemory) {
      return std::unique_ptr<SessionStorage>(std::make_unique<MemoryStorage>(memory_, clock_));
    }
    const bool posix = GetParam() == Backend::kPosix;
    io::FileSystem& system = posix ? static_cast<io::FileSystem&>(posix_) : disk_;
    VARVE_TRY_ASSIGN(auto directory, system.open_root(posix ? directory_.path() : "s", false));
    VARVE_TRY_ASSIGN(auto opened,
                     DirectoryStorage::open(std::move(directory), {&system, &clock_, &random_}));
    return std::unique_ptr<SessionStorage>(std::move(opened));
  }

  void lock(SessionStorage& storage) {
    ASSERT_TRUE(storage.lock(clock_.monotonic_us(), "test", nullptr).ok());
  }
  // As somebody who has just looked at the log sees it.
  static DurableMark mark_of(SessionStorage& storage) {
    EXPECT_TRUE(storage.tail().ok());
    return storage.durable_mark();
  }
  // Appends under the lock, at the end.
  void append(std::string_view lines, Stream stream = Stream::kEntries) {
    lock(*storage_);
    const Tail tail = *storage_->tail();
    const uint64_t end = stream == Stream::kEntries ? tail.entries_bytes : tail.tombstones_bytes;
    EXPECT_TRUE(storage_->append(stream, end, lines, true, 0).ok());
    storage_->unlock();
  }
  static std::string read_all(SessionStorage& storage, Stream stream = Stream::kEntries) {
    const auto tail = storage.tail();
    EXPECT_TRUE(tail.ok());
    std::string bytes(stream == Stream::kEntries ? tail->entries_bytes : tail->tombstones_bytes,
                      '\0');
    const auto got = storage.read(stream, tail->generation, 0, bytes);
    EXPECT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got.ok() ? *got : 0, bytes.size());
    return bytes;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::PosixFileSystem posix_;
  io::SimulatedFileSystem disk_;
  io::TemporaryDirectory directory_;
  std::shared_ptr<MemorySession> memory_ = std::make_shared<MemorySession>();
  std::unique_ptr<SessionStorage> storage_;
  std::unique_ptr<SessionStorage> other_;
};

INSTANTIATE_TEST_SUITE_P(Over, Storage,
                         testing::Values(Backend::kPosix, Backend::kSimulated, Backend::kMemory),
                         backend_name);

TEST_P(Storage, ANewOneIsEmpty) {
  const auto tail = storage_->tail();
  ASSERT_TRUE(tail.ok());
  EXPECT_EQ(tail->entries_bytes, 0u);
  EXPECT_EQ(tail->tombstones_bytes, 0u);
  EXPECT_TRUE(storage_->writable());
  EXPECT_EQ(storage_->durable_mark().last_seq, 0u);
  std::string buffer(10, ' ');
  for (const auto stream : {Stream::kEntries, Stream::kTombstones}) {
    const auto got = storage_->read(stream, tail->generation, 0, buffer);
    EXPECT_EQ(got.ok() ? *got : 99, 0u);
  }
}

TEST_P(Storage, AppendedBytesAreReadByEverybody) {
  append("one\n");
  append("two\n");
  append("gone\n", Stream::kTombstones);
  for (SessionStorage* storage : {storage_.get(), other_.get()}) {
    EXPECT_EQ(read_all(*storage), "one\ntwo\n");
    EXPECT_EQ(read_all(*storage, Stream::kTombstones), "gone\n");
  }
  const auto reopened = open();
  EXPECT_EQ(read_all(*reopened), "one\ntwo\n");
}

TEST_P(Storage, ReadsGiveWhatIsThere) {
  append("0123456789\n");
  const uint64_t generation = storage_->tail()->generation;
  const auto read = [&](uint64_t offset, size_t size) {
    std::string buffer(size, '_');
    const auto got = storage_->read(Stream::kEntries, generation, offset, buffer);
    return got.ok() ? buffer.substr(0, *got) : "failed";
  };
  EXPECT_EQ(read(3, 4), "3456");
  EXPECT_EQ(read(8, 100), "89\n");
  EXPECT_EQ(read(11, 5), "");
  EXPECT_EQ(read(uint64_t{1} << 40, 5), "");
}

TEST_P(Storage, AppendingElsewhereThanAtTheEndIsAConflictAndWritesNothing) {
  append("one\n");
  lock(*storage_);
  for (const uint64_t at : {0u, 3u, 5u, 400u}) {
    EXPECT_EQ(storage_->append(Stream::kEntries, at, "two\n", true, 0).code(), Code::kConflict);
  }
  EXPECT_EQ(storage_->append(Stream::kTombstones, 1, "x\n", true, 0).code(), Code::kConflict);
  EXPECT_EQ(read_all(*other_), "one\n");
  EXPECT_TRUE(storage_->append(Stream::kEntries, 4, "two\n", true, 0).ok());
  storage_->unlock();
}

TEST_P(Storage, AnotherWritersAppendIsAConflictForTheOldEnd) {
  const uint64_t seen = other_->tail()->entries_bytes;
  append("one\n");
  lock(*other_);
  EXPECT_EQ(other_->append(Stream::kEntries, seen, "two\n", true, 0).code(), Code::kConflict);
  EXPECT_TRUE(other_->append(Stream::kEntries, 4, "two\n", true, 0).ok());
  other_->unlock();
  EXPECT_EQ(read_all(*storage_), "one\ntwo\n");
}

TEST_P(Storage, ReplacingMakesANewGenerationForEverybody) {
  append("one\ntwo\n");
  const Tail before = *other_->tail();
  const Tail mine = *storage_->tail();
  lock(*storage_);
  ASSERT_TRUE(storage_
                  ->replace(Stream::kEntries,
                            [](Sink& sink) {
                              VARVE_TRY(sink.append("t"));
                              return sink.append("wo\n");
                            })
                  .ok());
  storage_->unlock();
  std::string buffer(4, ' ');
  EXPECT_EQ(storage_->read(Stream::kEntries, mine.generation, 0, buffer).code(), Code::kGone);
  EXPECT_EQ(read_all(*storage_), "two\n");
  EXPECT_EQ(read_all(*other_), "two\n");
  EXPECT_NE(other_->tail()->generation, before.generation);
  EXPECT_EQ(other_->read(Stream::kEntries, before.generation, 0, buffer).code(), Code::kGone);
  append("three\n");
  EXPECT_EQ(read_all(*other_), "two\nthree\n");
}

TEST_P(Storage, AFailedReplacementLeavesTheOldGeneration) {
  append("one\n");
  const Tail before = *storage_->tail();
  lock(*storage_);
  const Status failed = storage_->replace(Stream::kEntries, [](Sink& sink) {
    VARVE_TRY(sink.append("half of it"));
    return Status(Code::kCorruption, "on purpose");
  });
  EXPECT_EQ(failed.code(), Code::kCorruption);
  storage_->unlock();
  EXPECT_EQ(*storage_->tail(), before);
  EXPECT_EQ(read_all(*other_), "one\n");
  append("two\n");
  EXPECT_EQ(read_all(*storage_), "one\ntwo\n");
}

TEST_P(Storage, AReplacementOfALogOfAnotherLengthIsAConflictAndLeavesIt) {
  append("one\ntwo\n");
  const Tail before = *storage_->tail();
  const auto produce = [](Sink& sink) { return sink.append("two\n"); };
  lock(*storage_);
  EXPECT_EQ(storage_->replace(Stream::kEntries, 4, produce).code(), Code::kConflict);
  EXPECT_EQ(*storage_->tail(), before);
  EXPECT_EQ(read_all(*other_), "one\ntwo\n");
  EXPECT_TRUE(storage_->replace(Stream::kEntries, 8, produce).ok());
  storage_->unlock();
  EXPECT_EQ(read_all(*other_), "two\n");
}

TEST_P(Storage, AReplacementOfAStreamThatIsNotThereMakesIt) {
  lock(*storage_);
  EXPECT_EQ(storage_->tail()->tombstones_bytes, 0u);
  const auto produce = [](Sink& sink) { return sink.append("gone\n"); };
  EXPECT_TRUE(storage_->replace(Stream::kTombstones, 0, produce).ok());
  EXPECT_TRUE(storage_->append(Stream::kTombstones, 5, "too\n", true, 0).ok());
  storage_->unlock();
  EXPECT_EQ(read_all(*other_, Stream::kTombstones), "gone\ntoo\n");
}

TEST_P(Storage, TruncatingCutsTheTail) {
  append("one\ntorn");
  append("gone\ntorn", Stream::kTombstones);
  lock(*storage_);
  EXPECT_EQ(storage_->truncate(Stream::kEntries, 7, 4).code(), Code::kConflict);
  ASSERT_TRUE(storage_->truncate(Stream::kEntries, 8, 4).ok());
  ASSERT_TRUE(storage_->truncate(Stream::kTombstones, 9, 5).ok());
  ASSERT_TRUE(storage_->append(Stream::kEntries, 4, "two\n", true, 0).ok());
  storage_->unlock();
  EXPECT_EQ(read_all(*other_), "one\ntwo\n");
  EXPECT_EQ(read_all(*other_, Stream::kTombstones), "gone\n");
}

TEST_P(Storage, TheLockKeepsTheOtherOutUntilTheDeadline) {
  lock(*storage_);
  bool waited = false;
  const int64_t start_us = clock_.monotonic_us();
  const Status busy = other_->lock(start_us + 3000, "test", &waited);
  EXPECT_EQ(busy.code(), Code::kBusy);
  EXPECT_TRUE(waited);
  if (GetParam() != Backend::kMemory) {  // memory waits by the system's clock
    EXPECT_EQ(clock_.monotonic_us(), start_us + 3000);
  }
  EXPECT_EQ(other_->lock(start_us - 1, "test", nullptr).code(), Code::kBusy) << "long past";
  storage_->unlock();
  waited = false;
  EXPECT_TRUE(other_->lock(clock_.monotonic_us(), "test", &waited).ok());
  EXPECT_FALSE(waited);
  EXPECT_EQ(storage_->lock(clock_.monotonic_us(), "test", nullptr).code(), Code::kBusy);
  other_->unlock();
}

TEST_P(Storage, ReadersGoOnWhileTheLockIsHeld) {
  append("one\n");
  lock(*storage_);
  EXPECT_EQ(read_all(*other_), "one\n");
  EXPECT_TRUE(other_->get_document("metadata.json").ok());
  storage_->unlock();
}

TEST_P(Storage, UnlockingTwiceIsHarmless) {
  lock(*storage_);
  storage_->unlock();
  storage_->unlock();
  lock(*other_);
  storage_->unlock();
  EXPECT_EQ(storage_->lock(clock_.monotonic_us(), "test", nullptr).code(), Code::kBusy)
      << "the other's lock was given back";
  other_->unlock();
}

TEST_P(Storage, DocumentsAreReplacedWhole) {
  EXPECT_EQ(storage_->get_document("nothing.json").code(), Code::kNotFound);
  ASSERT_TRUE(
      storage_->put_document("index.bin", std::string("a\0b", 3), DocumentDurability::kNone).ok());
  EXPECT_EQ(*other_->get_document("index.bin"), std::string("a\0b", 3));
  ASSERT_TRUE(other_->put_document("index.bin", "", DocumentDurability::kNamed).ok());
  EXPECT_EQ(*storage_->get_document("index.bin"), "");
  EXPECT_EQ(*storage_->get_document("metadata.json"), "{}");
}

TEST_P(Storage, ADocumentIsRemovedForEverybody) {
  EXPECT_TRUE(storage_->remove_document("index.bin").ok()) << "none there";
  ASSERT_TRUE(storage_->put_document("index.bin", "a", DocumentDurability::kNone).ok());
  ASSERT_TRUE(other_->remove_document("index.bin").ok());
  EXPECT_EQ(storage_->get_document("index.bin").code(), Code::kNotFound);
  EXPECT_EQ(*storage_->get_document("metadata.json"), "{}");
}

std::string read_view(DocumentView& view, uint64_t offset, size_t size) {
  std::string text(size, '\0');
  const auto got = view.read(offset, text);
  EXPECT_TRUE(got.ok()) << got.status().message();
  text.resize(got.ok() ? *got : 0);
  return text;
}

TEST_P(Storage, TheTranscriptIsAppendedToAndReadAsItWas) {
  lock(*storage_);
  EXPECT_EQ(storage_->open_document(kTranscriptFile).code(), Code::kNotFound);
  ASSERT_TRUE(storage_->append_to_transcript(0, "one", true).ok());
  const auto first = *other_->open_document(kTranscriptFile);
  EXPECT_EQ(first->size_bytes(), 3U);
  ASSERT_TRUE(storage_->append_to_transcript(3, " two", false).ok());
  EXPECT_EQ(storage_->append_to_transcript(3, "x", true).code(), Code::kConflict);
  EXPECT_EQ(storage_->append_to_transcript(0, "x", true).code(), Code::kConflict);
  ASSERT_TRUE(storage_->sync(0).ok());
  EXPECT_EQ(read_view(*first, 0, 99), "one") << "what came later does not belong to it";
  const auto second = *other_->open_document(kTranscriptFile);
  EXPECT_EQ(read_view(*second, 2, 3), "e t");
  EXPECT_EQ(read_view(*second, 7, 3), "");
  EXPECT_EQ(first->identity(), second->identity());
  EXPECT_EQ(*other_->get_document(kTranscriptFile), "one two");
  ASSERT_TRUE(storage_->put_document(kTranscriptFile, "anew", DocumentDurability::kNamed).ok());
  const auto third = *other_->open_document(kTranscriptFile);
  EXPECT_NE(third->identity(), second->identity());
  EXPECT_EQ(read_view(*third, 0, 99), "anew");
  ASSERT_TRUE(storage_->append_to_transcript(4, "!", true).ok());
  storage_->unlock();
  EXPECT_EQ(*other_->get_document(kTranscriptFile), "anew!");
}

TEST_P(Storage, ADocumentIsReadInParts) {
  ASSERT_TRUE(storage_->put_document("d", "0123456789", DocumentDurability::kNamed).ok());
  const auto view = storage_->open_document("d");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ((*view)->size_bytes(), 10u);
  EXPECT_EQ(read_view(**view, 3, 4), "3456");
  EXPECT_EQ(read_view(**view, 8, 4), "89");
  for (const uint64_t offset : {10u, 99u}) EXPECT_EQ(read_view(**view, offset, 4), "");
  EXPECT_EQ(storage_->open_document("nothing").code(), Code::kNotFound);
}

TEST(StorageInFiles, ADocumentThatNoneCanBeIsRefusedUnread) {
  io::TemporaryDirectory directory;
  io::put_file(directory.path_of("metadata.json"), "{}");
  io::put_file(directory.path_of("giant.bin"), "");
  std::filesystem::resize_file(directory.path_of("giant.bin"), (uint64_t{8} << 30) + 1);  // a hole
  io::PosixFileSystem posix;
  test::ManualClock clock;
  test::SeededRandom random;
  auto storage =
      *DirectoryStorage::open(*posix.open_root(directory.path(), false), {&posix, &clock, &random});
  const auto refused = storage->get_document("giant.bin");
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.status().message(),
            "giant.bin has 8589934593 bytes; at most 8589934592 are read");
  EXPECT_EQ(refused.status().place().path, directory.path_of("giant.bin"));
}

TEST_P(Storage, QuarantineIsOnlyEverAppendedTo) {
  lock(*storage_);
  EXPECT_TRUE(storage_->append(Stream::kQuarantine, 0, "first\n", true, 0).ok());
  EXPECT_TRUE(storage_->append(Stream::kQuarantine, 0, "second\n", true, 0).ok());
  storage_->unlock();
  if (GetParam() == Backend::kPosix) {
    EXPECT_EQ(io::bytes_of(directory_.path_of("quarantine.jsonl")), "first\nsecond\n");
  } else if (GetParam() == Backend::kSimulated) {
    EXPECT_EQ(disk_.read_file("s/quarantine.jsonl"), "first\nsecond\n");
  } else {
    EXPECT_EQ(memory_->quarantine, "first\nsecond\n");
  }
}

TEST_P(Storage, TheDurableMarkGoesUpWithDurableAppendsAndSyncs) {
  lock(*storage_);
  ASSERT_TRUE(storage_->append(Stream::kEntries, 0, "one\n", true, 1).ok());
  EXPECT_EQ(mark_of(*other_).entries_bytes, 4u);
  EXPECT_EQ(mark_of(*other_).last_seq, 1u);
  ASSERT_TRUE(storage_->append(Stream::kEntries, 4, "two\n", false, 2).ok());
  if (GetParam() != Backend::kMemory) {  // memory has no more durable than this
    EXPECT_EQ(mark_of(*other_).entries_bytes, 4u);
    EXPECT_EQ(mark_of(*other_).last_seq, 1u);
  }
  ASSERT_TRUE(storage_->sync(2).ok());
  EXPECT_EQ(mark_of(*other_).entries_bytes, 8u);
  EXPECT_EQ(mark_of(*other_).last_seq, 2u);
  storage_->unlock();
  EXPECT_EQ(open()->durable_mark().last_seq, 2u);
}

TEST_P(Storage, ATombstoneDoesNotTakeTheMarkBack) {
  lock(*storage_);
  ASSERT_TRUE(storage_->append(Stream::kEntries, 0, "one\n", true, 7).ok());
  ASSERT_TRUE(storage_->append(Stream::kTombstones, 0, "gone\n", true, 0).ok());
  storage_->unlock();
  EXPECT_EQ(mark_of(*other_).last_seq, 7u);
  EXPECT_EQ(mark_of(*other_).entries_bytes, 4u);
}

TEST_P(Storage, WhatTheLockSawIsTheTail) {
  append("one\n");
  lock(*other_);
  EXPECT_EQ(other_->locked_tail()->entries_bytes, 4u);
  other_->unlock();
}

TEST_P(Storage, NamesAreOnesAPersonKnows) {
  EXPECT_TRUE(storage_->name_of(Stream::kEntries).ends_with("memory.jsonl"));
  EXPECT_TRUE(storage_->name_of(Stream::kTombstones).ends_with("tombstones.jsonl"));
  EXPECT_TRUE(storage_->name_of(Stream::kQuarantine).ends_with("quarantine.jsonl"));
}

TEST_P(Storage, VectorsAreAStreamWithGenerationsOfItsOwn) {
  append("one\n");
  const Tail tail = *storage_->tail();
  EXPECT_EQ(storage_->vectors_tail()->bytes, 0u);
  lock(*storage_);
  EXPECT_TRUE(storage_->remove_vectors().ok()) << "there are none";
  EXPECT_TRUE(
      storage_->replace(Stream::kVectors, [](Sink& sink) { return sink.append("head"); }).ok());
  EXPECT_TRUE(storage_->append(Stream::kVectors, 4, "body", true, 0).ok());
  EXPECT_EQ(storage_->append(Stream::kVectors, 4, "late", true, 0).code(), Code::kConflict);
  storage_->unlock();
  const VectorsTail first = *other_->vectors_tail();
  EXPECT_EQ(first.bytes, 8u);
  std::string bytes(8, ' ');
  EXPECT_EQ(*other_->read(Stream::kVectors, first.generation, 0, bytes), 8u);
  EXPECT_EQ(bytes, "headbody");
  EXPECT_EQ(*other_->get_document(kVectorsFile), "headbody");
  lock(*storage_);
  EXPECT_TRUE(storage_->truncate(Stream::kVectors, 8, 6).ok());
  EXPECT_TRUE(storage_->sync(0).ok());
  EXPECT_EQ(storage_->vectors_tail()->bytes, 6u);
  EXPECT_TRUE(
      storage_->replace(Stream::kVectors, [](Sink& sink) { return sink.append("new"); }).ok());
  storage_->unlock();
  const VectorsTail second = *other_->vectors_tail();
  EXPECT_EQ(second.bytes, 3u);
  EXPECT_NE(second.generation, first.generation);
  EXPECT_EQ(other_->read(Stream::kVectors, first.generation, 0, bytes).code(), Code::kGone);
  EXPECT_EQ(*storage_->tail(), tail) << "the log is as it was";
  lock(*storage_);
  EXPECT_TRUE(storage_->remove_vectors().ok());
  storage_->unlock();
  EXPECT_EQ(other_->vectors_tail()->bytes, 0u);
  EXPECT_NE(other_->vectors_tail()->generation, second.generation);
  EXPECT_EQ(other_->get_document(kVectorsFile).code(), Code::kNotFound);
}

}  // namespace
}  // namespace varve::log
