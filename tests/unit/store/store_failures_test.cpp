// Failures that were taken for something else: each by the one call that has to fail for it.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>

#include "backup_rig.h"
#include "session/upkeep/compaction.h"

namespace varve::store {
namespace {

using io::OperationKind;

constexpr int64_t kHourInMs = 3'600'000;

class StoreFailures : public BackupFixture {
 protected:
  // Operations of one kind on what is at a path of that end fail, until they are let be.
  void fail(OperationKind kind, std::string end_of_path, int os_errno = EIO) {
    disk_.set_fault_hook([kind, end = std::move(end_of_path), os_errno](
                             const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind != kind || !operation.path.ends_with(end)) return std::nullopt;
      return io::Fault{os_errno, std::nullopt};
    });
  }
  void let_be() { disk_.set_fault_hook({}); }
  // Two sessions of one user, the second of which is "whole".
  void create_beside_whole(Store& store, const std::string& id) {
    for (const std::string& each : {id, std::string("whole")}) {
      ASSERT_TRUE(store.create_session(R"({"session_id":")" + each + R"(","user_id":"u"})").ok());
      clock_.advance_ms(1);
    }
  }
  static std::string listed(Store& store) {
    const auto page = store.sessions({});
    EXPECT_TRUE(page.ok()) << page.status().message();
    std::string ids;
    if (!page.ok()) return ids;
    for (const auto& row : page->get("sessions")->items()) {
      ids += row.get_string("session_id") + " ";
    }
    return ids;
  }
};

TEST_F(StoreFailures, TheIdOfAnExpiredSessionThatCannotBeReadIsNotTaken) {
  const auto store = open("store");
  ASSERT_TRUE(store->create_session(R"({"session_id":"s1","ttl_hours":1})").ok());
  clock_.advance_ms(2 * kHourInMs);
  fail(OperationKind::kOpen, "s1/metadata.json");
  EXPECT_EQ(store->create_session(R"({"session_id":"s1"})").code(), Code::kIo);
  fail(OperationKind::kOpen, "s1/memory.jsonl");
  EXPECT_EQ(store->create_session(R"({"session_id":"s1"})").code(), Code::kIo);
  let_be();
  EXPECT_TRUE(store->create_session(R"({"session_id":"s1"})").ok());
}

// Its own handles go on, and so do those that are opened beside them.
TEST_F(StoreFailures, ASessionThatLosesItsMetadataWhileItIsOpenHasNotExpired) {
  const auto store = open("store");
  const auto session = *store->create_session(R"({"session_id":"s1","ttl_hours":1})");
  add(*session, {"a"});
  ASSERT_TRUE((*disk_.open_root("store/sessions/s1", false))->remove("metadata.json").ok());
  EXPECT_EQ(alive(*store, "s1"), Texts{"a"});
  const auto results = store->query("{}");
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ(results->results.size(), 1U);
}

// With io_failure "buffer" an entry is answered although the disk did not take it.
TEST_F(StoreFailures, ASyncDoesNotAnswerForWhatIsInMemoryOnly) {
  const auto store = *Store::open("store", R"({"integrity":{"io_failure":"buffer"}})",
                                  {&disk_, &clock_, &random_});
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  fail(OperationKind::kAppend, "s1/memory.jsonl");
  ASSERT_TRUE(session->add(R"({"id":"a","type":"finding","content":"tea"})").ok());
  EXPECT_EQ(store->sync().code(), Code::kIo);
  let_be();
  EXPECT_TRUE(store->sync().ok());
  const auto log = disk_.crash()->read_file("store/sessions/s1/memory.jsonl");
  EXPECT_NE(log.value_or("").find(R"("id":"a")"), std::string::npos);
}

TEST_F(StoreFailures, WhatIsInMemoryOnlyIsWrittenBeforeTheSessionIsCopiedReplacedOrDeleted) {
  const auto store = *Store::open("store", R"({"integrity":{"io_failure":"buffer"}})",
                                  {&disk_, &clock_, &random_});
  const auto keep = [&](session::Session& session, const Texts& ids) {
    fail(OperationKind::kAppend, "s1/memory.jsonl");
    const std::string before = file("store/sessions/s1/memory.jsonl");
    add(session, ids);
    EXPECT_EQ(file("store/sessions/s1/memory.jsonl"), before);
    let_be();
  };
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  keep(*session, {"a"});
  backed_up(*store);
  EXPECT_EQ(alive("copy", "s1"), Texts{"a"});
  keep(*session, {"b"});
  restored(*store, R"({"overwrite":true})");
  EXPECT_EQ(alive(*store, "s1"), Texts{"a"});
  const auto again = *store->open_session("s1");
  keep(*again, {"c"});
  EXPECT_TRUE(store->delete_session("s1").ok());
}

TEST_F(StoreFailures, ASessionOfANewerVersionExistsHoweverOldItIs) {
  const auto store = open("store");
  disk_.write_file("store/sessions/s1/metadata.json", R"({"version":2,"ttl_hours":1})");
  EXPECT_EQ(store->create_session(R"({"session_id":"s1"})").code(), Code::kAlreadyExists);
}

TEST_F(StoreFailures, AListThatCannotBeLookedAtIsNotMadeAnew) {
  const auto store = open("store");
  create(*store, "one");
  const std::string rows = file("store/indices/sessions.jsonl");
  disk_.write_file("store/sessions/copied_in/metadata.json", "{}");
  fail(OperationKind::kInfo, "indices/sessions.jsonl");
  EXPECT_EQ(store->sessions({}).code(), Code::kIo) << "to read it, it is looked at again";
  let_be();
  EXPECT_EQ(file("store/indices/sessions.jsonl"), rows);
}

TEST_F(StoreFailures, ARescanThatCannotReadASessionKeepsTheListAsItWas) {
  const auto store = open("store");
  ASSERT_TRUE(store->create_session(R"({"session_id":"one","user_id":"u"})").ok());
  fail(OperationKind::kOpen, "one/metadata.json");
  EXPECT_EQ(store->sessions(R"({"rescan":true})").code(), Code::kIo);
  let_be();
  EXPECT_EQ(listed(*store), "one ");
  EXPECT_EQ(store->sessions(R"({"user_id":"u"})")->get("sessions")->items().size(), 1U);
}

// Unlike a disk that does not read, what has the name of metadata.json stays as it is.
TEST_F(StoreFailures, ASessionWhoseMetadataIsNoFileIsListedWithWhatIsKnown) {
  const auto store = open("store");
  create_beside_whole(*store, "listed");
  auto root = *disk_.open_root("store/sessions/listed", false);
  ASSERT_TRUE(root->remove("metadata.json").ok());
  ASSERT_TRUE(root->make_directory("metadata.json").ok());
  disk_.write_file("store/sessions/copied/memory.jsonl", "");
  disk_.plant_other("store/sessions/copied/metadata.json");
  EXPECT_EQ(listed(*store), "whole listed ");
  EXPECT_TRUE(store->sessions(R"({"rescan":true})").ok());
  EXPECT_EQ(listed(*store), "whole listed copied ");
  EXPECT_EQ(store->sessions(R"({"user_id":"u"})")->get("sessions")->items().size(), 2U);
  EXPECT_EQ(store->create_session(R"({"session_id":"listed"})").code(), Code::kAlreadyExists);
  const Status opened = store->open_session("listed").status();
  EXPECT_EQ(opened.code(), Code::kIo);
  EXPECT_NE(opened.message().find("metadata.json': it is a directory"), std::string::npos)
      << opened.message();
}

// As one that another user of the machine made with a narrow umask.
TEST_F(StoreFailures, ASessionThatMayNotBeReadHidesNoOther) {
  const auto store = open("store");
  create_beside_whole(*store, "theirs");
  fail(OperationKind::kOpen, "theirs/metadata.json", EACCES);
  EXPECT_EQ(listed(*store), "whole theirs ");
  EXPECT_EQ(store->sessions(R"({"user_id":"u"})")->get("sessions")->items().size(), 2U);
  EXPECT_EQ(store->open_session("theirs").status().place().os_errno, EACCES);
  fail(OperationKind::kOpen, "theirs/metadata.json");
  EXPECT_EQ(store->sessions({}).code(), Code::kIo) << "the next try may read it";
}

TEST_F(StoreFailures, ASessionWhoseNameAFileHasHidesNoOther) {
  const auto store = open("store");
  create_beside_whole(*store, "taken");
  const auto sessions = *disk_.open_root("store/sessions", false);
  ASSERT_TRUE(sessions->move_to("taken", **disk_.open_root("store", false), "elsewhere").ok());
  disk_.write_file("store/sessions/taken", "somebody's own");
  EXPECT_EQ(listed(*store), "whole taken ");
  const Status opened = store->open_session("taken").status();
  EXPECT_EQ(opened.code(), Code::kIo);
  EXPECT_NE(opened.message().find("not a directory"), std::string::npos) << opened.message();
}

TEST_F(StoreFailures, ARescanTakesAwayWhatAKilledOneLeft) {
  const auto store = open("store");
  create(*store, "one");
  disk_.write_file("store/indices/sessions.jsonl.tmp-0011223344556677", "{");
  fail(OperationKind::kList, "indices");
  EXPECT_TRUE(store->sessions(R"({"rescan":true})").ok()) << "tidying up is not what was asked for";
  let_be();
  EXPECT_TRUE(disk_.exists("store/indices/sessions.jsonl.tmp-0011223344556677"));
  EXPECT_TRUE(store->sessions(R"({"rescan":true})").ok());
  EXPECT_FALSE(disk_.exists("store/indices/sessions.jsonl.tmp-0011223344556677"));
  EXPECT_EQ(listed(*store), "one ");
}

TEST_F(StoreFailures, FiguresWithoutAnOpenSessionAreNotToldForThoseOfAll) {
  const auto store = open("store");
  const auto one = create(*store, "one");
  add(*one, {"a"});
  fail(OperationKind::kInfo, "one/memory.jsonl");
  EXPECT_EQ(store->stats().code(), Code::kIo);
  EXPECT_EQ(store->metrics().code(), Code::kIo);
  let_be();
  EXPECT_EQ(store->stats()->get_int64("entries"), 1);
  ASSERT_TRUE(store->delete_session("one").ok());
  EXPECT_EQ(store->stats()->get_int64("entries"), 0) << "deleted, though somebody has it open";
}

TEST_F(StoreFailures, ABackupDoesNotPassOverAFileThatItCannotLookAt) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  disk_.write_file("store/sessions/notes/quarantine.jsonl", "{}\n");
  fail(OperationKind::kInfo, "notes/quarantine.jsonl");
  const json::Tree report = backed_up(*store);
  EXPECT_EQ(report.get_int64("sessions"), 0);
  EXPECT_EQ(report.get("problems")->items().size(), 1U);
  let_be();
  EXPECT_TRUE(backed_up(*store).get("problems")->items().empty());
  EXPECT_EQ(file("copy/sessions/notes/quarantine.jsonl"), "{}\n");
}

// A purge takes the quarantine away while the session is being copied.
TEST_F(StoreFailures, ASessionThatLosesAFileWhileItIsCopiedIsNotTakenForDeleted) {
  const auto own = disk_.process(1);
  const auto other = disk_.process(2);
  const auto writer = open("store", other.get());
  const auto notes = create(*writer, "notes");
  add(*notes, {"a", "b"});
  ASSERT_TRUE(notes->remove("b", "").ok());
  const auto store = open("store", own.get());
  backed_up(*store);
  disk_.write_file("store/sessions/notes/quarantine.jsonl", "{}\n");
  add(*notes, {"c"});
  bool is_purged = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_read = operation.process_id == 1 && operation.kind == OperationKind::kOpen &&
                         operation.path.ends_with("store/sessions/notes/quarantine.jsonl");
    if (is_purged || !is_read) return std::nullopt;
    is_purged = true;
    session::CompactionOptions purge;
    purge.cause = session::CompactionCause::kPurge;
    EXPECT_TRUE(notes->compact(purge).ok());
    return std::nullopt;
  });
  const json::Tree report = backed_up(*store);
  let_be();
  EXPECT_TRUE(is_purged);
  EXPECT_EQ(report.get_int64("removed"), 0) << report.canonical();
  EXPECT_EQ(report.get_int64("sessions"), 1) << report.canonical();
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "c"}));
}

TEST_F(StoreFailures, ARestoreNeverGivesALogTheNumberThatAnotherOneHad) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(store->restore("copy", R"({"overwrite":true})").ok());
  }
  const int64_t before = (*store->open_session("notes"))->stats()->get_int64("generation");
  int seen = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_look = operation.kind == OperationKind::kOpen &&
                         operation.path.ends_with("store/sessions/notes/metadata.json");
    if (!is_look || ++seen > 1) return std::nullopt;
    return io::Fault{EIO, std::nullopt};
  });
  const auto report = store->restore("copy", R"({"overwrite":true})");
  let_be();
  EXPECT_EQ(report.code(), Code::kIo);
  ASSERT_TRUE(store->restore("copy", R"({"overwrite":true})").ok());
  EXPECT_GT((*store->open_session("notes"))->stats()->get_int64("generation"), before);
}

}  // namespace
}  // namespace varve::store
