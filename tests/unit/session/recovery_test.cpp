// Logs and metadata as bad days leave them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session/session.h"
#include "session_disk.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

class Recovery : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    auto session = disk_.open();
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i))).ok());
    }
    session->close();
    whole_ = disk_.files();
    for (const auto line : lines_of(*whole_.entries)) lines_.emplace_back(line);
  }

  // Opens anew after `text` was put in place of memory.jsonl.
  std::shared_ptr<Session> open_with(std::string_view text) {
    disk_.write(log::kEntriesFile, text);
    return disk_.open();
  }
  [[nodiscard]] std::string joined(size_t from, size_t to) const {
    std::string text;
    for (size_t i = from; i < to; ++i) text += lines_[i];
    return text;
  }
  static std::string problems(Session& session) {
    const auto report = session.verify();
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? report->canonical() : "";
  }
  // Nothing can be moved away or filled in: without that no strict store would open it any more.
  void expect_order_accepted(const std::string& text) {
    const auto session = open_with(text);
    EXPECT_NE(problems(*session).find("out of order"), std::string::npos) << problems(*session);
    const auto report = session->repair(false);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(report->get_bool("changed"));
    EXPECT_EQ(report->get_int64("quarantined"), 0);
    EXPECT_EQ(disk_.bytes(log::kEntriesFile), text);
    EXPECT_TRUE(session->verify()->get_bool("ok")) << problems(*session);
    EXPECT_FALSE(session->repair(false)->get_bool("changed", true));
  }
  static int64_t entries(Session& session) { return session.stats()->get_int64("entries"); }
  static int64_t corruption(Session& session, std::string_view name) {
    return member(*session.stats(), "corruption").get_int64(name);
  }

  Host host_;
  SessionDisk disk_{host_};
  SessionFiles whole_;
  std::vector<std::string> lines_;
};

// --- a log that ends too early
// ---------------------------------------------------------------------

TEST_F(Recovery, ARestoredOlderLogIsReportedAsARollback) {
  const auto session = open_with(joined(0, 6));
  EXPECT_EQ(entries(*session), 6);
  EXPECT_EQ(corruption(*session, "rollback"), 4);
  EXPECT_NE(problems(*session).find("the log ends too early: 4 entries are missing: seq 7 to 10"),
            std::string::npos)
      << problems(*session);
  // What is added goes on after what was lost, so that the loss stays visible.
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  EXPECT_NE(session->get("after")->find("\"seq\":11,"), std::string::npos);
  EXPECT_EQ(corruption(*session, "missing"), 4);
  EXPECT_NE(problems(*session).find("4 entries are missing: seq 7 to 10"), std::string::npos);
}

TEST_F(Recovery, ALogThatIsGoneIsARollbackNotANewSession) {
  Host host;
  SessionDisk disk(host);
  disk.put(whole_);
  disk.remove(log::kEntriesFile);
  const auto session = disk.open();
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(entries(*session), 0);
  EXPECT_EQ(corruption(*session, "rollback"), 10);
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  EXPECT_NE(session->get("after")->find("\"seq\":11,"), std::string::npos);
}

TEST_F(Recovery, AnEmptyLogIsARollback) {
  const auto session = open_with("");
  EXPECT_EQ(entries(*session), 0);
  EXPECT_EQ(corruption(*session, "rollback"), 10);
  EXPECT_NE(problems(*session).find("10 entries are missing: seq 1 to 10"), std::string::npos);
}

TEST_F(Recovery, TheLockFileAloneTellsOfARollback) {
  // Killed before metadata.json was saved: only the lock file knows how far it was.
  Host host;
  SessionDisk disk(host);
  disk.make();
  const std::string metadata = disk.bytes(log::kMetadataFile);
  auto session = disk.open();
  for (const auto id : {"a", "b", "c"}) ASSERT_TRUE(session->add(entry_text(id)).ok());
  const std::string log = disk.bytes(log::kEntriesFile);
  session.reset();
  disk.write(log::kMetadataFile, metadata);
  disk.write(log::kEntriesFile, lines_of(log)[0]);
  session = disk.open();
  EXPECT_EQ(corruption(*session, "rollback"), 2);
}

TEST_F(Recovery, RepairAcceptsARollbackAndVerifyIsQuietAfterwards) {
  auto session = open_with(joined(0, 6));
  const auto dry = session->repair(true);
  ASSERT_TRUE(dry.ok());
  EXPECT_EQ(dry->get_int64("missing"), 4);
  EXPECT_FALSE(dry->get_bool("changed"));
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), joined(0, 6));
  const auto report = session->repair(false);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->get_bool("changed"));
  EXPECT_EQ(report->get_int64("missing"), 4);
  EXPECT_EQ(report->get_int64("entries"), 6);
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(session->verify()->get_bool("ok")) << problems(*session);
    EXPECT_EQ(corruption(*session, "rollback"), 0);
    session = nullptr;
    session = disk_.open();
  }
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  EXPECT_NE(session->get("after")->find("\"seq\":11,"), std::string::npos);
  EXPECT_TRUE(session->verify()->get_bool("ok")) << problems(*session);
}

// --- damage in the middle
// --------------------------------------------------------------------------

TEST_F(Recovery, ADamagedLineInTheMiddleStaysIsReportedAndHidesNothingBehindIt) {
  std::string damaged = lines_[4];
  damaged[damaged.find("hello")] = 'j';
  const std::string log = joined(0, 4) + damaged + joined(5, 10);
  disk_.remove("index.bin");
  auto session = open_with(log);
  EXPECT_EQ(entries(*session), 9);
  EXPECT_EQ(session->get("e4").code(), Code::kCorruption);
  for (const auto id : {"e0", "e3", "e5", "e9"}) EXPECT_TRUE(session->get(id).ok()) << id;
  EXPECT_EQ(corruption(*session, "skipped"), 1);
  const auto report = session->verify();
  EXPECT_FALSE(report->get_bool("ok"));
  EXPECT_EQ(report->get_int64("damaged"), 1);
  const json::Tree& first = member(*report, "problems").items().front();
  EXPECT_NE(report->canonical().find("\"offset\":" + std::to_string(joined(0, 4).size())),
            std::string::npos)
      << report->canonical();
  EXPECT_EQ(first.get_string("file"), "memory.jsonl");
  // Adding, closing and opening leave it where it is.
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  session.reset();
  EXPECT_EQ(disk_.bytes(log::kEntriesFile).substr(0, log.size()), log);
  EXPECT_FALSE(disk_.read(log::kQuarantineFile).has_value());
}

TEST_F(Recovery, RepairMovesDamageToQuarantineAndKeepsWhatIsWholeByteForByte) {
  std::string damaged = lines_[4];
  damaged[damaged.find("hello")] = 'j';
  const std::string nuls(200, '\0');
  const std::string torn = "{\"content\":\"to";
  auto session = open_with(joined(0, 4) + damaged + lines_[5] + nuls + "\n" + joined(6, 10) + torn);
  const auto before = session->repair(true);
  EXPECT_EQ(before->get_int64("quarantined"), 3) << before->canonical();
  EXPECT_FALSE(disk_.read(log::kQuarantineFile).has_value());
  const auto report = session->repair(false);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("quarantined"), 3) << report->canonical();
  EXPECT_EQ(report->get_int64("entries"), 9);
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), joined(0, 4) + joined(5, 10));
  EXPECT_EQ(report->get_int64("bytes_after"),
            static_cast<int64_t>(disk_.bytes(log::kEntriesFile).size()));
  std::vector<std::string> kept;
  for (const auto& record : disk_.quarantine()) kept.push_back(record.bytes);
  EXPECT_EQ(kept, (std::vector<std::string>{torn, damaged, nuls + "\n"}));
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(session->verify()->get_bool("ok")) << problems(*session);
    EXPECT_EQ(entries(*session), 9);
    const auto again = session->repair(false);
    EXPECT_FALSE(again->get_bool("changed")) << again->canonical();
    session.reset();
    session = disk_.open();
  }
}

TEST_F(Recovery, AHandEditedLastLineIsKeptAsDamage) {
  std::string edited = lines_[9];
  edited[edited.find("hello")] = 'j';
  const auto session = open_with(joined(0, 9) + edited);
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  EXPECT_TRUE(disk_.bytes(log::kEntriesFile).starts_with(joined(0, 9) + edited));
  EXPECT_FALSE(disk_.read(log::kQuarantineFile).has_value());
  EXPECT_EQ(corruption(*session, "skipped"), 1);
  EXPECT_EQ(session->get("e9").code(), Code::kCorruption);
  EXPECT_TRUE(session->get("after").ok());
}

TEST_F(Recovery, LinesThatAreMissingAreCountedAndToldByTheirNumbers) {
  const auto session = open_with(joined(0, 3) + joined(5, 6) + joined(7, 10));
  EXPECT_EQ(corruption(*session, "missing"), 3);
  const std::string report = problems(*session);
  EXPECT_NE(report.find("2 entries are missing: seq 4 to 5"), std::string::npos) << report;
  EXPECT_NE(report.find("1 entry is missing: seq 7"), std::string::npos) << report;
}

TEST_F(Recovery, ALineThatStandsTwiceIsReportedAndRepaired) {
  auto session = open_with(joined(0, 10) + lines_[2]);
  EXPECT_EQ(entries(*session), 10);
  EXPECT_NE(problems(*session).find("has the same id 'e2'"), std::string::npos);
  ASSERT_TRUE(session->repair(false).ok());
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), joined(0, 10));
  EXPECT_TRUE(session->verify()->get_bool("ok")) << problems(*session);
}

TEST_F(Recovery, LinesThatChangedPlacesAreReported) {
  const auto session = open_with(joined(0, 3) + lines_[4] + lines_[3] + joined(5, 10));
  EXPECT_NE(problems(*session).find("out of order"), std::string::npos) << problems(*session);
  EXPECT_EQ(entries(*session), 10);
}

TEST_F(Recovery, ARepairAcceptsTheOrderOfTheLines) {
  expect_order_accepted(joined(0, 3) + lines_[4] + lines_[3] + joined(5, 10));
}

TEST_F(Recovery, ARepairAcceptsANumberThatStandsTwice) {
  const std::string again = R"({"id":"by-hand","seq":4,"type":"finding","content":1,)"
                            R"("timestamp":"2026-01-10T14:23:45Z"})"
                            "\n";
  expect_order_accepted(joined(0, 7) + again + joined(7, 10));
}

TEST_F(Recovery, DamageThatTheIndexDoesNotKnowOfIsToldByGet) {
  std::string damaged = lines_[4];
  damaged[damaged.find("hello")] = 'j';
  const auto session = open_with(joined(0, 4) + damaged + joined(5, 10));
  const auto got = session->get("e4");
  EXPECT_EQ(got.code(), Code::kCorruption) << got.status().message();
  EXPECT_EQ(got.status().place().offset, joined(0, 4).size());
  EXPECT_EQ(entries(*session), 9);
  EXPECT_TRUE(session->get("e5").ok());
  EXPECT_EQ(session->get("never").code(), Code::kNotFound);
}

TEST_F(Recovery, DamageWhileTheSessionIsOpenIsToldByGet) {
  disk_.remove("index.bin");
  const auto session = disk_.open();
  const auto right = session->get("e3");
  ASSERT_TRUE(right.ok());
  std::string log = *whole_.entries;
  log[joined(0, 3).size() + lines_[3].find("hello")] = 'j';
  log[joined(0, 4).size() + lines_[4].find("hello")] = 'j';
  // The same file, not a new one in its place.
  auto file =
      (*disk_.disk.open_root(kFolder, false))->open("memory.jsonl", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE((*file)->write_at(0, log).ok());
  const auto damaged = session->get("e4");
  EXPECT_EQ(damaged.code(), Code::kCorruption);
  EXPECT_EQ(damaged.status().place().offset, joined(0, 4).size());
  EXPECT_TRUE(damaged.status().place().path.ends_with("memory.jsonl"));
  EXPECT_EQ(*session->get("e3"), *right) << "what was read lately is given as it was";
  EXPECT_TRUE(session->get("e5").ok());
  EXPECT_EQ(exported_text(*session, "jsonl").code(), Code::kCorruption);
  EXPECT_FALSE(session->verify()->get_bool("ok"));
}

// --- logs of other makers
// --------------------------------------------------------------------------

TEST_F(Recovery, AHandMadeLogIsRead) {
  const std::string line1 =
      "{ \"type\": \"decision\", \"id\": \"h1\",  \"content\": {\"text\": \"by hand\"}, "
      "\"timestamp\": \"2026-01-10T15:23:45+01:00\" }\r\n";
  const std::string line2 =
      "{\"content\":1,\"id\":\"h2\",\"session_id\":\"sess_1\","
      "\"timestamp\":\"2026-01-10T14:23:46Z\",\"type\":\"message\"}\n";
  disk_.write(log::kMetadataFile, *whole_.metadata);
  const auto session = open_with("\r\n" + line1 + "\n   \n" + line2 + lines_[0]);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(entries(*session), 3) << problems(*session);
  EXPECT_EQ(corruption(*session, "skipped"), 0);
  const auto got = session->get("h1");
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(json::Tree::parse(*got)->get_string("timestamp"), "2026-01-10T15:23:45+01:00");
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  // Its first entry with a number is of version 1: what was written by hand before it stays.
  EXPECT_EQ(*session->get("h1"), *got);
  EXPECT_TRUE(disk_.bytes(log::kEntriesFile).starts_with("\r\n" + line1 + "\n   \n" + line2));
  EXPECT_EQ(lines_of(*exported_text(*session, "jsonl")).size(), 4u);
}

TEST_F(Recovery, TwoLinesJoinedAreDamageAndTheRestIsThere) {
  const std::string fused = lines_[3].substr(0, lines_[3].size() - 1) + lines_[4];
  const auto session = open_with(joined(0, 3) + fused + joined(5, 10));
  EXPECT_EQ(entries(*session), 8);
  EXPECT_EQ(corruption(*session, "skipped"), 1);
}

TEST_F(Recovery, ALastLineWithoutItsLineEndGoesToQuarantineWithTheNextAdd) {
  const std::string last = lines_[9].substr(0, lines_[9].size() - 1);
  const auto session = open_with(joined(0, 9) + last);
  EXPECT_EQ(session->get("e9").code(), Code::kNotFound);
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), joined(0, 9) + last) << "reading changes nothing";
  EXPECT_NE(problems(*session).find("torn tail: the last line has no line end"), std::string::npos);
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  ASSERT_EQ(disk_.quarantine().size(), 1u);
  EXPECT_EQ(disk_.quarantine()[0].bytes, last);
  EXPECT_EQ(corruption(*session, "torn_tails"), 1);
}

TEST_F(Recovery, AnEntryOfANewerVersionIsRefusedAndNothingIsTouched) {
  const std::string newer =
      R"({"content":1,"id":"n","schema_version":2,"timestamp":"2026-01-10T14:23:46Z","type":"m"})";
  disk_.write(log::kEntriesFile, joined(0, 3) + newer + "\n" + joined(3, 10));
  const SessionFiles before = disk_.files();
  const auto opened = disk_.try_open();
  EXPECT_EQ(opened.code(), Code::kFormatVersion);
  EXPECT_TRUE(opened.status().place().path.ends_with("memory.jsonl"));
  EXPECT_EQ(opened.status().place().offset, joined(0, 3).size());
  EXPECT_EQ(disk_.files().entries, before.entries);
  EXPECT_EQ(disk_.files().metadata, before.metadata);
  EXPECT_EQ(disk_.files().snapshot, before.snapshot);
}

TEST_F(Recovery, ANewerLineThatArrivesWhileOpenStopsWritesAndLosesNothing) {
  const auto session = disk_.open();
  const std::string newer =
      R"({"content":1,"id":"n","schema_version":2,"timestamp":"2026-01-10T14:23:46Z","type":"m"})";
  auto file = (*disk_.disk.open_root(kFolder, false))->open("memory.jsonl", io::OpenMode::kAppend);
  ASSERT_TRUE((*file)->append(newer + "\n").ok());
  EXPECT_EQ(session->add(entry_text("a")).code(), Code::kFormatVersion);
  EXPECT_EQ(session->get("e1").code(), Code::kFormatVersion);
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), *whole_.entries + newer + "\n");
}

// --- numbers that nobody could count to
// --------------------------------------------------------------

TEST_F(Recovery, AbsurdNumbersInMetadataDoNotEndTheLog) {
  for (const std::string number : {"9223372036854775807", "18446744073709551615", "-5", "1e300"}) {
    for (const std::string name : {"durable_seq", "compacted_through_seq"}) {
      Host host;
      SessionDisk disk(host);
      SessionFiles files = whole_;
      auto metadata = json::Tree::parse(*whole_.metadata);
      metadata->erase("checksum");
      metadata->set(name, *json::Tree::parse(number));
      files.metadata = metadata->pretty();
      disk.put(files);
      auto session = disk.open();
      ASSERT_NE(session, nullptr);
      ASSERT_TRUE(session->add(entry_text("after")).ok()) << name << " " << number;
      session.reset();
      session = disk.open();
      EXPECT_TRUE(session->get("after").ok()) << name << " " << number;
      EXPECT_EQ(entries(*session), 11) << name << " " << number;
    }
  }
}

TEST_F(Recovery, AnAbsurdSeqInALineIsDamageAndTheHighestOneRefusesMore) {
  const auto line_with = [](const std::string& seq) {
    return R"({"content":1,"id":"huge","seq":)" + seq +
           R"(,"timestamp":"2026-01-10T14:23:46Z","type":"m"})" + "\n";
  };
  auto session = open_with(joined(0, 10) + line_with("18446744073709551615"));
  ASSERT_TRUE(session->add(entry_text("after")).ok());
  session.reset();
  session = disk_.open();
  EXPECT_TRUE(session->get("after").ok());
  EXPECT_EQ(session->get("huge").code(), Code::kCorruption);
  session.reset();

  session = open_with(joined(0, 10) + line_with("9007199254740991"));
  EXPECT_TRUE(session->get("huge").ok());
  EXPECT_EQ(session->add(entry_text("after")).code(), Code::kCorruption);
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), joined(0, 10) + line_with("9007199254740991"));
}

// --- metadata.json
// -----------------------------------------------------------------------------------

TEST_F(Recovery, DamagedMetadataOpensAndItsBytesAreKept) {
  const std::string damaged = whole_.metadata->substr(0, 100) + std::string(50, '\0');
  disk_.write(log::kMetadataFile, damaged);
  auto session = disk_.open();
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(entries(*session), 10);
  EXPECT_TRUE(member(*session->stats(), "corruption").get_bool("metadata"));
  EXPECT_NE(problems(*session).find("metadata.json"), std::string::npos);
  EXPECT_EQ(disk_.bytes(log::kMetadataFile), damaged) << "reading changes nothing";
  ASSERT_TRUE(session->update(R"({"title":"saved"})").ok());
  ASSERT_EQ(disk_.quarantine().size(), 1u);
  EXPECT_EQ(disk_.quarantine()[0].file, "metadata.json");
  EXPECT_EQ(disk_.quarantine()[0].bytes, damaged);
  session.reset();
  session = disk_.open();
  EXPECT_EQ(session->metadata()->get_string("title"), "saved");
  EXPECT_EQ(session->metadata()->get_string("session_id"), kSessionId);
  EXPECT_EQ(session->metadata()->get_int64("total_entries"), 10);
  EXPECT_TRUE(session->verify()->get_bool("ok")) << problems(*session);
  EXPECT_EQ(disk_.quarantine().size(), 1u);
}

TEST_F(Recovery, MissingMetadataIsMadeAnew) {
  Host host;
  SessionDisk disk(host);
  disk.put(whole_);
  disk.remove(log::kMetadataFile);
  auto session = disk.open();
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(entries(*session), 10);
  EXPECT_NE(problems(*session).find("it is missing; put it in order, or let repair make a new one"),
            std::string::npos);
  ASSERT_TRUE(session->sync().ok());
  EXPECT_EQ(problems(*session).find("metadata.json"), std::string::npos);
  EXPECT_TRUE(disk.read(log::kMetadataFile).has_value());
  EXPECT_FALSE(disk.read(log::kQuarantineFile).has_value());
}

TEST_F(Recovery, MetadataOfAnotherSessionIsNotTaken) {
  CreateOptions options;
  options.session_id = "sess_2";
  options.user_id = "mallory";
  disk_.write(log::kMetadataFile, Metadata::make(options, test::kStartMs).encode());
  const auto session = disk_.open();
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->metadata()->get_string("session_id"), kSessionId);
  EXPECT_EQ(session->metadata()->get_string("user_id"), "");
}

TEST_F(Recovery, MetadataOfANewerVersionIsRefusedAndUntouched) {
  auto metadata = json::Tree::parse(*whole_.metadata);
  metadata->set("version", json::Tree::integer(2));
  const std::string newer = metadata->pretty();
  disk_.write(log::kMetadataFile, newer);
  const auto opened = disk_.try_open();
  EXPECT_EQ(opened.code(), Code::kFormatVersion);
  EXPECT_NE(opened.status().message().find("version 2"), std::string::npos);
  EXPECT_TRUE(opened.status().place().path.ends_with("/metadata.json"))
      << opened.status().place().path;
  EXPECT_EQ(disk_.bytes(log::kMetadataFile), newer);
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), *whole_.entries);
}

TEST_F(Recovery, MetadataThatBecomesNewerWhileOpenIsNotOverwritten) {
  auto session = disk_.open();
  auto metadata = json::Tree::parse(*whole_.metadata);
  metadata->set("version", json::Tree::integer(2));
  const std::string newer = metadata->pretty();
  disk_.write(log::kMetadataFile, newer);
  const Status updated = session->update(R"({"title":"x"})");
  EXPECT_EQ(updated.code(), Code::kFormatVersion);
  EXPECT_TRUE(updated.place().path.ends_with("/metadata.json")) << updated.place().path;
  session.reset();
  EXPECT_EQ(disk_.bytes(log::kMetadataFile), newer);
}

TEST_F(Recovery, EditedMetadataIsTakenAndToldOf) {
  auto metadata = json::Tree::parse(*whole_.metadata);
  metadata->set("title", json::Tree::string("by hand"));
  disk_.write(log::kMetadataFile, metadata->pretty());
  std::vector<std::string> told;
  host_.keep_lines(Level::kWarn, &told);
  const auto session = disk_.open();
  EXPECT_EQ(session->metadata()->get_string("title"), "by hand");
  host_.events.deliver();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("edited outside"), std::string::npos);
}

// --- tombstones
// ----------------------------------------------------------------------------------------

TEST_F(Recovery, DamagedTombstonesInTheMiddleAreReportedAndRepaired) {
  auto session = disk_.open();
  for (const auto id : {"e1", "e2", "e3"}) ASSERT_TRUE(session->remove(id, "why").ok());
  session.reset();
  const std::string text = disk_.bytes(log::kTombstonesFile);
  const auto tombstones = lines_of(text);
  std::string damaged(tombstones[1]);
  damaged[damaged.find("why")] = 'W';
  disk_.write(log::kTombstonesFile,
              std::string(tombstones[0]) + damaged + std::string(tombstones[2]));
  session = disk_.open();
  EXPECT_EQ(entries(*session), 8);
  EXPECT_NE(problems(*session).find("tombstones.jsonl"), std::string::npos);
  ASSERT_TRUE(session->repair(false).ok());
  EXPECT_EQ(disk_.bytes(log::kTombstonesFile),
            std::string(tombstones[0]) + std::string(tombstones[2]));
  ASSERT_EQ(disk_.quarantine().size(), 1u);
  EXPECT_EQ(disk_.quarantine()[0].bytes, damaged);
  EXPECT_TRUE(session->verify()->get_bool("ok")) << problems(*session);
  EXPECT_EQ(session->get("e1").code(), Code::kNotFound);
  EXPECT_EQ(session->get("e3").code(), Code::kNotFound);
}

TEST_F(Recovery, ATombstoneWithoutItsEntryKeepsTheIdTaken) {
  disk_.write(log::kTombstonesFile, entry::seal_tombstone({"ghost", "", test::kStartMs}));
  const auto session = disk_.open();
  EXPECT_EQ(session->add(entry_text("ghost")).code(), Code::kAlreadyExists);
  EXPECT_EQ(session->stats()->get_int64("deleted"), 1);
  EXPECT_TRUE(session->verify()->get_bool("ok"));
}

// What a reader shows of a batch that lost a line is not cut off with the unfinished batch behind
// it.
// Of a batch the first and the last line, and of the one behind it the first.
std::string log_with_gaps(Host& host) {
  SessionDisk made(host);
  made.make();
  const auto maker = made.open();
  const auto batch = [](const std::string& name) {
    return entry_text(name + "0") + "\n" + entry_text(name + "1") + "\n" + entry_text(name + "2");
  };
  EXPECT_TRUE(maker->add_batch(batch("a")).ok());
  EXPECT_TRUE(maker->add_batch(batch("b")).ok());
  const std::string log = made.bytes("memory.jsonl");
  const auto lines = lines_of(log);
  EXPECT_EQ(lines.size(), 6U);
  return std::string(lines[0]) + std::string(lines[2]) + std::string(lines[3]);
}

TEST(RecoveryOfBatches, ABatchWithAGapStaysWhenTheOneBehindItIsCut) {
  Host host;
  const std::string log = log_with_gaps(host);
  const auto lines = lines_of(log);
  SessionDisk disk(host);
  disk.make();
  disk.write("memory.jsonl", log);
  const auto session = disk.open();
  const auto expect_there = [](Session& from) {
    EXPECT_TRUE(from.get("a0").ok());
    EXPECT_TRUE(from.get("a2").ok());
    EXPECT_EQ(from.get("b0").code(), Code::kNotFound);
  };
  expect_there(*session);
  EXPECT_EQ(session->remove("nobody", "").code(), Code::kNotFound);
  expect_there(*session);
  const auto process = disk.disk.process(4711);
  expect_there(*disk.open(process.get()));  // nothing is behind them any more
  ASSERT_TRUE(session->add(entry_text("c")).ok());
  expect_there(*session);
  EXPECT_EQ(disk.bytes("memory.jsonl").find(lines[0]), 0U);
  ASSERT_EQ(disk.quarantine().size(), 1U);
  EXPECT_EQ(disk.quarantine()[0].bytes, lines[2]);
}

// Kept lines, and behind them nobody's: the next append belongs behind both.
TEST_F(Recovery, ABlankLineBehindAnUnfinishedBatchThatIsKeptStopsNoWriting) {
  Host host;
  host.context.settings.recovery = varve::session::Recovery::kSalvage;
  host.context.settings.durability = log::Durability::kOs;
  SessionDisk disk(host);
  disk.make();
  {
    const auto session = disk.open();
    ASSERT_TRUE(session->add_batch("[" + entry_text("x") + "," + entry_text("y") + "]").ok());
  }
  const std::string text = disk.bytes(log::kEntriesFile);
  disk.make();
  for (const auto name : {"index.bin", "lock"}) {
    if (disk.read(name)) disk.remove(name);
  }
  disk.write(log::kEntriesFile, std::string(lines_of(text)[0]) + "\n");
  const auto session = disk.open();
  EXPECT_TRUE(session->get("x").ok());
  const auto added = session->add(entry_text("after"));
  EXPECT_TRUE(added.ok()) << added.status().message();
  EXPECT_TRUE(disk.quarantine().empty());
  EXPECT_TRUE(disk.open()->get("after").ok());
}

}  // namespace
}  // namespace varve::session
