// Sessions that come with their contents, in place of another or of none: Engine::install() on a
// disk that swaps two directories in one step, and on one that cannot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>

#include "io/simulated.h"
#include "log/directory_engine.h"
#include "log/lock_state.h"
#include "support/environment.h"
#include "wrapped_files.h"

namespace varve::log {
namespace {

class Installing : public testing::Test {
 protected:
  void SetUp() override {
    engine_ = open(disk_);
    ASSERT_TRUE(engine_->create({"s1", "u", "", 1}, R"({"old":1})").ok());
  }
  std::unique_ptr<DirectoryEngine> open(io::FileSystem& files, std::string_view path = "store") {
    auto opened = DirectoryEngine::open(path, {&files, &clock_, &random_}, 100);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  Status install(DirectoryEngine& engine, Existing existing, const std::string& id = "s1") {
    SessionContents contents;
    contents.entries = [](Sink& sink) { return sink.append("new\n"); };
    contents.tombstones = [](Sink&) { return Status(); };
    contents.metadata = [](Sink& sink) { return sink.append(R"({"new":1})"); };
    return engine.install({id, "u", "", 2}, contents, existing);
  }
  std::string metadata(const std::string& id = "s1") {
    return disk_.read_file("store/sessions/" + id + "/metadata.json").value_or("(none)");
  }
  std::string metadata_after_power_loss() {
    return disk_.crash()->read_file("store/sessions/s1/metadata.json").value_or("(none)");
  }
  size_t left_overs() { return (*disk_.open_root("store/tmp", false))->list()->size(); }
  // The n-th move that is made from now on fails, and every later one too when sticky.
  void fail_move(uint64_t n, bool sticky = false) {
    disk_.set_fault_hook(io::FailNth(n, EIO, sticky, {io::OperationKind::kMove}));
  }
  void mend() { disk_.set_fault_hook(nullptr); }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  FileSystemWithoutExchange old_kernel_{disk_};
  std::unique_ptr<DirectoryEngine> engine_;
};

TEST_F(Installing, ReplacesASessionForGoodAndLeavesNothingOfTheOldOne) {
  const auto before = engine_->open("s1");
  ASSERT_TRUE(install(*engine_, Existing::kSwap).ok());
  EXPECT_EQ(metadata(), R"({"new":1})");
  EXPECT_EQ(metadata_after_power_loss(), R"({"new":1})");
  EXPECT_EQ(left_overs(), 0u);
  EXPECT_EQ((*before)->tail().code(), Code::kNotFound) << "a handle of the one before";
  EXPECT_TRUE((*engine_->open("s1"))->lock(clock_.monotonic_us(), "write", nullptr).ok());
}

TEST_F(Installing, WhereThereIsNoSessionAllWaysAreTheSame) {
  for (const auto existing : {Existing::kRefuse, Existing::kSwap, Existing::kSwapOrMove}) {
    const std::string id = "new" + std::to_string(static_cast<int>(existing));
    ASSERT_TRUE(install(*engine_, existing, id).ok());
    EXPECT_EQ(metadata(id), R"({"new":1})");
  }
  EXPECT_EQ(left_overs(), 0u);
  EXPECT_EQ(engine_->list("", 10)->rows.size(), 4u);
}

TEST_F(Installing, RefusesWhatIsThereWhenTold) {
  EXPECT_EQ(install(*engine_, Existing::kRefuse).code(), Code::kAlreadyExists);
  EXPECT_EQ(metadata(), R"({"old":1})");
  EXPECT_EQ(left_overs(), 0u);
}

TEST_F(Installing, WaitsForTheWriterOfTheSessionThatIsReplaced) {
  const auto other = disk_.process(4711);
  const auto writer = *open(*other)->open("s1");
  ASSERT_TRUE(writer->lock(clock_.monotonic_us(), "write", nullptr).ok());
  EXPECT_EQ(install(*engine_, Existing::kSwap).code(), Code::kBusy);
  EXPECT_EQ(metadata(), R"({"old":1})");
  EXPECT_EQ(left_overs(), 0u);
  writer->unlock();
  EXPECT_TRUE(install(*engine_, Existing::kSwap).ok());
  EXPECT_EQ(metadata(), R"({"new":1})");
}

TEST_F(Installing, KeepsWritersOutUntilItIsDone) {
  const auto other = disk_.process(4711);
  const auto writer = *open(*other)->open("s1");
  bool was_held = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kMove && operation.process_id != 4711) {
      was_held = writer->lock_holder().is_held && writer->lock_holder().operation == "restore";
    }
    return std::nullopt;
  });
  ASSERT_TRUE(install(*engine_, Existing::kSwap).ok());
  mend();
  EXPECT_TRUE(was_held);
}

TEST_F(Installing, InPlaceOfADirectoryWithoutASessionWaitsForNobody) {
  auto directory = *disk_.open_root("store/sessions/s2", true);
  ASSERT_TRUE(install(*engine_, Existing::kSwap, "s2").ok());
  EXPECT_EQ(metadata("s2"), R"({"new":1})");
}

TEST_F(Installing, ASessionThatCannotBeLookedAtIsNotReplaced) {
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool own = operation.path.find("sessions/s1/lock") != std::string::npos;
    if (own && operation.kind == io::OperationKind::kOpen) return io::Fault{EIO};
    return std::nullopt;
  });
  EXPECT_EQ(install(*engine_, Existing::kSwap).code(), Code::kIo);
  mend();
  EXPECT_EQ(metadata(), R"({"old":1})");
  EXPECT_EQ(left_overs(), 0u);
}

TEST_F(Installing, MakesTheListAnewWhereItIsGone) {
  disk_.write_file("store/sessions/s0/metadata.json", R"({"created_at":"2026-01-01T00:00:00Z"})");
  ASSERT_TRUE(install(*engine_, Existing::kSwap, "s2").ok());
  EXPECT_EQ(engine_->list("", 10)->rows.size(), 2u) << "a list that is there is not made anew";
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove(kRegistryFile).ok());
  ASSERT_TRUE(install(*engine_, Existing::kSwap, "s3").ok());
  EXPECT_EQ(engine_->list("", 10)->rows.size(), 4u);
}

TEST_F(Installing, IsRefusedWithoutPermissionToWrite) {
  disk_.write_file("bare/sessions/s1/metadata.json", "{}");
  disk_.set_read_only(true);
  const auto engine = open(disk_, "bare");
  ASSERT_NE(engine, nullptr);
  const Status refused = install(*engine, Existing::kSwap);
  EXPECT_EQ(refused.code(), Code::kReadOnly);
  EXPECT_NE(refused.message().find("the store is open for reading"), std::string::npos)
      << refused.message();
}

TEST_F(Installing, OnlyDirectoriesThatCanBeSessionsAreOnes) {
  ASSERT_TRUE(install(*engine_, Existing::kRefuse, "s0").ok());
  disk_.write_file("store/sessions/file", "");
  disk_.write_file("store/sessions/.hidden/metadata.json", "{}");
  auto ids = engine_->session_ids();
  ASSERT_TRUE(ids.ok());
  std::sort(ids->begin(), ids->end());
  EXPECT_EQ(*ids, (std::vector<std::string>{"s0", "s1"}));
}

TEST_F(Installing, AFailedSyncTakesASwapBack) {
  const auto inode = [&] {
    return (*disk_.open_root("store/sessions", false))->info("s1")->identity.inode;
  };
  const uint64_t before = inode();
  const auto fail_syncs = [&](int count) {
    bool moved = false;
    disk_.set_fault_hook(
        [=](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          moved = moved || operation.kind == io::OperationKind::kMove;
          const bool is_sync = moved && operation.kind == io::OperationKind::kSyncDirectory;
          return is_sync && count-- > 0 ? std::optional(io::Fault{EIO}) : std::nullopt;
        });
  };
  for (const bool is_synced_then : {true, false}) {
    fail_syncs(is_synced_then ? 1 : 9);
    EXPECT_EQ(install(*engine_, Existing::kSwap).code(), Code::kIo);
    mend();
    EXPECT_EQ(inode(), before);
    EXPECT_EQ(metadata(), R"({"old":1})");
    // A power loss may still bring the new one under the name: it has to be whole then.
    EXPECT_EQ(left_overs(), is_synced_then ? 0u : 1u);
  }
  engine_ = open(disk_);
  EXPECT_EQ(left_overs(), 0u) << "whoever opens the store next removes it";
}

// --- where two directories cannot be swapped -----------------------------------------------------

using InstallingWithoutExchange = Installing;

TEST_F(InstallingWithoutExchange, ASwapIsRefusedAndNothingChanges) {
  const auto engine = open(old_kernel_);
  EXPECT_EQ(install(*engine, Existing::kSwap).code(), Code::kUnsupported);
  EXPECT_EQ(metadata(), R"({"old":1})");
  EXPECT_EQ(left_overs(), 0u);
}

TEST_F(InstallingWithoutExchange, ASwapOrMoveReplacesForGood) {
  const auto engine = open(old_kernel_);
  ASSERT_TRUE(install(*engine, Existing::kSwapOrMove).ok());
  EXPECT_EQ(metadata(), R"({"new":1})");
  EXPECT_EQ(metadata_after_power_loss(), R"({"new":1})");
  EXPECT_EQ(left_overs(), 0u);
}

TEST_F(InstallingWithoutExchange, WhereThereIsNoSessionItIsMade) {
  const auto engine = open(old_kernel_);
  ASSERT_TRUE(install(*engine, Existing::kSwapOrMove, "s2").ok());
  EXPECT_EQ(metadata("s2"), R"({"new":1})");
  EXPECT_EQ(left_overs(), 0u);
}

TEST_F(InstallingWithoutExchange, AMoveThatFailsLeavesTheOldOne) {
  for (const uint64_t step : {uint64_t{1}, uint64_t{2}}) {
    const auto engine = open(old_kernel_);
    fail_move(step);
    EXPECT_EQ(install(*engine, Existing::kSwapOrMove).code(), Code::kIo) << step;
    mend();
    EXPECT_EQ(metadata(), R"({"old":1})") << step;
    EXPECT_EQ(left_overs(), 0u) << step;
    disk_.for_each_crash_state(
        [&](auto state, const io::CrashPlan& plan) {
          EXPECT_EQ(state->read_file("store/sessions/s1/metadata.json"), R"({"old":1})")
              << step << disk_.describe(plan);
        },
        200);
  }
}

TEST_F(InstallingWithoutExchange, WhatWasPutBackAndCouldNotBeSyncedIsSaidToBeSuspect) {
  const auto engine = open(old_kernel_);
  int moves = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    moves += operation.kind == io::OperationKind::kMove ? 1 : 0;
    const bool is_second = operation.kind == io::OperationKind::kMove && moves == 2;
    const bool is_sync = operation.kind == io::OperationKind::kSyncDirectory && moves > 2;
    return is_second || is_sync ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(install(*engine, Existing::kSwapOrMove).code(), Code::kIo);
  mend();
  EXPECT_EQ(metadata(), R"({"old":1})");
  const auto told = decode_lock_state(disk_.read_file("store/sessions/s1/lock").value_or(""));
  ASSERT_TRUE(told.has_value());
  EXPECT_TRUE(told->suspect) << "the next writer is to sync its name";
}

TEST_F(InstallingWithoutExchange, ASyncThatFailsIsToldAndTheOldOneIsKept) {
  const auto engine = open(old_kernel_);
  bool moved = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    moved = moved || operation.kind == io::OperationKind::kMove;
    if (moved && operation.kind == io::OperationKind::kSyncDirectory) return io::Fault{EIO};
    return std::nullopt;
  });
  EXPECT_EQ(install(*engine, Existing::kSwapOrMove).code(), Code::kIo);
  mend();
  EXPECT_GT(left_overs(), 0u) << "what was there is not removed before the new one is durable";
}

}  // namespace
}  // namespace varve::log
