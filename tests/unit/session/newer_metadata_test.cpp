// An open session whose metadata.json a newer version has written since: what its files mean by now
// is not known here, so that nothing of them is tidied, mended or rewritten.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "session/session.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class NewerMetadata : public testing::Test {
 protected:
  void SetUp() override {
    host_.context.settings.durability = log::Durability::kOs;
    disk_.make();
    session_ = disk_.open();
    ASSERT_TRUE(session_->add(entry_text("e0")).ok());
    ASSERT_TRUE(disk_.open()->add(entry_text("e1")).ok());
    disk_.write(log::kMetadataFile, R"({"session_id":"sess_1","version":2})");
    disk_.write(log::kEntriesFile, disk_.bytes(log::kEntriesFile) + R"({"half":)");
    disk_.write("index.bin", "as a newer version has it");
    entries_ = disk_.bytes(log::kEntriesFile);
    snapshot_ = disk_.bytes("index.bin");
  }

  void expect_untouched() {
    EXPECT_EQ(disk_.bytes(log::kEntriesFile), entries_);
    EXPECT_EQ(disk_.bytes(log::kQuarantineFile), "");
    EXPECT_EQ(disk_.bytes("index.bin"), snapshot_);
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
  std::string entries_;
  std::string snapshot_;
};

TEST_F(NewerMetadata, ASyncLeavesTheLogAsItIs) {
  EXPECT_EQ(session_->sync().code(), Code::kFormatVersion);
  expect_untouched();
}

TEST_F(NewerMetadata, ACloseLeavesTheLogAsItIs) {
  session_->close();
  expect_untouched();
}

TEST_F(NewerMetadata, ARepairIsRefused) {
  EXPECT_EQ(session_->repair(false).code(), Code::kFormatVersion);
  expect_untouched();
}

TEST_F(NewerMetadata, AMigrationIsRefused) {
  EXPECT_EQ(session_->migrate(false).code(), Code::kFormatVersion);
  expect_untouched();
}

TEST_F(NewerMetadata, ARebuildOfTheIndexLeavesItsFile) {
  EXPECT_TRUE(session_->rebuild_index().ok());
  expect_untouched();
}

}  // namespace
}  // namespace varve::session
