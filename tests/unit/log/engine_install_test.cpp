// Sessions that come with their contents: in every kind of store, then moves in a directory that
// fail. More of a directory is in install_test.cpp.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/simulated.h"
#include "log/directory_engine.h"
#include "log/memory_engine.h"
#include "support/environment.h"

namespace varve::log {
namespace {

SessionContents::Produce bytes_of_text(std::string bytes) {
  return [bytes = std::move(bytes)](Sink& sink) { return sink.append(bytes); };
}

SessionContents contents_of(const std::string& word) {
  return {bytes_of_text(word + "\n"),
          {{"vectors.bin", bytes_of_text(word)}},
          bytes_of_text("{\"of\":\"" + word + "\"}"),
          bytes_of_text(word + " gone\n")};
}

const SessionRow kInstalled = {"s", "u", "a", test::kStartMs};

std::string stream_of(SessionStorage& storage, Stream stream) {
  const auto tail = storage.tail();
  const auto vectors = storage.vectors_tail();
  if (!tail.ok() || !vectors.ok()) return "(gone)";
  std::string bytes(100, ' ');
  const auto got = storage.read(
      stream, stream == Stream::kVectors ? vectors->generation : tail->generation, 0, bytes);
  return got.ok() ? bytes.substr(0, *got) : "(failed)";
}

enum class StoreKind { kDirectory, kMemory };

class InstallingAnywhere : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override {
    if (GetParam() == StoreKind::kMemory) {
      engine_ = std::make_unique<MemoryEngine>(clock_);
    } else {
      engine_ = *DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 100);
    }
  }
  Status install(const std::string& word, Existing existing) {
    return install(contents_of(word), existing);
  }
  Status install(const SessionContents& contents, Existing existing) {
    return engine_->install(kInstalled, contents, existing);
  }
  // The session's log, tombstones, vectors and metadata; "(none)" when there is none.
  std::string there() {
    auto storage = engine_->open("s");
    if (!storage.ok()) return "(none)";
    return stream_of(**storage, Stream::kEntries) + stream_of(**storage, Stream::kTombstones) +
           stream_of(**storage, Stream::kVectors) +
           engine_->session_document("s", "metadata.json").status().message();
  }
  static std::string all_of(const std::string& word) {
    return word + "\n" + word + " gone\n" + word;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<Engine> engine_;
};

INSTANTIATE_TEST_SUITE_P(Over, InstallingAnywhere,
                         testing::Values(StoreKind::kDirectory, StoreKind::kMemory),
                         [](const auto& given) {
                           return given.param == StoreKind::kMemory ? "Memory" : "Directory";
                         });

TEST_P(InstallingAnywhere, ItIsThereWithAllItsParts) {
  for (const Existing existing : {Existing::kRefuse, Existing::kSwap, Existing::kSwapOrMove}) {
    ASSERT_TRUE(install("new", existing).ok());
    EXPECT_EQ(there(), all_of("new"));
    EXPECT_EQ(*engine_->session_document("s", "metadata.json"), "{\"of\":\"new\"}");
    EXPECT_EQ(engine_->list("", 10)->rows.front().session_id, "s");
    ASSERT_TRUE(engine_->drop("s", {}).ok());
  }
}

TEST_P(InstallingAnywhere, OneThatExistsIsKeptOrReplacedAsItIsAskedFor) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  const auto open_before = engine_->open("s");
  const Status refused = install("new", Existing::kRefuse);
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_EQ(refused.message(), "a session 's' exists already");
  EXPECT_EQ(there(), all_of("old"));
  ASSERT_TRUE(install("new", Existing::kSwap).ok());
  EXPECT_EQ(there(), all_of("new"));
  EXPECT_EQ((*open_before)->lock(clock_.monotonic_us(), "write", nullptr).code(), Code::kNotFound)
      << "a handle of the one that was replaced";
}

TEST_P(InstallingAnywhere, ItsWriterIsWaitedForAndKeepsItWhenItGoesOn) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  const auto writer = engine_->open("s");
  ASSERT_TRUE((*writer)->lock(clock_.monotonic_us(), "write", nullptr).ok());
  EXPECT_EQ(install("new", Existing::kSwap).code(), Code::kBusy);
  EXPECT_EQ(there(), all_of("old"));
  (*writer)->unlock();
  EXPECT_TRUE(install("new", Existing::kSwap).ok());
}

TEST_P(InstallingAnywhere, APartThatCannotBeMadeLeavesWhatWasThere) {
  const auto failing = [](Sink&) { return Status(Code::kCorruption, "on purpose"); };
  for (const bool is_there : {false, true}) {
    if (is_there) {
      ASSERT_TRUE(install("old", Existing::kRefuse).ok());
    }
    SessionContents bad[] = {contents_of("new"), contents_of("new"), contents_of("new"),
                             contents_of("new")};
    bad[0].entries = failing;
    bad[1].tombstones = failing;
    bad[2].documents[0].second = failing;
    bad[3].metadata = failing;
    for (const auto& contents : bad) {
      EXPECT_EQ(install(contents, Existing::kSwap).code(), Code::kCorruption);
      EXPECT_EQ(there(), is_there ? all_of("old") : "(none)");
    }
    ASSERT_TRUE(install("good", Existing::kSwap).ok());
    ASSERT_TRUE(engine_->drop("s", {}).ok());
  }
}

// Tombstones are asked for last: in between others may do anything.
TEST_P(InstallingAnywhere, OneThatAppearedMeanwhileIsKept) {
  for (const Existing existing : {Existing::kRefuse, Existing::kSwap, Existing::kSwapOrMove}) {
    SessionContents contents = contents_of("late");
    contents.tombstones = [&](Sink&) { return install("early", Existing::kRefuse); };
    EXPECT_EQ(install(contents, existing).code(),
              existing == Existing::kRefuse ? Code::kAlreadyExists : Code::kConflict);
    EXPECT_EQ(there(), all_of("early"));
    ASSERT_TRUE(engine_->drop("s", {}).ok());
  }
}

// As in a session that was created: each call asks the file, which is cheaper than a missing name.
TEST_P(InstallingAnywhere, WithoutDeletionsTheirFileIsEmpty) {
  SessionContents contents = contents_of("new");
  contents.tombstones = [](Sink&) { return Status(); };
  ASSERT_TRUE(install(contents, Existing::kRefuse).ok());
  EXPECT_EQ((*engine_->open("s"))->tail()->tombstones_bytes, 0u);
  EXPECT_EQ(disk_.exists("store/sessions/s/tombstones.jsonl"), GetParam() == StoreKind::kDirectory);
}

TEST_P(InstallingAnywhere, WhoAsksBeforeADropMayKeepTheSession) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  const auto drop = [&](const Result<bool>& answer) {
    return engine_->drop("s", [&](SessionStorage&) { return answer; });
  };
  EXPECT_EQ(drop(false).code(), Code::kConflict);
  EXPECT_EQ(drop(Status(Code::kCorruption, "on purpose")).code(), Code::kCorruption);
  EXPECT_EQ(there(), all_of("old"));
  const auto writer = engine_->open("s");
  EXPECT_TRUE((*writer)->lock(clock_.monotonic_us(), "write", nullptr).ok()) << "it was given back";
  (*writer)->unlock();
  EXPECT_TRUE(drop(true).ok());
  EXPECT_EQ(there(), "(none)");
}

// --- where directories cannot be swapped, and other ways a directory differs ---------------------

class InstallingInDirectories : public testing::Test {
 protected:
  void SetUp() override { engine_ = open(disk_); }
  std::unique_ptr<DirectoryEngine> open(io::SimulatedFileSystem& system) {
    return *DirectoryEngine::open("store", {&system, &clock_, &random_}, 100);
  }
  Status install(const std::string& word, Existing existing) {
    return engine_->install(kInstalled, contents_of(word), existing);
  }
  std::string log() { return disk_.read_file("store/sessions/s/memory.jsonl").value_or("(none)"); }
  [[nodiscard]] std::vector<std::string> left_overs() const {
    std::vector<std::string> found;
    for (const auto& path : disk_.list_all()) {
      if (path.find("store/tmp/") != std::string::npos && !path.ends_with("/tmp/")) {
        found.push_back(path);
      }
    }
    return found;
  }
  // Faults by what the trace says of an operation, "swap" told from "move" by its detail.
  void fail_each(std::string_view detail, uint64_t first, uint64_t last, int os_errno,
                 io::OperationKind kind = io::OperationKind::kMove) {
    disk_.set_fault_hook([=, this, seen = uint64_t{0}](const io::OperationInfo& operation) mutable
                         -> std::optional<io::Fault> {
      const std::string line = disk_.trace().back();
      if (operation.kind != kind || line.find(detail) == std::string::npos) return std::nullopt;
      seen += 1;
      return seen >= first && seen <= last ? std::optional(io::Fault{os_errno}) : std::nullopt;
    });
  }
  void mend() { disk_.set_fault_hook(nullptr); }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<DirectoryEngine> engine_;
};

TEST_F(InstallingInDirectories, WhatCannotBeSwappedIsRefusedOrMovedAsItIsAskedFor) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  fail_each(" with ", 1, 99, EINVAL);
  const Status refused = install("new", Existing::kSwap);
  EXPECT_EQ(refused.code(), Code::kUnsupported);
  EXPECT_NE(refused.message().find("cannot swap two directories"), std::string::npos);
  EXPECT_EQ(log(), "old\n");
  EXPECT_TRUE(left_overs().empty());
  ASSERT_TRUE(install("new", Existing::kSwapOrMove).ok());
  EXPECT_EQ(log(), "new\n");
  EXPECT_EQ(disk_.crash()->read_file("store/sessions/s/memory.jsonl"), "new\n");
  EXPECT_TRUE(left_overs().empty());
  ASSERT_TRUE(engine_->drop("s", {}).ok());
  ASSERT_TRUE(install("first", Existing::kSwapOrMove).ok()) << "with none to be moved away";
  EXPECT_EQ(log(), "first\n");
}

TEST_F(InstallingInDirectories, OneThatGoesBeforeItIsLockedIsAConflict) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_lock = operation.kind == io::OperationKind::kLock;
    if (!is_lock || !operation.path.ends_with("sessions/s/lock")) return std::nullopt;
    mend();
    EXPECT_TRUE(engine_->drop("s", {}).ok());
    return std::nullopt;
  });
  EXPECT_EQ(install("new", Existing::kSwap).code(), Code::kConflict);
  EXPECT_EQ(log(), "(none)");
  EXPECT_TRUE(left_overs().empty());
  EXPECT_TRUE(install("new", Existing::kSwap).ok());
}

// The contents of a large session may take longer to write than anybody waits for a lock.
TEST_F(InstallingInDirectories, WaitsForTheWriterFromWhenTheContentsAreWritten) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  const auto writer = *engine_->open("s");
  ASSERT_TRUE(writer->lock(clock_.monotonic_us(), "write", nullptr).ok());
  SessionContents contents = contents_of("new");
  contents.entries = [this](Sink& sink) {
    clock_.advance_ms(60'000);
    return sink.append("new\n");
  };
  disk_.set_fault_hook(
      [&, attempts = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
        const bool is_attempt = operation.kind == io::OperationKind::kLock &&
                                operation.path.ends_with("sessions/s/lock");
        if (is_attempt && ++attempts == 2) writer->unlock();
        return std::nullopt;
      });
  const Status installed = engine_->install(kInstalled, contents, Existing::kSwap);
  mend();
  EXPECT_TRUE(installed.ok()) << installed.message();
  EXPECT_EQ(log(), "new\n");
}

TEST_F(InstallingInDirectories, AMoveThatFailsPutsBackWhatWasThere) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  for (const uint64_t nth : {1u, 2u}) {
    disk_.set_fault_hook([=, this, seen = uint64_t{0}](const io::OperationInfo& operation) mutable
                         -> std::optional<io::Fault> {
      if (operation.kind != io::OperationKind::kMove) return std::nullopt;
      if (disk_.trace().back().find(" with ") != std::string::npos) return io::Fault{ENOSYS};
      return ++seen == nth ? std::optional(io::Fault{EIO}) : std::nullopt;
    });
    EXPECT_EQ(install("new", Existing::kSwapOrMove).code(), Code::kIo) << nth;
    mend();
    EXPECT_EQ(log(), "old\n") << nth;
    EXPECT_TRUE(left_overs().empty()) << nth;
  }
}

TEST_F(InstallingInDirectories, AMoveThatFailsWhereNothingWasLeavesNothing) {
  disk_.set_fault_hook([this](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind != io::OperationKind::kMove) return std::nullopt;
    const std::string line = disk_.trace().back();
    if (line.find(" with ") != std::string::npos) return io::Fault{ENOSYS};
    const bool is_given = line.find("/tmp/") < line.find("/sessions/");
    return is_given ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(install("new", Existing::kSwapOrMove).code(), Code::kIo);
  mend();
  EXPECT_EQ(log(), "(none)");
  EXPECT_TRUE(left_overs().empty());
  EXPECT_TRUE(install("new", Existing::kRefuse).ok());
}

TEST_F(InstallingInDirectories, ASwapThatCanBeNeitherSyncedNorUndoneKeepsBoth) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  const auto old = *engine_->open("s");
  const auto old_and_used = *engine_->open("s");
  ASSERT_TRUE(old_and_used->lock(clock_.monotonic_us(), "write", nullptr).ok());
  ASSERT_TRUE(old_and_used->append(Stream::kEntries, 4, "2\n", true, 2).ok());
  old_and_used->unlock();
  disk_.set_fault_hook(
      [this, swaps = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
        if (operation.kind == io::OperationKind::kSyncDirectory && operation.name == "sessions") {
          return io::Fault{EIO};
        }
        const bool is_swap = operation.kind == io::OperationKind::kMove &&
                             disk_.trace().back().find(" with ") != std::string::npos;
        return is_swap && ++swaps == 2 ? std::optional(io::Fault{EIO}) : std::nullopt;
      });
  EXPECT_EQ(install("new", Existing::kSwap).code(), Code::kIo);
  mend();
  EXPECT_EQ(log(), "new\n");
  bool has_old = false;
  for (const auto& path : left_overs()) {
    has_old = has_old || disk_.read_file(path) == std::optional<std::string>("old\n2\n");
  }
  EXPECT_TRUE(has_old) << "a power loss may need it";
  for (const auto& storage : {old.get(), old_and_used.get()}) {
    EXPECT_EQ(storage->lock(clock_.monotonic_us(), "write", nullptr).code(), Code::kNotFound)
        << "what is written there is removed later";
  }
  EXPECT_TRUE(install("newest", Existing::kSwap).ok());
  EXPECT_EQ(log(), "newest\n");
}

// Whoever opens the store tidies tmp/ up, and may take the new directory for a left-over.
TEST_F(InstallingInDirectories, AMoveThatCannotBeSyncedTellsWhoHadTheOldOneOpen) {
  ASSERT_TRUE(install("old", Existing::kRefuse).ok());
  const auto old = *engine_->open("s");
  disk_.set_fault_hook([this](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_swap = operation.kind == io::OperationKind::kMove &&
                         disk_.trace().back().find(" with ") != std::string::npos;
    if (is_swap) return io::Fault{ENOSYS};
    const bool is_sync =
        operation.kind == io::OperationKind::kSyncDirectory && operation.name == "sessions";
    return is_sync ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(install("new", Existing::kSwapOrMove).code(), Code::kIo);
  mend();
  EXPECT_EQ(log(), "new\n");
  EXPECT_EQ(old->lock(clock_.monotonic_us(), "write", nullptr).code(), Code::kNotFound);
}

TEST_F(InstallingInDirectories, WhoTidiesUpMeanwhileIsNoObstacleUnlessItIsOverAndOver) {
  struct Case {
    io::OperationKind kind;
    int os_errno;
  };
  const Case cases[] = {{io::OperationKind::kLock, EAGAIN},
                        {io::OperationKind::kOpen, ENOENT},
                        {io::OperationKind::kOpenDirectory, ENOENT}};
  for (const Case& tried : cases) {
    for (const bool creates : {false, true}) {
      for (const bool always : {false, true}) {
        disk_.set_fault_hook(
            [=, seen = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
              const bool is_staged = operation.path.find("/tmp/new.tmp-") != std::string::npos;
              const bool is_it = operation.kind == tried.kind && is_staged && (always || seen == 0);
              seen += is_it ? 1 : 0;
              return is_it ? std::optional(io::Fault{tried.os_errno}) : std::nullopt;
            });
        const Status answer = creates ? engine_->create(kInstalled, "{}").status()
                                      : install("new", Existing::kRefuse);
        mend();
        EXPECT_EQ(answer.code(), always ? Code::kBusy : Code::kOk) << answer.message();
        EXPECT_EQ(engine_->open("s").ok(), !always);
        if (always) {
          EXPECT_NE(answer.message().find("try again later"), std::string::npos);
        } else {
          ASSERT_TRUE(engine_->drop("s", {}).ok());
        }
      }
    }
    open(disk_);
    EXPECT_TRUE(left_overs().empty());
  }
}

}  // namespace
}  // namespace varve::log
