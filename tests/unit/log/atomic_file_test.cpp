#include "log/atomic_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <set>
#include <string>

#include "io/simulated.h"
#include "support/environment.h"

namespace varve::log {
namespace {

class AtomicFile : public testing::Test {
 protected:
  void SetUp() override {
    disk_.write_file("s/name", "old");
    directory_ = *disk_.open_root("s", false);
  }
  Status replace(bool durable, std::string_view bytes = "new") {
    ReplaceOptions options;
    options.durable = durable;
    return replace_file(*directory_, "name", random_, options, bytes);
  }
  [[nodiscard]] size_t file_count() const { return disk_.list_all().size(); }

  io::SimulatedFileSystem disk_;
  test::SeededRandom random_;
  std::unique_ptr<io::Directory> directory_;
};

TEST_F(AtomicFile, ReplacesWithTheGivenPermissions) {
  ReplaceOptions options;
  options.permissions = 0640;
  ASSERT_TRUE(replace_file(*directory_, "name", random_, options, "new").ok());
  EXPECT_EQ(disk_.read_file("s/name"), "new");
  EXPECT_EQ(directory_->info("name")->permissions, 0640u);
  ASSERT_TRUE(replace(true).ok());
  EXPECT_EQ(directory_->info("name")->permissions, 0600u);
}

TEST_F(AtomicFile, WhatIsMadeOfManyPiecesIsWrittenOnce) {
  std::string expected;
  const Status replaced = replace_file(*directory_, "name", random_, {}, [&](Sink& sink) -> Status {
    for (int i = 0; i < 30; ++i) {
      const std::string piece(100'000, static_cast<char>('a' + i % 26));
      expected += piece;
      VARVE_TRY(sink.append(piece));
    }
    return {};
  });
  ASSERT_TRUE(replaced.ok());
  EXPECT_TRUE(disk_.read_file("s/name") == expected) << disk_.read_file("s/name")->size();
}

TEST_F(AtomicFile, AFileThatShrinksWhileItIsReadIsWhatIsLeft) {
  disk_.set_fault_hook([this](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kRead) disk_.write_file("s/name", "o");
    return std::nullopt;
  });
  const auto bytes = read_file(*directory_, "name", 100);
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, "o");
}

TEST_F(AtomicFile, NothingIsLeftOfOneThatMemoryRanOutFor) {
  const auto produce = [](Sink& sink) -> Status {
    VARVE_TRY(sink.append(std::string(2'000'000, 'x')));  // more than is gathered before a write
    throw std::bad_alloc();
  };
  const size_t files_before = file_count();
  EXPECT_THROW((void)replace_file(*directory_, "name", random_, {}, produce), std::bad_alloc);
  EXPECT_EQ(file_count(), files_before);
  EXPECT_EQ(disk_.read_file("s/name"), "old");
}

TEST_F(AtomicFile, ADurableOneSurvivesPowerLoss) {
  ASSERT_TRUE(replace(true).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/name"), "new");
}

TEST_F(AtomicFile, EveryCrashLeavesTheOldOrTheNewWhole) {
  size_t states = 0;
  disk_.set_fault_hook([&](const io::OperationInfo&) -> std::optional<io::Fault> {
    states += disk_.for_each_crash_state([&](auto state, const io::CrashPlan& plan) {
      const auto bytes = state->read_file("s/name");
      EXPECT_TRUE(bytes == "old" || bytes == "new") << disk_.describe(plan);
    });
    return std::nullopt;
  });
  ASSERT_TRUE(replace(true).ok());
  EXPECT_GT(states, 5u);
}

TEST_F(AtomicFile, AFailureAtAnyStepLeavesTheOldFileAndNoLeftOver) {
  const size_t files_before = file_count();
  uint64_t steps = 0;
  bool kept = false;
  for (uint64_t step = 1; !kept; ++step) {
    io::FailNth fault(step, EIO);
    disk_.set_fault_hook(fault);
    const Status status = replace(true);
    disk_.set_fault_hook(nullptr);
    kept = fault.matched() < step;
    if (kept) {
      EXPECT_TRUE(status.ok());
      break;
    }
    steps += 1;
    ASSERT_FALSE(status.ok()) << "step " << step;
    if (status.code() == Code::kUnknown) {
      // Only the last step, the sync of the directory: the new file is in place.
      EXPECT_EQ(disk_.read_file("s/name"), "new");
      disk_.write_file("s/name", "old");
    } else {
      EXPECT_EQ(status.code(), Code::kIo) << "step " << step;
      EXPECT_EQ(disk_.read_file("s/name"), "old") << "step " << step;
    }
    EXPECT_EQ(file_count(), files_before) << "step " << step;
  }
  EXPECT_EQ(steps, 5u);  // open, append, sync, rename, sync of the directory
}

// The file is another one by then, so whoever is answered must not take it for the old one.
TEST_F(AtomicFile, OneThatAPowerLossMayUndoSaysThatItsOutcomeIsUnknown) {
  io::FailNth fault(5, EIO);  // the sync of the directory
  disk_.set_fault_hook(fault);
  const Status status = replace(true);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(disk_.read_file("s/name"), "new");
  EXPECT_EQ(status.code(), Code::kUnknown);
  EXPECT_NE(status.message().find("the outcome is unknown"), std::string::npos) << status.message();
  EXPECT_EQ(status.place().os_errno, EIO);
}

TEST_F(AtomicFile, AFailingProducerLeavesTheOldFile) {
  const Status failed = replace_file(*directory_, "name", random_, {}, [](Sink& sink) -> Status {
    VARVE_TRY(sink.append(std::string(3 << 20, 'x')));
    return {Code::kCorruption, "on purpose"};
  });
  EXPECT_EQ(failed.code(), Code::kCorruption);
  EXPECT_EQ(disk_.read_file("s/name"), "old");
  EXPECT_EQ(file_count(), 2u);
}

TEST_F(AtomicFile, ACopyOfTheStartIsWholeOrAnError) {
  const std::string text(size_t{3} << 20, 'x');
  disk_.write_file("s/log", text);
  auto file = *directory_->open("log", io::OpenMode::kRead);
  const auto copy = [&](uint64_t keep_bytes) {
    return replace_file(*directory_, "name", random_, {},
                        [&](Sink& sink) { return copy_start(*file, keep_bytes, sink); });
  };
  for (const auto kind : {io::OperationKind::kRead, io::OperationKind::kAppend}) {
    disk_.set_fault_hook(io::FailNth(2, EIO, false, {kind}));
    EXPECT_EQ(copy(text.size()).code(), Code::kIo);
    disk_.set_fault_hook(nullptr);
    EXPECT_EQ(disk_.read_file("s/name"), "old");
  }
  const Status short_of_it = copy(text.size() + 1);
  EXPECT_EQ(short_of_it.code(), Code::kIo);
  EXPECT_EQ(short_of_it.message(), "the log is shorter than what was written to it");
  EXPECT_EQ(disk_.read_file("s/name"), "old");
  ASSERT_TRUE(copy(text.size() - 7).ok());
  EXPECT_EQ(disk_.read_file("s/name")->size(), text.size() - 7);
}

TEST_F(AtomicFile, WhatIsDerivedIsNotSynced) {
  disk_.clear_trace();
  ASSERT_TRUE(replace(false).ok());
  for (const auto& line : disk_.trace()) EXPECT_EQ(line.find("sync"), std::string::npos) << line;
  EXPECT_EQ(disk_.read_file("s/name"), "new");
}

TEST_F(AtomicFile, ManySmallPiecesBecomeFewWrites) {
  disk_.clear_trace();
  ASSERT_TRUE(replace_file(*directory_, "name", random_, {}, [](Sink& sink) -> Status {
                for (int i = 0; i < 100'000; ++i) VARVE_TRY(sink.append("0123456789"));
                return {};
              }).ok());
  EXPECT_LE(disk_.trace().size(), 6u);
  EXPECT_EQ(disk_.read_file("s/name")->size(), 1'000'000u);
}

TEST_F(AtomicFile, TemporaryNamesAreKnownAndNeverTheSame) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(temporary_name("memory.jsonl", random_));
  EXPECT_EQ(names.size(), 1000u);
  EXPECT_EQ(names.begin()->size(), std::string("memory.jsonl.tmp-").size() + 16);
  for (const auto& name : names) EXPECT_TRUE(is_temporary_name(name)) << name;
  for (const auto name : {"memory.jsonl", "lock", "tmp", ".tmp", "index.bin", "notes.tmp-mine",
                          "memory.jsonl.tmp-backup", "memory.jsonl.tmp-0123456789abcdef.mine",
                          "0123456789abcdef", "memory.jsonl.tmp-0123456789ABCDEF"}) {
    EXPECT_FALSE(is_temporary_name(name)) << name;
  }
}

TEST_F(AtomicFile, ReadingRefusesAGiantAndTellsTheSizes) {
  EXPECT_EQ(*read_file(*directory_, "name", 3), "old");
  const auto refused = read_file(*directory_, "name", 2);
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.status().place().size, 3u);
  EXPECT_EQ(refused.status().place().limit, 2u);
  EXPECT_TRUE(refused.status().place().path.ends_with("s/name"));
  EXPECT_EQ(read_file(*directory_, "nothing", 3).code(), Code::kNotFound);
}

}  // namespace
}  // namespace varve::log
