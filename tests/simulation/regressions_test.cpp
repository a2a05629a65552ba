// What the simulation found, reduced: each fails without its fix.
#include <gtest/gtest.h>

#include <cerrno>

#include "model.h"
#include "process.h"
#include "session/upkeep/compaction.h"

namespace varve::simulation {
namespace {

// Two processes and a session from which an entry was deleted.
class Regressions : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(other_.open_store({}).ok());
    ASSERT_TRUE(other_.create(R"({"session_id":"s"})", "s").ok());
    for (const char* id : {"a", "b", "c"}) {
      const std::string entry = R"({"type":"finding","content":"tea","id":")" + std::string(id);
      ASSERT_TRUE(other_.find("s")->add(entry + "\"}").ok());
    }
    ASSERT_TRUE(other_.find("s")->remove("a", "").ok());
  }

  // Whether verify finds nothing when the other process compacts before its `ordinal`-th operation.
  // Nothing more to try when it has fewer.
  bool verify_while_compacting(uint64_t ordinal, bool opened_before, bool* is_right) {
    SimulatedProcess process(disk_, 3000 + static_cast<int64_t>(ordinal), ordinal, clock_,
                             crash::Sabotage::kNone);
    EXPECT_TRUE(process.open_store({}).ok());
    if (opened_before) {
      EXPECT_TRUE(process.open("s").ok());
    }
    bool has_compacted = false;
    std::string moment;  // before which operation
    disk_.set_fault_hook([&](const io::OperationInfo& operation) {
      if (operation.process_id == process.id() && !has_compacted && --ordinal == 0) {
        has_compacted = true;
        moment = std::string(io::operation_name(operation.kind)) + " " + operation.path + " ";
        EXPECT_TRUE(other_.find("s")->compact({}).ok());
      }
      return std::optional<io::Fault>();
    });
    EXPECT_TRUE(process.open("s").ok());
    const auto report = process.find("s")->verify();
    disk_.set_fault_hook({});
    EXPECT_TRUE(report.ok());
    *is_right = report.ok() && report->get_bool("ok");
    if (report.ok()) {
      EXPECT_TRUE(*is_right) << moment << report->canonical();
    }
    return has_compacted;
  }

  void verify_at_every_moment(bool opened_before) {
    bool goes_on = true;
    uint64_t ordinal = 1;
    for (; goes_on; ++ordinal) {
      // The log ends with a gap in seq where the deleted entry was.
      const std::string id = "d" + std::to_string(ordinal);
      const std::string start = R"({"type":"finding","content":"tea","id":")" + id;
      ASSERT_TRUE(other_.find("s")->add(start + "\"}").ok());
      ASSERT_TRUE(other_.find("s")->add(start + "-next\"}").ok());
      ASSERT_TRUE(other_.find("s")->remove(id, "").ok());
      bool is_right = false;
      goes_on = verify_while_compacting(ordinal, opened_before, &is_right);
      EXPECT_TRUE(is_right) << "operation " << ordinal;
    }
    EXPECT_GT(ordinal, 20u) << "hardly any operations";
  }

  io::SimulatedFileSystem disk_;
  VirtualClock clock_;
  SimulatedProcess other_{disk_, 2001, 1, clock_, crash::Sabotage::kNone};
};

// A log that was replaced between two looks was compared with the gaps that were legal before.
TEST_F(Regressions, ACompactionDuringAVerifyIsNoDamage) { verify_at_every_moment(true); }

TEST_F(Regressions, ACompactionDuringAnOpenIsNoDamage) { verify_at_every_moment(false); }

// What the new log may lack stands in metadata.json: with the old answer verify told of damage.
TEST_F(Regressions, MetadataThatCannotBeReadAfterACompactionIsTold) {
  SimulatedProcess process(disk_, 3000, 1, clock_, crash::Sabotage::kNone);
  ASSERT_TRUE(process.open_store({}).ok());
  ASSERT_TRUE(process.open("s").ok());
  ASSERT_TRUE(process.find("s")->verify()->get_bool("ok"));
  ASSERT_TRUE(other_.find("s")->compact({}).ok());
  bool has_failed = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.process_id != process.id() || has_failed || operation.name != "metadata.json") {
      return std::nullopt;
    }
    has_failed = true;
    return io::Fault{EIO};
  });
  const auto first = process.find("s")->verify();
  disk_.set_fault_hook({});
  EXPECT_TRUE(has_failed);
  EXPECT_EQ(first.code(), Code::kIo) << first.status().message();
  const auto second = process.find("s")->verify();
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_TRUE(second->get_bool("ok")) << second->canonical();
}

// --- the model
// ------------------------------------------------------------------------------------

SessionModel with_entry(const std::string& id, const char* durability) {
  SessionSettings settings;
  settings.id = "s";
  settings.durability = durability;
  SessionModel model(settings);
  ModelEntry entry;
  entry.id = id;
  model.note_added({entry}, Outcome::kDone, 1);
  return model;
}

// What an inner call saw of a transcript that nothing was known of was forgotten, and the model
// took its own guess for known (seeds 106205 and 100730).
TEST(Model, KeepsATranscriptOpenThatOnlyAnInnerCallSaw) {
  SessionModel model = with_entry("a", "os");
  model.lose_power();
  ASSERT_TRUE(model.is_transcript_open);
  model.begin_inside({});
  model.transcript = Worlds<Pairs>(Pairs{{"user", "seen"}});
  model.is_transcript_open = false;
  model.end_inside();
  EXPECT_TRUE(model.is_transcript_open);
}

// What an inner call deleted the outer one may still show, and nobody else (seed 101789).
TEST(Model, WhatAnInnerCallDeletedIsOpenUntilTheOuterOneEnds) {
  SessionModel model = with_entry("a", "os");
  model.begin_inside({});
  model.note_removed_if_there(*model.find("a"), Outcome::kDone, 2);
  model.end_inside();
  EXPECT_EQ(model.shown(*model.find("a"), 0), Truth::kMaybe);
  model.end_call();
  EXPECT_EQ(model.shown(*model.find("a"), 0), Truth::kNo);
}

// A handle that was closed while another held the lock synced nothing, nor does the next one of its
// process (seed 301150).
TEST(Model, WhatAHandleThatIsGoneWroteIsNotSyncedByTheNextOne) {
  SessionModel model = with_entry("a", "interval");
  model.disown(1);
  model.make_durable(1);
  model.lose_power();
  EXPECT_EQ(model.shown(*model.find("a"), 0), Truth::kMaybe);
}

// An entry that is gone because a power loss took it was not deleted: a backup may have it (seed
// 300116).
TEST(Model, ARestoreMayBringBackWhatAPowerLossTook) {
  SessionModel model = with_entry("a", "interval");
  const SessionModel copy = model;
  model.lose_power();
  model.note_removed_if_there(*model.find("a"), Outcome::kDone, 1);
  model.restore(copy);
  EXPECT_EQ(model.shown(*model.find("a"), 0), Truth::kMaybe);
}

// Restoring brings nothing back that was deleted since.
TEST(Model, ARestoreKeepsDeletions) {
  SessionModel model = with_entry("a", "commit");
  const SessionModel copy = model;
  model.note_removed(*model.find("a"), Outcome::kDone, 1);
  model.restore(copy);
  EXPECT_EQ(model.shown(*model.find("a"), 0), Truth::kNo);
}

}  // namespace
}  // namespace varve::simulation
