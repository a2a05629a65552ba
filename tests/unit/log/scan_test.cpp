#include "log/scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "log/line_reader.h"
#include "log_text.h"
#include "long_line.h"
#include "support/build_kind.h"

namespace varve::log {
namespace {

using std::string_literals::operator""s;

// What a scan saw: the ids of the committed entries, and the report.
struct Seen {
  std::string ids;  // each followed by a blank
  ScanReport report;
  Status status;
};

Seen scan(std::string_view text, uint64_t settled_seq = 0, uint64_t from = 0) {
  LogText log(text);
  Seen seen;
  auto report = scan_entries(log.storage(), {1, from, text.size()}, settled_seq,
                             [&](const ScannedEntry& line) {
                               EXPECT_EQ(line.bytes, text.substr(line.offset, line.length));
                               EXPECT_EQ(line.hash, hash64(line.bytes));
                               seen.ids += line.facts->id + " ";
                               return Status();
                             });
  if (report.ok()) {
    seen.report = *std::move(report);
  } else {
    seen.status = std::move(report).status();
  }
  return seen;
}

Seen scan_stones(std::string_view text) {
  LogText log;
  log.session().tombstones = text;
  Seen seen;
  auto report =
      scan_tombstones(log.storage(), {1, 0, text.size()}, [&](const ScannedTombstone& line) {
        seen.ids += line.tombstone->id + " ";
        return Status();
      });
  EXPECT_TRUE(report.ok()) << report.status().message();
  if (report.ok()) seen.report = *std::move(report);
  return seen;
}

std::string without_line_end(std::string line) {
  line.pop_back();
  return line;
}

const std::string kA = line_of("a", 1);
const std::string kB = line_of("b", 2);
const std::string kC = line_of("c", 3);

std::string wrong(std::string line) {
  line[line.find("hello")] = 'j';
  return line;
}

TEST(Scan, AWholeLogIsCommittedToItsEnd) {
  const Seen seen = scan(kA + kB + kC);
  EXPECT_EQ(seen.ids, "a b c ");
  EXPECT_EQ(seen.report.committed_end, (kA + kB + kC).size());
  EXPECT_EQ(seen.report.scanned_end, seen.report.committed_end);
  EXPECT_EQ(seen.report.damaged_count, 0u);
  EXPECT_EQ(seen.report.tail_reason, "");
}

TEST(Scan, AnEmptyLogHasNothing) {
  const Seen seen = scan("");
  EXPECT_EQ(seen.ids, "");
  EXPECT_EQ(seen.report.committed_end, 0u);
}

TEST(Scan, StartsWhereItIsTold) {
  const Seen seen = scan(kA + kB + kC, 0, kA.size());
  EXPECT_EQ(seen.ids, "b c ");
  const Seen nothing = scan(kA, 0, kA.size());
  EXPECT_EQ(nothing.report.committed_end, kA.size());
}

// --- what comes after decides --------------------------------------------------------------------

TEST(Scan, WhatIsFollowedByACommittedLineIsDamage) {
  for (const std::string& bad :
       {"garbage\n"s, std::string(200, '\0') + "\n", wrong(kB), "{\"half\":\n"s, "[1]\n"s,
        without_line_end(kB) + kC, kB.substr(0, 50) + "\n"}) {
    const Seen seen = scan(kA + bad + kC);
    EXPECT_EQ(seen.ids, "a c ") << bad;
    ASSERT_EQ(seen.report.damaged.size(), 1u) << bad;
    EXPECT_EQ(seen.report.damaged_count, 1u);
    EXPECT_EQ(seen.report.damaged[0].stream, Stream::kEntries);
    EXPECT_EQ(seen.report.damaged[0].offset, kA.size());
    EXPECT_EQ(seen.report.damaged[0].length, bad.size());
    EXPECT_NE(seen.report.damaged[0].reason, "");
    EXPECT_EQ(seen.report.tail_reason, "");
    EXPECT_EQ(seen.report.committed_end, (kA + bad + kC).size());
  }
}

TEST(Scan, ATerminatedObjectAtTheEndIsDamageAndStays) {
  std::string deep = "1";  // deeper than any entry may be
  for (int depth = 0; depth < 100; ++depth) deep = R"({"a":)" + deep + "}";
  const std::string long_number = R"({"n":0.)" + std::string(2000, '1') + "}\n";
  for (const std::string& edited :
       {wrong(kB), deep + "\n", long_number, "{}\n"s, "{\"id\":\"x\"}\r\n"s, " {\"a\":[1]} \n"s}) {
    const Seen seen = scan(kA + edited);
    EXPECT_EQ(seen.ids, "a ") << edited;
    EXPECT_EQ(seen.report.damaged_count, 1u) << edited;
    EXPECT_EQ(seen.report.committed_end, (kA + edited).size()) << edited;
    EXPECT_EQ(seen.report.tail_reason, "") << edited;
  }
}

TEST(Scan, NothingButSuchBytesToTheEndIsATornTail) {
  for (const std::string& tail :
       {"garbage"s, "garbage\n"s, std::string(200, '\0'), std::string(200, '\0') + "\n"s,
        without_line_end(kB), kB.substr(0, 40), "g\narb\nage\n"s, "[1]\n"s, "null\n"s, "   "s,
        "g\n\n\n"s, "g\n \r\n\ng"s, "\xff\xfe\n\n"s, "{\n\n}"s}) {
    const Seen seen = scan(kA + tail);
    EXPECT_EQ(seen.ids, "a ") << tail;
    EXPECT_EQ(seen.report.committed_end, kA.size()) << tail;
    EXPECT_EQ(seen.report.scanned_end, (kA + tail).size()) << tail;
    EXPECT_EQ(seen.report.damaged_count, 0u) << tail;
    EXPECT_NE(seen.report.tail_reason, "") << tail;
  }
}

TEST(Scan, ATornTailBeforeAnObjectIsDamageWithIt) {
  const Seen seen = scan(kA + "gar\nbage\n" + wrong(kB));
  EXPECT_EQ(seen.ids, "a ");
  EXPECT_EQ(seen.report.damaged_count, 3u);
  EXPECT_EQ(seen.report.tail_reason, "");
}

TEST(Scan, DamageBehindDamageIsListedInOrder) {
  const Seen seen = scan("x\n" + kA + "yy\nzzz\n" + kB + "torn");
  EXPECT_EQ(seen.ids, "a b ");
  ASSERT_EQ(seen.report.damaged.size(), 3u);
  EXPECT_EQ(seen.report.damaged[0].offset, 0u);
  EXPECT_EQ(seen.report.damaged[1].offset, 2 + kA.size());
  EXPECT_EQ(seen.report.damaged[2].offset, 5 + kA.size());
  EXPECT_EQ(seen.report.damaged[2].length, 4u);
  EXPECT_NE(seen.report.tail_reason, "");
}

TEST(Scan, AThousandDamagedLinesAreListedAndAllAreCounted) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "bad\n";
  const Seen seen = scan(text + kA);
  EXPECT_EQ(seen.report.damaged.size(), kDamageListMax);
  EXPECT_EQ(seen.report.damaged_count, 1500u);
}

// --- lines of other makers -----------------------------------------------------------------------

TEST(Scan, NoMoreThanAThousandAreListedAlsoWhereEachIsSettledByItself) {
  std::string text = kA;
  for (size_t i = 0; i < kDamageListMax + 5; ++i) text += "{}\n";
  const Seen seen = scan(text);
  EXPECT_EQ(seen.report.damaged.size(), kDamageListMax);
  EXPECT_EQ(seen.report.damaged_count, kDamageListMax + 5);
}

TEST(Scan, BlankLinesAndCrLfAreFine) {
  const std::string crlf = without_line_end(kB) + "\r\n";
  const std::string text = "\n\r\n" + kA + "\n  \t \r\n" + crlf + "\n";
  const Seen seen = scan(text);
  EXPECT_EQ(seen.ids, "a b ");
  EXPECT_EQ(seen.report.damaged_count, 0u);
  EXPECT_EQ(seen.report.committed_end, text.size());
}

TEST(Scan, BlankLinesProveNothingAboutWhatIsBeforeThem) {
  const Seen torn = scan(kA + "garbage\n\n\n");
  EXPECT_EQ(torn.report.committed_end, kA.size());
  EXPECT_EQ(torn.report.damaged_count, 0u);
  const Seen damage = scan(kA + "garbage\n\n\n" + kB);
  EXPECT_EQ(damage.report.damaged_count, 1u);
  EXPECT_EQ(damage.report.damaged[0].length, 8u);
}

TEST(Scan, HandWrittenEntriesWithoutChecksumAreTaken) {
  const std::string by_hand =
      R"(  { "type":"decision", "id": "h", "timestamp":"2026-01-10T14:23:45Z", "content": "x" } )"
      "\n";
  const Seen seen = scan(kA + by_hand + kB);
  EXPECT_EQ(seen.ids, "a h b ");
  EXPECT_EQ(seen.report.damaged_count, 0u);
}

TEST(Scan, ANewerVersionIsRefusedWithItsPlace) {
  const std::string newer =
      R"({"content":1,"id":"n","schema_version":2,"timestamp":"2026-01-10T14:23:46Z","type":"m"})"
      "\n";
  for (const std::string& text : {kA + newer, kA + newer + kB, kA + newer + "torn"}) {
    const Seen seen = scan(text);
    EXPECT_EQ(seen.status.code(), Code::kFormatVersion);
    EXPECT_EQ(seen.status.place().offset, kA.size());
    EXPECT_TRUE(seen.status.place().path.ends_with("memory.jsonl"));
    const std::string message(seen.status.message());
    EXPECT_TRUE(message.starts_with("the line at byte " + std::to_string(kA.size()) + " of "))
        << message;
    EXPECT_NE(message.find("use a newer varve"), std::string::npos);
    EXPECT_EQ(message.find("newer varve"), message.rfind("newer varve"))
        << "said twice: " << message;
  }
}

TEST(Scan, AFailureOfTheVisitorEndsIt) {
  LogText log(kA + kB);
  int visited = 0;
  const auto report =
      scan_entries(log.storage(), {1, 0, (kA + kB).size()}, 0, [&](const ScannedEntry&) -> Status {
        visited += 1;
        return {Code::kNoMemory, "on purpose"};
      });
  EXPECT_EQ(report.code(), Code::kNoMemory);
  EXPECT_EQ(visited, 1);
}

// Wherever it fails: at an entry, at a line of a batch that is released by what follows it.
TEST(Scan, AFailureOfTheVisitorIsTheAnswerWhateverReleasesTheLine) {
  const std::string b0 = line_of("b0", 2, {3, 0});
  const std::string b1 = line_of("b1", 3, {3, 1});
  const std::string b2 = line_of("b2", 4, {3, 2});
  struct Case {
    std::string text;
    int visits;
  };
  const Case cases[] = {
      {b0 + b1 + b2, 3},             // the last of them
      {b0 + line_of("z", 5), 2},     // a later line
      {b0 + "{\"edited\":1}\n", 1},  // a line that is wrong
      {b0 + b1, 2},                  // the end
  };
  for (const auto& row : cases) {
    for (int fails_at = 1; fails_at <= row.visits; ++fails_at) {
      LogText log(row.text);
      int visited = 0;
      const auto report = scan_entries(
          log.storage(), {1, 0, row.text.size()}, 0,
          [&](const ScannedEntry&) -> Status {
            visited += 1;
            return visited == fails_at ? Status(Code::kNoMemory, "on purpose") : Status();
          },
          kAllKept);
      EXPECT_EQ(report.code(), Code::kNoMemory) << row.text;
      EXPECT_EQ(visited, fails_at) << row.text;
    }
  }
  LogText log;
  log.session().tombstones = tombstone_of("a") + tombstone_of("b");
  const auto stones = scan_tombstones(
      log.storage(), {1, 0, log.session().tombstones.size()},
      [](const ScannedTombstone&) { return Status(Code::kNoMemory, "on purpose"); });
  EXPECT_EQ(stones.code(), Code::kNoMemory);
}

TEST(Scan, ALineLongerThanAnyEntryIsDamageAndIsNotKeptInMemory) {
  if (!test::kFastBuild) GTEST_SKIP() << "a gigabyte of bytes";
  test::ManualClock clock;
  LongLine storage(7 + kLineBytesMax + 1, clock);
  const auto entries = scan_entries(storage, {1, 0, storage.size()}, 0,
                                    [](const ScannedEntry&) { return Status(); });
  ASSERT_TRUE(entries.ok());
  const auto stones = scan_tombstones(storage, {1, 0, storage.size()},
                                      [](const ScannedTombstone&) { return Status(); });
  ASSERT_TRUE(stones.ok());
  for (const ScanReport& report : {*entries, *stones}) {
    EXPECT_EQ(report.committed_end, 0u) << "nothing behind it is right";
    EXPECT_EQ(report.scanned_end, storage.size());
  }
  const auto long_alone = scan_entries(storage, {1, 7, storage.size()}, 0,
                                       [](const ScannedEntry&) { return Status(); });
  EXPECT_EQ(long_alone->tail_reason, "the line is longer than any entry can be");
}

TEST(Scan, AnotherGenerationIsGone) {
  LogText log(kA);
  const auto report = scan_entries(log.storage(), {7, 0, kA.size()}, 0,
                                   [](const ScannedEntry&) { return Status(); });
  EXPECT_EQ(report.code(), Code::kGone);
  log.session().tombstones = tombstone_of("a");
  const auto stones = scan_tombstones(log.storage(), {7, 0, log.session().tombstones.size()},
                                      [](const ScannedTombstone&) { return Status(); });
  EXPECT_EQ(stones.code(), Code::kGone);
}

// --- batches -------------------------------------------------------------------------------------

const std::string kB0 = line_of("b0", 2, {3, 0});
const std::string kB1 = line_of("b1", 3, {3, 1});
const std::string kB2 = line_of("b2", 4, {3, 2});
const std::string kZ = line_of("z", 5);

TEST(ScanBatches, AWholeOneIsCommitted) {
  const Seen seen = scan(kA + kB0 + kB1 + kB2);
  EXPECT_EQ(seen.ids, "a b0 b1 b2 ");
  EXPECT_EQ(seen.report.committed_end, (kA + kB0 + kB1 + kB2).size());
}

TEST(ScanBatches, ALogThatEndsInsideOneEndsBeforeIt) {
  for (const std::string& part : {kB0, kB0 + kB1, kB0 + kB1 + kB2.substr(0, 70), kB0 + "\n\n",
                                  kB0 + kB1 + "garbage\n", kB0 + std::string(90, '\0')}) {
    const Seen seen = scan(kA + part);
    EXPECT_EQ(seen.ids, "a ") << part;
    EXPECT_EQ(seen.report.committed_end, kA.size()) << part;
    EXPECT_EQ(seen.report.scanned_end, (kA + part).size());
    EXPECT_EQ(seen.report.damaged_count, 0u);
    EXPECT_NE(seen.report.tail_reason, "");
  }
  EXPECT_EQ(scan(kA + kB0 + kB1).report.tail_reason, "the last batch is incomplete");
}

TEST(ScanBatches, ItsWholeLinesAreKeptWhenThatIsAskedFor) {
  const std::string batch_0 = line_of("b0", 2, {3, 0});
  const std::string batch_1 = line_of("b1", 3, {3, 1});
  struct Case {
    std::string behind;
    uint64_t damaged_count;
    std::string tail_reason;
  };
  const Case cases[] = {
      {"", 0, ""},
      {line_of("b2", 4, {3, 2}).substr(0, 30), 0, "the last line has no line end"},
      {"garbage\n\x01\x02\n", 0, "some"},
      {"\n\n", 0, ""},  // nobody's, and nothing to be set aside
      {"\ngarbage\n", 0, "some"},
  };
  for (const auto& row : cases) {
    const std::string whole = kA + batch_0 + batch_1;
    LogText log;
    log.session().entries = whole + row.behind;
    std::string ids;
    const auto report = scan_entries(
        log.storage(), {1, 0, log.session().entries.size()}, 0,
        [&](const ScannedEntry& line) {
          ids += line.facts->id + " ";
          return Status();
        },
        kAllKept);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(ids, "a b0 b1 ");
    const bool is_torn = !row.tail_reason.empty();
    EXPECT_EQ(report->committed_end, is_torn ? whole.size() : report->scanned_end);
    EXPECT_EQ(report->salvaged_count, 2u);
    EXPECT_EQ(report->damaged_count, row.damaged_count);
    EXPECT_EQ(report->tail_reason.empty(), row.tail_reason.empty()) << report->tail_reason;
  }
  // What stands between the lines is damage: there is something behind it that stays.
  LogText log;
  log.session().entries = kA + batch_0 + "garbage\n" + batch_1 + "torn";
  const auto report = scan_entries(
      log.storage(), {1, 0, log.session().entries.size()}, 0,
      [](const ScannedEntry&) { return Status(); }, kAllKept);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->damaged.size(), 1u);
  EXPECT_EQ(report->damaged[0].offset, (kA + batch_0).size());
  EXPECT_EQ(report->damaged_count, 1u);
  EXPECT_EQ(report->committed_end, log.session().entries.size() - 4);
  EXPECT_EQ(report->tail_reason, "the last line has no line end");
}

TEST(ScanBatches, WholeLinesAreKeptIfTheLastOfThemEndsByWhatWasRead) {
  const std::string lines = kB0 + kB1;
  for (const size_t kept_to : {lines.size() - 1, lines.size()}) {
    LogText log;
    log.session().entries = lines + "torn";
    const auto report = scan_entries(
        log.storage(), {1, 0, lines.size() + 4}, 0, [](const ScannedEntry&) { return Status(); },
        kept_to);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->salvaged_count, kept_to < lines.size() ? 0u : 2u);
    EXPECT_EQ(report->committed_end, kept_to < lines.size() ? 0u : lines.size());
  }
}

// More of them than are listed, before the last line that is kept and behind it.
TEST(ScanBatches, WhatIsSuspectAroundKeptLinesIsToldApartHoweverMuchItIs) {
  std::string garbage;
  for (size_t i = 0; i <= kDamageListMax; ++i) garbage += "x\n";
  for (const std::string behind : {"", "torn"}) {
    LogText log;
    log.session().entries = kB0 + garbage + kB1 + behind;
    const auto report = scan_entries(
        log.storage(), {1, 0, log.session().entries.size()}, 0,
        [](const ScannedEntry&) { return Status(); }, kAllKept);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->salvaged_count, 2u);
    EXPECT_EQ(report->damaged_count, kDamageListMax + 1);
    EXPECT_EQ(report->damaged.size(), kDamageListMax);
    EXPECT_EQ(report->committed_end, log.session().entries.size() - behind.size());
    EXPECT_EQ(report->tail_reason, behind.empty() ? "" : "the last line has no line end");
  }
}

TEST(ScanBatches, ALaterLineProvesThatItWasWrittenAndKeepsWhatIsWhole) {
  const Seen damaged = scan(kA + kB0 + wrong(kB1) + kB2 + kZ);
  EXPECT_EQ(damaged.ids, "a b0 b2 z ");
  EXPECT_EQ(damaged.report.damaged_count, 1u);
  EXPECT_EQ(damaged.report.damaged[0].offset, (kA + kB0).size());
  const Seen nuls = scan(kA + kB0 + std::string(kB1.size() - 1, '\0') + "\n" + kB2 + kZ);
  EXPECT_EQ(nuls.ids, "a b0 b2 z ");
  EXPECT_EQ(nuls.report.damaged_count, 1u);
}

TEST(ScanBatches, ADamagedMiddleWithoutALaterLineIsNotCommittedInPart) {
  // Blocks reach a disk in any order: the last line may be there and the middle not.
  const std::string hole(kB1.size(), '\0');
  const Seen seen = scan(kA + kB0 + hole + kB2);
  EXPECT_EQ(seen.ids, "a ");
  EXPECT_EQ(seen.report.committed_end, kA.size());
}

TEST(ScanBatches, UpToTheSettledSeqEachLineStandsForItself) {
  EXPECT_EQ(scan(kA + kB0 + kB1, 3).ids, "a b0 b1 ");
  EXPECT_EQ(scan(kA + kB0 + kB1, 2).ids, "a b0 ") << "b1 was never durable";
  EXPECT_EQ(scan(kA + kB1, 4).ids, "a b1 ") << "thinned by a compaction";
  EXPECT_EQ(scan(kA + kB0 + kB2 + kZ, 5).ids, "a b0 b2 z ");
}

// Lines that somebody put into another order, or wrote by hand.
TEST(ScanBatches, ASettledLineBehindOneThatWaitsIsNotOfItsBatch) {
  const std::string behind = kA + kB0;
  const std::string old = line_of("old", 1, {3, 1});
  const std::string by_hand =
      R"({"batch":{"i":1,"n":3},"content":1,"id":"hand","timestamp":"2026-01-10T14:23:45Z",)"
      R"("type":"finding"})"
      "\n";
  EXPECT_EQ(scan(behind + old, 1).ids, "a b0 old ");
  EXPECT_EQ(scan(behind + old + kB1, 1).ids, "a b0 old ") << "of b1's batch there is no more";
  EXPECT_EQ(scan(behind + by_hand).ids, "a b0 hand ");
  EXPECT_EQ(scan(behind + by_hand).report.tail_reason, "");
}

TEST(ScanBatches, TwoInARowAreTwo) {
  const std::string c0 = line_of("c0", 5, {2, 0});
  const std::string c1 = line_of("c1", 6, {2, 1});
  EXPECT_EQ(scan(kB0 + kB1 + kB2 + c0 + c1).ids, "b0 b1 b2 c0 c1 ");
  EXPECT_EQ(scan(kB0 + kB1 + kB2 + c0).ids, "b0 b1 b2 ");
  EXPECT_EQ(scan(kB0 + kB1 + c0 + c1).ids, "b0 b1 c0 c1 ") << "the later one proves the first";
}

TEST(ScanBatches, OneOfOneIsAnEntry) { EXPECT_EQ(scan(line_of("a", 1, {1, 0})).ids, "a "); }

// --- tombstones ----------------------------------------------------------------------------------

TEST(ScanTombstones, FollowTheSameRules) {
  const std::string a = tombstone_of("a");
  const std::string b = tombstone_of("b");
  std::string edited = b;
  edited[edited.find("why")] = 'W';
  EXPECT_EQ(scan_stones(a + b).ids, "a b ");
  EXPECT_EQ(scan_stones(a + "\r\n" + b).report.damaged_count, 0u);
  EXPECT_EQ(scan_stones(a + "\r\n").report.committed_end, a.size() + 2);
  const Seen damage = scan_stones(a + edited + b);
  EXPECT_EQ(damage.ids, "a b ");
  ASSERT_EQ(damage.report.damaged_count, 1u);
  EXPECT_EQ(damage.report.damaged[0].stream, Stream::kTombstones);
  EXPECT_EQ(damage.report.damaged[0].offset, a.size());
  EXPECT_EQ(scan_stones(a + edited).report.committed_end, (a + edited).size());
  for (const std::string& tail :
       {"torn"s, "torn\n"s, b.substr(0, b.size() - 1), std::string(77, '\0'), "torn\n\n"s}) {
    const Seen torn = scan_stones(a + tail);
    EXPECT_EQ(torn.ids, "a ");
    EXPECT_EQ(torn.report.committed_end, a.size());
    EXPECT_NE(torn.report.tail_reason, "");
  }
}

// --- beside a writer -----------------------------------------------------------------------------

// A line with its line end, of so many bytes.
std::string line_of_bytes(size_t bytes, std::string_view id, uint64_t seq,
                          entry::Batch batch = {}) {
  const size_t least = line_of(id, seq, batch, "").size();
  return line_of(id, seq, batch, std::string(bytes - least, 'x'));
}

constexpr size_t kReadAtOnce = size_t{256} << 10;

// Scans a log whose end is cut off and written over after the first part of it was read.
Status scan_written_over(const std::string& first, const std::string& torn,
                         const std::string& written) {
  LogText log(first + torn);
  EXPECT_LE(torn.size(), written.size());
  return scan_entries(log.storage(), {1, 0, (first + torn).size()}, 0,
                      [&](const ScannedEntry&) {
                        log.session().entries = first + written;
                        return Status();
                      })
      .status();
}

TEST(ScanBesideAWriter, ATornTailWithTheRestOfWhatReplacedItIsNoDamage) {
  const std::string torn(2 * kReadAtOnce, 'x');
  const std::string written = line_of_bytes(kReadAtOnce + 1000, "b", 2) +
                              line_of_bytes(kReadAtOnce / 2, "c", 3) +
                              line_of_bytes(kReadAtOnce, "d", 4);
  EXPECT_EQ(scan_written_over(kA, torn, written).code(), Code::kGone);
}

TEST(ScanBesideAWriter, APartOfABatchIsNotProvedByWhatReplacedIt) {
  const size_t rest = kReadAtOnce - kA.size();  // so that a part that is read ends with a line
  const std::string torn = line_of_bytes(rest, "b0", 2, {3, 0}) + line_of("b1", 3, {3, 1});
  const std::string written =
      line_of_bytes(rest, "c", 2) + line_of_bytes(torn.size() - rest, "d", 3);
  EXPECT_EQ(scan_written_over(kA, torn, written).code(), Code::kGone);
}

TEST(ScanBesideAWriter, WhatIsWrittenBehindDamageChangesNothing) {
  const std::string damaged(kReadAtOnce, 'x');
  const std::string there = damaged + "\n" + kB;
  EXPECT_TRUE(scan_written_over(kA, there, there + kC).ok());
}

TEST(ScanBesideAWriter, TombstonesFollowTheSameRules) {
  const std::string first = tombstone_of("a");
  const std::string torn(2 * kReadAtOnce, 'x');
  std::string written;
  while (written.size() < torn.size())
    written += tombstone_of("b" + std::to_string(written.size()));
  LogText log;
  log.session().tombstones = first + torn;
  const auto scanned =
      scan_tombstones(log.storage(), {1, 0, (first + torn).size()}, [&](const ScannedTombstone&) {
        log.session().tombstones = first + written;
        return Status();
      });
  EXPECT_EQ(scanned.code(), Code::kGone);
}

}  // namespace
}  // namespace varve::log
