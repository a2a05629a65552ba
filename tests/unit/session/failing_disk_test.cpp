// io_failure "buffer": a session that goes on while its disk does not take entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

using io::FailNth;
using io::OperationKind;

class OnAFailingDisk : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    host_.context.settings.failure_buffer_bytes_max = 1000;
    session_ = disk_.open();
    ASSERT_TRUE(session_->add(entry_text("before")).ok());
  }
  void fail(OperationKind kind, int code) {
    disk_.disk.set_fault_hook(FailNth(1, code, true, {kind}).on_file("memory.jsonl"));
  }
  void fill_up() { fail(OperationKind::kAppend, ENOSPC); }
  void mend() { disk_.disk.set_fault_hook(nullptr); }
  void listen() { host_.keep_lines(Level::kInfo, &lines_); }
  int64_t told(std::string_view level, std::string_view what) {
    host_.events.deliver();
    return std::count_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return line.find(what) != std::string::npos && line.find(level) != std::string::npos;
    });
  }
  [[nodiscard]] bool is_durable() { return session_->stats()->get_bool("durable"); }
  // As another process sees it.
  std::string ids_on_disk() {
    const auto process = disk_.disk.process(77);
    const auto other = disk_.open(process.get());
    std::string found;
    for (const std::string id : {"before", "a", "b", "c"}) {
      if (other->get(id).ok()) found += id + " ";
    }
    return found;
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
  std::vector<std::string> lines_;
};

TEST_F(OnAFailingDisk, EntriesAreKeptFoundAndSaidToBeUndurableUntilItTakesThem) {
  EXPECT_TRUE(is_durable());
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a", "kettle")).ok());
  ASSERT_TRUE(
      session_->add_batch("[" + entry_text("b", "kettle") + "," + entry_text("c") + "]").ok());
  EXPECT_FALSE(is_durable());
  EXPECT_GT(session_->stats()->get_int64("undurable_bytes"), 0);
  EXPECT_TRUE(session_->get("a").ok());
  EXPECT_EQ(*session_->count(R"({"text":"kettle"})"), 2u);
  EXPECT_EQ(ids_on_disk(), "before ");
  mend();
  ASSERT_TRUE(session_->sync().ok());
  EXPECT_TRUE(is_durable());
  EXPECT_EQ(ids_on_disk(), "before a b c ");
  EXPECT_TRUE(session_->verify(true)->get_bool("ok"));
  const std::string log = disk_.bytes("memory.jsonl");
  EXPECT_EQ(disk_.disk.crash()->read_file(path_of("memory.jsonl")), log) << "and is durable";
}

// As a sync of the store does it: of a session whose other answers are all durable, too.
TEST_F(OnAFailingDisk, AFlushWritesWhatIsKeptOrSaysWhyNot) {
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  EXPECT_EQ(session_->flush().code(), Code::kNoSpace);
  mend();
  EXPECT_TRUE(session_->flush().ok());
  EXPECT_TRUE(is_durable());
  EXPECT_EQ(ids_on_disk(), "before a ");
}

TEST_F(OnAFailingDisk, TheNextWriteTakesThemAlong) {
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  mend();
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  EXPECT_TRUE(is_durable());
  const auto after = disk_.disk.crash()->read_file(path_of("memory.jsonl"));
  EXPECT_LT(after->find("\"a\""), after->find("\"b\""));
}

TEST_F(OnAFailingDisk, NobodyElseWritesInBetween) {
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  mend();
  const auto process = disk_.disk.process(77);
  const auto other = disk_.open(process.get());
  EXPECT_EQ(other->add(entry_text("b")).code(), Code::kBusy);
  ASSERT_TRUE(session_->sync().ok());
  EXPECT_TRUE(other->add(entry_text("b")).ok());
  EXPECT_EQ(ids_on_disk(), "before a b ");
}

TEST_F(OnAFailingDisk, AFullBufferRefusesTheNextAndKeepsTheFirst) {
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  const auto refused = session_->add(entry_text("b", std::string(1000, 'x')));
  EXPECT_EQ(refused.code(), Code::kNoSpace);
  EXPECT_NE(refused.status().message().find("io_failure_buffer_mb"), std::string::npos)
      << refused.status().message();
  EXPECT_TRUE(session_->get("a").ok());
  EXPECT_FALSE(session_->get("b").ok());
  mend();
  ASSERT_TRUE(session_->add(entry_text("c")).ok());
  EXPECT_EQ(ids_on_disk(), "before a c ");
}

TEST_F(OnAFailingDisk, WhatIsNoAddFailsAsEver) {
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  EXPECT_EQ(session_->sync().code(), Code::kNoSpace);
  EXPECT_EQ(session_->compact({}).code(), Code::kNoSpace);
  disk_.disk.set_fault_hook(FailNth(1, ENOSPC, true, {OperationKind::kAppend}));
  EXPECT_EQ(session_->remove("a", "").code(), Code::kNoSpace);
  EXPECT_TRUE(session_->get("a").ok());
  mend();
  ASSERT_TRUE(session_->remove("a", "").ok());
  EXPECT_EQ(ids_on_disk(), "before ");
}

TEST_F(OnAFailingDisk, ASyncThatFailsIsNoAnswerEither) {
  disk_.disk.set_fault_hook(
      FailNth(1, EIO, false, {OperationKind::kSyncData}).on_file("memory.jsonl"));
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  EXPECT_FALSE(is_durable());
  mend();
  ASSERT_TRUE(session_->sync().ok());
  EXPECT_EQ(ids_on_disk(), "before a ");
}

TEST_F(OnAFailingDisk, WhatIsKeptIsLostWithTheSessionAndThatIsSaid) {
  listen();
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  session_.reset();
  mend();
  EXPECT_EQ(told("ERROR", "the disk does not take entries"), 1) << "when it begins";
  EXPECT_EQ(told("ERROR", "closed without saving"), 1) << "when they are lost";
  session_ = disk_.open();
  EXPECT_EQ(ids_on_disk(), "before ");
  EXPECT_TRUE(session_->add(entry_text("a")).ok()) << "and the lock was given back";
}

TEST_F(OnAFailingDisk, ItIsSaidOnceThatASyncHasWrittenThem) {
  constexpr std::string_view kTaken = "the disk has taken the entries";
  listen();
  fill_up();
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  mend();
  EXPECT_EQ(told("INFO", kTaken), 0);
  ASSERT_TRUE(session_->sync().ok());
  EXPECT_EQ(told("INFO", kTaken), 1);
  ASSERT_TRUE(session_->sync().ok());
  EXPECT_EQ(told("INFO", kTaken), 1);
}

// A write that stopped half-way and could not be undone: what is on the disk is not known.
TEST_F(OnAFailingDisk, WhatIsHalfWrittenIsNotKept) {
  for (const bool something_is_held : {false, true}) {
    if (something_is_held) {
      fill_up();
      ASSERT_TRUE(session_->add(entry_text("a")).ok());
    }
    disk_.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.name != "memory.jsonl") return std::nullopt;
      if (operation.kind == OperationKind::kAppend) return io::Fault{ENOSPC, 2};
      if (operation.kind == OperationKind::kTruncate) return io::Fault{EIO, std::nullopt};
      return std::nullopt;
    });
    EXPECT_FALSE(session_->add(entry_text("b")).ok());
    EXPECT_FALSE(session_->get("b").ok());
    EXPECT_EQ(session_->get("a").ok(), something_is_held) << "what was answered is still found";
    EXPECT_TRUE(session_->get("before").ok());
    mend();
    EXPECT_FALSE(session_->add(entry_text("c")).ok()) << "until it is opened anew";
    session_.reset();
    session_ = disk_.open();
    EXPECT_EQ(ids_on_disk(), "before ");
  }
}

// What is kept goes to the disk in writes after each of which a batch is whole: a line behind it
// proves that. Otherwise a power loss could leave a part of the batch, and call it damage.
TEST_F(OnAFailingDisk, ABatchThatWasKeptIsThereAsAWholeOrNotAtAll) {
  host_.context.settings.failure_buffer_bytes_max = 100'000;
  session_.reset();
  session_ = disk_.open();
  fill_up();
  const std::string batch = "[" + entry_text("a") + "," + entry_text("b") + "]";
  ASSERT_TRUE(session_->add_batch(batch).ok());
  ASSERT_TRUE(session_->add(entry_text("c")).ok());
  size_t state_count = 0;
  const auto check = [&](std::unique_ptr<io::SimulatedFileSystem> state,
                         const io::CrashPlan& plan) {
    SCOPED_TRACE(disk_.disk.describe(plan));
    const auto after = disk_.open(state.get());
    EXPECT_EQ(after->get("a").ok(), after->get("b").ok());
    EXPECT_EQ(after->lost_line_count(), 0u);
    state_count += 1;
  };
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == OperationKind::kSyncData && operation.name == "memory.jsonl") {
      disk_.disk.for_each_crash_state(check);
    }
    return std::nullopt;
  });
  ASSERT_TRUE(session_->sync().ok());
  mend();
  EXPECT_GT(state_count, 3u);
  EXPECT_EQ(ids_on_disk(), "before a b c ");
}

TEST_F(OnAFailingDisk, WithoutABufferAnAddFails) {
  host_.context.settings.failure_buffer_bytes_max = 0;
  session_.reset();
  session_ = disk_.open();
  fill_up();
  EXPECT_EQ(session_->add(entry_text("a")).code(), Code::kNoSpace);
  EXPECT_TRUE(is_durable());
}

}  // namespace
}  // namespace varve::session
