// What is there after a power loss: whatever sync() answered for, whoever wrote it, and the names
// as well as the bytes; and what is spared where nobody asked for it.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/simulated.h"
#include "log/atomic_file.h"
#include "log/directory_storage.h"
#include "storage_disk.h"
#include "support/environment.h"

namespace varve::log {
namespace {

class Durable : public StorageDisk {
 protected:
  void SetUp() override {
    storage_ = open();
    other_ = open();
    ASSERT_TRUE(storage_ && other_);
  }
  static uint64_t size_of(DirectoryStorage& storage, Stream stream) {
    return stream == Stream::kVectors      ? storage.vectors_tail()->bytes
           : stream == Stream::kTombstones ? storage.tail()->tombstones_bytes
                                           : storage.tail()->entries_bytes;
  }
  static Status append(DirectoryStorage& storage, Stream stream, std::string_view bytes,
                       bool durable = false) {
    return storage.append(stream, size_of(storage, stream), bytes, durable, 0);
  }
  // Under a lock of its own, and without a sync.
  void append_and_leave(DirectoryStorage& storage, Stream stream, std::string_view bytes) {
    ASSERT_TRUE(lock(storage).ok());
    ASSERT_TRUE(append(storage, stream, bytes).ok());
    storage.unlock();
  }
  std::string kept(std::string_view name) {
    return disk_.crash()->read_file("s/" + std::string(name)).value_or("(none)");
  }
  size_t syncs_since_clear() {
    size_t count = 0;
    for (const std::string& line : disk_.trace()) count += line.find(" sync_") != line.npos;
    return count;
  }

  std::unique_ptr<DirectoryStorage> storage_;
  std::unique_ptr<DirectoryStorage> other_;
  std::optional<io::Fault> fault_ = io::Fault{EIO};
};

TEST_F(Durable, IsAllOfEveryStreamAfterASync) {
  ASSERT_TRUE(lock(*storage_).ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(append(*storage_, Stream::kEntries, "two\n").ok());
    ASSERT_TRUE(append(*storage_, Stream::kTombstones, "gone\n").ok());
    ASSERT_TRUE(append(*storage_, Stream::kVectors, "vector").ok());
    const uint64_t said = std::string("said").size() * static_cast<uint64_t>(round);
    ASSERT_TRUE(storage_->append_to_transcript(said, "said", false).ok());
    ASSERT_TRUE(storage_->sync(1).ok());
  }
  EXPECT_EQ(kept("memory.jsonl"), "one\ntwo\ntwo\n");
  EXPECT_EQ(kept("tombstones.jsonl"), "gone\ngone\n");
  EXPECT_EQ(kept("vectors.bin"), "vectorvector");
  EXPECT_EQ(kept(kTranscriptFile), "saidsaid");
}

TEST_F(Durable, IsAlsoWhatAnotherWriterDidNotSync) {
  for (int round = 0; round < 2; ++round) {
    append_and_leave(*other_, Stream::kEntries, "two\n");
    append_and_leave(*other_, Stream::kTombstones, "gone\n");
    append_and_leave(*other_, Stream::kVectors, "vector");
    ASSERT_TRUE(lock(*storage_).ok());
    ASSERT_TRUE(storage_->sync(1).ok());
    storage_->unlock();
  }
  EXPECT_EQ(kept("memory.jsonl"), "one\ntwo\ntwo\n");
  EXPECT_EQ(kept("tombstones.jsonl"), "gone\ngone\n");
  EXPECT_EQ(kept("vectors.bin"), "vectorvector");
}

TEST_F(Durable, IsWhatStandsBeforeALineThatIs) {
  append_and_leave(*other_, Stream::kEntries, "two\n");
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(*storage_, Stream::kEntries, "three\n", true).ok());
  EXPECT_EQ(kept("memory.jsonl"), "one\ntwo\nthree\n");
}

TEST_F(Durable, IsNotYetWhatIsInTheStreamWhileTheDiskTakesIt) {
  ASSERT_TRUE(lock(*storage_).ok());
  std::string seen;
  std::string kept_then;
  const auto meanwhile = [&] {
    seen += *disk_.read_file("s/memory.jsonl");
    kept_then = kept("memory.jsonl");
  };
  ASSERT_TRUE(storage_->append(Stream::kEntries, 4, "two\n", true, 1, meanwhile).ok());
  EXPECT_EQ(seen, "one\ntwo\n") << "once";
  EXPECT_EQ(kept_then, "one\n");
  EXPECT_EQ(kept("memory.jsonl"), "one\ntwo\n");
  seen.clear();
  ASSERT_TRUE(storage_->append(Stream::kEntries, 8, "three\n", false, 2, meanwhile).ok());
  EXPECT_EQ(seen, "") << "nothing is waited for";
}

TEST_F(Durable, WhatCouldBeReadMeanwhileAndWasNotTakenIsOfAnotherGeneration) {
  ASSERT_TRUE(lock(*storage_).ok());
  uint64_t generation_then = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) {
    const bool fails = generation_then != 0 && operation.kind == io::OperationKind::kSyncData;
    return fails ? std::exchange(fault_, std::nullopt) : std::nullopt;
  });
  const auto meanwhile = [&] { generation_then = storage_->tail()->generation; };
  EXPECT_EQ(storage_->append(Stream::kEntries, 4, "two\n", true, 1, meanwhile).code(), Code::kIo);
  EXPECT_EQ(storage_->tail()->entries_bytes, 4u);
  EXPECT_NE(storage_->tail()->generation, generation_then);
}

TEST_F(Durable, ASecondSyncHasNothingToDo) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(*storage_, Stream::kTombstones, "gone\n").ok());
  ASSERT_TRUE(append(*storage_, Stream::kVectors, "vector").ok());
  ASSERT_TRUE(storage_->append_to_transcript(0, "said", false).ok());
  ASSERT_TRUE(storage_->sync(1).ok());
  disk_.clear_trace();
  ASSERT_TRUE(storage_->sync(1).ok());
  EXPECT_EQ(syncs_since_clear(), 0u);
}

TEST_F(Durable, IsTheTranscriptInAFileThatAnotherPutInItsPlace) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(storage_->append_to_transcript(0, "said", true).ok());
  storage_->unlock();
  ASSERT_TRUE(lock(*other_).ok());
  ASSERT_TRUE((*disk_.open_root("s", false))->remove(kTranscriptFile).ok());
  ASSERT_TRUE(other_->append_to_transcript(0, "new!", false).ok());
  other_->unlock();
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(storage_->sync(1).ok());
  EXPECT_EQ(kept(kTranscriptFile), "new!");
}

TEST_F(Durable, ADerivedDocumentWaitsForNoDisk) {
  disk_.clear_trace();
  ASSERT_TRUE(storage_->put_document("index.bin", "derived", DocumentDurability::kNone).ok());
  EXPECT_EQ(syncs_since_clear(), 0u);
  EXPECT_EQ(disk_.read_file("s/index.bin"), "derived");
}

TEST_F(Durable, ADocumentOfWhichOnlyTheBytesMatterWaitsForNoName) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(storage_->sync(1).ok());
  disk_.clear_trace();
  ASSERT_TRUE(storage_->put_document("d", "bytes", DocumentDurability::kContent).ok());
  EXPECT_EQ(syncs_since_clear(), 1u);
  ASSERT_TRUE(storage_->put_document("d", "bytes", DocumentDurability::kNamed).ok());
  EXPECT_EQ(kept("d"), "bytes");
}

TEST_F(Durable, ThatVectorsWereRemoved) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(*storage_, Stream::kVectors, "vector", true).ok());
  ASSERT_TRUE(storage_->remove_vectors().ok());
  EXPECT_EQ(kept("vectors.bin"), "(none)");
  disk_.write_file("s/vectors.bin", "");
  ASSERT_TRUE(storage_->remove_vectors().ok()) << "also those of nobody";
  EXPECT_FALSE(disk_.exists("s/vectors.bin"));
  EXPECT_TRUE(storage_->remove_vectors().ok());
}

// Another process may have failed to, or was killed.
TEST_F(Durable, ThatVectorsWereRemovedIsWhereSomebodyElseRemovedThem) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(*storage_, Stream::kVectors, "vector", true).ok());
  disk_.set_fault_hook(io::FailNth(1, EIO, false, {io::OperationKind::kSyncDirectory}));
  EXPECT_EQ(storage_->remove_vectors().code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_FALSE(disk_.exists("s/vectors.bin"));
  EXPECT_EQ(kept("vectors.bin"), "vector") << "or nothing is tested";
  storage_->unlock();
  ASSERT_TRUE(lock(*other_).ok());
  EXPECT_TRUE(other_->remove_vectors().ok());
  EXPECT_EQ(kept("vectors.bin"), "(none)");
}

// A name is synced by a descriptor of its own. Where there is none, no sync has failed: nothing is
// to be copied, for which there is none either, and writing goes on when there are some again.
TEST_F(Durable, WantOfDescriptorsIsNoFailedSync) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(*storage_, Stream::kVectors, "vector").ok());
  bool is_lacking = true;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool needs_one =
        operation.kind == io::OperationKind::kSyncDirectory ||
        (operation.kind == io::OperationKind::kOpen && is_temporary_name(operation.name));
    if (is_lacking && needs_one) return io::Fault{EMFILE};
    return std::nullopt;
  });
  EXPECT_EQ(append(*storage_, Stream::kTombstones, "gone\n", true).place().os_errno, EMFILE);
  EXPECT_EQ(storage_->sync(1).place().os_errno, EMFILE);
  is_lacking = false;
  EXPECT_EQ(disk_.read_file("s/tombstones.jsonl").value_or(""), "") << "it was refused";
  EXPECT_TRUE(append(*storage_, Stream::kTombstones, "other\n", true).ok());
  EXPECT_TRUE(storage_->sync(1).ok());
  EXPECT_EQ(kept("tombstones.jsonl"), "other\n");
}

// --- a session whose maker was killed before its name was durable --------------------------------

class DurableName : public testing::Test {
 protected:
  void SetUp() override {
    parent_ = *disk_.open_root("sessions", true);
    ASSERT_TRUE(parent_->make_directory("s").ok());
    auto directory = *parent_->open_directory("s");
    for (const auto name : {"metadata.json", "memory.jsonl"}) {
      auto file = *directory->open(name, io::OpenMode::kCreateExclusive);
      ASSERT_TRUE(file->sync_data().ok());
    }
    ASSERT_TRUE(directory->sync().ok());
    ASSERT_FALSE(disk_.crash()->exists("sessions/s/memory.jsonl")) << "or nothing is tested";
    storage_ = *DirectoryStorage::open(std::move(directory), {&disk_, &clock_, &random_},
                                       {parent_.get(), "s"});
    ASSERT_TRUE(storage_->lock(clock_.monotonic_us(), "write", nullptr).ok());
  }
  std::string kept(std::string_view name) {
    return disk_.crash()->read_file("sessions/s/" + std::string(name)).value_or("(none)");
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::Directory> parent_;
  std::unique_ptr<DirectoryStorage> storage_;
};

TEST_F(DurableName, IsThereWithTheFirstSyncOfNothing) {
  ASSERT_TRUE(storage_->sync(0).ok());
  EXPECT_EQ(kept("memory.jsonl"), "");
}

TEST_F(DurableName, IsThereWithTheFirstWordOfATranscript) {
  ASSERT_TRUE(storage_->append_to_transcript(0, "said", true).ok());
  EXPECT_EQ(kept(kTranscriptFile), "said");
}

TEST_F(DurableName, IsThereWithADocument) {
  ASSERT_TRUE(storage_->put_document("d", "bytes", DocumentDurability::kNamed).ok());
  EXPECT_EQ(kept("d"), "bytes");
}

TEST_F(DurableName, OfAnotherOrOfNobodyNothingIsAnswered) {
  ASSERT_TRUE(parent_->rename("s", "away").ok());
  EXPECT_EQ(storage_->append(Stream::kEntries, 0, "one\n", true, 1).code(), Code::kNotFound);
  ASSERT_TRUE(parent_->make_directory("s").ok());
  EXPECT_EQ(storage_->sync(1).code(), Code::kNotFound);
  ASSERT_TRUE(parent_->remove_directory("s").ok());
  ASSERT_TRUE(parent_->rename("away", "s").ok());
  EXPECT_TRUE(storage_->sync(1).ok());
}

TEST_F(DurableName, IsThereWithTheFirstLine) {
  ASSERT_TRUE(storage_->append(Stream::kEntries, 0, "one\n", true, 1).ok());
  EXPECT_EQ(kept("memory.jsonl"), "one\n");
}

}  // namespace
}  // namespace varve::log
