// Deletions that a restore applies to what it brings back.
#include <gtest/gtest.h>

#include <algorithm>

#include "backup_rig.h"

namespace varve::store {
namespace {

class RestoredDeletions : public BackupFixture {};

TEST_F(RestoredDeletions, ADeletionThatBothKnowIsNotReapplied) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "b", "c"});
  ASSERT_TRUE(notes->remove("a", "").ok());
  backed_up(*store);
  ASSERT_TRUE(notes->remove("b", "").ok());
  const json::Tree report = restored(*store, R"({"overwrite":true})");
  EXPECT_EQ(report.get_int64("deletions_reapplied"), 1);
  // Nobody has opened it yet, to count what is in it.
  const auto listed = *store->sessions({});
  ASSERT_EQ(listed.get("sessions")->items().size(), 1U);
  EXPECT_EQ(listed.get("sessions")->items()[0].get_int64("total_entries"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{"c"});
  const std::string dead = file("store/sessions/notes/tombstones.jsonl");
  EXPECT_EQ(std::count(dead.begin(), dead.end(), '\n'), 2);
}

TEST_F(RestoredDeletions, AnOldBackupDoesNotBringForgottenEntriesBack) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"kept", "forgotten"});
  backed_up(*store);
  ASSERT_TRUE(notes->remove("forgotten", "asked for by Ann").ok());
  add(*notes, {"later"});

  const json::Tree report = restored(*store, R"({"overwrite":true})");
  EXPECT_EQ(report.get_int64("replaced"), 1);
  EXPECT_EQ(report.get_int64("deletions_reapplied"), 1);
  EXPECT_EQ(report.get_int64("entries"), 1);
  EXPECT_EQ(report.get_count("bytes"), file("store/sessions/notes/memory.jsonl").size() +
                                           file("store/sessions/notes/tombstones.jsonl").size());
  EXPECT_EQ(alive(*store, "notes"), Texts{"kept"});
  EXPECT_NE(file("store/sessions/notes/tombstones.jsonl").find("asked for by Ann"),
            std::string::npos);
  EXPECT_TRUE(is_sound(*store, "notes"));
  // The old handle is of a session that is no more.
  EXPECT_EQ(notes->add(text_of("lost", "1")).code(), Code::kNotFound);
  EXPECT_EQ(notes->get("kept").code(), Code::kNotFound);
}

// Nothing tells a session that was dropped from one that is lost, so both are named.
TEST_F(RestoredDeletions, WhatWasDroppedIsNamedWhereItIsBack) {
  const auto store = open("store");
  for (const std::string id : {"dropped", "new", "kept"}) add(*create(*store, id), {"a"});
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("dropped").ok());
  ASSERT_TRUE(store->delete_session("new").ok());
  clock_.advance_ms(1);
  add(*create(*store, "new"), {"b"});  // another one of this name
  ASSERT_TRUE(store->delete_session("new").ok());

  const auto returned = [](const json::Tree& report) { return report.get("returned")->items(); };
  const auto first = returned(restored(*store, R"({"overwrite":true})"));
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].text(), "dropped");
  EXPECT_EQ(first[1].text(), "new");
  EXPECT_TRUE(returned(restored(*store, R"({"overwrite":true})")).empty());
  // A store that lost everything had none of them, as far as it knows.
  const auto other = open("other");
  EXPECT_TRUE(returned(restored(*other, "{}")).empty());
}

// What is left of a copy, or of the session that is here, may be its deletions alone.
TEST_F(RestoredDeletions, DeletionsAreAppliedThoughNothingElseIsLeft) {
  const auto store = open("store");
  {
    const auto notes = create(*store, "notes");
    add(*notes, {"kept", "forgotten"});
    backed_up(*store);
    ASSERT_TRUE(notes->remove("forgotten", "").ok());
  }
  const std::string deletions = file("store/sessions/notes/tombstones.jsonl");
  ASSERT_TRUE(store->delete_session("notes").ok());
  for (const std::string where : {"left", "here"}) {
    SCOPED_TRACE(where);
    const auto other = open(where);
    disk_.write_file(where + "/sessions/notes/tombstones.jsonl", deletions + "torn");
    const bool is_here = where == "here";
    const json::Tree report =
        restored(is_here ? *other : *store,
                 is_here ? R"({"overwrite":true})" : R"({"tombstones_from":"left"})");
    EXPECT_EQ(report.get_int64("deletions_reapplied"), 1);
    EXPECT_EQ(report.get_int64("replaced"), 0);
    EXPECT_EQ(report.get_count("bytes"),
              file("copy/sessions/notes/memory.jsonl").size() + deletions.size());
    EXPECT_EQ(alive(is_here ? *other : *store, "notes"), Texts{"kept"});
  }
}

// Whose deletion stands in a line that is damaged nobody knows.
TEST_F(RestoredDeletions, OneThatCannotBeReadIsAProblem) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"kept", "forgotten", "lost"});
  backed_up(*store, {}, "old");
  ASSERT_TRUE(notes->remove("forgotten", "").ok());
  ASSERT_TRUE(notes->remove("lost", "").ok());
  std::string deletions = file("store/sessions/notes/tombstones.jsonl");
  deletions[deletions.find("lost")] = 'c';
  disk_.write_file("store/sessions/notes/tombstones.jsonl", deletions);
  open("left");
  disk_.write_file("left/sessions/notes/tombstones.jsonl", deletions);
  for (const std::string options : {R"({"overwrite":true})", R"({"tombstones_from":"left"})"}) {
    SCOPED_TRACE(options);
    const json::Tree report = restored(*store, options, "old");
    EXPECT_EQ(report.get_int64("deletions_reapplied"), 1);
    EXPECT_EQ(alive(*store, "notes"), (Texts{"kept", "lost"}));
    const auto& problems = report.get("problems")->items();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].get_string("session_id"), "notes");
    EXPECT_EQ(problems[0].get_string("reason"),
              "1 deletion to apply is missing or cannot be read: look whether what was deleted is "
              "back, and delete it again");
    EXPECT_TRUE(problems[0].get_bool("copied"));
    ASSERT_TRUE(store->delete_session("notes").ok());
  }
}

// The copy that is restored may have them.
TEST_F(RestoredDeletions, ThoseThatAreMissingHereAreAProblemWhereTheBackupLacksThem) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"kept", "forgotten"});
  backed_up(*store, {}, "old");
  ASSERT_TRUE(notes->remove("forgotten", "").ok());
  ASSERT_TRUE(notes->sync().ok());
  backed_up(*store, {}, "new");
  const std::string deletions = file("store/sessions/notes/tombstones.jsonl");
  for (const std::string backup : {"new", "old"}) {
    SCOPED_TRACE(backup);
    disk_.write_file("store/sessions/notes/tombstones.jsonl", "");
    const json::Tree report = restored(*store, R"({"overwrite":true})", backup);
    const auto& problems = report.get("problems")->items();
    if (backup == "new") {
      EXPECT_TRUE(problems.empty());
      EXPECT_EQ(file("store/sessions/notes/tombstones.jsonl"), deletions);
    } else {
      ASSERT_EQ(problems.size(), 1U);
      EXPECT_EQ(problems[0].get_string("reason"),
                "1 deletion to apply is missing or cannot be read: look whether what was deleted "
                "is back, and delete it again");
    }
  }
}

}  // namespace
}  // namespace varve::store
