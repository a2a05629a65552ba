// Which ids damaged lines have, and what is read to know it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "session/core.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

class DamagedLines : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    const auto session = disk_.open();
    for (const std::string id : {"a", "b", "c"}) {
      ASSERT_TRUE(session->add(entry_text(id, "tea of " + id)).ok());
    }
  }
  // A changed letter of the content: the line is an object still, with its id.
  void damage(const std::string& id) {
    std::string log = disk_.bytes(log::kEntriesFile);
    log[log.find("tea of " + id)] = 's';
    disk_.write(log::kEntriesFile, log);
  }
  void load() {
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    ASSERT_TRUE(core_->load().ok());
  }

  Host host_;
  SessionDisk disk_{host_};
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
};

TEST_F(DamagedLines, AreReadOnceAndAgainWhenThereAreMore) {
  damage("b");
  disk_.remove("index.bin");
  load();
  const auto first = core_->damaged_ids();
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(*first);
  EXPECT_EQ((*first)->size(), 1u);
  EXPECT_TRUE((*first)->contains("b"));
  const uint64_t read_bytes = storage_->read_bytes;
  EXPECT_EQ(*core_->damaged_ids(), *first);
  EXPECT_EQ(storage_->read_bytes, read_bytes);

  const auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("d", "tea of d")).ok());
  ASSERT_TRUE(session->add(entry_text("e")).ok());
  damage("d");
  ASSERT_TRUE(core_->catch_up().ok());
  const auto second = core_->damaged_ids();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->size(), 2u);
  EXPECT_TRUE((*second)->contains("d"));
}

}  // namespace
}  // namespace varve::session
