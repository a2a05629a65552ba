// The seed of the index's tables in memory: each open session has its own, whatever becomes of its
// index, since who writes to a session may have chosen the words for a seed that is known.
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>

#include "session/core.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class HashSeedOfSession : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    const auto session = disk_.open();
    for (const std::string id : {"a", "b", "c"}) {
      ASSERT_TRUE(session->add(entry_text(id, "tea of " + id)).ok());
    }
    ASSERT_TRUE(session->sync().ok());
  }
  std::unique_ptr<Core> load() {
    auto core = std::make_unique<Core>(std::string(kSessionId), *disk_.storage(), host_.context);
    EXPECT_TRUE(core->load().ok());
    return core;
  }

  // Words have tables of their own, which are made when somebody needs them.
  static void expect_seed_of(const Core& core, index::Index& index) {
    EXPECT_EQ(index.hash_seed(), core.hash_seed);
    EXPECT_EQ(index.text_to_extend().hash_seed(), core.hash_seed);
  }

  Host host_;
  SessionDisk disk_{host_};
};

TEST_F(HashSeedOfSession, IsNobodyElses) {
  const auto one = load();
  const auto other = load();
  EXPECT_NE(one->hash_seed, other->hash_seed);
  EXPECT_NE(one->hash_seed, 0u);
}

TEST_F(HashSeedOfSession, IsThatOfAnIndexReadFromItsFile) {
  const auto core = load();
  ASSERT_FALSE(core->index_from_log);
  expect_seed_of(*core, core->index);
  ASSERT_FALSE(core->index.has_rows());
  ASSERT_TRUE(core->load_rows().ok());
  expect_seed_of(*core, core->index);
}

TEST_F(HashSeedOfSession, IsThatOfAnIndexMadeFromTheLog) {
  disk_.remove("index.bin");
  const auto core = load();
  ASSERT_TRUE(core->index_from_log);
  expect_seed_of(*core, core->index);
}

TEST_F(HashSeedOfSession, IsThatOfAnIndexRebuiltOrWithoutWhatIsDropped) {
  const auto core = load();
  ASSERT_TRUE(core->rebuild().ok());
  expect_seed_of(*core, core->index);
  ASSERT_TRUE(core->load_rows().ok());
  constexpr uint32_t kKept = 1;
  const index::Renumbering rows(std::span(&kKept, 1), 3);
  const auto kept = core->index_of_kept(rows, core->index_epoch);
  ASSERT_NE(kept, nullptr);
  expect_seed_of(*core, *kept);
}

}  // namespace
}  // namespace varve::session
