// What a session tells while it works: log lines, who holds its lock, how near its limit it is.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class Observation : public testing::Test {
 protected:
  void SetUp() override { disk_.make(); }

  void listen(Level level) { host_.events.set_receiver(level, receive, this); }
  // The lines since the last time, parsed.
  std::vector<json::Tree> told() {
    host_.events.deliver();
    std::vector<json::Tree> lines;
    lines.swap(lines_);
    return lines;
  }
  // "LEVEL message" of each.
  std::vector<std::string> messages() {
    std::vector<std::string> found;
    for (const auto& line : told()) {
      found.push_back(line.get_string("level") + " " + line.get_string("message"));
    }
    return found;
  }
  // What opening the session tells of a file that lacks two lines.
  void expect_loss_of_two(std::string_view file, std::string_view message) {
    listen(Level::kError);
    const auto session = disk_.open();
    const auto lines = told();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].get_string("message"), message);
    const json::Tree details = member(lines[0], "metadata");
    EXPECT_TRUE(details.get_string("file").ends_with(file)) << details.canonical();
    EXPECT_EQ(details.get_int64("missing"), 2);
  }
  static void receive(void* data, int32_t, const char* line, size_t length) {
    auto parsed = json::Tree::parse(std::string_view(line, length));
    ASSERT_TRUE(parsed.ok());
    static_cast<Observation*>(data)->lines_.push_back(*std::move(parsed));
  }

  Host host_;
  SessionDisk disk_{host_};
  std::vector<json::Tree> lines_;
};

using Messages = std::vector<std::string>;

TEST_F(Observation, ALineHasExactlyTheMembersOfTheDesign) {
  listen(Level::kDebug);
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  session.reset();
  const auto lines = told();
  ASSERT_GE(lines.size(), 5u);
  for (const auto& line : lines) {
    std::vector<std::string> names;
    for (const auto& [name, value] : line.members()) names.push_back(name);
    EXPECT_EQ(names,
              (Messages{"component", "level", "message", "metadata", "session_id", "timestamp"}));
    EXPECT_EQ(line.get_string("session_id"), kSessionId);
    EXPECT_TRUE(member(line, "metadata").is_object());
  }
}

TEST_F(Observation, TheLifeOfASessionIsInfo) {
  listen(Level::kInfo);
  auto session = disk_.open();
  EXPECT_EQ(messages(), (Messages{"INFO session opened"}));
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  ASSERT_TRUE(session->get("a").ok());
  EXPECT_EQ(messages(), Messages{});
  session->close();
  session.reset();
  EXPECT_EQ(messages(), (Messages{"INFO session closed"})) << "once";
}

TEST_F(Observation, TheLockIsDebugWithItsTimes) {
  auto session = disk_.open();
  listen(Level::kDebug);
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kLock) host_.clock.advance_ms(2);
    if (operation.kind == io::OperationKind::kAppend) host_.clock.advance_ms(5);
    return std::nullopt;
  });
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  disk_.disk.set_fault_hook({});
  const auto lines = told();
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].get_string("message"), "lock acquired");
  EXPECT_EQ(lines[0].get_string("level"), "DEBUG");
  EXPECT_EQ(member(lines[0], "metadata").canonical(), R"({"operation":"write","wait_ms":2})");
  EXPECT_EQ(lines[1].get_string("message"), "lock released");
  EXPECT_EQ(member(lines[1], "metadata").canonical(), R"({"hold_ms":5,"operation":"write"})");
  EXPECT_EQ(member(lines[2], "metadata").canonical(), R"({"operation":"delete","wait_ms":2})");
}

TEST_F(Observation, ALockThatIsNotHadIsAWarning) {
  auto session = disk_.open();
  const auto other = disk_.disk.process(7);
  auto storage = *disk_.storage(other.get());
  ASSERT_TRUE(storage->lock(0, "write", nullptr).ok());
  listen(Level::kDebug);
  ASSERT_EQ(session->add(entry_text("a")).code(), Code::kBusy);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].get_string("level"), "WARN");
  EXPECT_EQ(lines[0].get_string("message"), "lock timeout");
  EXPECT_EQ(member(lines[0], "metadata").get_string("operation"), "write");
  EXPECT_EQ(member(lines[0], "metadata").get_double("wait_ms"), 5000);
  EXPECT_EQ(host_.counters.lock_waits.load(), 1u);
  EXPECT_EQ(host_.counters.lock_timeouts.load(), 1u);
  EXPECT_EQ(host_.counters.lock_wait_us.snapshot().sum, 5'000'000u);
}

TEST_F(Observation, ACompactionTellsItsStartAndItsEndAndIsCounted) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  ASSERT_TRUE(session->add(entry_text("kept")).ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  listen(Level::kInfo);
  ASSERT_TRUE(session->compact({}).ok());
  const auto lines = told();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].get_string("message"), "session compaction started");
  EXPECT_EQ(lines[1].get_string("message"), "session compaction completed");
  const json::Tree& details = member(lines[1], "metadata");
  EXPECT_EQ(details.get_string("cause"), "asked");
  EXPECT_EQ(details.get_int64("entries_before"), 2);
  EXPECT_EQ(details.get_int64("entries_after"), 1);
  EXPECT_EQ(details.get("dropped")->get_int64("deleted"), 1);
  EXPECT_EQ(host_.counters.compactions.load(), 1u);
  EXPECT_EQ(host_.counters.compaction_us.snapshot().count, 1u);
  CompactionOptions purge;
  purge.cause = CompactionCause::kPurge;
  ASSERT_TRUE(session->compact(purge).ok());
  EXPECT_EQ(host_.counters.purges.load(), 1u);
  EXPECT_EQ(host_.counters.compactions.load(), 1u) << "a purge is none";
}

TEST_F(Observation, WhatACompactionTakesIsCountedByItsRule) {
  auto session = disk_.open();
  const std::string old = R"(,"timestamp":"2020-01-01T00:00:00Z","importance":0.1})";
  ASSERT_TRUE(session->add(R"({"id":"old","type":"finding","content":"x")" + old).ok());
  ASSERT_TRUE(
      session->add(R"({"id":"short","type":"finding","content":"x","ttl_seconds":60})").ok());
  host_.clock.advance_ms(61'000);
  CompactionOptions evicting;
  evicting.evict_below = 0.05;
  ASSERT_TRUE(session->compact(evicting).ok());
  EXPECT_EQ(host_.counters.entries_expired.load(), 1u);
  EXPECT_EQ(host_.counters.entries_evicted.load(), 1u);
}

TEST_F(Observation, TheIndexIsACacheThatIsHitOrMissed) {
  listen(Level::kDebug);
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  session.reset();
  auto lines = told();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0].get_string("message"), "cache miss");
  EXPECT_EQ(member(lines[0], "metadata").get_string("file"), "index.bin");
  EXPECT_EQ(host_.counters.index_loads.load(), 0u);
  session = disk_.open();
  lines = told();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines[0].get_string("message"), "cache hit");
  EXPECT_EQ(member(lines[0], "metadata").get_int64("entries"), 1);
  EXPECT_EQ(host_.counters.index_loads.load(), 1u);
}

TEST_F(Observation, AMissingIndexIsNoWarningAndADamagedOneIs) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  listen(Level::kInfo);
  auto other = disk_.open();
  EXPECT_EQ(messages(), (Messages{"INFO index rebuilt from the log", "INFO session opened"}));
  other.reset();
  session.reset();
  disk_.write("index.bin", "not an index");
  (void)told();
  session = disk_.open();
  EXPECT_EQ(messages(), (Messages{"WARN index rebuilt from the log", "INFO session opened"}));
}

TEST_F(Observation, AFailureOfTheDiskIsAnErrorWithItsPlace) {
  auto session = disk_.open();
  listen(Level::kWarn);
  disk_.disk.set_fault_hook(io::FailNth(1, EIO, false, {io::OperationKind::kAppend}));
  ASSERT_EQ(session->add(entry_text("a")).code(), Code::kIo);
  disk_.disk.set_fault_hook({});
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].get_string("level"), "ERROR");
  EXPECT_EQ(lines[0].get_string("message"), "write failed");
  EXPECT_EQ(member(lines[0], "metadata").get_int64("errno"), EIO);
  EXPECT_NE(member(lines[0], "metadata").get_string("file").find("memory.jsonl"),
            std::string::npos);
  EXPECT_EQ(host_.counters.io_errors.load(), 1u);
  ASSERT_EQ(session->add(R"({"type":"message"})").code(), Code::kInvalidArgument);
  EXPECT_EQ(messages(), Messages{}) << "what the caller did wrong is no event";
}

TEST_F(Observation, AnEntryThatChangedOnDiskIsAnError) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  std::string log = disk_.bytes(log::kEntriesFile);
  log[log.find("hello")] = 'j';
  disk_.write(log::kEntriesFile, log);
  listen(Level::kWarn);
  const auto got = session->get("a");
  ASSERT_EQ(got.code(), Code::kCorruption);
  const auto lines = told();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back().get_string("level"), "ERROR");
  EXPECT_EQ(lines.back().get_string("message"), "an entry cannot be read");
  EXPECT_EQ(member(lines.back(), "metadata").get_int64("offset", -1), 0);
  EXPECT_GE(host_.counters.corruption_errors.load(), 1u);
}

TEST_F(Observation, ComingNearTheLimitIsAWarningOnceUntilThereIsRoomAgain) {
  constexpr uint64_t kLimit = 10'000;
  host_.context.settings.session_bytes_max = kLimit;
  host_.context.settings.compaction.automatic = false;
  auto session = disk_.open();
  listen(Level::kWarn);
  const auto size = [&] {
    return disk_.bytes(log::kEntriesFile).size() + disk_.bytes(log::kTombstonesFile).size() +
           disk_.bytes("index.bin").size();
  };
  int count = 0;
  const auto fill_to = [&](uint64_t bytes) {
    while (size() + 300 < bytes) {
      ASSERT_TRUE(session->add(entry_text("e" + std::to_string(count++))).ok());
    }
  };
  fill_to(kLimit / 10 * 9);
  EXPECT_EQ(messages(), Messages{});
  fill_to(kLimit / 10 * 9 + 600);
  ASSERT_GT(size(), kLimit / 10 * 9);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1u) << "once";
  EXPECT_EQ(lines[0].get_string("level"), "WARN");
  EXPECT_EQ(lines[0].get_string("message"), "the session approaches its size limit");
  EXPECT_EQ(member(lines[0], "metadata").get_int64("limit_bytes"), 10'000);
  EXPECT_GT(member(lines[0], "metadata").get_int64("size_bytes"), 9'000);
  // A repair makes room: half of the log is damaged and goes.
  std::string log = disk_.bytes(log::kEntriesFile);
  for (size_t at = log.find("hello"); at != std::string::npos && at < log.size() / 2;
       at = log.find("hello", at + 1)) {
    log[at] = 'j';
  }
  disk_.write(log::kEntriesFile, log);
  ASSERT_TRUE(session->repair(false).ok());
  ASSERT_LT(size(), kLimit / 10 * 8);
  ASSERT_TRUE(session->add(entry_text("z")).ok());
  (void)told();
  fill_to(kLimit / 10 * 9 + 300);
  Messages warnings = messages();
  EXPECT_EQ(warnings, (Messages{"WARN the session approaches its size limit"})) << "again";
}

TEST_F(Observation, MetadataThatCannotBeReadIsToldWithItsFile) {
  { ASSERT_TRUE(disk_.open()->add(entry_text("a", "tea")).ok()); }
  disk_.write(log::kMetadataFile, "{");
  listen(Level::kError);
  const auto session = disk_.open();
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].get_string("message").starts_with("metadata.json cannot be read: "));
  EXPECT_EQ(member(lines[0], "metadata").get_string("file"), path_of(log::kMetadataFile));
}

// As architecture.md says of a query: it was right when it was indexed.
TEST_F(Observation, AnEntryThatAQueryFindsAndCannotReadIsLeftOutCountedAndTold) {
  host_.context.settings.cached_entries_max = 0;
  auto session = disk_.open();
  for (const std::string id : {"a", "b"}) {
    ASSERT_TRUE(session->add(entry_text(id, "hello tea")).ok());
  }
  const std::string phrase = R"({"text":"\"hello tea\""})";
  ASSERT_EQ(session->query(phrase)->results.size(), 2U);
  listen(Level::kError);
  std::string log = disk_.bytes(log::kEntriesFile);
  const size_t at = log.rfind("hello");
  log[at] = 'j';
  disk_.write(log::kEntriesFile, log);
  const auto found = session->query(R"({"sort_by":"time"})");
  ASSERT_TRUE(found.ok()) << found.status().message();
  ASSERT_EQ(found->results.size(), 1U);
  EXPECT_EQ(found->results[0].id(), "a");
  EXPECT_EQ(host_.counters.lines_skipped.load(), 1U);
  const auto lines = told();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].get_string("message"), "an entry that was found cannot be read");
  EXPECT_EQ(member(lines[0], "metadata").get_string("file"), path_of(log::kEntriesFile));
  EXPECT_EQ(member(lines[0], "metadata").get_count("offset"), log.rfind('\n', at) + 1);
  // Whether it has a phrase nobody can tell; the others are found.
  const auto held = session->query(phrase);
  ASSERT_TRUE(held.ok()) << held.status().message();
  ASSERT_EQ(held->results.size(), 1U);
  EXPECT_EQ(held->results[0].id(), "a");
}

TEST_F(Observation, WithoutALimitNothingIsNear) {
  host_.context.settings.session_bytes_max = 0;
  auto session = disk_.open();
  listen(Level::kWarn);
  ASSERT_TRUE(session->add(entry_text("a", std::string(20'000, 'x'))).ok());
  EXPECT_EQ(messages(), Messages{});
  EXPECT_EQ(session->stats()->get_int64("size_limit_bytes", -1), 0);
}

TEST_F(Observation, WhoHoldsTheLockIsTold) {
  auto session = disk_.open();
  EXPECT_EQ(member(*session->stats(), "lock").canonical(), R"({"held":false})");
  const auto other = disk_.disk.process(4711);
  auto storage = *disk_.storage(other.get());
  ASSERT_TRUE(storage->lock(0, "repair", nullptr).ok());
  EXPECT_EQ(member(*session->stats(), "lock").canonical(),
            R"({"held":true,"operation":"repair","process_id":4711,)"
            R"("since":"2026-01-10T14:23:45.678Z"})");
  storage->unlock();
  EXPECT_EQ(member(*session->stats(), "lock").canonical(), R"({"held":false})");
}

TEST_F(Observation, ALossAtTheEndNamesTheFileAndTheWaysOut) {
  const auto session = disk_.open();
  for (const auto* id : {"a", "b", "c"}) ASSERT_TRUE(session->add(entry_text(id)).ok());
  session->close();
  const std::string log = disk_.bytes(log::kEntriesFile);
  disk_.write(log::kEntriesFile, log.substr(0, log.find('\n') + 1));
  expect_loss_of_two("/memory.jsonl",
                     "entries that were durable are missing at the end of the log: restore a copy "
                     "that has them, or accept the loss with repair");
}

TEST_F(Observation, LostDeletionsNameTheFileAndTheWaysOut) {
  const auto session = disk_.open();
  for (const auto* id : {"a", "b"}) ASSERT_TRUE(session->add(entry_text(id)).ok());
  for (const auto* id : {"a", "b"}) ASSERT_TRUE(session->remove(id, "").ok());
  session->close();
  disk_.write(log::kTombstonesFile, "");
  expect_loss_of_two("/tombstones.jsonl",
                     "deletions that were durable are missing, and what they deleted may be back: "
                     "put tombstones.jsonl back from a copy that has them, or accept the loss with "
                     "repair");
}

TEST_F(Observation, WhenTheLogChangedIsTold) {
  disk_.disk.set_now_ms(test::kStartMs);
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  EXPECT_EQ(session->stats()->get_string("modified"), "2026-01-10T14:23:45.678Z");
  disk_.disk.set_now_ms(test::kStartMs + 1000);
  ASSERT_TRUE(session->remove("a", "").ok());
  EXPECT_EQ(session->stats()->get_string("modified"), "2026-01-10T14:23:46.678Z");
}

}  // namespace
}  // namespace varve::session
