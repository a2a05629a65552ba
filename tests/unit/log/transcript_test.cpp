// The transcript while it moves into a new file: whoever is killed in between leaves a word of it.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>

#include "io/simulated.h"
#include "log/lock_state.h"
#include "storage_disk.h"

namespace varve::log {
namespace {

class MovedTranscript : public StorageDisk {};
class Transcript : public StorageDisk {};

TEST_F(MovedTranscript, IsSuspectUntilItIsInItsNewFile) {
  const auto storage = open();
  ASSERT_TRUE(lock(*storage).ok());
  ASSERT_TRUE(storage->append_to_transcript(0, "one", false).ok());
  const auto is_suspect = [&] {
    const auto told = decode_lock_state(disk_.read_file("s/lock").value_or(""));
    return told.has_value() && told->suspect;
  };
  bool was_suspect = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kRename) was_suspect = is_suspect();
    if (operation.name != kTranscriptFile) return std::nullopt;
    if (operation.kind == io::OperationKind::kAppend) return io::Fault{ENOSPC, 2};
    if (operation.kind == io::OperationKind::kTruncate) return io::Fault{EIO};
    return std::nullopt;
  });
  EXPECT_EQ(storage->append_to_transcript(3, " two", true).code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(was_suspect);
  EXPECT_FALSE(is_suspect()) << "the next writer would copy it for nothing";
  EXPECT_EQ(disk_.crash()->read_file("s/transcript.md"), "one");
}

// Nothing has happened then that a copy would have to mend, for which there is no room either.
TEST_F(Transcript, IsRefusedByAFullDiskThatDoesNotTakeTheLockFileAndGoesOnLater) {
  const auto storage = open();
  ASSERT_TRUE(lock(*storage).ok());
  ASSERT_TRUE(storage->append_to_transcript(0, "one", false).ok());
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool writes = operation.kind == io::OperationKind::kAppend ||
                        operation.kind == io::OperationKind::kWriteAt;
    if (writes && operation.name != kTranscriptFile) return io::Fault{ENOSPC};
    return std::nullopt;
  });
  EXPECT_EQ(storage->append_to_transcript(3, " two", true).code(), Code::kNoSpace);
  EXPECT_EQ(storage->sync(0).code(), Code::kNoSpace);
  EXPECT_EQ(disk_.read_file("s/transcript.md"), "one");
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(storage->append_to_transcript(3, " two", true).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/transcript.md"), "one two");
}

}  // namespace
}  // namespace varve::log
