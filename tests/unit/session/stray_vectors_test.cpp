// Vectors that a compaction could not remove together with their entries.
#include "session/vectors/vector_check.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/query/query_results.h"
#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

// A compaction whose new log has its name, and whose vectors were not written anew: it was killed,
// or the disk failed.
class StrayVectors : public testing::TestWithParam<bool> {
 protected:
  static bool is_new_vectors(const io::OperationInfo& operation) {
    return operation.kind == io::OperationKind::kOpen &&
           operation.name.starts_with("vectors.bin.tmp-");
  }
  void SetUp() override {
    disk_.make();
    process_ = disk_.disk.process(2001);
    session_ = disk_.open(process_.get());
    ASSERT_TRUE(
        session_->add(R"({"id":"expiring","type":"message","content":"x","ttl_seconds":10})").ok());
    ASSERT_TRUE(session_
                    ->add(R"({"id":"faint","type":"message","content":"x","importance":0,)"
                          R"("timestamp":"2001-01-01T00:00:00Z"})")
                    .ok());
    ASSERT_TRUE(session_->add(entry_text("stays")).ok());
    ASSERT_TRUE(session_->put_vector("expiring", std::vector<float>{1, 0}).ok());
    ASSERT_TRUE(session_->put_vector("faint", std::vector<float>{1, 0.1F}).ok());
    ASSERT_TRUE(session_->put_vector("stays", std::vector<float>{0, 1}).ok());
    host_.clock.advance_ms(20'000);
  }
  // Its outcome says nothing: the log is replaced.
  void compact_and_fail() {
    const bool dies = GetParam();
    int failures = 0;
    disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (!is_new_vectors(operation)) return std::nullopt;
      failures += 1;
      if (dies) process_->kill();
      return io::Fault{EIO};
    });
    CompactionOptions options;
    options.evict_below = 0.05;
    (void)session_->compact(options).ok();
    EXPECT_EQ(failures, 1);
    disk_.disk.set_fault_hook({});
    if (!dies) return;
    disk_.disk.release_locks();
    session_ = disk_.open();
  }
  static std::string first_of(Session& session) {
    const auto found = session.query(R"({"vector":[1,0],"vector_weight":1,"limit":1})");
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() && !found->results.empty() ? found->results.front().id() : "none";
  }
  [[nodiscard]] bool is_noted() const {
    return json::Tree::parse(disk_.bytes("metadata.json"))->get_bool(kStrayVectors);
  }

  Host host_;
  SessionDisk disk_{host_};
  std::unique_ptr<io::SimulatedFileSystem> process_;
  std::shared_ptr<Session> session_;
};

TEST_P(StrayVectors, AreNotThoseOfTheNextEntriesOfTheirIds) {
  const auto other = disk_.open();  // knows the log of before
  compact_and_fail();
  EXPECT_TRUE(is_noted());
  EXPECT_EQ(session_->get("faint").code(), Code::kNotFound);
  EXPECT_EQ(first_of(*session_), "stays");
  ASSERT_TRUE(other->add(entry_text("expiring", "new")).ok());
  ASSERT_TRUE(session_->add(entry_text("faint", "new")).ok());
  EXPECT_FALSE(is_noted());
  for (Session* const session : {session_.get(), other.get()}) {
    EXPECT_EQ(first_of(*session), "stays");
    EXPECT_EQ(session->verify()->get("vectors")->get_int64("records"), 1);
  }
}

TEST_P(StrayVectors, KeepEntriesOutUntilTheyAreGone) {
  compact_and_fail();
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    return is_new_vectors(operation) ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(session_->add(entry_text("faint", "new")).code(), Code::kIo);
  disk_.disk.set_fault_hook({});
  EXPECT_TRUE(session_->add(entry_text("faint", "new")).ok());
  EXPECT_EQ(first_of(*session_), "stays");
}

TEST_P(StrayVectors, GoWithTheNextCompactionToo) {
  compact_and_fail();
  ASSERT_TRUE(session_->remove("stays", "").ok());
  ASSERT_TRUE(session_->compact({}).ok());
  EXPECT_FALSE(is_noted());
  EXPECT_FALSE(disk_.read("vectors.bin").has_value());
}

// They are removed as a whole, but a power loss could bring them back.
TEST_P(StrayVectors, AreGoneForGoodBeforeAnEntryIsAdded) {
  ASSERT_TRUE(session_->remove("stays", "").ok());
  const bool dies = GetParam();
  bool is_removed = false;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_removal =
        operation.kind == io::OperationKind::kRemove && operation.name == "vectors.bin";
    if (!is_removed) {
      is_removed = is_removal;
      return std::nullopt;
    }
    if (operation.kind != io::OperationKind::kSyncDirectory) return std::nullopt;
    if (dies) process_->kill();
    return io::Fault{EIO};
  });
  CompactionOptions options;
  options.evict_below = 0.05;
  (void)session_->compact(options).ok();
  disk_.disk.set_fault_hook({});
  EXPECT_TRUE(is_removed);
  EXPECT_FALSE(disk_.read("vectors.bin").has_value());
  EXPECT_TRUE(disk_.disk.crash()->exists(path_of("vectors.bin"))) << "or nothing is tested";
  if (dies) {
    disk_.disk.release_locks();
    session_ = disk_.open();
  }
  ASSERT_TRUE(session_->add(entry_text("faint", "new")).ok());
  EXPECT_FALSE(is_noted());
  EXPECT_FALSE(disk_.disk.crash()->exists(path_of("vectors.bin")));
}

TEST_P(StrayVectors, OfALogThatWasNotReplacedStay) {
  disk_.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_new_log =
        operation.kind == io::OperationKind::kRename && operation.name.starts_with("memory.jsonl");
    return is_new_log ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  CompactionOptions options;
  options.evict_below = 0.05;
  EXPECT_FALSE(session_->compact(options).ok());
  disk_.disk.set_fault_hook({});
  ASSERT_TRUE(session_->add(entry_text("another")).ok());
  EXPECT_EQ(first_of(*session_), "faint");
}

INSTANTIATE_TEST_SUITE_P(Of, StrayVectors, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& kind) {
                           return kind.param ? "AKill" : "AFailure";
                         });

}  // namespace
}  // namespace varve::session
