// A session whose ids were chosen so that they crowd the table of ids: it works as any other, but
// has no index.bin, and so is opened by reading its log.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "index/id_table.h"
#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class CrowdedIds : public testing::Test {
 protected:
  static constexpr size_t kCount = 3000;

  void SetUp() override {
    host_.context.settings.session_bytes_max = 0;
    disk_.make();
    session_ = disk_.open();
    ASSERT_TRUE(
        session_->add(R"({"id":"early","type":"finding","content":"x","tags":["secret"]})").ok());
    ASSERT_TRUE(session_->sync().ok());
    ASSERT_NE(disk_.read("index.bin"), std::nullopt) << "ids are not crowded yet";
    ASSERT_TRUE(session_->remove("early", "").ok());
    std::string lines;
    for (uint32_t i = 0; ids_.size() < kCount; ++i) {
      std::string id = "e" + std::to_string(i);
      if ((index::id_hash(id) & 0xFFFF) >= 1500) continue;
      lines += R"({"id":")" + id + R"(","type":"finding","content":"word)" + std::to_string(i % 2) +
               "\"}\n";
      ids_.push_back(std::move(id));
    }
    const auto added = session_->add_batch(lines);
    ASSERT_TRUE(added.ok()) << added.status().message();
  }

  // Reads all that is left of it, as a new process does.
  void expect_kept(size_t first) {
    session_.reset();
    session_ = disk_.open();
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(session_->get(ids_[i]).ok(), i >= first) << ids_[i];
    }
    EXPECT_EQ(*session_->count("{}"), kCount - first);
    const auto report = session_->verify(true);
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
  std::vector<std::string> ids_;
};

TEST_F(CrowdedIds, AreFoundAndDeletedAndSurviveACompaction) {
  expect_kept(0);
  EXPECT_EQ(session_->add(R"({"id":")" + ids_[5] + R"(","type":"finding","content":"x"})").code(),
            Code::kAlreadyExists);
  EXPECT_GT(*session_->count(R"({"text":"word1"})"), 0u);
  std::string some = R"({"ids":[")" + ids_[0];
  for (size_t i = 1; i < 100; ++i) some += "\",\"" + ids_[i];
  EXPECT_EQ(*session_->remove_where(some + "\"]}", "test"), 100u);
  expect_kept(100);
  ASSERT_TRUE(session_->compact({}).ok());
  EXPECT_EQ(disk_.read("index.bin"), std::nullopt) << "nothing of what was dropped is left";
  expect_kept(100);
  EXPECT_EQ(disk_.read("index.bin"), std::nullopt);
}

TEST_F(CrowdedIds, OnceTheyAreGoneThereIsAnIndexFileAgain) {
  std::string most = R"({"ids":[")" + ids_[0];
  for (size_t i = 1; i + 100 < kCount; ++i) most += "\",\"" + ids_[i];
  EXPECT_EQ(*session_->remove_where(most + "\"]}", "test"), kCount - 100);
  ASSERT_TRUE(session_->compact({}).ok());
  expect_kept(kCount - 100);
  ASSERT_TRUE(session_->sync().ok());
  EXPECT_NE(disk_.read("index.bin"), std::nullopt);
}

}  // namespace
}  // namespace varve::session
