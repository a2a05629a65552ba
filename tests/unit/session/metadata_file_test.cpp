// metadata.json as it is written again: what the file says counts, and where it says nothing, what
// the session knows.
#include "session/metadata/metadata_file.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "session/session.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class MetadataFiles : public testing::Test {
 protected:
  void SetUp() override {
    CreateOptions options;
    options.user_id = "ann";
    options.members.set("title", json::Tree::string("Kitchen"));
    disk_.make(options);
    session_ = disk_.open();
    ASSERT_TRUE(session_->add(entry_text("a")).ok());
  }
  [[nodiscard]] json::Tree written() const {
    auto metadata = json::Tree::parse(disk_.bytes("metadata.json"));
    EXPECT_TRUE(metadata.ok());
    return metadata.ok() ? *metadata : json::Tree();
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
};

TEST_F(MetadataFiles, WhatIsLostOrDamagedIsWrittenFromWhatIsKnown) {
  for (const bool is_lost : {true, false}) {
    is_lost ? disk_.remove("metadata.json") : disk_.write("metadata.json", "{");
    ASSERT_TRUE(session_->update(R"({"mine":1})").ok());
    EXPECT_EQ(written().get_string("user_id"), "ann") << is_lost;
    EXPECT_EQ(written().get_string("title"), "Kitchen") << is_lost;
  }
}

TEST_F(MetadataFiles, WhatAnotherProcessWroteStays) {
  auto other = disk_.open();
  ASSERT_TRUE(other->update(R"({"title":"Pantry","theirs":1})").ok());
  ASSERT_TRUE(session_->update(R"({"mine":1})").ok());
  EXPECT_EQ(written().get_string("title"), "Pantry");
  EXPECT_EQ(written().get_int64("theirs"), 1);
  EXPECT_EQ(written().get_int64("mine"), 1);
}

// The figure tells what is, not what once was: whoever watches it would mend what is whole.
TEST_F(MetadataFiles, IsToldToBeDamagedUntilItIsWrittenAgain) {
  const auto is_damaged = [](Session& session) {
    return member(*session.stats(), "corruption").get_bool("metadata");
  };
  disk_.write("metadata.json", "{");
  const auto process = disk_.disk.process(77);
  const auto writer = disk_.open();
  const auto reader = disk_.open(process.get());
  EXPECT_TRUE(is_damaged(*writer));
  EXPECT_TRUE(is_damaged(*reader));
  ASSERT_TRUE(writer->sync().ok());
  EXPECT_FALSE(is_damaged(*writer));
  EXPECT_FALSE(is_damaged(*reader));
}

}  // namespace
}  // namespace varve::session
