// How large a session's files are, as its object knows and as they are.
#include "session/session_size.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "session/session.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class SessionSizes : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    session_ = disk_.open();
    for (const auto id : {"a", "b"}) ASSERT_TRUE(session_->add(entry_text(id)).ok());
    ASSERT_TRUE(session_->remove("b", "").ok());
    ASSERT_TRUE(session_->put_vector("a", std::vector<float>(4, 1)).ok());
    ASSERT_TRUE(session_->kv_set("key", "value").ok());
    ASSERT_TRUE(session_->transcript_append("user", "Tea, please.").ok());
    ASSERT_TRUE(session_->sync().ok());
  }
  [[nodiscard]] uint64_t bytes_of_files() const {
    uint64_t bytes = 0;
    for (const auto name : {"memory.jsonl", "tombstones.jsonl", "vectors.bin", "index.bin",
                            "kv.json", "transcript.md"}) {
      bytes += disk_.read(name).value().size();
    }
    return bytes;
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
};

TEST_F(SessionSizes, AreThoseOfAllItsFiles) {
  EXPECT_EQ(session_->size_bytes(), bytes_of_files());
  EXPECT_EQ(*session_->measured_size_bytes(), bytes_of_files());
}

TEST_F(SessionSizes, AreMeasuredWhereAnotherProcessWrote) {
  const uint64_t before = session_->size_bytes();
  const auto process = disk_.disk.process(7);
  ASSERT_TRUE(disk_.open(process.get())->transcript_append("user", "And a biscuit.").ok());
  EXPECT_EQ(session_->size_bytes(), before) << "nothing was asked of the files";
  EXPECT_EQ(*session_->measured_size_bytes(), bytes_of_files());
  EXPECT_GT(bytes_of_files(), before);
}

TEST_F(SessionSizes, AreThoseOfTheLogAndItsLikeWithoutAnIndex) {
  disk_.remove("index.bin");
  const uint64_t index_bytes = session_->size_bytes() - *session_->measured_size_bytes();
  EXPECT_GT(index_bytes, 0u);
}

// A quota that counted too little would let a user have more than is allowed.
TEST_F(SessionSizes, AreNotGuessedWhereTheDiskDoesNotTellThem) {
  for (const auto name : {"memory.jsonl", "tombstones.jsonl", "index.bin"}) {
    disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) {
      return operation.name == name ? std::optional(io::Fault{EIO}) : std::nullopt;
    });
    EXPECT_EQ(session_->measured_size_bytes().code(), Code::kIo) << name;
    disk_.disk.set_fault_hook({});
  }
  EXPECT_EQ(*session_->measured_size_bytes(), bytes_of_files());
}

}  // namespace
}  // namespace varve::session
