// What is told of members of metadata.json that somebody wrote there by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session_disk.h"

namespace varve::session {
namespace {

class MetadataByHand : public testing::Test {
 protected:
  void SetUp() override { disk_.make(); }

  // With its checksum left out, as docs/format.md advises.
  void write(const std::string& name, const std::string& value) {
    auto metadata = json::Tree::parse(disk_.bytes(log::kMetadataFile));
    ASSERT_TRUE(metadata.ok());
    metadata->erase("checksum");
    metadata->set(name, *json::Tree::parse(value));
    disk_.write(log::kMetadataFile, metadata->pretty());
  }

  std::string note_of_verify() {
    const json::Tree report = *disk_.open()->verify();
    EXPECT_TRUE(report.get_bool("ok"));
    const auto notes = report.get("notes")->items();
    EXPECT_EQ(report.get_int64("notes_total"), static_cast<int64_t>(notes.size()));
    if (notes.size() != 1) return {};
    EXPECT_EQ(notes[0].get_string("file"), log::kMetadataFile);
    return notes[0].get_string("reason");
  }

  std::string warning_of_open() {
    host_.keep_lines(Level::kWarn, &warnings_);
    const auto session = disk_.open();
    host_.events.deliver();
    EXPECT_LE(warnings_.size(), 1u);
    return warnings_.empty() ? std::string() : warnings_[0];
  }

  std::vector<std::string> warnings_;
  Host host_;
  SessionDisk disk_{host_};
};

TEST_F(MetadataByHand, AWrongMemberIsANoteOfVerify) {
  write("ttl_hours", R"("24")");
  EXPECT_EQ(note_of_verify(),
            "member 'ttl_hours': must be a number from 0 to 1000000000; it may have no effect");
}

TEST_F(MetadataByHand, AWrongMemberOfDecayIsANoteOfVerify) {
  write("decay_config", R"({"half_lifes":1})");
  EXPECT_EQ(note_of_verify(),
            "member 'decay_config.half_lifes': is unknown; it may have no effect");
}

TEST_F(MetadataByHand, AWrongMemberIsTheWarningOfAnOpening) {
  write("ttl_hours", R"("24")");
  EXPECT_NE(warning_of_open().find("member 'ttl_hours': must be a number"), std::string::npos);
}

TEST_F(MetadataByHand, WhatIsRightOrTheUsersOwnIsNotTold) {
  write("ttl_hours", "24");
  write("mine", R"({"of":"the user"})");
  EXPECT_EQ(note_of_verify(), "");
  EXPECT_EQ(warning_of_open(), "");
}

}  // namespace
}  // namespace varve::session
