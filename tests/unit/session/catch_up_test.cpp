// What one process knows of a log that another one goes on with: torn tails that the other cut,
// batches that it is in the middle of, entries and deletions that are there already.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class CatchingUp : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    other_ = disk_.open(process_.get());
    ASSERT_TRUE(other_->add(entry_text("a")).ok());
    ASSERT_TRUE(other_->add(entry_text("b")).ok());
    ASSERT_TRUE(other_->remove("b", "").ok());
  }
  void append_to(std::string_view name, std::string_view bytes) {
    disk_.write(name, disk_.bytes(name) + std::string(bytes));
  }
  static int64_t torn_tails(Session& session) {
    return member(*session.stats(), "corruption").get_int64("torn_tails", -1);
  }
  // Two of the three lines of a batch that ends the log.
  std::string begin_of_a_batch() {
    Host host;
    SessionDisk elsewhere(host);
    elsewhere.make();
    const auto session = elsewhere.open();
    EXPECT_TRUE(session->add(entry_text("1")).ok());
    EXPECT_TRUE(session->add(entry_text("2")).ok());
    const size_t begin = elsewhere.bytes("memory.jsonl").size();
    EXPECT_TRUE(
        session
            ->add_batch("[" + entry_text("x") + "," + entry_text("y") + "," + entry_text("z") + "]")
            .ok());
    const std::string batch = elsewhere.bytes("memory.jsonl").substr(begin);
    const auto lines = lines_of(batch);
    EXPECT_EQ(lines.size(), 3u);
    return std::string(lines[0]) + std::string(lines[1]);
  }
  static bool has(Session& session, std::string_view id) { return session.get(id).ok(); }

  Host host_;
  SessionDisk disk_{host_};
  std::unique_ptr<io::SimulatedFileSystem> process_ = disk_.disk.process(4711);
  std::shared_ptr<Session> other_;
};

// A power loss took the end of a line and left the line behind it, which index.bin knows: who reads
// the log cuts both off as torn, and who trusts index.bin must not cut what is written there then.
TEST_F(CatchingUp, WhatIsWrittenWhereAnotherCutIsReadFromItsStart) {
  ASSERT_TRUE(other_->add(entry_text("c")).ok());
  ASSERT_TRUE(other_->add(entry_text("d")).ok());
  other_.reset();  // saves index.bin
  std::string log = disk_.bytes("memory.jsonl");
  const size_t begin = log.rfind('\n', log.rfind('\n', log.size() - 2) - 1) + 1;
  const size_t end = log.rfind('\n', log.size() - 2) + 1;
  disk_.write("memory.jsonl", log.replace(begin, end - begin, end - begin, '\0'));
  const auto trusting = disk_.open();
  ASSERT_TRUE(has(*trusting, "d"));

  disk_.remove("index.bin");
  const auto reading = disk_.open(process_.get());
  for (const char* id : {"longer-1", "longer-2", "longer-3"}) {
    ASSERT_TRUE(reading->add(entry_text(id)).ok());
  }
  ASSERT_GT(disk_.bytes("memory.jsonl").size(), log.size());
  ASSERT_TRUE(trusting->add(entry_text("last")).ok());
  for (const char* id : {"longer-1", "longer-2", "longer-3", "last"}) {
    EXPECT_TRUE(has(*trusting, id)) << id;
    EXPECT_TRUE(has(*reading, id)) << id;
    EXPECT_TRUE(has(*disk_.open(), id)) << id;
  }
  const auto aside = disk_.quarantine();
  ASSERT_EQ(aside.size(), 1u);
  EXPECT_EQ(aside.front().bytes, log.substr(begin));
}

// What is known of them then ends in the middle of a line, which is no torn tail.
TEST_F(CatchingUp, DeletionsThatWereEditedAndAreLongerNowAreReadFromTheirStart) {
  const auto session = disk_.open();
  ASSERT_FALSE(has(*session, "b"));
  const std::string edited = "{\"id\":\"nobody\"}\n" + disk_.bytes("tombstones.jsonl");
  disk_.write("tombstones.jsonl", edited);
  ASSERT_TRUE(session->add(entry_text("c")).ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  EXPECT_EQ(disk_.bytes("tombstones.jsonl").substr(0, edited.size()), edited);
  EXPECT_EQ(torn_tails(*session), 0);
  for (const char* id : {"a", "b"}) {
    EXPECT_FALSE(has(*session, id)) << id;
    EXPECT_FALSE(has(*disk_.open(), id)) << id;
  }
}

// The disk is full in the middle of several lines, and somebody looks before the first of them are
// cut off again. What then takes their place may be as long, and end where they did.
class WhatWasRefused : public CatchingUp {
 protected:
  void SetUp() override {
    CatchingUp::SetUp();
    for (const char* id : {"x1", "x2", "x3", "x4"}) ASSERT_TRUE(other_->add(entry_text(id)).ok());
    session_ = disk_.open();
    ASSERT_TRUE(has(*session_, "x1"));
  }
  // A call of the other process: the disk takes `taken_bytes` of `name`, and `id` is read before
  // they are cut off. Answers whether it was there.
  template <typename Call>
  bool refuse(std::string_view name, size_t taken_bytes, const Call& call, std::string_view id) {
    return refuse_while(name, taken_bytes, call, [&] { return has(*session_, id); });
  }
  template <typename Call, typename Look>
  bool refuse_while(std::string_view name, size_t taken_bytes, const Call& call, const Look& look) {
    std::optional<bool> was_there;
    disk_.disk.set_fault_hook([&](const io::OperationInfo& done) -> std::optional<io::Fault> {
      if (done.name != name || done.process_id != process_->process_id()) return std::nullopt;
      if (done.kind == io::OperationKind::kAppend) return io::Fault{ENOSPC, taken_bytes};
      if (done.kind == io::OperationKind::kTruncate) was_there = look();
      return std::nullopt;
    });
    EXPECT_EQ(call().code(), Code::kNoSpace);
    disk_.disk.set_fault_hook({});
    EXPECT_TRUE(was_there.has_value());
    return was_there.value_or(false);
  }
  size_t last_line_bytes(std::string_view name) {
    const std::string bytes = disk_.bytes(name);
    return lines_of(bytes).back().size();
  }

  std::shared_ptr<Session> session_;
};

TEST_F(WhatWasRefused, IsNotDeletedForWhoSawItsTombstone) {
  ASSERT_TRUE(other_->remove("x4", "").ok());
  ASSERT_FALSE(refuse(
      "tombstones.jsonl", last_line_bytes("tombstones.jsonl") * 3 / 2,
      [&] { return other_->remove_where(R"({"ids":["x1","x2"]})", "").status(); }, "x1"));
  ASSERT_TRUE(other_->remove("x3", "").ok());
  EXPECT_TRUE(has(*session_, "x1"));
  EXPECT_FALSE(has(*session_, "x3"));
  ASSERT_TRUE(other_->remove("x2", "").ok());
  EXPECT_TRUE(has(*session_, "x1"));
  ASSERT_TRUE(session_->compact({}).ok());
  EXPECT_TRUE(has(*disk_.open(), "x1"));
  EXPECT_FALSE(has(*disk_.open(), "x3"));
}

// With index.bin, the deletions are read before the rows.
TEST_F(WhatWasRefused, IsNotDeletedForWhoOpenedTheSessionThen) {
  ASSERT_TRUE(other_->remove("x4", "").ok());
  session_.reset();
  other_.reset();  // saves index.bin
  other_ = disk_.open(process_.get());
  ASSERT_FALSE(refuse_while(
      "tombstones.jsonl", last_line_bytes("tombstones.jsonl") * 3 / 2,
      [&] { return other_->remove_where(R"({"ids":["x1","x2"]})", "").status(); },
      [&] {
        session_ = disk_.open();
        return *session_->count(R"({"ids":["x1"]})") == 1;
      }));
  ASSERT_TRUE(other_->remove("x3", "").ok());
  EXPECT_TRUE(has(*session_, "x1"));
  EXPECT_FALSE(has(*session_, "x3"));
}

// Nothing tells it that the line it read went, and another came that is as long.
TEST_F(WhatWasRefused, IsNotDroppedByWhoSawItsTombstoneWhole) {
  ASSERT_TRUE(other_->remove("x4", "").ok());
  ASSERT_FALSE(refuse(
      "tombstones.jsonl", last_line_bytes("tombstones.jsonl"),
      [&] { return other_->remove_where(R"({"ids":["x1","x2"]})", "").status(); }, "x1"));
  ASSERT_TRUE(other_->remove("x3", "").ok());
  ASSERT_TRUE(session_->compact({}).ok());
  EXPECT_TRUE(has(*disk_.open(), "x1"));
  EXPECT_TRUE(has(*session_, "x1"));
  EXPECT_FALSE(has(*session_, "x3"));
}

// The last line being one that it read does not tell that those before it are.
TEST_F(WhatWasRefused, IsNotDroppedThoughItsPlaceEndsInADeletionThatWasSeen) {
  ASSERT_TRUE(other_->remove("x4", "").ok());
  ASSERT_FALSE(refuse(
      "tombstones.jsonl", 2 * last_line_bytes("tombstones.jsonl"),
      [&] { return other_->remove_where(R"({"ids":["x1","x2","x3"]})", "").status(); }, "x1"));
  for (const char* id : {"x3", "x2"}) ASSERT_TRUE(other_->remove(id, "").ok());
  ASSERT_TRUE(session_->compact({}).ok());
  EXPECT_TRUE(has(*disk_.open(), "x1"));
  EXPECT_TRUE(has(*session_, "x1"));
  for (const char* id : {"x2", "x3"}) EXPECT_FALSE(has(*session_, id)) << id;
}

TEST_F(WhatWasRefused, IsNotInTheWayOfWhatTookItsPlace) {
  const std::string batch = entry_text("n1") + "\n" + entry_text("n2");
  ASSERT_TRUE(refuse(
      "memory.jsonl", last_line_bytes("memory.jsonl") * 3 / 2,
      [&] { return other_->import_text(batch, {}).status(); }, "n1"));
  ASSERT_TRUE(other_->add(entry_text("n3")).ok());
  EXPECT_FALSE(has(*session_, "n1"));
  EXPECT_TRUE(has(*session_, "n3"));
}

// Who saw a torn tail and finds it cut has nothing to cut, and nothing to tell.
TEST_F(CatchingUp, ATornTailThatAnotherCutIsNoTornTailAnyMore) {
  for (const auto name : {"memory.jsonl", "tombstones.jsonl"}) {
    append_to(name, "torn");
    const auto session = disk_.open();
    ASSERT_TRUE(has(*session, "a"));
    EXPECT_EQ(other_->remove("nobody", "").code(), Code::kNotFound);
    ASSERT_EQ(disk_.bytes(name).find("torn"), std::string::npos) << "or nothing is tested";
    ASSERT_TRUE(has(*session, "a"));
    EXPECT_EQ(session->remove("nobody", "").code(), Code::kNotFound);
    EXPECT_EQ(torn_tails(*session), 0) << name;
  }
  EXPECT_EQ(torn_tails(*other_), 2);
  EXPECT_EQ(disk_.quarantine().size(), 2u);
}

TEST_F(CatchingUp, AWriterKeepsTheLinesOfABatchWhoseWriterDied) {
  host_.context.settings.recovery = Recovery::kSalvage;
  const auto session = disk_.open();
  append_to("memory.jsonl", begin_of_a_batch());
  ASSERT_TRUE(session->add(entry_text("c")).ok());
  for (const auto id : {"a", "x", "y", "c"}) EXPECT_TRUE(has(*session, id)) << id;
  EXPECT_TRUE(session->verify()->get_bool("ok")) << session->verify()->canonical();
}

TEST_F(CatchingUp, WhoWroteOnceShowsNoPartOfABatchThatAnotherIsWriting) {
  host_.context.settings.recovery = Recovery::kSalvage;
  host_.context.settings.durability = log::Durability::kOs;
  const auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("c")).ok());
  const auto writer = *disk_.storage(process_.get());
  ASSERT_TRUE(writer->lock(host_.clock.monotonic_us(), "write", nullptr).ok());
  std::string batch = begin_of_a_batch();
  append_to("memory.jsonl", batch);
  EXPECT_FALSE(has(*session, "x"));
  EXPECT_FALSE(has(*session, "y"));
  writer->unlock();
  EXPECT_TRUE(has(*session, "c"));
}

TEST_F(CatchingUp, ALineThatStandsTwiceIsCountedAsPassedOver) {
  const auto lines = disk_.bytes("memory.jsonl");
  append_to("memory.jsonl", lines_of(lines)[0]);
  const auto session = disk_.open();
  ASSERT_TRUE(has(*session, "a"));
  EXPECT_EQ(member(*session->stats(), "corruption").get_int64("skipped"), 1);
}

TEST_F(CatchingUp, DamagedTombstonesAreCountedAsPassedOver) {
  append_to("tombstones.jsonl", "garbage\n" + entry::seal_tombstone({"x", "", 1}));
  const auto session = disk_.open();
  ASSERT_TRUE(has(*session, "a"));
  EXPECT_EQ(member(*session->stats(), "corruption").get_int64("skipped"), 1);
}

// They are read again by everybody who opens the session, and a compaction leaves them.
TEST_F(CatchingUp, DamagedTombstonesAreCountedOnceHoweverTheIndexWasMade) {
  append_to("tombstones.jsonl", "garbage\n" + entry::seal_tombstone({"x", "", 1}));
  const auto skipped = [](Session& session) {
    return member(*session.stats(), "corruption").get_int64("skipped");
  };
  auto session = disk_.open();
  ASSERT_TRUE(session->sync().ok());
  session = disk_.open();
  EXPECT_EQ(skipped(*session), 1);
  EXPECT_EQ(session->lost_line_count(), 1U);
  ASSERT_TRUE(session->remove("a", "").ok());
  ASSERT_TRUE(session->compact({}).ok());
  EXPECT_EQ(skipped(*session), 1);
  EXPECT_EQ(session->lost_line_count(), 1U);
  session.reset();
  EXPECT_EQ(skipped(*disk_.open()), 1);
}

TEST_F(CatchingUp, EveryRebuildIsCounted) {
  const auto session = disk_.open();
  ASSERT_TRUE(has(*session, "a"));
  const int64_t before = member(*session->stats(), "index").get_int64("rebuilds");
  ASSERT_TRUE(session->rebuild_index().ok());
  EXPECT_EQ(member(*session->stats(), "index").get_int64("rebuilds"), before + 1);
}

TEST_F(CatchingUp, TheLastNumberThereIsIsGivenOut) {
  Metadata metadata = *Metadata::parse(disk_.bytes("metadata.json"), kSessionId);
  const auto highest = static_cast<uint64_t>(entry::kSeqMax);
  metadata.tree().set("compacted_through_seq", json::Tree::integer_unsigned(highest - 1));
  disk_.write("metadata.json", metadata.encode());
  const auto session = disk_.open();
  EXPECT_EQ(session->add_batch("[" + entry_text("x") + "," + entry_text("y") + "]").code(),
            Code::kCorruption);
  ASSERT_TRUE(session->add(entry_text("x")).ok());
  EXPECT_NE(session->get("x")->find("\"seq\":" + std::to_string(highest)), std::string::npos);
  EXPECT_EQ(session->add(entry_text("y")).code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::session
