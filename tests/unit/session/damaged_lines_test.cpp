// Which ids damaged lines have, and what is read to know it.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "failing_reader.h"
#include "session/core.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

class DamagedLines : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    const auto session = disk_.open();
    for (const std::string id : {"a", "b", "c"}) {
      ASSERT_TRUE(session->add(entry_text(id, "tea of " + id)).ok());
    }
  }
  // A changed letter of the content: the line is an object still, with its id.
  void damage(const std::string& id) {
    std::string log = disk_.bytes(log::kEntriesFile);
    log[log.find("tea of " + id)] = 's';
    disk_.write(log::kEntriesFile, log);
  }
  // The whole line of an entry becomes another, as an edit by hand may leave it.
  void put_in_place_of(const std::string& id, const std::string& text) {
    const std::string log = disk_.bytes(log::kEntriesFile);
    std::string edited;
    for (const auto line : lines_of(log)) {
      const bool is_it = line.find("tea of " + id) != std::string_view::npos;
      edited += is_it ? text + "\n" : std::string(line);
    }
    ASSERT_NE(edited, log);
    disk_.write(log::kEntriesFile, edited);
    disk_.remove("index.bin");
  }
  void load() {
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    ASSERT_TRUE(core_->load().ok());
  }
  Status add(const std::string& id) {
    entry::DraftOptions options;
    options.session_id = kSessionId;
    WriteRequest request;
    request.drafts.push_back(*entry::draft(entry_text(id), options, ids_, scratch_));
    return Writer(*core_).submit(request);
  }
  // The log can be seen, and not be read.
  void refuse_reads() {
    storage_->change_read = [](log::Stream, uint64_t, size_t) {
      return Status(Code::kIo, "no read");
    };
  }
  // Damage that index.bin counts, in a session whose rows are all in index.bin still.
  void load_from_index(const std::string& damaged) {
    damage(damaged);
    ASSERT_TRUE(disk_.open()->rebuild_index().ok());
    load();
    ASSERT_FALSE(core_->index.has_all_rows()) << "or nothing is tested";
  }

  Host host_;
  SessionDisk disk_{host_};
  IdGenerator ids_{host_.clock, host_.random};
  json::Document scratch_;
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
};

TEST_F(DamagedLines, AreReadOnceAndAgainWhenThereAreMore) {
  damage("b");
  disk_.remove("index.bin");
  load();
  const auto first = core_->damaged_lines.ids();
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(*first);
  EXPECT_EQ((*first)->size(), 1u);
  EXPECT_TRUE((*first)->contains("b"));
  const uint64_t read_bytes = storage_->read_bytes;
  EXPECT_EQ(*core_->damaged_lines.ids(), *first);
  EXPECT_EQ(storage_->read_bytes, read_bytes);

  const auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("d", "tea of d")).ok());
  ASSERT_TRUE(session->add(entry_text("e")).ok());
  damage("d");
  ASSERT_TRUE(core_->catch_up().ok());
  const auto second = core_->damaged_lines.ids();
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->size(), 2u);
  EXPECT_TRUE((*second)->contains("d"));
}

TEST_F(DamagedLines, ShowTheirIdsAlsoWhereTheyAreNoObjectAnyMore) {
  put_in_place_of("b", R"([{"id":"b"}])");
  load();
  const auto damaged = core_->damaged_lines.ids();
  ASSERT_TRUE(damaged.ok() && *damaged);
  EXPECT_TRUE((*damaged)->contains("b"));
  EXPECT_EQ(core_->entries.read("b").code(), Code::kCorruption);
  EXPECT_EQ(add("b").code(), Code::kAlreadyExists);
}

TEST_F(DamagedLines, OfAnObjectOnlyItsOwnIdCountsAndOnlyAsText) {
  put_in_place_of("b", R"({"id":5,"content":{"id":"x"}})");
  load();
  const auto damaged = core_->damaged_lines.ids();
  ASSERT_TRUE(damaged.ok() && *damaged);
  EXPECT_TRUE((*damaged)->empty());
  for (const std::string id : {"5", "x"}) {
    EXPECT_EQ(core_->entries.read(id).code(), Code::kNotFound) << id;
    EXPECT_TRUE(add(id).ok()) << id;
  }
}

TEST_F(DamagedLines, ThatCannotBeReadLeaveNoIdFreeAndNoEntryMissing) {
  damage("b");
  disk_.remove("index.bin");
  load();
  const std::string log = disk_.bytes(log::kEntriesFile);
  refuse_reads();
  EXPECT_EQ(core_->damaged_lines.ids().code(), Code::kIo);
  EXPECT_EQ(core_->entries.read("b").code(), Code::kIo);
  EXPECT_EQ(add("b").code(), Code::kIo);
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), log);
  storage_->change_read = nullptr;
  EXPECT_EQ(core_->entries.read("b").code(), Code::kCorruption);
  EXPECT_EQ(add("b").code(), Code::kAlreadyExists);
}

TEST_F(DamagedLines, AreNotKnownWhileTheRowsAroundThemAreNot) {
  load_from_index("b");
  disk_.disk.set_fault_hook(io::FailNth(1, EIO, true).on_file("index.bin"));
  storage_->change_tail = [](const log::Tail&) { return Status(Code::kIo, "no tail"); };
  EXPECT_EQ(core_->damaged_lines.ids().code(), Code::kIo);
  storage_->change_tail = nullptr;
  disk_.disk.set_fault_hook(nullptr);
  const auto damaged = core_->damaged_lines.ids();
  ASSERT_TRUE(damaged.ok() && *damaged);
  EXPECT_EQ((*damaged)->size(), 1u);
  EXPECT_TRUE((*damaged)->contains("b"));
}

// Between the look-up, which knows of damage, and the reading of it, another repairs the log.
TEST_F(DamagedLines, ThatAreSetAsideMeanwhileAreNoDamageAnyMore) {
  load_from_index("b");
  bool is_repaired = false;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool reads_rows = operation.kind == io::OperationKind::kRead &&
                            operation.name == "index.bin" && !is_index_free(*core_);
    if (!reads_rows || std::exchange(is_repaired, true)) return std::nullopt;
    EXPECT_TRUE(disk_.open()->repair(false)->get_bool("changed"));
    return io::Fault{EIO};
  });
  EXPECT_EQ(core_->entries.read("b").code(), Code::kNotFound);
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_TRUE(is_repaired);
  EXPECT_TRUE(core_->entries.read("c").ok());
  EXPECT_TRUE(add("b").ok());
}

// What stands twice is passed over, and so counts as damage, which an expired entry is not.
TEST_F(DamagedLines, ThatRepeatAnEntryDoNotOutliveIt) {
  ASSERT_TRUE(
      disk_.open()->add(R"({"id":"d","type":"note","content":"tea of d","ttl_seconds":60})").ok());
  const std::string log = disk_.bytes(log::kEntriesFile);
  disk_.write(log::kEntriesFile, log + std::string(lines_of(log).back()));
  disk_.remove("index.bin");
  load();
  ASSERT_TRUE(core_->entries.read("d").ok());
  ASSERT_TRUE((*core_->damaged_lines.ids())->contains("d"));
  host_.clock.advance_ms(61'000);
  const auto expired = core_->entries.read("d");
  EXPECT_EQ(expired.code(), Code::kNotFound);
  EXPECT_EQ(expired.status().message(), "entry 'd' has expired");
}

// Whether what is known is still there shows behind the damage then, by a line end.
TEST_F(DamagedLines, ThatEndWhatIsKnownAreLookedAtAgainWhenTheyCannotBeRead) {
  damage("c");
  disk_.remove("index.bin");
  load();
  ASSERT_TRUE(core_->catch_up().ok());
  const uint64_t known_bytes = core_->index.coverage.entries_bytes;
  ASSERT_EQ(known_bytes, disk_.bytes(log::kEntriesFile).size());
  const uint64_t epoch = core_->index_epoch;
  ASSERT_TRUE(disk_.open()->add(entry_text("d")).ok());
  storage_->change_read = [=](log::Stream, uint64_t offset, size_t got) -> Result<size_t> {
    if (offset == known_bytes - 1) return Status(Code::kIo, "no read");
    return got;
  };
  EXPECT_EQ(core_->catch_up().code(), Code::kIo);
  storage_->change_read = nullptr;
  EXPECT_TRUE(core_->catch_up().ok());
  EXPECT_TRUE(core_->entries.read("d").ok());
  EXPECT_EQ(core_->index_epoch, epoch) << "the log was not read anew";
}

TEST_F(DamagedLines, OfDeletionsAloneAreNoReasonToReadTheLogAnew) {
  disk_.write(log::kTombstonesFile, "{\"no\":\"tombstone\"}\n");
  load();
  ASSERT_TRUE(core_->catch_up().ok());
  ASSERT_GT(core_->index.coverage.tombstones_bytes, 0u);
  const uint64_t epoch = core_->index_epoch;
  ASSERT_TRUE(disk_.open()->remove("a", "").ok());
  EXPECT_EQ(core_->entries.read("a").code(), Code::kNotFound);
  EXPECT_TRUE(core_->entries.read("b").ok());
  EXPECT_EQ(core_->index_epoch, epoch);
}

// Between a look at the files and the reading of them.
TEST_F(DamagedLines, OfDeletionsThatAreCutWhileTheyAreReadTakeThemBack) {
  ASSERT_TRUE(disk_.open()->remove("a", "").ok());
  load();
  ASSERT_TRUE(core_->catch_up().ok());
  EXPECT_EQ(core_->entries.read("a").code(), Code::kNotFound);
  ASSERT_TRUE(disk_.open()->remove("b", "").ok());
  int looks = 0;
  storage_->change_tail = [&](const log::Tail& tail) -> Result<log::Tail> {
    if (++looks == 2) {  // with the index locked
      const auto root = *disk_.disk.open_root(kFolder, false);
      const auto file = *root->open(log::kTombstonesFile, io::OpenMode::kUpdateOrCreate);
      EXPECT_TRUE(file->truncate(0).ok());
    }
    return tail;
  };
  const Status caught_up = core_->catch_up();
  EXPECT_TRUE(caught_up.ok()) << caught_up.message();
  EXPECT_GE(looks, 2);
  for (const std::string id : {"a", "b", "c"}) EXPECT_TRUE(core_->entries.read(id).ok()) << id;
}

}  // namespace
}  // namespace varve::session
