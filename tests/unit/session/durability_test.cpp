// What a session's durability promises when another process changes it.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "session_disk.h"

namespace varve::session {
namespace {

class DurabilityByAnother : public testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options;
    options.members.set("durability", json::Tree::string("os"));
    disk_.make(options);
    session_ = disk_.open();
    other_ = disk_.open(process_.get());
    ASSERT_TRUE(session_->add(entry_text("before")).ok());
  }
  void change(const std::string& durability) {
    const Status changed = other_->update(R"({"durability":)" + durability + "}");
    ASSERT_TRUE(changed.ok()) << changed.message();
  }
  // After the worst power loss there may be.
  [[nodiscard]] std::string survivor(std::string_view name) const {
    return disk_.disk.crash()->read_file(path_of(name)).value_or("");
  }
  [[nodiscard]] bool survives(std::string_view name, std::string_view text) const {
    return survivor(name).find(text) != std::string::npos;
  }

  Host host_;
  SessionDisk disk_{host_};
  std::unique_ptr<io::SimulatedFileSystem> process_ = disk_.disk.process(4711);
  std::shared_ptr<Session> session_;
  std::shared_ptr<Session> other_;
};

TEST_F(DurabilityByAnother, WhatIsAnsweredAfterAChangeToCommitSurvives) {
  change("\"commit\"");
  ASSERT_TRUE(session_->add(entry_text("after")).ok());
  EXPECT_TRUE(survives("memory.jsonl", "\"before\""));
  EXPECT_TRUE(survives("memory.jsonl", "\"after\""));
  ASSERT_TRUE(session_->remove("before", "").ok());
  EXPECT_TRUE(survives("tombstones.jsonl", "\"before\""));
  ASSERT_TRUE(session_->transcript_append("user", "hello").ok());
  EXPECT_TRUE(survives("transcript.md", "hello"));
}

// As two containers that share a volume may have it, or two stores of one process.
TEST_F(DurabilityByAnother, WhoHasTheSameProcessNumberIsAnotherToo) {
  process_ = disk_.disk.process(disk_.disk.process_id());
  other_ = disk_.open(process_.get());
  ASSERT_TRUE(session_->sync().ok());  // or the change syncs, and tells of that
  ASSERT_TRUE(session_->update("{}").ok());
  change("\"commit\"");
  ASSERT_TRUE(session_->add(entry_text("after")).ok());
  EXPECT_TRUE(survives("memory.jsonl", "\"after\""));
}

TEST_F(DurabilityByAnother, ItIsTheStoresAgainWhenItIsTakenAway) {
  change("null");  // the store's is "commit"
  ASSERT_TRUE(session_->add(entry_text("after")).ok());
  EXPECT_TRUE(survives("memory.jsonl", "\"after\""));
}

TEST_F(DurabilityByAnother, WhoCannotReadWhatItIsTakesItForCommit) {
  change("\"commit\"");
  const io::FailNth no_reading =
      io::FailNth(1, EIO, true, {io::OperationKind::kOpen}).on_file("metadata.json");
  disk_.disk.set_fault_hook(no_reading);
  ASSERT_TRUE(session_->add(entry_text("after")).ok());
  EXPECT_GT(no_reading.matched(), 0U);
  EXPECT_TRUE(survives("memory.jsonl", "\"after\""));
  disk_.disk.set_fault_hook(nullptr);
  change("\"os\"");
  ASSERT_TRUE(session_->add(entry_text("last")).ok());
  EXPECT_EQ(session_->stats()->get_string("durability"), "os");
}

// Neither the log can be synced nor a copy of it be made.
TEST_F(DurabilityByAnother, AChangeToCommitThatCannotMakeAllDurableChangesNothing) {
  const std::string before = disk_.bytes("metadata.json");
  disk_.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_sync = operation.kind == io::OperationKind::kSyncData;
    if (is_sync && operation.name.starts_with("memory.jsonl")) return io::Fault{EIO};
    return std::nullopt;
  });
  const Status changed = session_->update(R"({"durability":"commit","title":"tea"})");
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_EQ(changed.code(), Code::kIo) << changed.message();
  EXPECT_EQ(disk_.bytes("metadata.json"), before);
  EXPECT_EQ(session_->stats()->get_string("durability"), "os");
}

// A reader of this process may have seen the change first.
TEST_F(DurabilityByAnother, ItHoldsThoughTheMetadataWasReadBefore) {
  change("\"commit\"");
  ASSERT_TRUE(session_->check_alive().ok());
  ASSERT_TRUE(session_->metadata().ok());
  ASSERT_TRUE(session_->add(entry_text("after")).ok());
  EXPECT_TRUE(survives("memory.jsonl", "\"after\""));
}

TEST_F(DurabilityByAnother, StatsTellIt) {
  change("\"commit\"");
  ASSERT_TRUE(session_->add(entry_text("after")).ok());
  EXPECT_EQ(session_->stats()->get_string("durability"), "commit");
  EXPECT_TRUE(session_->stats()->get_bool("durable"));
}

// The other one's store has "os", and so it syncs nothing when it goes back to what stores have.
TEST_F(DurabilityByAnother, WhatWasAnsweredBeforeIsDurableWithTheNextWriteToo) {
  ASSERT_TRUE(session_->remove("before", "").ok());
  other_.reset();
  host_.context.settings.durability = log::Durability::kOs;
  other_ = disk_.open(process_.get());
  change("null");
  ASSERT_TRUE(session_->add(entry_text("after")).ok());
  EXPECT_TRUE(survives("tombstones.jsonl", "\"before\""));
  EXPECT_TRUE(session_->stats()->get_bool("durable"));
}

}  // namespace
}  // namespace varve::session
