// Backup and restore where something else has the name of a session or of one of its files, and
// where a copy cannot take the session.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "backup_rig.h"
#include "unit/log/wrapped_files.h"

namespace varve::store {
namespace {

class LostCopies : public BackupFixture {
 protected:
  void SetUp() override {
    store_ = open("store");
    for (const std::string id : {"a", "notes", "z"}) add(*create(*store_, id), {"first"});
    backed_up(*store_);
  }
  // {id: reason} of those that were not copied.
  static Texts not_copied(const json::Tree& report) {
    Texts found;
    for (const auto& problem : report.get("problems")->items()) {
      EXPECT_FALSE(problem.get_bool("copied"));
      found.push_back(problem.get_string("session_id") + ": " + problem.get_string("reason"));
    }
    return found;
  }
  // One problem, and the copy of notes is there.
  void expect_kept_by_backup(std::string_view reason) {
    const json::Tree report = backed_up(*store_);
    EXPECT_EQ(report.get_int64("removed"), 0);
    const Texts found = not_copied(report);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find(reason), std::string::npos) << found[0];
    EXPECT_EQ(alive("copy", "notes"), Texts{"first"});
  }
  void remove_files(const std::string& path, const Texts& names) {
    const auto root = *disk_.open_root(path, false);
    for (const std::string& name : names) (void)root->remove(name).ok();
  }
  void remove_directory(const std::string& above, const std::string& name) {
    remove_files(above + "/" + name, {"memory.jsonl", "tombstones.jsonl", "metadata.json", "lock",
                                      "index.bin", "kv.json", "transcript.md"});
    ASSERT_TRUE((*disk_.open_root(above, false))->remove_directory(name).ok());
  }

  std::shared_ptr<Store> store_;
};

// As where an upgrade was taken back, and backups go on into the same directory.
TEST_F(LostCopies, OfANewerVersionTheyStayAndStopNoOtherSession) {
  const std::string metadata = R"({"session_id":"a","version":2})";
  disk_.write_file("copy/sessions/a/metadata.json", metadata);
  const std::string log = file("copy/sessions/notes/memory.jsonl") +
                          R"({"content":1,"id":"newer","schema_version":2,)"
                          R"("timestamp":"2026-01-10T14:23:46Z","type":"finding"})"
                          "\n";
  disk_.write_file("copy/sessions/notes/memory.jsonl", log);
  for (int round = 0; round < 2; ++round) {
    for (const std::string id : {"a", "notes", "z"}) {
      add(**store_->open_session(id), {"round" + std::to_string(round)});
    }
    const json::Tree report = backed_up(*store_);
    EXPECT_EQ(report.get_int64("sessions"), 1);
    constexpr const char* kReason =
        ": its copy is of a newer version and stays as it was; use a newer varve";
    EXPECT_EQ(not_copied(report),
              (Texts{std::string("a") + kReason, std::string("notes") + kReason}));
    EXPECT_EQ(file("copy/sessions/a/metadata.json"), metadata);
    EXPECT_EQ(file("copy/sessions/notes/memory.jsonl"), log);
  }
  EXPECT_EQ(alive("copy", "z"), (Texts{"first", "round0", "round1"}));
}

TEST_F(LostCopies, ADirectoryInPlaceOfAFileOfACopyStopsNoOtherSession) {
  remove_files("copy/sessions/notes", {"memory.jsonl"});
  ASSERT_TRUE(
      (*disk_.open_root("copy/sessions/notes", false))->make_directory("memory.jsonl").ok());
  for (const std::string id : {"a", "notes", "z"}) add(**store_->open_session(id), {"second"});
  const json::Tree report = backed_up(*store_);
  EXPECT_EQ(report.get_int64("appended"), 2);
  const Texts found = not_copied(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("memory.jsonl"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("; move it away, or remove this copy"), std::string::npos) << found[0];
  EXPECT_EQ(alive("copy", "z"), (Texts{"first", "second"}));
}

TEST_F(LostCopies, AFileInPlaceOfACopyStopsNoOtherSession) {
  remove_directory("copy/sessions", "notes");
  disk_.write_file("copy/sessions/notes", "somebody's own");
  add(**store_->open_session("z"), {"second"});
  const Texts found = not_copied(backed_up(*store_));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].substr(0, 6), "notes:");
  EXPECT_EQ(alive("copy", "z"), (Texts{"first", "second"}));
}

// As on an exFAT disk or a share: who has the name keeps it, and the others are copied.
TEST_F(LostCopies, WhereCaseDoesNotCountNamesTheSessionThatHasNoPlace) {
  const auto native = open("store");
  for (const std::string id : {"Ann", "ann", "bob"}) add(*create(*native, id), {"of_" + id});
  log::FileSystemWithoutCase folding(disk_);
  const auto store = open("store", &folding);
  for (int round = 0; round < 2; ++round) {
    const json::Tree report = backed_up(*store);
    EXPECT_EQ(report.get_int64("sessions"), 3 + 2) << report.canonical();  // three were there
    ASSERT_EQ(report.get("problems")->items().size(), 1U) << report.canonical();
    const json::Tree& problem = report.get("problems")->items().front();
    EXPECT_EQ(problem.get_string("session_id"), "ann");
    EXPECT_NE(problem.get_string("reason").find("upper and lower case"), std::string::npos);
    EXPECT_EQ(alive("copy", "Ann"), Texts{"of_Ann"});
    EXPECT_EQ(alive("copy", "bob"), Texts{"of_bob"});
  }
}

TEST_F(LostCopies, OfASessionThatHasLostItsLogAndItsMetadataItStays) {
  remove_files("store/sessions/notes", {"memory.jsonl", "metadata.json"});
  expect_kept_by_backup("its directory is there");
}

TEST_F(LostCopies, ASessionThatWasLostBeforeItHadOneIsTold) {
  add(*create(*store_, "new"), {"first"});
  remove_files("store/sessions/new", {"memory.jsonl", "metadata.json"});
  const auto sessions = *disk_.open_root("store/sessions", false);
  for (const auto* name : {"empty", "own"}) ASSERT_TRUE(sessions->make_directory(name).ok());
  disk_.write_file("store/sessions/own/notes.txt", "somebody's own");
  const Texts found = not_copied(backed_up(*store_));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].substr(0, 29), "new: its directory is there, ") << found[0];
}

TEST_F(LostCopies, WhereSomethingElseHasTheNameOfTheSessionItStays) {
  remove_directory("store/sessions", "notes");
  disk_.write_file("store/sessions/notes", "somebody's own");
  expect_kept_by_backup("its copy stays as it was");
}

TEST_F(LostCopies, ARestoreTellsOfACopyThatIsGone) {
  remove_directory("copy/sessions", "notes");
  const auto other = open("other");
  const json::Tree report = restored(*other);
  EXPECT_EQ(report.get_int64("sessions"), 2);
  EXPECT_EQ(not_copied(report),
            Texts{"notes: its copy is not in the backup any more, though backup.json names it"});
}

TEST_F(LostCopies, OfADeletedSessionNobodyTells) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  const json::Tree report = backed_up(*store_);
  EXPECT_EQ(report.get_int64("removed"), 1);
  EXPECT_EQ(not_copied(report), Texts());
  const auto other = open("other");
  EXPECT_EQ(not_copied(restored(*other)), Texts());
}

}  // namespace
}  // namespace varve::store
