// Compaction and purge where something is wrong: damage, a power loss, a full disk.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "compaction_options.h"
#include "session_disk.h"

namespace varve::session {
namespace {

// It is what shows that somebody's data is gone, and when.
TEST(CompactionAndPowerLoss, ThePurgesNoteIsThereWithItsAnswer) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  ASSERT_TRUE(session->add(entry_text("a", "x")).ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  ASSERT_TRUE(session->compact(purge()).ok());
  const auto after = disk.open(disk.disk.crash().get());
  const auto metadata = after->metadata();
  const json::Tree* notes = metadata->get("compactions");
  ASSERT_NE(notes, nullptr);
  ASSERT_EQ(notes->items().size(), 1u);
  EXPECT_EQ(notes->items()[0].get_string("cause"), "purge");
}

TEST(CompactionAndDamage, APurgeLeavesNothingOfADamagedMetadata) {
  Host host;
  SessionDisk disk(host);
  CreateOptions options;
  options.members.set("title", json::Tree::string("canary"));
  disk.make(options);
  ASSERT_TRUE(disk.open()->add(entry_text("a")).ok());
  std::string damaged = disk.bytes("metadata.json");
  damaged.resize(damaged.size() - 3);
  ASSERT_NE(damaged.find("canary"), std::string::npos);
  disk.write("metadata.json", damaged);
  const auto session = disk.open();
  ASSERT_TRUE(session->remove("a", "").ok());
  CompactionOptions purge;
  purge.cause = CompactionCause::kPurge;
  ASSERT_TRUE(session->compact(purge).ok());
  EXPECT_FALSE(disk.read("quarantine.jsonl").has_value());
  EXPECT_TRUE(Metadata::parse(disk.bytes("metadata.json"), kSessionId).ok());
}

// No file of ours, whatever its name.
TEST(CompactionAndDamage, ADirectoryOfSomebodyElsesStaysAndAPurgeIsDone) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  disk.write("memory.jsonl.tmp-0123456789abcdef", "canary");
  const std::string folder = "copy.tmp-of-mine";
  ASSERT_TRUE((*disk.disk.open_root(kFolder, false))->make_directory(folder).ok());
  const auto session = disk.open();
  ASSERT_TRUE(session->add(entry_text("a")).ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  const auto purged = session->compact(purge());
  EXPECT_TRUE(purged.ok()) << purged.status().message();
  EXPECT_FALSE(disk.read("memory.jsonl.tmp-0123456789abcdef").has_value());
  EXPECT_TRUE((*disk.disk.open_root(kFolder, false))->info(folder).ok());
}

// It counts entries by type, and until then also those that have expired.
TEST(CompactionAndDamage, APurgeThatLeavesATypeOfWhatWentInTheMetadataFails) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  int saves = 0;  // the session's end asks the disk as well
  const auto session = disk.open();
  ASSERT_TRUE(session->add(R"({"type":"canary","content":"x","ttl_seconds":1})").ok());
  host.clock.advance_ms(2000);
  disk.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_save =
        operation.kind == io::OperationKind::kRename && operation.name.starts_with("metadata.json");
    saves += is_save ? 1 : 0;
    return is_save && saves == 3 ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(session->compact(purge()).code(), Code::kIo);
  ASSERT_NE(disk.bytes("metadata.json").find("canary"), std::string::npos) << "or it is no test";
  EXPECT_TRUE(session->compact(purge()).ok());
  EXPECT_EQ(disk.bytes("metadata.json").find("canary"), std::string::npos);
}

TEST(CompactionAndDamage, APurgeThatLeavesTheVectorOfWhatWentFails) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  for (const std::string id : {"a", "b"}) {
    ASSERT_TRUE(session->add(entry_text(id)).ok());
    ASSERT_TRUE(session->put_vector(id, std::vector<float>{1, 2}).ok());
  }
  ASSERT_TRUE(session->remove("a", "").ok());
  const std::string before = disk.bytes("vectors.bin");
  disk.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_of_vectors =
        operation.kind == io::OperationKind::kRename && operation.name.starts_with("vectors.bin");
    return is_of_vectors ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(session->compact(purge()).code(), Code::kIo);
  ASSERT_EQ(disk.bytes("vectors.bin"), before) << "or it is no test";
  disk.disk.set_fault_hook(nullptr);
  EXPECT_TRUE(session->compact(purge()).ok());
  EXPECT_LT(disk.bytes("vectors.bin").size(), before.size());
}

// Damage that the scan found goes to quarantine in a compaction, and for good in a purge.
TEST(CompactionOfDamage, GoesToQuarantineOrForGood) {
  for (const bool purges : {false, true}) {
    Host host;
    SessionDisk disk(host);
    disk.make();
    ASSERT_TRUE(disk.open()->add(entry_text("a")).ok());
    ASSERT_TRUE(disk.open()->add(entry_text("b")).ok());
    const std::string log = disk.bytes("memory.jsonl");
    const size_t second = log.find('\n') + 1;
    disk.write("memory.jsonl",
               log.substr(0, second) + "not JSON at all\n\n  \n" + log.substr(second));
    const auto session = disk.open();
    const auto report = session->compact(purges ? purge() : asked());
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->get("dropped")->get_int64("damaged"), 1);
    EXPECT_EQ(disk.bytes("memory.jsonl"), log);
    EXPECT_TRUE(session->verify()->get_bool("ok"));
    if (purges) {
      EXPECT_EQ(disk.quarantine().size(), 0u);
    } else {
      ASSERT_EQ(disk.quarantine().size(), 1u);
      EXPECT_EQ(disk.quarantine()[0].bytes, "not JSON at all\n");
    }
  }
}

// A line that changed on disk after it was indexed is not copied as if it were right.
TEST(CompactionOfDamage, OfALineThatChangedSinceIsRefusedAndNothingIsTouched) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  ASSERT_TRUE(session->add(entry_text("a", "hello")).ok());
  ASSERT_TRUE(session->add(entry_text("b")).ok());
  ASSERT_TRUE(session->remove("b", "").ok());
  std::string log = disk.bytes("memory.jsonl");
  log[log.find("hello")] = 'j';
  auto file =
      (*disk.disk.open_root(kFolder, false))->open("memory.jsonl", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE((*file)->write_at(0, log).ok());
  const auto refused = session->compact(asked());
  EXPECT_EQ(refused.code(), Code::kCorruption);
  EXPECT_EQ(refused.status().place().offset, 0u);
  EXPECT_EQ(disk.bytes("memory.jsonl"), log);
}

TEST(CompactionOnAFullDisk, LeavesTheOldLogAndTheSessionGoesOn) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i), std::string(500, 'x'))).ok());
  }
  ASSERT_TRUE(session->remove("e3", "").ok());
  const std::string log = disk.bytes("memory.jsonl");
  uint64_t used_bytes = 0;
  for (const auto& path : disk.disk.list_all()) {
    used_bytes += disk.disk.read_file(path).value_or("").size();
  }
  disk.disk.set_capacity_bytes(used_bytes + 2000);
  EXPECT_EQ(session->compact(asked()).code(), Code::kNoSpace);
  EXPECT_EQ(disk.bytes("memory.jsonl"), log);
  EXPECT_TRUE(session->get("e4").ok());
  EXPECT_TRUE(session->remove("e4", "").ok()) << "a delete needs no more than its tombstone";
  disk.disk.set_capacity_bytes(std::nullopt);
  ASSERT_TRUE(session->compact(asked()).ok());
  EXPECT_TRUE(session->verify()->get_bool("ok"));
  for (const auto& path : disk.disk.list_all()) {
    EXPECT_EQ(path.find(".tmp-"), std::string::npos) << path;
  }
}

// The new log is written in parts, one of which is full in the middle of what was read at once.
TEST(CompactionOnAFullDisk, IsNoticedInTheMiddleOfTheLog) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i), std::string(50'000, 'x'))).ok());
  }
  for (int i = 0; i < 50; i += 5) {
    ASSERT_TRUE(session->remove("e" + std::to_string(i), "").ok());
  }
  const std::string log = disk.bytes("memory.jsonl");
  disk.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_new_log = operation.path.find("memory.jsonl.tmp-") != std::string::npos;
    if (!is_new_log || operation.kind != io::OperationKind::kAppend) return std::nullopt;
    return io::Fault{ENOSPC};
  });
  EXPECT_EQ(session->compact(asked()).code(), Code::kNoSpace);
  disk.disk.set_fault_hook(nullptr);
  EXPECT_EQ(disk.bytes("memory.jsonl"), log);
  ASSERT_TRUE(session->compact(asked()).ok());
  EXPECT_LT(disk.bytes("memory.jsonl").size(), log.size());
  EXPECT_TRUE(session->verify()->get_bool("ok"));
}

}  // namespace
}  // namespace varve::session
