// Which edited lines repair accepts, and what it tells of; integrity_test.cpp has the usual ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "failing_reader.h"
#include "log/line_reader.h"
#include "session/core.h"
#include "session/upkeep/repair.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

class Repairing : public testing::Test {
 protected:
  // Entries "a" to "e", closed; "d" deleted.
  void SetUp() override {
    disk_.make();
    const auto session = disk_.open();
    for (const std::string id : {"a", "b", "c", "d", "e"}) {
      ASSERT_TRUE(session->add(entry_text(id, "tea of " + id)).ok());
    }
    ASSERT_TRUE(session->remove("d", "").ok());
  }
  void edit(const std::string& from, const std::string& to) {
    std::string text = disk_.bytes(log::kEntriesFile);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    disk_.write(log::kEntriesFile, text.replace(at, from.size(), to));
    if (disk_.read("index.bin")) disk_.remove("index.bin");
  }
  json::Tree repair() {
    auto report = disk_.open()->repair(false, true);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree::object();
  }
  // The ids of those that are there.
  std::string ids() {
    const auto session = disk_.open();
    std::string found;
    for (const std::string id : {"a", "b", "c", "d", "e"}) {
      if (session->get(id).ok()) found += id;
    }
    return found;
  }

  Host host_;
  SessionDisk disk_{host_};
};

// Each append to quarantine is synced, while the session's lock is held.
TEST_F(Repairing, VeryManyDamagedLinesAreSetAsideTogether) {
  constexpr int kLines = 3000;
  std::string log = disk_.bytes(log::kEntriesFile);
  for (int i = 0; i < kLines; ++i) log += "{}\n";
  disk_.write(log::kEntriesFile, log);
  auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
  int appends = 0;
  owned->before_append = [&] { appends += 1; };
  const auto session = Session::open(std::string(kSessionId), std::move(owned), host_.context);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const auto report = (*session)->repair(false, false);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("quarantined"), kLines);
  EXPECT_EQ(appends, 1);
  const std::string kept = disk_.bytes(log::kQuarantineFile);
  EXPECT_EQ(std::count(kept.begin(), kept.end(), '\n'), kLines);
  EXPECT_EQ(ids(), "abce");
}

// A hole, which takes no room on a disk, and an entry behind it.
TEST_F(Repairing, ALineThatIsTooLongForAnEntryIsNotReadAsOne) {
  const std::string log = disk_.bytes(log::kEntriesFile);
  const std::string line = log.substr(0, log.find('\n') + 1);  // again: its id is taken
  const uint64_t hole_end = log.size() + log::kLineBytesMax + (uint64_t{64} << 20);
  const std::string behind = "\n" + line;
  if (disk_.read("index.bin")) disk_.remove("index.bin");
  auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
  owned->change_tail = [=](log::Tail tail) -> Result<log::Tail> {
    tail.entries_bytes = hole_end + behind.size();
    return tail;
  };
  size_t largest_read = 0;
  const auto storage = disk_.storage();
  owned->read_instead = [&](log::Stream stream, uint64_t offset,
                            std::span<char> out) -> Result<size_t> {
    if (stream != log::Stream::kEntries) return (*storage)->read(stream, 1, offset, out);
    largest_read = std::max(largest_read, out.size());
    const uint64_t end = std::min<uint64_t>(hole_end + behind.size(), offset + out.size());
    const auto got = static_cast<size_t>(end - offset);
    std::fill_n(out.begin(), got, 'x');
    if (offset < log.size()) log.copy(out.data(), got, offset);
    if (end > hole_end) {
      const uint64_t from = std::max(offset, hole_end);
      behind.copy(out.data() + (from - offset), static_cast<size_t>(end - from), from - hole_end);
    }
    return got;
  };
  const auto session = Session::open(std::string(kSessionId), std::move(owned), host_.context);
  ASSERT_TRUE(session.ok()) << session.status().message();
  const auto report = (*session)->repair(true, true);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("quarantined"), 2);
  EXPECT_LE(largest_read, log::kLineBytesMax);
}

// The log ends while an edited line is read anew.
TEST_F(Repairing, AnEditThatIsNotThereAnyMoreIsNotAccepted) {
  edit("tea of b", "milk");
  auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
  const std::string log = disk_.bytes(log::kEntriesFile);
  const uint64_t offset_of_b = log.find('\n') + 1;
  owned->change_read = [=](log::Stream, uint64_t offset, size_t got) -> Result<size_t> {
    return offset == offset_of_b ? size_t{0} : got;
  };
  const auto session = Session::open(std::string(kSessionId), std::move(owned), host_.context);
  ASSERT_TRUE(session.ok());
  const auto report = (*session)->repair(true, true);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("resealed"), 0);
  EXPECT_EQ(repair().get_int64("resealed"), 1) << "when it is there";
}

TEST_F(Repairing, EditsAreAcceptedWhereverTheyStand) {
  for (const std::string edited : {"a", "ab", "bc", "ac", "abc", "be", "abce"}) {
    for (const char id : edited) edit(std::string("tea of ") + id, "milk");
    const json::Tree report = repair();
    EXPECT_EQ(report.get_int64("resealed"), static_cast<int64_t>(edited.size())) << edited;
    EXPECT_EQ(report.get_int64("entries"), 4) << edited;
    EXPECT_EQ(report.get_int64("missing"), 0) << edited;
    EXPECT_EQ(ids(), "abce") << edited;
    for (const char id : edited) edit("milk", std::string("tea of ") + id);
    EXPECT_EQ(repair().get_int64("resealed"), static_cast<int64_t>(edited.size())) << edited;
  }
}

TEST_F(Repairing, AnEditOfADeletedEntryMakesItNoLivingOne) {
  edit("tea of d", "milk");
  const json::Tree report = repair();
  EXPECT_EQ(report.get_int64("resealed"), 1);
  EXPECT_EQ(report.get_int64("entries"), 4);
  EXPECT_EQ(ids(), "abce");
}

TEST_F(Repairing, OfTwoEditsThatClaimOneIdTheFirstHasIt) {
  edit(R"("id":"b")", R"("id":"n")");
  edit(R"("id":"c")", R"("id":"n")");
  const json::Tree report = repair();
  EXPECT_EQ(report.get_int64("resealed"), 1);
  EXPECT_EQ(report.get_int64("quarantined"), 1);
  const auto session = disk_.open();
  EXPECT_NE(session->get("n")->find("tea of b"), std::string::npos);
  EXPECT_NE(disk_.quarantine().at(0).bytes.find("tea of c"), std::string::npos);
}

TEST_F(Repairing, AnEditThatTakesTheNumberAwayIsNone) {
  edit(R"("seq":2,)", "");
  const json::Tree report = repair();
  EXPECT_EQ(report.get_int64("resealed"), 0);
  EXPECT_EQ(report.get_int64("quarantined"), 1);
  EXPECT_EQ(ids(), "ace");
}

TEST_F(Repairing, LinesThatAreMissingAreToldAndNeedARepairByThemselves) {
  std::string text = disk_.bytes(log::kEntriesFile);
  const auto lines = lines_of(text);
  disk_.write(log::kEntriesFile, std::string(lines[0]) + std::string(lines[2]) +
                                     std::string(lines[3]) + std::string(lines[4]));
  if (disk_.read("index.bin")) disk_.remove("index.bin");
  const json::Tree report = repair();
  EXPECT_EQ(report.get_int64("missing"), 1);
  EXPECT_EQ(report.get_int64("quarantined"), 0);
  EXPECT_TRUE(report.get_bool("changed"));
  EXPECT_TRUE(disk_.open()->verify()->get_bool("ok")) << "the gap is legal now";
  EXPECT_FALSE(repair().get_bool("changed", true));
}

// Who has it open as well counted the gap before it became legal, and must neither go on telling of
// it nor write the count down for those who open the session next.
TEST_F(Repairing, WhatWasMissingIsAcceptedByAllWhoHaveItOpen) {
  const auto missing = [](Session& session) {
    return member(*session.stats(), "corruption").get_int64("missing", -1);
  };
  const std::string text = disk_.bytes(log::kEntriesFile);
  const auto lines = lines_of(text);
  disk_.write(log::kEntriesFile, std::string(lines[0]) + std::string(lines[2]) +
                                     std::string(lines[3]) + std::string(lines[4]));
  if (disk_.read("index.bin")) disk_.remove("index.bin");
  const auto process = disk_.disk.process(77);
  const auto watching = disk_.open(process.get());
  const auto reading = disk_.open(process.get());
  EXPECT_EQ(missing(*watching), 1);
  const auto session = disk_.open();
  ASSERT_TRUE(session->repair(false)->get_bool("changed"));
  EXPECT_EQ(missing(*session), 0);
  EXPECT_EQ(missing(*watching), 0);
  ASSERT_TRUE(session->add(entry_text("f")).ok());
  ASSERT_TRUE(reading->get("f").ok()) << "so that its index goes further than the repair";
  reading->close();
  EXPECT_EQ(missing(*disk_.open()), 0);
  EXPECT_EQ(missing(*reading), 0);
}

// Its number is below one that stands before it, but nobody knows it to be durable.
TEST_F(Repairing, AnUnfinishedBatchOutOfOrderIsCountedAndKept) {
  const std::string whole = R"({"content":1,"id":"x","schema_version":1,"seq":9,)"
                            R"("timestamp":"2026-01-10T14:23:45Z","type":"finding"})"
                            "\n";
  const std::string part = R"({"batch":{"i":0,"n":2},"content":1,"id":"y","schema_version":1,)"
                           R"("seq":7,"timestamp":"2026-01-10T14:23:45Z","type":"finding"})"
                           "\n";
  disk_.write(log::kEntriesFile, whole + part);
  for (const auto name : {"metadata.json", "lock", "index.bin", "tombstones.jsonl"}) {
    if (disk_.read(name)) disk_.remove(name);
  }
  for (const bool dry_run : {true, false}) {
    const json::Tree report = *disk_.open()->repair(dry_run);
    EXPECT_EQ(report.get_int64("quarantined"), 1) << dry_run;
    EXPECT_EQ(report.get_int64("bytes_after"), static_cast<int64_t>(whole.size())) << dry_run;
  }
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), whole);
  EXPECT_EQ(disk_.quarantine().at(0).bytes, part);
}

// That leaves the log, from which other processes learn of a new one, as it is.
TEST_F(Repairing, WhatAnotherProcessAcceptedIsNoProblemAnyMore) {
  const std::string text = disk_.bytes(log::kEntriesFile);
  const auto lines = lines_of(text);
  disk_.write(log::kEntriesFile, text.substr(lines[0].size()));
  disk_.write(log::kMetadataFile, "{");
  if (disk_.read("index.bin")) disk_.remove("index.bin");
  const auto session = disk_.open();
  ASSERT_FALSE(session->verify()->get_bool("ok", true));
  const auto process = disk_.disk.process(4711);
  ASSERT_TRUE(disk_.open(process.get())->repair(false)->get_bool("changed"));
  EXPECT_TRUE(session->verify()->get_bool("ok"));
  EXPECT_FALSE(session->repair(true)->get_bool("metadata_lost", true));
  EXPECT_FALSE(session->repair(false)->get_bool("changed", true));
}

TEST_F(Repairing, MetadataThatWasDamagedIsWrittenAnew) {
  disk_.write(log::kMetadataFile, "{");
  const json::Tree report = repair();
  EXPECT_TRUE(report.get_bool("changed"));
  EXPECT_EQ(disk_.quarantine().at(0).file, "metadata.json");
  EXPECT_EQ(disk_.quarantine().at(0).bytes, "{");
  EXPECT_TRUE(disk_.open()->verify()->get_bool("ok"));
}

TEST_F(Repairing, TornAndDamagedTombstonesAreCountedAndKept) {
  const std::string whole = disk_.bytes(log::kTombstonesFile);
  disk_.write(log::kTombstonesFile, "no tombstone\n" + whole + "{\"torn");
  const json::Tree report = repair();
  EXPECT_EQ(report.get_int64("quarantined"), 2);
  EXPECT_TRUE(report.get_bool("changed"));
  EXPECT_EQ(disk_.bytes(log::kTombstonesFile), whole);
  std::string kept;
  for (const auto& record : disk_.quarantine()) kept += record.file + ":" + record.bytes + ";";
  EXPECT_EQ(kept, "tombstones.jsonl:{\"torn;tombstones.jsonl:no tombstone\n;");
  EXPECT_EQ(ids(), "abce");
}

TEST_F(Repairing, ALogThatShrinksWhileItIsCopiedIsAnError) {
  edit("tea of b", "milk");
  const auto session = disk_.open();
  bool is_copying = false;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    is_copying = is_copying || operation.name.starts_with("memory.jsonl.tmp-");
    if (is_copying && operation.kind == io::OperationKind::kRead) {
      disk_.write(log::kEntriesFile, "");
    }
    return std::nullopt;
  });
  const auto report = session->repair(false, true);
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_EQ(report.code(), Code::kIo);
  EXPECT_EQ(report.status().message(), "the log became shorter while it was copied");
}

// More than a scan remembers by place.
TEST_F(Repairing, ALotOfDamageIsAllSetAside) {
  const auto with_damage = [](std::string_view text) {
    std::string damaged;
    for (const auto line : lines_of(text)) damaged.append("garbage\n \n{\"x\":1}\n").append(line);
    return damaged;
  };
  {
    const auto session = disk_.open();
    for (int i = 0; i < 1500; ++i) {
      ASSERT_TRUE(session->add(entry_text("n" + std::to_string(i))).ok());
      ASSERT_TRUE(session->remove("n" + std::to_string(i), "").ok());
    }
  }
  const std::string entries = disk_.bytes(log::kEntriesFile);
  const std::string tombstones = disk_.bytes(log::kTombstonesFile);
  disk_.write(log::kEntriesFile, with_damage(entries));
  disk_.write(log::kTombstonesFile, with_damage(tombstones));
  EXPECT_EQ(disk_.open()->verify()->get_int64("damaged"), 2 * (1505 + 1501));
  EXPECT_EQ(repair().get_int64("quarantined"), 2 * (1505 + 1501));
  EXPECT_EQ(disk_.quarantine().size(), size_t{2 * (1505 + 1501)});
  for (const auto& record : disk_.quarantine()) {
    ASSERT_TRUE(record.bytes == "garbage\n" || record.bytes == "{\"x\":1}\n") << record.bytes;
  }
  const auto verified = disk_.open()->verify();
  EXPECT_TRUE(verified->get_bool("ok")) << verified->canonical();
  EXPECT_EQ(ids(), "abce");
}

// They are looked up behind the scan, in reads of their own.
TEST_F(Repairing, ALotOfDamageThatCannotBeReadAgainIsNotPassedOver) {
  constexpr size_t kLines = log::kDamageListMax + 10;
  for (const log::Stream stream : {log::Stream::kEntries, log::Stream::kTombstones}) {
    const auto name = stream == log::Stream::kEntries ? log::kEntriesFile : log::kTombstonesFile;
    const std::string before = disk_.bytes(name);
    std::string damaged;
    for (size_t i = 0; i < kLines; ++i) damaged += "{}\n";
    disk_.write(name, damaged + before);
    if (disk_.read("index.bin")) disk_.remove("index.bin");
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    auto& storage = *owned;
    const auto session = *Session::open(std::string(kSessionId), std::move(owned), host_.context);
    ASSERT_EQ(session->repair(true)->get_int64("quarantined"), static_cast<int64_t>(kLines));
    // The damage that the scan names ends here, and only what looks for more begins here.
    const uint64_t listed_end = log::kDamageListMax * 3;
    bool was_met = false;
    storage.change_read = [&](log::Stream read, uint64_t offset, size_t got) -> Result<size_t> {
      if (read != stream || offset != listed_end) return got;
      was_met = true;
      return Status(Code::kIo, "no read");
    };
    EXPECT_EQ(session->repair(true).code(), Code::kIo);
    EXPECT_EQ(session->repair(false).code(), Code::kIo);
    EXPECT_TRUE(was_met);
    EXPECT_EQ(disk_.bytes(name), damaged + before);
    EXPECT_FALSE(disk_.read(log::kQuarantineFile).has_value());
    storage.change_read = nullptr;
    ASSERT_TRUE(session->repair(false).ok());
    EXPECT_EQ(disk_.bytes(name), before);
    disk_.remove(log::kQuarantineFile);
  }
  EXPECT_EQ(ids(), "abce");
}

// As such a log is read: else repair would set aside what the session has.
TEST_F(Repairing, LinesOfAnUnfinishedBatchStayWhereTheyAreKept) {
  host_.context.settings.recovery = session::Recovery::kSalvage;
  const std::string before = disk_.bytes(log::kEntriesFile);
  const std::string metadata = disk_.bytes(log::kMetadataFile);
  ASSERT_TRUE(disk_.open()->add_batch("[" + entry_text("x") + "," + entry_text("y") + "]").ok());
  std::string log = disk_.bytes(log::kEntriesFile);
  log.resize(log.size() - lines_of(log).back().size());
  ASSERT_GT(log.size(), before.size());
  disk_.write(log::kEntriesFile, "{}\n" + log);
  disk_.write(log::kMetadataFile, metadata);  // which knows nothing of the batch to be durable
  for (const auto name : {"lock", "index.bin"}) {
    if (disk_.read(name)) disk_.remove(name);
  }
  for (const bool dry_run : {true, false}) {
    const json::Tree report = *disk_.open()->repair(dry_run);
    EXPECT_EQ(report.get_int64("quarantined"), 1) << dry_run;
    EXPECT_EQ(report.get_int64("entries"), 5) << dry_run;
    EXPECT_EQ(report.get_int64("bytes_after"),
              static_cast<int64_t>(log.size() + disk_.bytes(log::kTombstonesFile).size()))
        << dry_run;
  }
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), log);
  EXPECT_TRUE(disk_.open()->get("x").ok());
  EXPECT_EQ(ids(), "abce");
}

// A dry run keeps nobody out. What it tells of the log is not to come from an index without rows.
TEST_F(Repairing, BesideAReaderThatFailsADryRunAsksToTryAgain) {
  edit("tea of b", "milk");
  auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
  auto& storage = *owned;
  Core core(std::string(kSessionId), std::move(owned), host_.context);
  ASSERT_TRUE(core.load().ok());
  Writer writer(core);
  const RepairOptions options{.dry_run = true, .accept_edits = false};
  bool was_met = false;
  storage.change_read = [&](log::Stream stream, uint64_t, size_t got) -> Result<size_t> {
    const bool is_look = stream == log::Stream::kTombstones && is_index_free(core);
    if (is_look && !std::exchange(was_met, true)) fail_to_read(core, storage, false);
    return got;
  };
  EXPECT_EQ(session::repair(core, writer, options).code(), Code::kConflict);
  EXPECT_TRUE(was_met);
  const auto report = session::repair(core, writer, options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get_int64("entries"), 3);
  EXPECT_EQ(report->get_int64("quarantined"), 1);
}

}  // namespace
}  // namespace varve::session
