// Deletions that were durable and whose lines are gone: tombstones.jsonl emptied, removed, or an
// older copy of it put back.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "failing_reader.h"
#include "session/core.h"
#include "session/session.h"
#include "session/upkeep/verify.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

class LostDeletions : public testing::Test {
 protected:
  // Entries e0 to e4, of which e0 to e2 are deleted.
  void SetUp() override {
    disk_.make();
    auto session = disk_.open();
    for (const auto id : {"e0", "e1", "e2", "e3", "e4"}) {
      ASSERT_TRUE(session->add(entry_text(id)).ok());
    }
    for (const auto id : {"e0", "e1", "e2"}) ASSERT_TRUE(session->remove(id, "").ok());
    session->close();
    whole_ = disk_.bytes(log::kTombstonesFile);
  }

  // Opens anew when only the first lines are left.
  std::shared_ptr<Session> open_with(size_t line_count) {
    std::string left;
    for (size_t i = 0; i < line_count; ++i) left += lines_of(whole_)[i];
    disk_.write(log::kTombstonesFile, left);
    return disk_.open();
  }
  static int64_t rollback(Session& session) {
    return member(*session.stats(), "corruption").get_int64("rollback");
  }
  static void expect_lost(Session& session, std::string_view reason) {
    const auto report = session.verify();
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_FALSE(report->get_bool("ok"));
    const auto& problems = member(*report, "problems").items();
    ASSERT_EQ(problems.size(), 1U) << report->canonical();
    EXPECT_EQ(problems[0].get_string("file"), "tombstones.jsonl");
    EXPECT_EQ(problems[0].get_string("reason"), reason);
  }
  static void expect_whole(Session& session) {
    const auto report = session.verify();
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
    EXPECT_EQ(rollback(session), 0);
  }

  Host host_;
  SessionDisk disk_{host_};
  std::string whole_;
};

constexpr std::string_view kTwoAreMissing =
    "2 deletions are missing that were durable, and what they deleted may be back: put the file "
    "back from a copy that has them, or accept the loss with repair";
constexpr std::string_view kOneIsMissing =
    "1 deletion is missing that was durable, and what it deleted may be back: put the file back "
    "from a copy that has it, or accept the loss with repair";

TEST_F(LostDeletions, OfAnOlderCopyOfTheFileAreTold) {
  const auto session = open_with(1);
  EXPECT_TRUE(session->get("e2").ok());
  EXPECT_EQ(rollback(*session), 2);
  expect_lost(*session, kTwoAreMissing);
  expect_lost(*open_with(2), kOneIsMissing);
}

TEST_F(LostDeletions, OfAFileThatIsGoneAreTold) {
  disk_.remove(log::kTombstonesFile);
  EXPECT_EQ(rollback(*disk_.open()), 3);
}

TEST_F(LostDeletions, AreNoLessLostAfterOthers) {
  auto session = open_with(1);
  ASSERT_TRUE(session->remove("e3", "").ok());
  expect_lost(*session, kTwoAreMissing);
  ASSERT_TRUE(session->remove("e2", "").ok());
  expect_lost(*session, kTwoAreMissing);
  session->close();
  expect_lost(*disk_.open(), kTwoAreMissing);
}

// Nor is one refused because it cannot be told apart from those.
TEST_F(LostDeletions, DoNotKeepOthersFromBeingMadeWhereTheirCountCannotBeKept) {
  const auto session = open_with(1);
  const io::FailNth no_keeping(1, EIO, true, {io::OperationKind::kRename});
  disk_.disk.set_fault_hook(no_keeping);
  EXPECT_TRUE(session->remove("e3", "").ok());
  disk_.disk.set_fault_hook({});
  EXPECT_GT(no_keeping.matched(), 0U);
  EXPECT_EQ(session->get("e3").code(), Code::kNotFound);
  EXPECT_EQ(disk_.open()->get("e3").code(), Code::kNotFound);
}

TEST_F(LostDeletions, AreWholeWhenTheFileIsPutBack) {
  open_with(0)->close();
  disk_.write(log::kTombstonesFile, whole_);
  expect_whole(*disk_.open());
}

TEST_F(LostDeletions, AreAcceptedByARepair) {
  auto session = open_with(1);
  EXPECT_EQ(session->repair(true)->get_int64("missing"), 2);
  expect_lost(*session, kTwoAreMissing);
  const auto report = session->repair(false);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->get_bool("changed"));
  EXPECT_EQ(report->get_int64("missing"), 2);
  expect_whole(*session);
  EXPECT_FALSE(session->repair(false)->get_bool("changed", true));
  session->close();
  expect_whole(*disk_.open());
}

// It is told as such, and is no second loss.
TEST_F(LostDeletions, ADamagedLineIsNone) {
  std::string damaged = whole_;
  damaged[damaged.find("\"id\":\"e1\"") + 6] = 'f';
  disk_.write(log::kTombstonesFile, damaged);
  auto session = disk_.open();
  EXPECT_EQ(rollback(*session), 0);
  EXPECT_EQ(member(*session->verify(), "problems").items().size(), 1U);
  ASSERT_TRUE(session->repair(false).ok());
  expect_whole(*session);
}

// The index is made anew from the one that was there, which knew of the damage.
TEST_F(LostDeletions, ADamagedLineIsNoneAfterACompaction) {
  std::string damaged = whole_;
  damaged[damaged.find("\"id\":\"e1\"") + 6] = 'f';
  disk_.write(log::kTombstonesFile, damaged);
  auto session = disk_.open();
  ASSERT_TRUE(session->compact({}).ok());
  EXPECT_EQ(rollback(*session), 0);
  session->close();
  session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("after")).ok());  // the rows of index.bin are joined
  EXPECT_EQ(rollback(*session), 0);
}

// In a new generation, as where something is damaged as well.
TEST_F(LostDeletions, ThatARepairOfTheLogAcceptedAreNoLongerTold) {
  const auto reader = open_with(1);
  EXPECT_EQ(rollback(*reader), 2);
  disk_.write(log::kEntriesFile, disk_.bytes(log::kEntriesFile) + "{}\n" + entry_text("e9") + "\n");
  ASSERT_TRUE(disk_.open()->repair(false).ok());
  EXPECT_EQ(rollback(*reader), 0);
}

TEST_F(LostDeletions, AreNotAcceptedByAnUpdate) {
  const auto session = open_with(1);
  EXPECT_EQ(session->update(R"({"durable_tombstones":1})").code(), Code::kInvalidArgument);
  expect_lost(*session, kTwoAreMissing);
}

// Only what was saved with the session's metadata is counted: nobody knows of more.
TEST_F(LostDeletions, AreNotNoticedWhereNothingToldOfThem) {
  auto session = disk_.open();
  ASSERT_TRUE(session->remove("e3", "").ok());
  const std::string metadata = disk_.bytes(log::kMetadataFile);
  session->close();
  disk_.write(log::kMetadataFile, metadata);
  disk_.write(log::kTombstonesFile, whole_);
  expect_whole(*disk_.open());
}

TEST_F(LostDeletions, AreRefusedByARecoveryThatIsStrict) {
  disk_.write(log::kTombstonesFile, "");
  host_.context.settings.recovery = Recovery::kStrict;
  const auto opened = disk_.try_open();
  EXPECT_EQ(opened.code(), Code::kCorruption);
  EXPECT_NE(opened.status().message().find("3 deletions are missing"), std::string::npos)
      << opened.status().message();
}

// The log stays the same file, so nothing else tells of it.
TEST_F(LostDeletions, ThatAnotherProcessAcceptedAreNoLongerTold) {
  const auto session = open_with(1);
  ASSERT_EQ(rollback(*session), 2);
  ASSERT_TRUE(disk_.open()->repair(false).ok());
  ASSERT_TRUE(session->add(entry_text("e5")).ok());
  EXPECT_EQ(rollback(*session), 0);
}

// Others of this process compare these numbers meanwhile.
TEST_F(LostDeletions, AreNoneThatAnotherProcessMadeSince) {
  Core core(std::string(kSessionId), *disk_.storage(), host_.context);
  ASSERT_TRUE(core.load().ok());
  ASSERT_TRUE(disk_.open()->remove("e3", "").ok());  // and closed
  ASSERT_TRUE(core.check_metadata().ok());
  EXPECT_EQ(core.lost_line_count(), 0U);
}

// After it, nothing but deletions tells that the index lacks what was not read.
TEST_F(LostDeletions, AreNoneThatAReaderBesideCouldNotRead) {
  {
    auto session = disk_.open();
    ASSERT_EQ(*session->remove_where("{}", ""), 2U);
    ASSERT_TRUE(session->compact({}).ok());
    ASSERT_EQ(disk_.bytes(log::kEntriesFile), "");
  }
  auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
  WatchedStorage* const storage = owned.get();
  Core core(std::string(kSessionId), std::move(owned), host_.context);
  ASSERT_TRUE(core.load().ok());
  Writer writer(core);
  std::function<void()> beside = [&] { fail_to_read(core, *storage, false); };
  const auto call = [](void* data, const char*, uint64_t, uint64_t) {
    if (auto& once = *static_cast<std::function<void()>*>(data)) std::exchange(once, nullptr)();
    return int32_t{0};
  };
  const auto report = verify(core, writer, false, {call, &beside});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
}

}  // namespace
}  // namespace varve::session
