// Vectors in the memory of one process, after another one replaced the log and vectors.bin.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compaction_options.h"
#include "session/core.h"
#include "session/vectors/vectors.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

class ReplacedVectors : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    const auto session = disk_.open();
    for (const std::string id : {"goes", "stays"}) {
      ASSERT_TRUE(session->add(entry_text(id)).ok());
      ASSERT_TRUE(session->put_vector(id, std::vector<float>{1, 2}).ok());
    }
    reader_ = load(*disk_.storage());
    ASSERT_TRUE(reader_->follow().ok());
    ASSERT_TRUE(reader_->vectors.compare(std::vector<float>{1, 0}, std::nullopt).ok());
    ASSERT_GT(reader_->vectors.memory_bytes(), 0U);
    ASSERT_TRUE(session->remove("goes", "").ok());
  }
  std::unique_ptr<Core> load(std::unique_ptr<log::SessionStorage> storage) {
    auto core = std::make_unique<Core>(std::string(kSessionId), std::move(storage), host_.context);
    EXPECT_TRUE(core->load().ok());
    return core;
  }
  // It calls `before` each time when another file is about to take the place of vectors.bin.
  void purge_elsewhere(const std::function<void()>& before = {}) {
    auto storage = std::make_unique<WatchedStorage>(*disk_.storage());
    int replaced_count = 0;
    storage->before_replace = [&](log::Stream stream) {
      if (stream != log::Stream::kVectors) return;
      replaced_count += 1;
      if (before) before();
    };
    const auto core = load(std::move(storage));
    Writer writer(*core);
    const auto report = compact(*core, writer, purge());
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(replaced_count, 1);
  }

  Host host_;
  SessionDisk disk_{host_};
  std::unique_ptr<Core> reader_;
};

TEST_F(ReplacedVectors, AreLetGoByTheNextCall) {
  purge_elsewhere();
  ASSERT_TRUE(reader_->follow().ok());
  EXPECT_EQ(reader_->vectors.memory_bytes(), 0U);
}

TEST_F(ReplacedVectors, AreLetGoByTheNextCallThoughOneCameWhileTheyWereThere) {
  purge_elsewhere([&] {
    ASSERT_TRUE(reader_->follow().ok());
    EXPECT_GT(reader_->vectors.memory_bytes(), 0U) << "or nothing is tested";
  });
  ASSERT_TRUE(reader_->follow().ok());
  EXPECT_EQ(reader_->vectors.memory_bytes(), 0U);
}

}  // namespace
}  // namespace varve::session
