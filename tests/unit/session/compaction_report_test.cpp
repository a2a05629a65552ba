// What a compaction tells, and what goes with the entries: vectors, words, figures.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "embedding/vector_format.h"
#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

using Values = std::vector<float>;

class CompactionReports : public testing::Test {
 protected:
  void SetUp() override {
    disk_.make();
    session_ = disk_.open();
  }
  void reopen() {
    session_.reset();
    session_ = disk_.open();
  }
  void add(const std::string& id) { ASSERT_TRUE(session_->add(entry_text(id)).ok()); }
  void add_with_vector(const std::string& id) {
    add(id);
    ASSERT_TRUE(session_->put_vector(id, Values{1, static_cast<float>(id[0]), 0}).ok());
  }
  void remove(const std::string& id) { ASSERT_TRUE(session_->remove(id, "").ok()); }
  json::Tree compact(CompactionCause cause = CompactionCause::kAsked, double evict_below = 0) {
    CompactionOptions options;
    options.cause = cause;
    options.evict_below = evict_below;
    auto report = session_->compact(options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree();
  }
  void damage_vector(size_t number) {
    std::string bytes = disk_.bytes("vectors.bin");
    const size_t at = embedding::kHeaderBytes + number * embedding::record_bytes(3) + 150;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    session_.reset();
    disk_.write("vectors.bin", bytes);
    session_ = disk_.open();
  }
  // Three, of entries of their own each time; the second is damaged, the third's entry may go.
  void make_damaged_vectors(bool drops_entry) {
    disk_.write("vectors.bin", "");
    for (const std::string id : {"a", "b", "c"}) {
      const std::string own = id + (drops_entry ? "1" : "0");
      add(own);
      ASSERT_TRUE(session_->put_vector(own, Values{1, 2, 3}).ok());
    }
    if (drops_entry) remove("c1");
    damage_vector(1);
  }
  [[nodiscard]] size_t vector_count() const {
    const size_t bytes = disk_.bytes("vectors.bin").size();
    return bytes == 0 ? 0 : (bytes - embedding::kHeaderBytes) / embedding::record_bytes(3);
  }
  // Of all that counts as the session's size.
  [[nodiscard]] uint64_t bytes_on_disk() const {
    uint64_t bytes = 0;
    for (const std::string& path : disk_.disk.list_all()) {
      bool counts = !path.ends_with('/');
      for (const auto name : {"/lock", "/metadata.json", "/quarantine.jsonl"}) {
        counts = counts && !path.ends_with(name);
      }
      if (counts) bytes += disk_.disk.read_file(path)->size();
    }
    return bytes;
  }
  int64_t figure(std::string_view object, std::string_view name) {
    return member(*session_->stats(), object).get_int64(name, -1);
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> session_;
};

// docs/format.md#compaction
TEST_F(CompactionReports, HaveTheDocumentedMembersAndNoOther) {
  add("a");
  add("b");
  remove("a");
  const auto names = [](const json::Tree& tree) {
    std::string found;
    for (const auto& [name, value] : tree.members()) found += name + " ";
    return found;
  };
  const json::Tree report = compact();
  EXPECT_EQ(names(report),
            "bytes_after bytes_before changed dropped duration_ms entries_after entries_before ");
  EXPECT_EQ(names(member(report, "dropped")), "damaged deleted evicted expired ");
  const json::Tree metadata = *session_->metadata();
  ASSERT_EQ(member(metadata, "compactions").items().size(), 1u);
  EXPECT_EQ(names(member(metadata, "compactions").items()[0]),
            "bytes_after bytes_before cause dropped duration_ms entries_after entries_before "
            "timestamp ");
  EXPECT_EQ(metadata.get_int64("durable_seq"), 2);
}

TEST_F(CompactionReports, TellHowLongItTook) {
  add("a");
  remove("a");
  bool is_renamed = false;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kRename &&
        operation.path.find("memory.jsonl") != std::string::npos && !is_renamed) {
      is_renamed = true;
      host_.clock.advance_ms(7);
    }
    return std::nullopt;
  });
  const json::Tree report = compact();
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_EQ(report.get_double("duration_ms"), 7);
  const json::Tree metadata = *session_->metadata();
  EXPECT_EQ(member(metadata, "compactions").items()[0].get_double("duration_ms"), 7);
}

TEST_F(CompactionReports, CountVectorsWhereThereAreSome) {
  for (const std::string id : {"a", "b", "c"}) add_with_vector(id);
  remove("a");
  const json::Tree report = compact();
  EXPECT_EQ(report.get_int64("vectors_before"), 3);
  EXPECT_EQ(report.get_int64("vectors_after"), 2);
  EXPECT_EQ(vector_count(), 2u);
}

TEST_F(CompactionReports, OfAPlanKnowWhatAnotherProcessDid) {
  add("a");
  const auto process = disk_.disk.process(7);
  const auto other = disk_.open(process.get());
  ASSERT_TRUE(other->add(entry_text("b")).ok());
  ASSERT_TRUE(other->remove("a", "").ok());
  CompactionOptions options;
  options.dry_run = true;
  const auto report = session_->compact(options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->get_int64("entries_before"), 2);
  EXPECT_EQ(member(*report, "dropped").get_int64("deleted"), 1);
}

TEST_F(CompactionReports, TheLockSaysWhatIsDone) {
  add("a");
  remove("a");
  std::string operation_seen;
  const auto process = disk_.disk.process(7);
  const auto other = *disk_.storage(process.get());
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kRename) {
      operation_seen = other->lock_holder().operation;
    }
    return std::nullopt;
  });
  compact();
  EXPECT_EQ(operation_seen, "compact");
  compact(CompactionCause::kPurge);
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_EQ(operation_seen, "purge");
}

TEST_F(CompactionReports, ALineThatChangedIsToldWithItsFile) {
  add("a");
  add("b");
  remove("b");
  std::string log = disk_.bytes("memory.jsonl");
  log[log.find("hello")] = 'j';
  auto file =
      *(*disk_.disk.open_root(kFolder, false))->open("memory.jsonl", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(file->write_at(0, log).ok());
  const auto refused = session_->compact({});
  ASSERT_EQ(refused.code(), Code::kCorruption);
  EXPECT_TRUE(refused.status().place().path.ends_with("memory.jsonl"))
      << refused.status().place().path;
}

// In the file that is open, as no writer of ours would.
TEST_F(CompactionReports, ALineThatLostItsEndIsRefused) {
  add("a");
  add("b");
  add("c");
  remove("a");
  const std::string log = disk_.bytes("memory.jsonl");
  auto file =
      *(*disk_.disk.open_root(kFolder, false))->open("memory.jsonl", io::OpenMode::kUpdateOrCreate);
  const size_t end_of_b = log.find('\n', log.find('\n') + 1);
  ASSERT_TRUE(file->write_at(end_of_b, " ").ok());
  EXPECT_EQ(session_->compact({}).code(), Code::kCorruption);
  ASSERT_TRUE(file->write_at(end_of_b, "\n").ok());
  EXPECT_TRUE(compact().get_bool("changed"));
}

// --- vectors -------------------------------------------------------------------------------------

TEST_F(CompactionReports, DamagedVectorsGoToQuarantineWhetherEntriesGoOrNot) {
  for (const bool drops_entry : {false, true}) {
    make_damaged_vectors(drops_entry);
    const size_t before = disk_.quarantine().size();
    compact();
    ASSERT_EQ(disk_.quarantine().size(), before + 1) << drops_entry;
    EXPECT_EQ(disk_.quarantine().back().reason, "a damaged vector");
    EXPECT_EQ(disk_.quarantine().back().file, "vectors.bin");
    EXPECT_EQ(vector_count(), drops_entry ? 1u : 2u);
  }
}

TEST_F(CompactionReports, WithoutRoomInQuarantineNothingIsDropped) {
  for (const bool drops_entry : {false, true}) {
    make_damaged_vectors(drops_entry);
    const std::string log = disk_.bytes("memory.jsonl");
    const std::string vectors = disk_.bytes("vectors.bin");
    disk_.disk.set_fault_hook(io::FailNth(1, ENOSPC, true).on_file("quarantine.jsonl"));
    EXPECT_EQ(session_->compact({}).code(), Code::kNoSpace);
    disk_.disk.set_fault_hook(nullptr);
    EXPECT_EQ(disk_.bytes("memory.jsonl"), log);
    EXPECT_EQ(disk_.bytes("vectors.bin"), vectors);
    compact();
    EXPECT_EQ(vector_count(), drops_entry ? 1u : 2u);
  }
}

TEST_F(CompactionReports, VectorsThatCouldNotBeRewrittenAreToldAndStay) {
  for (const std::string id : {"a", "b"}) add_with_vector(id);
  remove("a");
  std::vector<std::string> lines;
  host_.keep_lines(Level::kWarn, &lines);
  disk_.disk.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool own = operation.path.find("vectors.bin") != std::string::npos;
    if (own && operation.kind == io::OperationKind::kRename) return io::Fault{EIO};
    return std::nullopt;
  });
  EXPECT_TRUE(compact().get_bool("changed"));
  disk_.disk.set_fault_hook(nullptr);
  host_.events.deliver();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("vectors.bin was not compacted"), std::string::npos) << lines[0];
  EXPECT_EQ(vector_count(), 2u);
  compact();
  EXPECT_EQ(vector_count(), 1u);
}

TEST_F(CompactionReports, SizesAndMemoryAreThoseAfterIt) {
  for (const std::string id : {"a", "b"}) add_with_vector(id);
  ASSERT_TRUE(session_->query(R"({"vector":[1,0,0]})").ok());
  remove("a");
  compact();
  EXPECT_EQ(session_->size_bytes(), bytes_on_disk());
  const auto noted = json::Tree::parse(disk_.bytes("metadata.json"));
  ASSERT_TRUE(noted.ok());
  EXPECT_EQ(noted->get_int64("total_size_bytes"), static_cast<int64_t>(bytes_on_disk()));
  ASSERT_TRUE(session_->query(R"({"vector":[1,0,0]})").ok());
  const int64_t before = figure("vectors", "memory_bytes");
  compact(CompactionCause::kPurge);
  EXPECT_LT(figure("vectors", "memory_bytes"), before) << "a purge leaves nothing in memory";
  EXPECT_EQ(session_->size_bytes(), bytes_on_disk());
}

TEST_F(CompactionReports, SizesOfASessionThatWasJustOpenedHaveItsVectorsKeysAndTurns) {
  add_with_vector("a");
  ASSERT_TRUE(session_->kv_set("k", std::string(500, 'v')).ok());
  ASSERT_TRUE(session_->transcript_append("user", std::string(500, 't')).ok());
  reopen();
  EXPECT_EQ(session_->size_bytes(), bytes_on_disk());
}

// --- words and rows ------------------------------------------------------------------------------

TEST_F(CompactionReports, APurgeLeavesNoFormOfAWordThatOnlyTheForgottenHad) {
  ASSERT_TRUE(session_->add(entry_text("a", "they sailed")).ok());
  ASSERT_TRUE(session_->add(entry_text("b", "he sails")).ok());
  ASSERT_EQ(*session_->count(R"({"text":"sail"})"), 2u);
  remove("a");
  compact(CompactionCause::kPurge);
  ASSERT_EQ(*session_->count(R"({"text":"sail"})"), 1u);
  ASSERT_TRUE(session_->sync().ok());
  session_->close();
  EXPECT_EQ(disk_.bytes("index.bin").find("sailed"), std::string::npos);
}

TEST_F(CompactionReports, AnEvictionRightAfterOpeningSparesWhatIsPinned) {
  ASSERT_TRUE(session_
                  ->add(R"({"id":"pinned","type":"finding","content":"x","importance":0.1,)"
                        R"("timestamp":"2001-01-01T00:00:00Z","tags":["pinned"]})")
                  .ok());
  ASSERT_TRUE(session_
                  ->add(R"({"id":"old","type":"finding","content":"x","importance":0.1,)"
                        R"("timestamp":"2001-01-01T00:00:00Z"})")
                  .ok());
  session_->close();
  reopen();
  const json::Tree report = compact(CompactionCause::kAsked, 0.05);
  EXPECT_EQ(member(report, "dropped").get_int64("evicted"), 1);
  EXPECT_TRUE(session_->get("pinned").ok());
}

// A new entry counts half as much again: 0.5 is 0.75.
TEST_F(CompactionReports, AnEntryExactlyAtTheLimitIsNotBelowIt) {
  ASSERT_TRUE(session_->add(R"({"id":"a","type":"finding","content":"x","importance":0.5})").ok());
  EXPECT_FALSE(compact(CompactionCause::kAsked, 0.75).get_bool("changed"));
  EXPECT_TRUE(compact(CompactionCause::kAsked, 0.751).get_bool("changed"));
}

TEST_F(CompactionReports, ThatTheLimitIsNearIsToldAgainAfterRoomWasMade) {
  host_.context.settings.session_bytes_max = 20'000;
  host_.context.settings.compaction.automatic = false;
  reopen();
  size_t told = 0;
  host_.events.set_receiver(
      Level::kWarn,
      [](void* data, int32_t, const char* line, size_t length) {
        const std::string_view text(line, length);
        *static_cast<size_t*>(data) += text.find("approaches its size limit") != text.npos;
      },
      &told);
  const std::string large(18'500, 'x');
  ASSERT_TRUE(session_->add(entry_text("a", large)).ok());
  host_.events.deliver();
  EXPECT_EQ(told, 1u);
  remove("a");
  compact();
  ASSERT_TRUE(session_->add(entry_text("b", large)).ok());
  host_.events.deliver();
  EXPECT_EQ(told, 2u);
}

}  // namespace
}  // namespace varve::session
