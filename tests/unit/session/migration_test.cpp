// Logs of version 0: read as they are, and rewritten by the first write.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/hex.h"
#include "base/sha256.h"
#include "planted_index.h"
#include "session/session.h"
#include "session/upkeep/compaction.h"
#include "session_disk.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

constexpr std::string_view kFirst =
    R"({"id":"mem_001","session_id":"sess_001","timestamp":"2026-01-10T10:00:00Z",)"
    R"("type":"conversation","content":{"role":"user","message":"Hello"},"importance":0.5,)"
    R"("decay_factor":1.0,"tags":[],"references":[]})";
constexpr std::string_view kSecond =
    R"({"id":"mem_002","session_id":"sess_001","timestamp":"2026-01-10T10:01:00Z",)"
    R"("type":"conversation","content":{"role":"assistant","message":"Hi!"},"importance":0.5,)"
    R"("decay_factor":1.0,"tags":[],"references":["mem_001"]})";

std::string version_0() { return std::string(kFirst) + "\n" + std::string(kSecond) + "\n"; }

// The line with its checksum, computed here.
std::string sealed(std::string_view before, std::string_view behind) {
  const std::string open(before);
  const std::string bare = open + std::string(behind);
  return open + "\"checksum\":\"sha256:" + to_hex(sha256(bare)) + "\"," + std::string(behind) +
         "\n";
}

std::string version_1() {
  return sealed("{",
                R"("content":{"message":"Hello","role":"user"},"decay_factor":1,"id":"mem_001",)"
                R"("importance":0.5,"references":[],"schema_version":1,"seq":1,)"
                R"("session_id":"sess_1","tags":[],"timestamp":"2026-01-10T10:00:00.000Z",)"
                R"("type":"conversation"})") +
         sealed("{",
                R"("content":{"message":"Hi!","role":"assistant"},"decay_factor":1,"id":"mem_002",)"
                R"("importance":0.5,"references":["mem_001"],"schema_version":1,"seq":2,)"
                R"("session_id":"sess_1","tags":[],"timestamp":"2026-01-10T10:01:00.000Z",)"
                R"("type":"conversation"})");
}

std::string entry(const std::string& id) {
  return R"({"id":")" + id + R"(","type":"finding","content":"x"})";
}

class MigrationTest : public testing::Test {
 protected:
  // A session whose log somebody wrote by hand, without metadata.
  std::shared_ptr<Session> open(const std::string& log) {
    disk_.write(log::kEntriesFile, log);
    return disk_.open();
  }
  [[nodiscard]] std::string log() const { return disk_.bytes(log::kEntriesFile); }
  static std::vector<std::string> ids(Session& session) {
    std::vector<std::string> found;
    const std::string text = *exported_text(session, "jsonl");
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const auto line = std::string_view(text).substr(at, text.find('\n', at) - at);
      found.push_back(json::Tree::parse(line)->get_string("id"));
    }
    return found;
  }
  static void expect_sound(Session& session) {
    const auto report = session.verify();
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
  }

  Host host_;
  SessionDisk disk_{host_};
};

TEST_F(MigrationTest, ReadingAloneChangesNothing) {
  {
    const auto session = open(version_0());
    EXPECT_EQ(ids(*session), (std::vector<std::string>{"mem_001", "mem_002"}));
    EXPECT_EQ(*session->get("mem_002"), kSecond);
    EXPECT_EQ(session->query(R"({"text":"hello"})")->results.size(), 1U);
    EXPECT_EQ(*session->count("{}"), 2U);
    EXPECT_TRUE(session->verify().ok());
    EXPECT_FALSE(session->migrate(true)->get_bool("changed", true));
  }
  EXPECT_EQ(log(), version_0());
  EXPECT_FALSE(disk_.read(log::kMetadataFile));
}

TEST_F(MigrationTest, TheFirstWriteRewritesTheLog) {
  const std::vector<std::function<bool(Session&)>> writes = {
      [](Session& session) { return session.add(entry("new")).ok(); },
      [](Session& session) { return session.remove("mem_002", "").ok(); },
      [](Session& session) { return session.update(R"({"title":"x"})").ok(); }};
  for (const auto& write : writes) {
    SessionDisk disk(host_);
    disk.make();
    disk.write(log::kEntriesFile, version_0());
    const auto session = disk.open();
    ASSERT_TRUE(write(*session));
    EXPECT_TRUE(disk.bytes(log::kEntriesFile).starts_with(version_1()));
    expect_sound(*session);
    session->close();
    const auto metadata = json::Tree::parse(disk.bytes(log::kMetadataFile));
    ASSERT_TRUE(metadata.ok());
    EXPECT_EQ(metadata->get("migrations")->canonical(),
              R"([{"at":"2026-01-10T14:23:45.678Z","from":0,"to":1}])");
    EXPECT_EQ(metadata->get_int64("generation"), 2);
    const auto again = disk.open();
    expect_sound(*again);
    EXPECT_TRUE(again->get("mem_001").ok());
  }
}

TEST_F(MigrationTest, OthersSeeTheNewLogAndGoOn) {
  const auto reader = open(version_0());
  EXPECT_TRUE(reader->get("mem_001").ok());
  const auto process = disk_.disk.process(7);
  const auto writer = disk_.open(process.get());
  ASSERT_TRUE(writer->add(entry("new")).ok());
  EXPECT_EQ(ids(*reader), (std::vector<std::string>{"mem_001", "mem_002", "new"}));
  ASSERT_TRUE(reader->add(entry("newer")).ok());
  EXPECT_EQ(ids(*writer), (std::vector<std::string>{"mem_001", "mem_002", "new", "newer"}));
  expect_sound(*writer);
}

TEST_F(MigrationTest, TellsWhatItDid) {
  const auto session = open(version_0());
  EXPECT_EQ(session->migrate(true)->canonical(),
            R"({"changed":false,"entries":2,"from":0,"quarantined":0,"to":1})");
  EXPECT_EQ(session->migrate(false)->canonical(),
            R"({"changed":true,"entries":2,"from":0,"quarantined":0,"to":1})");
  EXPECT_EQ(log(), version_1());
  EXPECT_EQ(session->migrate(false)->canonical(),
            R"({"changed":false,"entries":2,"from":1,"quarantined":0,"to":1})");
  EXPECT_EQ(log(), version_1());
}

TEST_F(MigrationTest, KeepsTheWordsThatWereIndexed) {
  const auto words_of_entries = [](Session& session) {
    return session.stats()->get("index")->get_int64("words_of_entries");
  };
  // A line that is none, and one that repeats an id, are no rows.
  const std::string log = "nothing\n" + version_0() + std::string(kFirst) + "\n";
  ASSERT_TRUE(open(log)->rebuild_index().ok());
  for (const bool from_file : {true, false}) {
    disk_.write(log::kEntriesFile, log);
    const auto session = disk_.open();
    if (!from_file) {
      ASSERT_TRUE(session->rebuild_index().ok());
    }
    ASSERT_EQ(words_of_entries(*session), 2);
    ASSERT_TRUE(session->add(entry("new" + std::to_string(from_file))).ok());
    EXPECT_EQ(words_of_entries(*session), 2) << "before anybody asks by words";
    EXPECT_EQ(session->query(R"({"text":"hello"})")->results.size(), 1U);
    EXPECT_TRUE(session->verify(true)->get_bool("ok")) << session->verify(true)->canonical();
    EXPECT_EQ(*session->count(R"({"text":"x"})"), 1U);
  }
}

TEST_F(MigrationTest, ALogOfThisVersionStaysByteForByte) {
  disk_.make();
  const auto session = disk_.open();
  ASSERT_TRUE(session->add(entry("a")).ok());
  const std::string first = log();
  // A line by hand among ours is no older log.
  disk_.write(log::kEntriesFile, first + std::string(kFirst) + "\n");
  ASSERT_TRUE(session->add(entry("b")).ok());
  EXPECT_TRUE(log().starts_with(first + std::string(kFirst) + "\n"));
  EXPECT_EQ(session->metadata()->get("migrations"), nullptr);
}

// The lines before it were damaged, or went in a compaction.
TEST_F(MigrationTest, ALineByHandAtTheStartMakesALogOfThisVersionNoOlder) {
  disk_.make();
  const auto session = disk_.open();
  ASSERT_TRUE(session->add(entry("a")).ok());
  const std::string damaged = "{" + log();
  ASSERT_TRUE(session->add(entry("b")).ok());
  const std::string ours = log().substr(damaged.size() - 1);
  session->close();
  const std::string by_hand = std::string(kFirst) + "\n";
  for (const std::string& start : {damaged + by_hand, by_hand}) {
    disk_.write(log::kEntriesFile, start + ours);
    const auto again = disk_.open();
    EXPECT_EQ(again->migrate(true)->get_int64("from"), 1);
    ASSERT_TRUE(again->add(entry("c")).ok());
    EXPECT_TRUE(log().starts_with(start + ours)) << log();
    EXPECT_EQ(again->metadata()->get("migrations"), nullptr);
    EXPECT_TRUE(disk_.quarantine().empty());
    again->close();
  }
}

TEST_F(MigrationTest, ACompactionUpToALineByHandMakesTheLogNoOlder) {
  disk_.make();
  const auto session = disk_.open();
  ASSERT_TRUE(session->add(entry("a")).ok());
  const std::string by_hand = std::string(kFirst) + "\n";
  disk_.write(log::kEntriesFile, log() + by_hand);
  ASSERT_TRUE(session->add(entry("b")).ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  ASSERT_TRUE(session->compact({}).ok());
  const std::string compacted = log();
  ASSERT_TRUE(compacted.starts_with(by_hand)) << compacted;
  ASSERT_TRUE(session->add(entry("c")).ok());
  EXPECT_TRUE(log().starts_with(compacted)) << log();
}

TEST_F(MigrationTest, KeepsUnknownMembersDeletionsAndWhatAddWouldRefuse) {
  const std::string odd =
      R"({"id":"odd","timestamp":"2026-01-10T10:02:00.5+01:00","type":"finding","content":)"
      R"({"n":12345678901234567890},"mood":"fine","tags":["a tag with blanks"],"importance":7})";
  disk_.write(log::kTombstonesFile, "{\"id\":\"mem_001\"}\n");
  const auto session =
      open(std::string(kFirst) + "\r\n\n" + odd + "\n" + std::string(kSecond) + "\n");
  ASSERT_TRUE(session->migrate(false)->get_bool("changed"));
  EXPECT_EQ(ids(*session), (std::vector<std::string>{"odd", "mem_002"}));
  const auto kept = json::Tree::parse(*session->get("odd"));
  EXPECT_EQ(kept->get("content")->canonical(), R"({"n":12345678901234567890})");
  EXPECT_EQ(kept->get_string("mood"), "fine");
  EXPECT_EQ(kept->get("tags")->canonical(), R"(["a tag with blanks"])");
  EXPECT_EQ(kept->get_int64("seq"), 2);
  EXPECT_EQ(kept->get_int64("schema_version"), 1);
  EXPECT_EQ(session->get("mem_001").code(), Code::kNotFound);
  EXPECT_TRUE(disk_.quarantine().empty()) << "blank lines are nobody's";
  expect_sound(*session);
}

// In a log it has no meaning, and as it is read, the entry does not expire.
TEST_F(MigrationTest, KeepsAnEntryWithTtlSecondsAsItIs) {
  const auto session =
      open(version_0() + R"({"id":"ttl","type":"finding","content":"x","ttl_seconds":60,)"
                         R"("timestamp":"2026-01-10T10:02:00Z"})"
                         "\n");
  ASSERT_TRUE(session->get("ttl").ok());
  ASSERT_TRUE(session->add(entry("new")).ok());
  EXPECT_EQ(ids(*session), (std::vector<std::string>{"mem_001", "mem_002", "ttl", "new"}));
  const auto kept = session->get("ttl");
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  const auto tree = json::Tree::parse(*kept);
  EXPECT_EQ(tree->get_int64("ttl_seconds"), 60);
  EXPECT_EQ(tree->get("expires_at"), nullptr);
  EXPECT_EQ(tree->get_int64("seq"), 3);
  expect_sound(*session);
}

TEST_F(MigrationTest, DamagedLinesGoToQuarantine) {
  const std::string damaged = "{\"id\":\"x\"}\nnot JSON\n";
  const std::string repeated = std::string(kFirst) + "\n";
  const std::string torn = "{\"id\":\"half";
  const auto session =
      open(std::string(kFirst) + "\n" + damaged + std::string(kSecond) + "\n" + repeated +
           entry("y").substr(0, 5) + "\n" + std::string(kSecond) + torn);
  EXPECT_EQ(session->migrate(true)->get_int64("entries"), 2);
  ASSERT_TRUE(session->migrate(false)->get_bool("changed"));
  EXPECT_EQ(log(), version_1());
  std::string aside;
  for (const auto& record : disk_.quarantine()) aside += record.bytes;
  EXPECT_NE(aside.find(damaged), std::string::npos);
  EXPECT_NE(aside.find(repeated), std::string::npos);
  EXPECT_NE(aside.find(torn), std::string::npos);
  expect_sound(*session);
}

// More than a scan remembers by place: none of it may be dropped.
TEST_F(MigrationTest, ALotOfDamageIsAllSetAside) {
  std::string text = std::string(kFirst) + "\n";
  for (int i = 0; i < 1500; ++i) {
    text += "{\"damaged\":" + std::to_string(i) + "}\n";
    text += R"({"id":"e)" + std::to_string(i) +
            R"(","timestamp":"2026-01-10T10:00:00Z","type":"finding","content":1})" + "\n";
  }
  const auto session = open(text);
  EXPECT_EQ(session->migrate(false)->get_int64("entries"), 1501);
  EXPECT_EQ(disk_.quarantine().size(), 1500U);
  expect_sound(*session);
}

// An index.bin of somebody else's, with right checksums.
TEST_F(MigrationTest, AWrongIndexDoesNotDecideWhichLinesStay) {
  for (const bool by_a_write : {false, true}) {
    disk_.write(log::kEntriesFile, version_0());
    Planted swapped;
    swapped.facts = [](entry::EntryFacts& facts) {
      facts.id = facts.id == "mem_001" ? "mem_002" : "mem_001";
    };
    plant_index(disk_, swapped);
    const auto session = disk_.open();
    EXPECT_EQ(session->migrate(true)->get_int64("entries"), 2);
    if (by_a_write) {
      plant_index(disk_, swapped);
      ASSERT_TRUE(disk_.open()->add(entry("c")).ok());
    } else {
      EXPECT_EQ(session->migrate(false)->get_int64("entries"), 2);
    }
    EXPECT_FALSE(disk_.read(log::kQuarantineFile).has_value());
    for (const auto id : {"mem_001", "mem_002"}) {
      EXPECT_TRUE(disk_.open()->get(id).ok()) << id;
    }
    expect_sound(*disk_.open());
  }
}

TEST_F(MigrationTest, NumbersGoOnAboveEveryOneThatWasGiven) {
  // A hand-made start, and lines that an earlier library added behind it.
  const auto with_seq = [](const std::string& id, int seq) {
    return R"({"id":")" + id +
           R"(","timestamp":"2026-01-10T10:00:00Z","type":"finding","content":1,"seq":)" +
           std::to_string(seq) + "}\n";
  };
  const auto session = open(std::string(kFirst) + "\n" + with_seq("a", 40) + with_seq("b", 41));
  ASSERT_TRUE(session->add(entry("c")).ok());
  EXPECT_EQ(json::Tree::parse(*session->get("mem_001"))->get_int64("seq"), 39);
  EXPECT_EQ(json::Tree::parse(*session->get("b"))->get_int64("seq"), 41);
  EXPECT_EQ(json::Tree::parse(*session->get("c"))->get_int64("seq"), 42);
  expect_sound(*session);
}

TEST_F(MigrationTest, FilesOfANewerVersionAreRefusedAndStayAsTheyAre) {
  disk_.make();
  const std::string newer =
      R"({"id":"a","schema_version":2,"timestamp":"2026-01-10T10:00:00Z","type":"finding",)"
      R"("content":1})"
      "\n";
  disk_.write(log::kEntriesFile, newer);
  const auto before = disk_.files();
  EXPECT_EQ(disk_.try_open().code(), Code::kFormatVersion);
  EXPECT_EQ(log(), newer);
  disk_.write(log::kEntriesFile, version_0());
  const auto session = disk_.open();
  disk_.write(log::kEntriesFile, version_0() + newer);
  EXPECT_EQ(session->add(entry("b")).code(), Code::kFormatVersion);
  EXPECT_EQ(session->migrate(false).code(), Code::kFormatVersion);
  EXPECT_EQ(log(), version_0() + newer);
  EXPECT_EQ(disk_.read(log::kMetadataFile), before.metadata);
}

TEST_F(MigrationTest, AFullDiskLeavesTheOldLog) {
  const auto session = open(version_0());
  disk_.disk.set_capacity_bytes(version_0().size() + 600);
  EXPECT_EQ(session->add(entry("a")).code(), Code::kNoSpace);
  EXPECT_EQ(log(), version_0());
  disk_.disk.set_capacity_bytes(std::nullopt);
  EXPECT_TRUE(session->add(entry("a")).ok());
  EXPECT_TRUE(log().starts_with(version_1()));
}

// At every moment: the same entries, right, and nothing reported that is not so.
TEST_F(MigrationTest, APowerLossAtAnyMomentLeavesOneOfTheTwoLogs) {
  open(version_0());
  size_t states = 0;
  size_t migrated = 0;
  const auto check = [&](io::SimulatedFileSystem& state) {
    states += 1;
    const std::string found = state.read_file(path_of(log::kEntriesFile)).value_or("");
    ASSERT_TRUE(found == version_0() || found.starts_with(version_1())) << found;
    if (found != version_0()) migrated += 1;
    const auto session = disk_.open(&state);
    const auto alive = ids(*session);
    ASSERT_GE(alive.size(), 2U);
    ASSERT_EQ(alive[0], "mem_001");
    ASSERT_EQ(alive[1], "mem_002");
    ASSERT_EQ(session->stats()->get("corruption")->get_int64("missing"), 0);
    ASSERT_EQ(session->stats()->get("corruption")->get_int64("rollback"), 0);
    ASSERT_EQ(session->stats()->get("corruption")->get_int64("skipped"), 0);
    ASSERT_TRUE(session->add(entry("after")).ok());
    expect_sound(*session);
    const std::string mended = state.read_file(path_of(log::kEntriesFile)).value_or("");
    ASSERT_TRUE(mended.starts_with(version_1()));
  };
  const auto session = disk_.open();
  disk_.disk.set_fault_hook([&](const io::OperationInfo&) {
    disk_.disk.for_each_crash_state([&](auto state, const io::CrashPlan&) { check(*state); }, 12);
    check(*disk_.disk.copy());
    return std::optional<io::Fault>();
  });
  const auto added = session->add(entry("new"));
  disk_.disk.set_fault_hook({});
  ASSERT_TRUE(added.ok()) << added.status().message();
  EXPECT_GT(states, 100U);
  EXPECT_GT(migrated, 20U);
  EXPECT_LT(migrated, states);
}

}  // namespace
}  // namespace varve::session
