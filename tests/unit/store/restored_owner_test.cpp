// Whose a session is after a restore, though its metadata.json was damaged.
#include <gtest/gtest.h>

#include "backup_rig.h"

namespace varve::store {
namespace {

class RestoredOwner : public BackupFixture {
 protected:
  std::shared_ptr<Store> make(std::string_view path) {
    auto store = open(path);
    add(**store->create_session(R"({"session_id":"notes","user_id":"ann","agent_id":"cook"})"),
        {"a"});
    return store;
  }
  static void expect_is_of_ann(Store& store) {
    const auto listed = store.sessions(R"({"user_id":"ann","agent_id":"cook"})");
    ASSERT_TRUE(listed.ok()) << listed.status().message();
    EXPECT_EQ(listed->get("sessions")->items().size(), 1U);
    const auto metadata = (*store.open_session("notes"))->metadata();
    ASSERT_TRUE(metadata.ok()) << metadata.status().message();
    EXPECT_EQ(metadata->get_string("user_id"), "ann");
    EXPECT_EQ(metadata->get_string("created_at"), "2026-01-10T14:23:45.678Z");
  }
  static void expect_is_told(const json::Tree& report) {
    const auto& problems = report.get("problems")->items();
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].get_string("reason"),
              "its metadata.json in the backup is missing or cannot be read: title, ttl_hours and "
              "settings are lost; user and agent are those of the list of sessions");
    EXPECT_TRUE(problems[0].get_bool("copied"));
  }
};

TEST_F(RestoredOwner, StandsInTheListOfTheBackup) {
  const auto store = make("store");
  backed_up(*store);
  disk_.write_file("copy/sessions/notes/metadata.json", "damaged");
  clock_.advance_ms(1000);
  const auto other = open("other");
  expect_is_told(restored(*other));
  expect_is_of_ann(*other);
  expect_is_told(restored(*store, R"({"overwrite":true})"));
  expect_is_of_ann(*store);
}

// Its list may have been lost as well, or made anew since.
TEST_F(RestoredOwner, OrInThatOfTheStore) {
  const auto store = make("store");
  backed_up(*store);
  disk_.write_file("copy/sessions/notes/metadata.json", "damaged");
  for (const std::string list : {R"({"session_id":"notes"})"
                                 "\n",
                                 ""}) {
    SCOPED_TRACE(list);
    disk_.write_file("copy/indices/sessions.jsonl", list);
    expect_is_told(restored(*store, R"({"overwrite":true})"));
    expect_is_of_ann(*store);
  }
}

TEST_F(RestoredOwner, IsKnownToABackupThatCouldNotReadIt) {
  const auto store = make("store");
  disk_.write_file("store/sessions/notes/metadata.json", "damaged");
  backed_up(*store);
  clock_.advance_ms(1000);
  const auto other = open("other");
  expect_is_told(restored(*other));
  expect_is_of_ann(*other);
}

// Of which the list has the newer row, and that it was dropped.
class OwnerOfAnIdUsedAgain : public RestoredOwner {
 protected:
  void SetUp() override {
    const auto store = make("store");
    backed_up(*store);
    ASSERT_TRUE(store->delete_session("notes").ok());
    clock_.advance_ms(1000);
    ASSERT_TRUE(store->create_session(R"({"session_id":"notes","user_id":"bob"})").ok());
    ASSERT_TRUE(store->delete_session("notes").ok());
    restored(*store);
    disk_.write_file("store/sessions/notes/metadata.json", "damaged");
  }
};

TEST_F(OwnerOfAnIdUsedAgain, StandsInTheList) { expect_is_of_ann(*open("store")); }

TEST_F(OwnerOfAnIdUsedAgain, StandsThereAlsoWithoutDeadRows) {
  const auto engine = *log::DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 1000);
  ASSERT_TRUE(engine->remove_dead_rows().ok());
  EXPECT_EQ(file("store/indices/sessions.jsonl").find("bob\","), std::string::npos);
  expect_is_of_ann(*open("store"));
}

TEST_F(OwnerOfAnIdUsedAgain, StandsThereAlsoWhenItIsMadeAnew) {
  const std::string list = file("store/indices/sessions.jsonl");
  disk_.write_file("store/indices/sessions.jsonl", list + "damaged\n");
  expect_is_of_ann(*open("store"));
}

TEST_F(OwnerOfAnIdUsedAgain, StandsInTheListOfTheBackup) {
  const auto other = open("other");
  restored(*other, {}, "store");
  expect_is_of_ann(*other);
}

}  // namespace
}  // namespace varve::store
