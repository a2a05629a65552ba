// Backups of a store that lost sessions: only what somebody dropped leaves the copy.
#include "store/dropped_sessions.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "backup_rig.h"

namespace varve::store {
namespace {

constexpr std::string_view kGone = "notes: it is gone though nobody dropped it";
constexpr std::string_view kNotes = R"({"session_id":"notes"})";
constexpr const char* kList = "store/indices/sessions.jsonl";
constexpr std::string_view kMadeAnew = "notes: its copy is of an earlier session of this id";

class LostSession : public BackupFixture {
 protected:
  void SetUp() override {
    store_ = open("store");
    for (const std::string id : {"notes", "other"}) add(*create(*store_, id), {"first"});
    backed_up(*store_);
    clock_.advance_ms(1000);
  }
  void lose(const std::string& id) {
    lose_session(id);
    store_ = open("store");
  }
  void make_anew(const std::string& id, const std::string& entry) {
    clock_.advance_ms(1000);
    add(*create(*store_, id), {entry});
  }
  // The one problem, or nothing.
  static std::string told(const json::Tree& report) {
    const auto& problems = report.get("problems")->items();
    if (problems.empty()) return {};
    EXPECT_EQ(problems.size(), 1U) << report.canonical();
    EXPECT_FALSE(problems.front().get_bool("copied"));
    return problems.front().get_string("session_id") + ": " + problems.front().get_string("reason");
  }
  void expect_kept(std::string_view reason, std::string_view options = {}) {
    for (int i = 0; i < 2; ++i) {
      const json::Tree report = backed_up(*store_, options);
      EXPECT_EQ(told(report).substr(0, reason.size()), reason) << report.canonical();
      EXPECT_EQ(report.get_int64("removed"), 0);
      EXPECT_EQ(alive("copy", "notes"), Texts{"first"});
    }
  }
  void expect_removed(std::string_view options = {}) {
    const json::Tree report = backed_up(*store_, options);
    EXPECT_EQ(told(report), "");
    EXPECT_EQ(report.get_int64("removed"), 1);
    EXPECT_FALSE(disk_.exists("copy/sessions/notes"));
    EXPECT_EQ(file("copy/indices/sessions.jsonl").find("notes"), std::string::npos);
  }

  // The one that the copy is of was made after one of its id was dropped.
  void make_one_lost_after_a_drop() {
    ASSERT_TRUE(store_->delete_session("notes").ok());
    make_anew("notes", "first");
    backed_up(*store_);
    lose("notes");
  }
  void take_dead_rows_out() {
    const auto engine = *log::DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 1000);
    ASSERT_TRUE(engine->remove_dead_rows().ok());
  }

  // By another process, whenever nobody has the list's lock.
  void take_dead_rows_out_at_each_moment() {
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool is_of_list = operation.path.starts_with("store/indices/");
      const bool is_move = operation.kind == io::OperationKind::kMove;
      if (is_sweeping_ || !(is_of_list || is_move)) return std::nullopt;
      is_sweeping_ = true;
      const auto engine = *log::DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 0);
      const Status status = engine->remove_dead_rows();
      EXPECT_TRUE(status.ok() || status.code() == Code::kBusy) << status.message();
      sweep_count_ += status.ok() ? 1 : 0;
      is_sweeping_ = false;
      return std::nullopt;
    });
  }

  std::shared_ptr<Store> store_;
  bool is_sweeping_ = false;
  int sweep_count_ = 0;
};

TEST_F(LostSession, KeepsItsCopyUntilTheLossIsAccepted) {
  lose("notes");
  expect_kept(kGone);
  expect_removed(R"({"delete_missing":true})");
}

TEST_F(LostSession, IsTheSameAfterARestoreAndADrop) {
  lose("notes");
  restored(*store_, R"({"sessions":["notes"]})");
  EXPECT_EQ(told(backed_up(*store_)), "");
  EXPECT_EQ(alive(*store_, "notes"), Texts{"first"});
  ASSERT_TRUE(store_->delete_session("notes").ok());
  expect_removed();
}

TEST_F(LostSession, OfWhichAllAreGoneKeepsTheirCopies) {
  lose("notes");
  lose("other");
  EXPECT_EQ(backed_up(*store_).get("problems")->items().size(), 2U);
  EXPECT_EQ(alive("copy", "notes"), Texts{"first"});
  EXPECT_EQ(alive("copy", "other"), Texts{"first"});
}

// An agent that does not find its session makes it.
TEST_F(LostSession, ThatWasMadeAnewKeepsItsCopy) {
  lose("notes");
  make_anew("notes", "second");
  expect_kept(kMadeAnew);
  expect_kept(kMadeAnew, R"({"delete_missing":false})");
  expect_kept(kMadeAnew, R"({"sessions":["notes"]})");
  EXPECT_EQ(told(backed_up(*store_, R"({"delete_missing":true})")), "");
  EXPECT_EQ(alive("copy", "notes"), Texts{"second"});
}

TEST_F(LostSession, ThatWasDroppedAndMadeAnewIsReplaced) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  make_anew("notes", "second");
  EXPECT_EQ(told(backed_up(*store_)), "");
  EXPECT_EQ(alive("copy", "notes"), Texts{"second"});
}

// What was dropped once is not dropped for ever.
TEST_F(LostSession, AfterADropAndARestoreKeepsItsCopy) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  restored(*store_, R"({"sessions":["notes"]})");
  lose("notes");
  expect_kept(kGone);
}

TEST_F(LostSession, AfterADropAndANewOneOfItsIdKeepsTheCopyOfThat) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  make_anew("notes", "first");
  backed_up(*store_);
  lose("notes");
  expect_kept(kGone);
}

// The one that a restore puts in its place was asked for.
TEST_F(LostSession, IsNotOneThatARestoreReplaced) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  make_anew("notes", "second");
  backed_up(*store_, {}, "friday");
  restored(*store_, R"({"sessions":["notes"],"overwrite":true})");
  EXPECT_EQ(told(backed_up(*store_, {}, "friday")), "");
  EXPECT_EQ(alive("friday", "notes"), Texts{"first"});
  lose("notes");
  expect_kept(kGone);
}

// The list that is made anew knows nothing of it, and nothing of what was dropped.
TEST_F(LostSession, KeepsItsCopyThoughTheListIsMadeAnew) {
  lose("notes");
  ASSERT_TRUE(store_->sessions(R"({"rescan":true})").ok());
  expect_kept(kGone);
  expect_removed(R"({"delete_missing":true})");
}

TEST_F(LostSession, IsNotOneThatWasDroppedBeforeDeadRowsWereTakenOut) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  const auto engine = *log::DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 1000);
  ASSERT_TRUE(engine->remove_dead_rows().ok());
  clock_.advance_ms(int64_t{89} * 24 * 3600 * 1000);
  ASSERT_TRUE(engine->remove_dead_rows().ok());
  expect_removed();
}

TEST_F(LostSession, IsNotToldFromOneThatWasDroppedLongAgo) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  clock_.advance_ms(int64_t{91} * 24 * 3600 * 1000);
  const auto engine = *log::DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 1000);
  ASSERT_TRUE(engine->remove_dead_rows().ok());
  EXPECT_EQ(file("store/indices/sessions.jsonl").find("notes"), std::string::npos);
  expect_kept(kGone);
}

// One session after the other comes back, and a backup comes between.
TEST_F(LostSession, OfAStoreThatIsRestoredInPartKeepsItsCopy) {
  store_ = open("new");
  restored(*store_, R"({"sessions":["other"]})");
  expect_kept(kGone);
  make_anew("notes", "second");
  expect_kept(kMadeAnew);
}

TEST_F(LostSession, IsNotForgottenWhereDeadRowsAreTakenOut) {
  lose("notes");
  const auto engine = *log::DirectoryEngine::open("store", {&disk_, &clock_, &random_}, 1000);
  ASSERT_TRUE(engine->remove_dead_rows().ok());
  expect_kept(kGone);
}

// A disk that is not mounted, and agents that begin anew on the empty one.
TEST_F(LostSession, OfAStoreThatBeganAnewIsRefused) {
  store_ = open("empty");
  make_anew("other", "second");
  const auto report = store_->back_up("copy", "");
  EXPECT_EQ(report.code(), Code::kInvalidArgument);
  EXPECT_EQ(alive("copy", "notes"), Texts{"first"});
  EXPECT_EQ(alive("copy", "other"), Texts{"first"});
}

TEST_F(LostSession, OnAFullDiskADropIsToldWhenItHasMadeRoom) {
  for (const bool is_room_made : {true, false}) {
    disk_.set_fault_hook(io::FailNth(1, ENOSPC, !is_room_made, {io::OperationKind::kAppend})
                             .on_file("sessions.jsonl"));
    ASSERT_TRUE(store_->delete_session(is_room_made ? "other" : "notes").ok());
    disk_.set_fault_hook(nullptr);
  }
  EXPECT_FALSE(disk_.exists("store/sessions/notes"));
  EXPECT_EQ(backed_up(*store_).get_int64("removed"), 1);
  EXPECT_FALSE(disk_.exists("copy/sessions/other"));
  expect_kept(kGone);
}

// Which is made by another process as soon as the name is free.
TEST_F(LostSession, OnAFullDiskADropIsNotToldOfANewSession) {
  const auto other = *Store::open("store", R"({"concurrency":{"lock_timeout_ms":0}})",
                                  {&disk_, &clock_, &random_});
  const io::FailNth no_room =
      io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend}).on_file("sessions.jsonl");
  bool is_making = false;
  bool is_made = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (is_making || is_made) return std::nullopt;
    is_making = true;
    is_made = !disk_.exists("store/sessions/notes") && other->create_session(kNotes).ok();
    is_making = false;
    return no_room(operation);
  });
  ASSERT_TRUE(store_->delete_session("notes").ok());
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(is_made);
  EXPECT_GT(no_room.matched(), 0U);
  backed_up(*store_);
  lose("notes");
  EXPECT_EQ(told(backed_up(*store_)).substr(0, kGone.size()), kGone);
}

// A power loss may come at any moment of it.
TEST_F(LostSession, ADropIsToldBeforeTheSessionGoes) {
  bool has_gone = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_move = operation.kind == io::OperationKind::kMove;
    if (is_move && operation.path.ends_with("sessions/notes")) {
      has_gone = true;
      const auto after = disk_.crash()->read_file("store/indices/sessions.jsonl").value_or("");
      EXPECT_NE(after.find("dropped_at"), std::string::npos);
    }
    return std::nullopt;
  });
  ASSERT_TRUE(store_->delete_session("notes").ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(has_gone);
}

// It may be the copy of a session that was lost.
TEST_F(LostSession, ACopyThatCannotBeLookedAtIsNotReplaced) {
  lose("notes");
  make_anew("notes", "second");
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_read = operation.kind == io::OperationKind::kOpen;
    const bool is_it = operation.path.ends_with("copy/sessions/notes/metadata.json");
    return is_read && is_it ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_FALSE(store_->back_up("copy", R"({"sessions":["notes"]})").ok());
  disk_.set_fault_hook(nullptr);
  expect_kept(kMadeAnew);
}

// Nobody knows whether it is the one that the copy is of.
TEST_F(LostSession, IsNotTakenForDroppedByARestoreThatTheDiskRefused) {
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it = operation.path.ends_with("store/sessions/notes/metadata.json");
    const bool is_open = operation.kind == io::OperationKind::kOpen;
    return is_it && is_open ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  const std::string_view options = R"({"overwrite":true,"sessions":["notes"]})";
  EXPECT_EQ(store_->restore("copy", options).code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  lose("notes");
  expect_kept(kGone);
}

TEST_F(LostSession, IsRestoredOverOneThatHasLostItsMetadata) {
  disk_.write_file("store/sessions/notes/metadata.json", "{");
  add(**store_->open_session("notes"), {"second"});
  restored(*store_, R"({"overwrite":true,"sessions":["notes"]})");
  EXPECT_EQ(alive(*store_, "notes"), Texts{"first"});
  lose("notes");
  expect_kept(kGone);
}

// It stays in the list, and each sweep would make cursors and the catalog useless.
TEST_F(LostSession, IsNoReasonToWriteTheListAgain) {
  for (int i = 0; i < 120; ++i) create(*store_, "s" + std::to_string(i));
  for (int i = 0; i < 120; ++i) lose_session("s" + std::to_string(i));
  store_ = open("store");
  const std::string after = store_->sessions(R"({"limit":1})")->get_string("next");
  ASSERT_TRUE(store_->sweep().ok());
  EXPECT_TRUE(store_->sessions(R"({"limit":1,"after":")" + after + "\"}").ok());
}

// Its line stands in the list by then.
TEST_F(LostSession, IsNotOneThatTheDiskDidNotLetGo) {
  disk_.set_fault_hook(io::FailNth(1, EIO, false, {io::OperationKind::kMove}));
  EXPECT_EQ(store_->delete_session("notes").code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_NE(file(kList).find("dropped_at"), std::string::npos);
  lose("notes");
  expect_kept(kGone);
}

TEST_F(LostSession, ADropThatCannotBeToldIsNotDone) {
  disk_.set_fault_hook(
      io::FailNth(1, EIO, false, {io::OperationKind::kSyncData}).on_file("sessions.jsonl"));
  EXPECT_EQ(store_->delete_session("notes").code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(alive(*store_, "notes"), Texts{"first"});
  ASSERT_TRUE(store_->delete_session("notes").ok());
  expect_removed();
}

// Also where one of its id was dropped before it was made.
TEST_F(LostSession, ThatWasMadeAnewKeepsItsCopyWhereDeadRowsAreTakenOut) {
  make_one_lost_after_a_drop();
  make_anew("notes", "second");
  expect_kept(kMadeAnew);
  take_dead_rows_out();
  expect_kept(kMadeAnew);
}

TEST_F(LostSession, IsNotForgottenWhereDeadRowsAreTakenOutOfADamagedList) {
  make_one_lost_after_a_drop();
  disk_.write_file(kList, file(kList) + "{\"agent_id\":\n");
  take_dead_rows_out();
  expect_kept(kGone);
}

// The line of a session that came after the drop may be the one that cannot be read.
TEST_F(LostSession, OfWhichTheListCannotBeReadKeepsItsCopy) {
  make_one_lost_after_a_drop();
  std::string list = file(kList);
  list[list.rfind("\"notes\"")] = '#';
  disk_.write_file(kList, list);
  expect_kept(kGone);
}

// What the backup knows of the sessions is of its start.
TEST_F(LostSession, ThatIsRestoredWhileItIsMissedKeepsItsCopy) {
  const auto other = open("store");
  for (const bool delete_missing : {false, true}) {
    lose("notes");
    bool is_back = false;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (!is_back && operation.path.ends_with("copy/sessions/other/memory.jsonl")) {
        is_back = true;
        EXPECT_TRUE(other->restore("copy", R"({"sessions":["notes"]})").ok());
      }
      return std::nullopt;
    });
    const json::Tree report =
        backed_up(*store_, delete_missing ? R"({"delete_missing":true})" : "");
    disk_.set_fault_hook(nullptr);
    EXPECT_TRUE(is_back);
    EXPECT_EQ(told(report), "");
    EXPECT_EQ(report.get_int64("removed"), 0);
    EXPECT_EQ(alive("copy", "notes"), Texts{"first"});
  }
}

// The list would have its row behind the line that tells of the drop.
TEST_F(LostSession, IsNotOneThatWasDroppedWhileDeadRowsWereTakenOut) {
  take_dead_rows_out_at_each_moment();
  ASSERT_TRUE(store_->delete_session("notes").ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_GT(sweep_count_, 1);
  expect_removed();
}

TEST_F(LostSession, IsNotOneThatWasReplacedWhileDeadRowsWereTakenOut) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  make_anew("notes", "second");
  backed_up(*store_, {}, "friday");
  take_dead_rows_out_at_each_moment();
  restored(*store_, R"({"sessions":["notes"],"overwrite":true})");
  disk_.set_fault_hook(nullptr);
  EXPECT_GT(sweep_count_, 1);
  EXPECT_EQ(told(backed_up(*store_, {}, "friday")), "");
  EXPECT_EQ(alive("friday", "notes"), Texts{"first"});
}

// What the restore knows of the list is of its start.
TEST_F(LostSession, IsNotOneThatWasDroppedWhileItWasRestored) {
  const auto other = open("store");
  bool is_dropped = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (!is_dropped && operation.path.ends_with("copy/sessions/notes/memory.jsonl")) {
      is_dropped = true;
      EXPECT_TRUE(other->delete_session("notes").ok());
    }
    return std::nullopt;
  });
  restored(*store_, R"({"overwrite":true,"sessions":["other","notes"]})");
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(is_dropped);
  lose("notes");
  expect_kept(kGone);
}

// Whoever dropped it was killed right behind telling so.
TEST_F(LostSession, IsNotOneThatWasRestoredOverTheOneThatADropLeft) {
  disk_.write_file(kList, file(kList) +
                              R"({"dropped_at":"2026-01-10T14:23:46.000Z","session_id":"notes"})"
                              "\n");
  restored(*store_, R"({"overwrite":true,"sessions":["notes"]})");
  lose("notes");
  expect_kept(kGone);
}

TEST_F(LostSession, IsNotTakenForDroppedByARestoreThatFoundNoRoom) {
  ASSERT_TRUE(store_->delete_session("notes").ok());
  make_anew("notes", "second");
  backed_up(*store_, {}, "friday");
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it = operation.path.find("store/tmp/") != std::string_view::npos &&
                       operation.path.ends_with("tombstones.jsonl");
    return is_it ? std::optional(io::Fault{ENOSPC}) : std::nullopt;
  });
  const std::string_view options = R"({"overwrite":true,"sessions":["notes"]})";
  EXPECT_EQ(store_->restore("copy", options).code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(alive(*store_, "notes"), Texts{"second"});
  lose("notes");
  EXPECT_EQ(told(backed_up(*store_, {}, "friday")).substr(0, kGone.size()), kGone);
  EXPECT_EQ(alive("friday", "notes"), Texts{"second"});
}

}  // namespace
}  // namespace varve::store
