// Memory that ends in the middle of an append: what may be in the file goes again, for good, or
// nothing is written behind it.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "support/environment.h"
#include "support/no_memory/no_memory.h"

namespace varve::log {
namespace {

enum class Into { kLog, kTranscript };
enum class Fails { kNothing, kCut, kSyncOfCut };

// A session with one line that is durable, under its lock.
class Ground {
 public:
  explicit Ground(Into into) : into_(into) {
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file(path(), "one\n");
    storage_ = *DirectoryStorage::open(*disk_.open_root("s", false), {&disk_, &clock_, &random_});
    other_ = *DirectoryStorage::open(*disk_.open_root("s", false), {&disk_, &clock_, &random_});
    EXPECT_TRUE(storage_->lock(clock_.monotonic_us(), "write", nullptr).ok());
  }
  // `at` is where the file ends for all that is known.
  Status append(std::string_view bytes, uint64_t at) {
    return into_ == Into::kLog ? storage_->append(Stream::kEntries, at, bytes, true, 0)
                               : storage_->append_to_transcript(at, bytes, true);
  }
  [[nodiscard]] uint64_t generation() { return storage_->tail()->generation; }
  // So that an append has no sync but its own.
  void sync() { ASSERT_TRUE(storage_->sync(0).ok()); }
  // By another process, which has the log open since before.
  [[nodiscard]] uint64_t generation_elsewhere() { return other_->tail()->generation; }
  Status append_elsewhere(std::string_view bytes) {
    storage_->unlock();
    VARVE_TRY(other_->lock(clock_.monotonic_us(), "write", nullptr));
    return other_->append(Stream::kEntries, other_->tail()->entries_bytes, bytes, true, 0);
  }
  Status append_with(int64_t allowed, bool* was_met) {
    const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
    Status status;
    try {
      status = append("two\n", 4);
    } catch (const std::bad_alloc&) {
      status = Status::out_of_memory();
    }
    *was_met = limit.was_met();
    return status;
  }
  void let_fail(Fails fails) {
    disk_.set_fault_hook([this, fails](const io::OperationInfo& operation) {
      std::optional<io::Fault> fault;
      if (operation.kind == io::OperationKind::kTruncate) {
        is_cut_ = true;
        if (fails == Fails::kCut) fault = io::Fault{EIO};
      } else if (is_cut_ && operation.kind == io::OperationKind::kSyncData) {
        if (fails == Fails::kSyncOfCut) fault = io::Fault{EIO};
      }
      return fault;
    });
  }
  void mend() { disk_.set_fault_hook(nullptr); }
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  [[nodiscard]] std::string bytes() const { return disk_.read_file(path()).value_or("(none)"); }
  [[nodiscard]] std::string bytes_after_power_loss() const {
    return disk_.crash()->read_file(path()).value_or("(none)");
  }

 private:
  [[nodiscard]] std::string path() const {
    return "s/" + std::string(into_ == Into::kLog ? kEntriesFile : kTranscriptFile);
  }

  const Into into_;
  bool is_cut_ = false;
  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<DirectoryStorage> storage_;
  std::unique_ptr<DirectoryStorage> other_;
};

class MemoryEnds : public testing::TestWithParam<Into> {};

INSTANTIATE_TEST_SUITE_P(In, MemoryEnds, testing::Values(Into::kLog, Into::kTranscript),
                         [](const testing::TestParamInfo<Into>& into) {
                           return into.param == Into::kLog ? "Log" : "Transcript";
                         });

TEST_P(MemoryEnds, WhatWasRefusedIsNotThereAndTheNextOneIs) {
  bool was_met = true;
  int cuts = 0;
  for (int64_t allowed = 0; was_met; ++allowed) {
    Ground ground(GetParam());
    const uint64_t generation = ground.generation();
    ground.let_fail(Fails::kNothing);
    const Status second = ground.append_with(allowed, &was_met);
    ground.mend();
    cuts += ground.is_cut();
    if (ground.is_cut() && GetParam() == Into::kLog) {
      EXPECT_NE(ground.generation(), generation) << "who read it meanwhile would go on behind it";
    }
    const std::string before = second.ok() ? "one\ntwo\n" : "one\n";
    ASSERT_EQ(ground.bytes_after_power_loss(), before) << "after " << allowed << " allocations";
    ASSERT_TRUE(ground.append("three\n", before.size()).ok());
    ASSERT_EQ(ground.bytes_after_power_loss(), before + "three\n");
  }
  EXPECT_GT(cuts, 0) << "nothing was tested";
}

// Whoever had read "two" would take the end of "three" for a line behind it.
TEST(MemoryEndsInOneProcess, WhatFollowsStandsInAnotherFileThanWhatWasCutOff) {
  bool was_met = true;
  int cuts = 0;
  for (int64_t allowed = 0; was_met; ++allowed) {
    Ground ground(Into::kLog);
    ground.sync();
    ground.let_fail(Fails::kNothing);
    const uint64_t generation = ground.generation_elsewhere();
    (void)ground.append_with(allowed, &was_met).ok();
    ground.mend();
    if (!ground.is_cut()) continue;
    cuts += 1;
    ASSERT_TRUE(ground.append_elsewhere("three\n").ok());
    EXPECT_NE(ground.generation_elsewhere(), generation) << "after " << allowed << " allocations";
    EXPECT_EQ(ground.bytes_after_power_loss(), "one\nthree\n");
  }
  EXPECT_GT(cuts, 0) << "nothing was tested";
}

TEST_P(MemoryEnds, WhereItCannotBeCutOffNothingIsWrittenBehindIt) {
  for (const Fails fails : {Fails::kCut, Fails::kSyncOfCut}) {
    bool was_met = true;
    int cuts = 0;
    for (int64_t allowed = 0; was_met; ++allowed) {
      Ground ground(GetParam());
      ground.let_fail(fails);
      const Status second = ground.append_with(allowed, &was_met);
      ground.mend();
      if (second.ok() || !ground.is_cut()) continue;
      cuts += 1;
      ASSERT_EQ(second.code(), Code::kNoMemory) << second.message();
      ASSERT_EQ(ground.append("three\n", ground.bytes().size()).code(), Code::kReadOnly)
          << "after " << allowed << " allocations";
    }
    EXPECT_GT(cuts, 0) << "nothing was tested";
  }
}

}  // namespace
}  // namespace varve::log
