// Backups and restores of what is damaged, odd, or changed by others while it is copied.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "backup_rig.h"
#include "base/time.h"
#include "io/posix.h"
#include "log/directory_storage.h"
#include "store/session_source.h"
#include "unit/io/temporary_directory.h"
#include "unit/session/watched_storage.h"

namespace varve::store {
namespace {

using io::OperationKind;

class CopyChanges : public BackupFixture {
 protected:
  // Once, before an operation of process 1 on what is at a path of that end.
  void before(OperationKind kind, const std::string& end, std::function<void()> action) {
    happened_ = false;
    disk_.set_fault_hook([this, kind, end, action = std::move(action)](
                             const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (happened_ || operation.process_id != 1 || operation.kind != kind ||
          !operation.path.ends_with(end)) {
        return std::nullopt;
      }
      happened_ = true;
      action();
      return std::nullopt;
    });
  }
  void let_be() {
    EXPECT_TRUE(happened_);
    disk_.set_fault_hook({});
  }
  void remove_file(const std::string& folder, std::string_view name) {
    EXPECT_TRUE((*disk_.open_root(folder, false))->remove(name).ok()) << name;
  }
  static std::string outcome(const json::Tree& report) {
    std::string text;
    for (const char* name : {"copied", "appended", "unchanged", "removed"}) {
      text += std::to_string(report.get_int64(name)) + " ";
    }
    return text + std::to_string(report.get("problems")->items().size());
  }
  static void add_batches(session::Session& session, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string id = "batch" + std::to_string(i);
      ASSERT_TRUE(
          session.add_batch("[" + text_of(id + "x", "1") + "," + text_of(id + "y", "2") + "]")
              .ok());
    }
  }
  static void add_large(session::Session& session, const std::string& name, int count) {
    for (int i = 0; i < count; ++i) {
      const auto added = session.add(text_of(name + std::to_string(i), std::string(600'000, 'x')));
      ASSERT_TRUE(added.ok()) << added.status().message();
    }
  }

  std::unique_ptr<io::SimulatedFileSystem> own_ = disk_.process(1);
  bool happened_ = false;
};

TEST_F(CopyChanges, ASessionThatIsDeletedWhileItIsCopiedIsMissing) {
  const auto other = open("store");
  create(*other, "kept");
  add(*create(*other, "notes"), {"a"});
  const auto store = open("store", own_.get());
  backed_up(*store);
  before(OperationKind::kOpenDirectory, "store/sessions/notes",
         [&] { EXPECT_TRUE(other->delete_session("notes").ok()); });
  EXPECT_EQ(outcome(backed_up(*store)), "0 0 1 1 0");
  let_be();
  EXPECT_FALSE(disk_.exists("copy/sessions/notes"));
}

// The old one and the new one both begin with nothing.
TEST_F(CopyChanges, AnEmptySessionThatIsMadeAnewIsListedInTheCopy) {
  const auto store = open("store");
  ASSERT_TRUE(store->create_session(R"({"session_id":"s","user_id":"ann"})").ok());
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("s").ok());
  clock_.advance_ms(1);
  const auto anew = store->create_session(R"({"session_id":"s","user_id":"bob"})");
  ASSERT_TRUE(anew.ok());
  add(**anew, {"a"});
  backed_up(*store);
  const auto copy = open("copy");
  const auto listed = copy->sessions(R"({"user_id":"bob"})");
  ASSERT_EQ(listed->get("sessions")->items().size(), 1U) << listed->canonical();
  EXPECT_EQ(alive("copy", "s"), Texts{"a"});
}

// All else is the same of two empty sessions, also the time: two users may ask for an id at once.
TEST_F(CopyChanges, OfAnEmptySessionThatIsMadeAnewTheListOfTheCopyTellsWhoseItIs) {
  const auto store = open("store");
  const auto make = [&](const std::string& user, const std::string& agent) {
    const auto made = store->create_session(R"({"session_id":"s","user_id":")" + user +
                                            R"(","agent_id":")" + agent + "\"}");
    ASSERT_TRUE(made.ok()) << made.status().message();
  };
  make("ann", "one");
  EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 0");
  for (const auto& [user, agent, passed_ms] :
       {std::tuple("bob", "one", 0), std::tuple("bob", "two", 0), std::tuple("bob", "two", 1)}) {
    ASSERT_TRUE(store->delete_session("s").ok());
    clock_.advance_ms(passed_ms);
    make(user, agent);
    EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 0") << user << agent << passed_ms;
    const std::string rows = file("copy/indices/sessions.jsonl");
    const json::Tree row = *json::Tree::parse(rows.substr(rows.rfind('\n', rows.size() - 2) + 1));
    EXPECT_EQ(row.get_string("user_id"), user);
    EXPECT_EQ(row.get_string("agent_id"), agent);
    EXPECT_EQ(row.get_string("created_at"), format_rfc3339(clock_.now_ms()));
  }
}

TEST_F(CopyChanges, ASessionThatIsDroppedMeanwhileIsRemovedBesideOneThatWasLost) {
  const auto store = open("store", own_.get());
  for (const std::string id : {"kept", "lost", "notes"}) add(*create(*store, id), {"a"});
  backed_up(*store);
  lose_session("lost");
  clock_.advance_ms(1);
  const auto other = open("store");
  create(*other, "lost");
  before(OperationKind::kOpenDirectory, "store/sessions/notes",
         [&] { EXPECT_TRUE(other->delete_session("notes").ok()); });
  EXPECT_EQ(outcome(backed_up(*store)), "0 0 1 1 1");
  let_be();
}

TEST_F(CopyChanges, ACopyThatSomebodyElseRemovesIsRemoved) {
  const auto store = open("store", own_.get());
  for (const std::string id : {"kept", "notes"}) add(*create(*store, id), {"a"});
  backed_up(*store);
  ASSERT_TRUE(store->delete_session("notes").ok());
  const auto copy = open("copy");
  before(OperationKind::kOpenDirectory, "copy/sessions/notes",
         [&] { EXPECT_TRUE(copy->delete_session("notes").ok()); });
  EXPECT_EQ(outcome(backed_up(*store)), "0 0 1 1 0");
  let_be();
}

TEST_F(CopyChanges, ACopyThatSomebodyWritesToIsMadeAnew) {
  const auto store = open("store", own_.get());
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  add(*notes, {"b"});
  const auto copy = open("copy");
  const auto copied = *copy->open_session("notes");
  before(OperationKind::kLock, "copy/sessions/notes/lock", [&] { add(*copied, {"foreign"}); });
  EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 0");
  let_be();
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b"}));
}

TEST_F(CopyChanges, ALogThatIsCutWhileItIsCopiedIsAProblemAndItsCopyStays) {
  const auto store = open("store", own_.get());
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  compact("store", "notes", disk_);  // a log that does not go on where the copy ends
  add(*notes, {"b"});
  disk_.write_file("copy/backup.json", "{}");
  before(OperationKind::kOpen, "tmp", [] {});
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_new_log = operation.process_id == 1 && operation.kind == OperationKind::kOpen &&
                            operation.path.find("copy/tmp/") != std::string::npos &&
                            operation.name == "memory.jsonl";
    if (happened_ || !is_new_log) return std::nullopt;
    happened_ = true;
    const auto root = *disk_.open_root("store/sessions/notes", false);
    EXPECT_TRUE((*root->open("memory.jsonl", io::OpenMode::kUpdateOrCreate))->truncate(0).ok());
    return std::nullopt;
  });
  EXPECT_EQ(outcome(backed_up(*store)), "0 0 0 0 1");
  let_be();
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
}

TEST_F(CopyChanges, TombstonesThatWentAreGoneFromTheCopyToo) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a", "dead"});
  ASSERT_TRUE(notes->remove("dead", "").ok());
  backed_up(*store);
  compact("store", "notes", disk_);
  add(*notes, {"b", "c", "d"});  // longer than the log was
  EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 0");
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "b", "c", "d"}));
  EXPECT_EQ(file("copy/sessions/notes/tombstones.jsonl"), "");
}

TEST_F(CopyChanges, ManyBatchesBehindALargeLogAreAppended) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add_large(*notes, "old", 3);
  backed_up(*store);
  add_batches(*notes, 17);
  EXPECT_EQ(outcome(backed_up(*store)), "0 1 0 0 0");
  EXPECT_EQ(file("copy/sessions/notes/memory.jsonl"), file("store/sessions/notes/memory.jsonl"));
}

TEST_F(CopyChanges, MoreThanACopyTakesAtOnceIsAppendedInStretches) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  backed_up(*store);
  add_large(*notes, "new", 8);  // 4.8 MB, and the end of a batch behind them
  add_batches(*notes, 2);
  EXPECT_EQ(outcome(backed_up(*store)), "0 1 0 0 0");
  EXPECT_EQ(file("copy/sessions/notes/memory.jsonl"), file("store/sessions/notes/memory.jsonl"));
}

TEST_F(CopyChanges, ADiskThatFillsUpInTheMiddleOfALogLeavesTheCopyAsItWas) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  backed_up(*store);
  disk_.write_file("copy/backup.json", "{}");
  add_large(*notes, "new", 4);
  uint64_t used = 0;
  for (const auto& path : disk_.list_all()) {
    if (!path.ends_with('/')) used += disk_.read_file(path)->size();
  }
  disk_.set_capacity_bytes(used + 700'000);
  EXPECT_EQ(store->back_up("copy", {}).code(), Code::kNoSpace);
  disk_.set_capacity_bytes(std::nullopt);
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
  EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 0");
}

TEST_F(CopyChanges, MetadataThatIsNoneIsCopiedAsItIs) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  disk_.write_file("store/sessions/notes/metadata.json", "[]");
  EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 1") << "a problem says so";
  EXPECT_EQ(file("copy/sessions/notes/metadata.json"), "[]");
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
  remove_file("store/sessions/notes", "metadata.json");
  EXPECT_EQ(outcome(backed_up(*store)), "0 0 1 0 0") << "without any, it is as it was";
  EXPECT_EQ(file("copy/sessions/notes/metadata.json"), "[]");
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
}

TEST_F(CopyChanges, AStoreIsNotBackedUpIntoItselfBehindALink) {
  const io::TemporaryDirectory directory;
  io::PosixFileSystem posix;
  const std::string root = directory.path_of("store");
  const auto store = open(root, &posix);
  create(*store, "notes");
  std::filesystem::create_directory_symlink(root + "/sessions", directory.path_of("way"));
  for (const std::string& path :
       {root, root + "/new/deep", directory.path_of("way"), directory.path_of("way") + "/new"}) {
    EXPECT_EQ(store->back_up(path, {}).code(), Code::kInvalidArgument) << path;
  }
  EXPECT_FALSE(std::filesystem::exists(root + "/new"));
  EXPECT_FALSE(std::filesystem::exists(root + "/sessions/new"));
  EXPECT_TRUE(store->back_up(directory.path_of("copy"), {}).ok());
}

// --- restore -------------------------------------------------------------------------------------

TEST_F(CopyChanges, ARestorePassesOverWhatIsNoSession) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  backed_up(*store);
  disk_.write_file("copy/sessions/readme.txt", "hello");
  disk_.write_file("copy/sessions/not an id/memory.jsonl", "");
  const auto other = open("other");
  EXPECT_EQ(restored(*other).get_int64("sessions"), 1);
  EXPECT_EQ(alive(*other, "notes"), Texts{"a"});
  EXPECT_FALSE(disk_.exists("other/sessions/not an id"));
}

TEST_F(CopyChanges, ARestoreTellsOfDamagedLinesAndCopiesThem) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  backed_up(*store);
  const std::string damaged = "no entry\n" + file("copy/sessions/notes/memory.jsonl");
  disk_.write_file("copy/sessions/notes/memory.jsonl", damaged);
  const auto other = open("other");
  const json::Tree report = restored(*other);
  EXPECT_EQ(report.get_int64("sessions"), 1);
  ASSERT_EQ(report.get("problems")->items().size(), 1U) << report.canonical();
  EXPECT_TRUE(report.get("problems")->items()[0].get_bool("copied"));
  EXPECT_EQ(report.get("problems")->items()[0].get_string("reason"),
            "1 damaged line was copied as it is");
  EXPECT_EQ(file("other/sessions/notes/memory.jsonl"), damaged);
  EXPECT_EQ(alive(*other, "notes"), Texts{"a"});
}

TEST_F(CopyChanges, ARestoreMakesMetadataAnewWhereItIsDamaged) {
  const auto store = open("store");
  add(*create(*store, "notes"), {"a"});
  backed_up(*store);
  disk_.write_file("copy/sessions/notes/metadata.json", "{\"torn");
  disk_.write_file("store/sessions/notes/metadata.json", "{\"torn");
  EXPECT_EQ(restored(*store, R"({"overwrite":true})").get_int64("entries"), 1);
  EXPECT_EQ(alive(*store, "notes"), Texts{"a"});
  EXPECT_TRUE(is_sound(*store, "notes"));
  EXPECT_EQ((*store->open_session("notes"))->metadata()->get_string("session_id"), "notes");
}

TEST_F(CopyChanges, ARestoreOverASessionThatIsDeletedMeanwhileBringsItBack) {
  const auto other = open("store");
  add(*create(*other, "notes"), {"a"});
  const auto store = open("store", own_.get());
  backed_up(*store);
  before(OperationKind::kAppend, "memory.jsonl",
         [&] { EXPECT_TRUE(other->delete_session("notes").ok()); });
  EXPECT_EQ(restored(*store, R"({"overwrite":true})").get_int64("sessions"), 1);
  let_be();
  EXPECT_EQ(alive(*store, "notes"), Texts{"a"});
}

TEST_F(CopyChanges, ARestoreLooksAgainWhenTheBackupChangesUnderItAndGivesUpAtLast) {
  const auto store = open("store", own_.get());
  const auto notes = create(*store, "notes");
  add(*notes, {"a"});
  ASSERT_TRUE(notes->kv_set("key", "value").ok());
  backed_up(*store);
  const std::string text = file("copy/sessions/notes/kv.json");
  const auto kv_is_read = [](const io::OperationInfo& operation) {
    return operation.process_id == 1 && operation.kind == OperationKind::kOpen &&
           operation.path.ends_with("copy/sessions/notes/kv.json");
  };
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (kv_is_read(operation) && disk_.exists("copy/sessions/notes/kv.json")) {
      remove_file("copy/sessions/notes", "kv.json");
    }
    if (operation.kind == OperationKind::kList) {
      disk_.write_file("copy/sessions/notes/kv.json", text);
    }
    return std::nullopt;
  });
  EXPECT_EQ(store->restore("copy", R"({"overwrite":true})").code(), Code::kBusy);
  disk_.write_file("copy/sessions/notes/kv.json", text);
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (!std::exchange(happened_, happened_ || kv_is_read(operation)) && happened_) {
      remove_file("copy/sessions/notes", "kv.json");
    }
    return std::nullopt;
  });
  EXPECT_EQ(restored(*store, R"({"overwrite":true})").get_int64("sessions"), 1);
  let_be();
  EXPECT_EQ(alive(*store, "notes"), Texts{"a"});
}

// A session of a store that keeps the whole lines of a batch that its log ends within.
class CopyOfSalvage : public CopyChanges {
 protected:
  static constexpr const char* kMetadata = "store/sessions/notes/metadata.json";
  void SetUp() override {
    disk_.write_file("store/config.json",
                     R"({"durability":"os","integrity":{"recovery":"salvage"}})");
    add(*create(*open("store"), "notes"), {"a"});
    const std::string metadata = file(kMetadata);
    (void)(*open("store")->open_session("notes"))
        ->add_batch("[" + text_of("x", "1") + "," + text_of("y", "2") + "," + text_of("z", "3") +
                    "]");
    const std::string log = file("store/sessions/notes/memory.jsonl");
    disk_.write_file("store/sessions/notes/memory.jsonl", log.substr(0, log.size() - 20));
    disk_.write_file(kMetadata, metadata);  // or it would tell that the batch was whole
    for (const auto name : {"lock", "index.bin"}) remove_file("store/sessions/notes", name);
  }
};

TEST_F(CopyOfSalvage, HasTheLinesThatAreKept) {
  const auto store = open("store");
  ASSERT_EQ(alive(*store, "notes"), (Texts{"a", "x", "y"}));
  EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 0");
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "x", "y"}));
  EXPECT_EQ(outcome(backed_up(*store)), "0 0 1 0 0");
  add(**store->open_session("notes"), {"c"});
  EXPECT_EQ(outcome(backed_up(*store)), "0 1 0 0 0");
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "x", "y", "c"}));
}

TEST_F(CopyOfSalvage, IsRestoredWithThemWhereTheyAreKept) {
  backed_up(*open("store"));
  const auto tail = open("tail");
  restored(*tail);
  EXPECT_EQ(alive(*tail, "notes"), Texts{"a"});
  const auto salvage =
      Store::open("other", R"({"integrity":{"recovery":"salvage"}})", {&disk_, &clock_, &random_});
  ASSERT_TRUE(salvage.ok());
  restored(**salvage);
  EXPECT_EQ(alive(**salvage, "notes"), (Texts{"a", "x", "y"}));
}

TEST_F(CopyOfSalvage, HasThemThoughItsOwnStoreKeepsTheLock) {
  const auto store =
      *Store::open("store", R"({"concurrency":{"exclusive":true}})", {&disk_, &clock_, &random_});
  const auto notes = *store->open_session("notes");
  ASSERT_EQ(alive(*store, "notes"), (Texts{"a", "x", "y"}));
  EXPECT_EQ(outcome(backed_up(*store)), "1 0 0 0 0");
  EXPECT_EQ(alive("copy", "notes"), (Texts{"a", "x", "y"}));
}

TEST_F(CopyOfSalvage, HasNoneWhileSomebodyMayWriteThem) {
  const auto storage = *log::DirectoryStorage::open(*disk_.open_root("store/sessions/notes", false),
                                                    {&disk_, &clock_, &random_});
  ASSERT_TRUE(storage->lock(0, "write", nullptr).ok());
  backed_up(*open("store"));
  storage->unlock();
  EXPECT_EQ(alive("copy", "notes"), Texts{"a"});
}

// The system shows a large write as it grows: a look at the log may see a part of a batch, which is
// durable by the time when that is asked for.
TEST_F(CopyChanges, OfABatchThatIsBeingWrittenNoPartIsCopied) {
  const auto store = open("store");
  const auto notes = create(*store, "notes");
  bool came_to_it = true;
  int look = 0;
  for (; came_to_it && !HasFailure(); ++look) {
    SCOPED_TRACE(look);
    came_to_it = false;
    auto watched = std::make_unique<session::WatchedStorage>(*log::DirectoryStorage::open(
        *disk_.open_root("store/sessions/notes", false), {&disk_, &clock_, &random_}));
    watched->change_tail = [&, left = look](log::Tail seen) mutable {
      if (left-- != 0) return seen;
      came_to_it = true;
      const uint64_t before_bytes = file("store/sessions/notes/memory.jsonl").size();
      const std::string id = "batch" + std::to_string(look);
      EXPECT_TRUE(
          notes->add_batch("[" + text_of(id + "x", "1") + "," + text_of(id + "y", "2") + "]").ok());
      const std::string log = file("store/sessions/notes/memory.jsonl");
      seen.entries_bytes = log.find('\n', before_bytes) + 1;
      return seen;
    };
    SessionSource source(std::move(watched), session::Recovery::kSalvage);
    ASSERT_TRUE(source.hold_still().ok());
    EXPECT_EQ(source.scan(0, 0)->entry_count % 2, 0u);
  }
  EXPECT_GT(look, 2);
}

}  // namespace
}  // namespace varve::store
