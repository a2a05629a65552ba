// The k-th call on files fails, once and from then on, under each thing that a store is asked to
// do: sessions from before stay whole, others are there as a whole or not at all, and the store
// works again. Then what stands in the way of a store besides failures.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/simulated.h"
#include "log/directory_engine.h"
#include "support/environment.h"
#include "wrapped_files.h"

namespace varve::log {
namespace {

using io::OperationKind;

constexpr std::string_view kRegistry = "store/indices/sessions.jsonl";

// A store with a session "old" and what somebody's death left behind.
class StoreGround {
 public:
  StoreGround() {
    engine = *open(disk);
    EXPECT_TRUE(engine->create({"old", "u", "a", test::kStartMs}, "{\"old\":1}").ok());
    disk.write_file("store/sessions/old/memory.jsonl", "one\n");
  }
  Result<std::unique_ptr<DirectoryEngine>> open(io::FileSystem& system) {
    return DirectoryEngine::open("store", {&system, &clock, &random}, 1);
  }
  [[nodiscard]] std::string log_of(const std::string& id) const {
    return disk.read_file("store/sessions/" + id + "/memory.jsonl").value_or("(none)");
  }
  Status install(const std::string& id, Existing existing) {
    return install_by(*engine, id, existing);
  }
  static Status install_by(DirectoryEngine& by, const std::string& id, Existing existing) {
    const auto text = [](std::string bytes) {
      return [bytes = std::move(bytes)](Sink& sink) { return sink.append(bytes); };
    };
    const SessionContents contents{
        text("two\n"), {}, text("{\"new\":1}"), [](Sink&) { return Status(); }};
    return by.install({id, "u", "a", test::kStartMs}, contents, existing);
  }
  void leave_behind() {
    disk.write_file("store/tmp/deleted.tmp-0000000000000001/memory.jsonl", "old");
    disk.write_file("store/tmp/deleted.tmp-0000000000000001/lock", "");
    disk.write_file("store/tmp/new.tmp-0000000000000002/memory.jsonl", "new");
  }
  void remove_registry() {
    auto indices = *(*disk.open_root("store", false))->open_directory("indices");
    ASSERT_TRUE(indices->remove(kRegistryFile).ok());
  }

  test::ManualClock clock;
  test::SeededRandom random;
  io::SimulatedFileSystem disk;
  std::unique_ptr<DirectoryEngine> engine;
};

constexpr std::string_view kLeftOver = "store/tmp/deleted.tmp-0000000000000001";

struct StoreWork {
  const char* name;
  void (*prepare)(StoreGround&);
  Status (*run)(StoreGround&);
  bool makes_new = false;
  bool may_take_old = false;
};
void PrintTo(const StoreWork& work, std::ostream* out) { *out << work.name; }

void unchanged(StoreGround&) {}
void without_registry(StoreGround& ground) { ground.remove_registry(); }

void with_two_rows(StoreGround& ground) {
  const std::string row = *ground.disk.read_file(kRegistry);
  ground.disk.write_file(kRegistry, row + row);
}
void with_a_copied_directory(StoreGround& ground) {
  ground.disk.write_file("store/sessions/copied/notes.txt", "no session");
}
void with_directories_in_it(StoreGround& ground) {
  ground.disk.write_file("store/sessions/old/notes/mine.txt", "somebody's");
}
void with_left_overs(StoreGround& ground) {
  ground.leave_behind();
  ground.disk.write_file(std::string(kLeftOver) + "/notes/mine.txt", "somebody's");
}

void with_catalog(StoreGround& ground) { ASSERT_TRUE(ground.engine->create_catalog("{}").ok()); }
void with_remains_of_a_catalog(StoreGround& ground) {
  ASSERT_TRUE((*(*ground.disk.open_root("store", false))->open_directory("indices"))
                  ->make_directory("catalog", 0700)
                  .ok());
}

const StoreWork kStoreWorks[] = {
    {"OpenANewStore", unchanged,
     [](StoreGround& ground) {
       return DirectoryEngine::open("other", {&ground.disk, &ground.clock, &ground.random}, 1)
           .status();
     }},
    {"OpenAndTidyUp", [](StoreGround& ground) { ground.leave_behind(); },
     [](StoreGround& ground) { return ground.open(ground.disk).status(); }},
    {"Create", unchanged,
     [](StoreGround& ground) {
       return ground.engine->create({"new", "u", "a", 0}, "{\"new\":1}").status();
     },
     true},
    {"CreateWithoutRegistry", without_registry,
     [](StoreGround& ground) {
       return ground.engine->create({"new", "u", "a", 0}, "{\"new\":1}").status();
     },
     true},
    {"OpenASession", unchanged,
     [](StoreGround& ground) { return ground.engine->open("old").status(); }},
    {"Drop", unchanged, [](StoreGround& ground) { return ground.engine->drop("old", {}); }, false,
     true},
    {"DropWithDirectoriesInIt", with_directories_in_it,
     [](StoreGround& ground) { return ground.engine->drop("old", {}); }, false, true},
    {"DropWithoutSession", with_a_copied_directory,
     [](StoreGround& ground) { return ground.engine->drop("copied", {}); }},
    {"IsNameWithoutSession", with_a_copied_directory,
     [](StoreGround& ground) { return ground.engine->is_name_without_session("copied").status(); }},
    {"RemoveLeftOvers", with_left_overs,
     [](StoreGround& ground) {
       VARVE_TRY(ground.engine->remove_left_overs());
       for (const std::string& path : ground.disk.list_all()) {
         const bool is_left = path.find("/tmp/") != std::string::npos && !path.ends_with("/tmp/");
         EXPECT_FALSE(is_left) << path;
       }
       return Status();
     }},
    {"Install", unchanged,
     [](StoreGround& ground) { return ground.install("new", Existing::kRefuse); }, true},
    {"InstallWithoutRegistry", without_registry,
     [](StoreGround& ground) { return ground.install("new", Existing::kSwap); }, true},
    {"InstallOver", unchanged,
     [](StoreGround& ground) { return ground.install("old", Existing::kSwapOrMove); }, false, true},
    {"List", unchanged,
     [](StoreGround& ground) {
       VARVE_TRY_ASSIGN(const RowPage page, ground.engine->list("", 10));
       EXPECT_EQ(page.rows.size(), 1u);
       return Status();
     }},
    {"ListWithoutRegistry", without_registry,
     [](StoreGround& ground) { return ground.engine->list("", 10).status(); }},
    {"Rescan", unchanged, [](StoreGround& ground) { return ground.engine->rescan(); }},
    {"RemoveDeadRows", unchanged,
     [](StoreGround& ground) { return ground.engine->remove_dead_rows(); }},
    {"RemoveDeadRowsOfAnIdUsedAgain", with_two_rows,
     [](StoreGround& ground) {
       VARVE_TRY(ground.engine->remove_dead_rows());
       const auto page = ground.engine->list("", 10);
       EXPECT_TRUE(!page.ok() || page->rows.size() == 1u);
       return Status();
     }},
    {"Ids", unchanged,
     [](StoreGround& ground) {
       VARVE_TRY_ASSIGN(const auto ids, ground.engine->session_ids());
       EXPECT_EQ(ids, std::vector<std::string>{"old"});
       return Status();
     }},
    {"Document", unchanged,
     [](StoreGround& ground) {
       VARVE_TRY_ASSIGN(const auto text, ground.engine->session_document("old", kMetadataFile));
       EXPECT_EQ(text, "{\"old\":1}");
       return Status();
     }},
    {"CreateCatalog", unchanged,
     [](StoreGround& ground) { return ground.engine->create_catalog("{}").status(); }},
    {"CreateCatalogWhereSomethingIs", with_remains_of_a_catalog,
     [](StoreGround& ground) { return ground.engine->create_catalog("{}").status(); }},
    {"OpenCatalog", with_catalog,
     [](StoreGround& ground) { return ground.engine->open_catalog().status(); }},
    {"DropCatalog", with_catalog,
     [](StoreGround& ground) {
       VARVE_TRY(ground.engine->drop_catalog());
       EXPECT_FALSE(ground.disk.exists("store/indices/catalog/"));
       return Status();
     }},
    {"IsKeptIn", unchanged,
     [](StoreGround& ground) {
       VARVE_TRY_ASSIGN(const auto root, ground.disk.open_root("store", false));
       // What cannot be told is not so.
       (void)ground.engine->is_kept_in(*root);
       return Status();
     }},
};

class EngineFaults : public testing::TestWithParam<StoreWork> {
 protected:
  // One run with one fault; false when the work ends before the fault comes.
  bool run(uint64_t number, bool sticky) {
    SCOPED_TRACE("call " + std::to_string(number) + (sticky ? " and later ones" : ""));
    StoreGround ground;
    GetParam().prepare(ground);
    const io::FailNth fault(number, EIO, sticky);
    ground.disk.set_fault_hook(fault);
    const Status answer = GetParam().run(ground);
    ground.disk.set_fault_hook(nullptr);
    const bool happened = fault.matched() >= number;
    if (!happened) {
      EXPECT_TRUE(answer.ok()) << answer.message();
    } else if (!answer.ok()) {
      EXPECT_TRUE(answer.code() == Code::kIo || answer.code() == Code::kUnknown)
          << answer.message();
      EXPECT_EQ(answer.place().os_errno, EIO) << answer.message();
    }
    expect_what_it_says(answer, ground);
    return happened;
  }

  static void expect_what_it_says(const Status& answer, StoreGround& ground) {
    ground.engine.reset();
    ground.disk.release_locks();
    auto next = ground.open(ground.disk);
    ASSERT_TRUE(next.ok()) << next.status().message();
    const std::string old = ground.log_of("old");
    if (!GetParam().may_take_old) {
      EXPECT_EQ(old, "one\n");
    } else if (answer.ok()) {
      EXPECT_NE(old, "one\n");
    } else {
      EXPECT_TRUE(old == "one\n" || old == "two\n" || old == "(none)") << old;
    }
    if (GetParam().makes_new && answer.ok()) {
      EXPECT_TRUE((*next)->open("new").ok());
    }
    // There as a whole, also when the call that made it could not say so.
    const auto made = (*next)->session_document("new", kMetadataFile);
    EXPECT_TRUE(made.ok() ? *made == "{\"new\":1}" : made.code() == Code::kNotFound);
    ASSERT_TRUE((*next)->rescan().ok());
    ASSERT_TRUE((*next)->create({"again", "u", "a", 1}, "{}").ok());
    const auto page = (*next)->list("", 10);
    ASSERT_TRUE(page.ok());
    EXPECT_EQ(page->rows.size(), (*next)->session_ids()->size());
  }
};

TEST_P(EngineFaults, LeaveWholeSessionsAndAStoreThatWorks) {
  uint64_t count = 0;
  for (const bool sticky : {false, true}) {
    for (uint64_t number = 1; run(number, sticky); ++number) count += 1;
  }
  EXPECT_GT(count, 1u) << "no call on files was made";
}

INSTANTIATE_TEST_SUITE_P(All, EngineFaults, testing::ValuesIn(kStoreWorks),
                         [](const auto& given) { return std::string(given.param.name); });

// --- what stands in the way ----------------------------------------------------------------------

class InTheWay : public testing::Test {
 protected:
  // While `kind` is asked of a path with `part` in it, for the first time.
  void at(OperationKind kind, const std::string& part, const std::function<void()>& act) {
    ground_.disk.set_fault_hook([=, is_done = false](const io::OperationInfo& operation) mutable
                                -> std::optional<io::Fault> {
      const bool is_it = operation.kind == kind && operation.path.find(part) != std::string::npos;
      if (is_it && !std::exchange(is_done, true)) act();
      return std::nullopt;
    });
  }
  void mend() { ground_.disk.set_fault_hook(nullptr); }
  DirectoryEngine& engine() { return *ground_.engine; }
  Status drop(const std::string& id) { return engine().drop(id, {}); }
  io::SimulatedFileSystem& disk() { return ground_.disk; }

  StoreGround ground_;
};

TEST_F(InTheWay, AFolderThatAnotherMakesMeanwhileIsUsed) {
  io::SimulatedFileSystem disk;
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == OperationKind::kMakeDirectory && operation.name == "sessions") {
      disk.write_file("store/sessions/s/metadata.json", "{}");
    }
    return std::nullopt;
  });
  auto engine = DirectoryEngine::open("store", {&disk, &ground_.clock, &ground_.random}, 1);
  disk.set_fault_hook(nullptr);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  EXPECT_TRUE((*engine)->open("s").ok());
}

TEST_F(InTheWay, AFolderThatAnotherRemovesMeanwhileIsAFailureAndNoStoreWithoutIt) {
  io::SimulatedFileSystem disk;
  disk.set_fault_hook(
      [&, is_made = false](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
        if (operation.name != "sessions") return std::nullopt;
        is_made = is_made || operation.kind == OperationKind::kMakeDirectory;
        const bool is_gone = is_made && operation.kind == OperationKind::kOpenDirectory;
        return is_gone ? std::optional(io::Fault{ENOENT}) : std::nullopt;
      });
  const auto engine = DirectoryEngine::open("store", {&disk, &ground_.clock, &ground_.random}, 1);
  disk.set_fault_hook(nullptr);
  EXPECT_EQ(engine.code(), Code::kNotFound);
  EXPECT_NE(engine.status().message().find("store/sessions"), std::string::npos);
}

TEST_F(InTheWay, ASessionThatAnotherMakesMeanwhileIsKept) {
  at(OperationKind::kMove, "tmp/new.tmp-",
     [&] { disk().write_file("store/sessions/s/metadata.json", "{\"theirs\":1}"); });
  const Status refused = engine().create({"s", "", "", 0}, "{\"ours\":1}").status();
  mend();
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_EQ(refused.message(), "a session 's' exists already");
  EXPECT_EQ(*engine().session_document("s", kMetadataFile), "{\"theirs\":1}");
  for (const auto& path : disk().list_all()) {
    EXPECT_EQ(path.find("new.tmp-"), std::string::npos) << path;
  }
}

// Its name was durable, and may come back when the power goes.
TEST_F(InTheWay, ASessionWhoseNameCannotBeTakenBackForGoodStaysWhole) {
  disk().set_fault_hook(
      [&, is_named = false, is_taken_back = false](
          const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
        const bool is_move = operation.kind == OperationKind::kMove;
        is_taken_back = is_taken_back || (is_move && is_named);
        is_named = is_named || is_move;
        const bool is_opened =
            operation.kind == OperationKind::kOpenDirectory && operation.name == "s";
        const bool is_synced = operation.kind == OperationKind::kSyncDirectory && is_taken_back;
        return is_opened || is_synced ? std::optional(io::Fault{EIO}) : std::nullopt;
      });
  EXPECT_EQ(engine().create({"s", "", "", 0}, "{\"ours\":1}").code(), Code::kIo);
  mend();
  EXPECT_EQ(engine().session_document("s", kMetadataFile).code(), Code::kNotFound);
  size_t whole_count = 0;
  for (const auto& path : disk().list_all()) {
    const bool is_there =
        path.find("new.tmp-") != std::string::npos && path.ends_with("metadata.json");
    whole_count += is_there ? 1 : 0;
  }
  EXPECT_EQ(whole_count, 1u);
}

TEST_F(InTheWay, ASessionThatAnotherDropsMeanwhileIsNotFound) {
  disk().write_file("store/sessions/copied/notes.txt", "no session");
  at(OperationKind::kMove, "sessions/copied", [&] {
    auto root = *disk().open_root("store", false);
    auto sessions = *root->open_directory("sessions");
    ASSERT_TRUE(sessions->rename("copied", "elsewhere").ok());
  });
  const Status dropped = drop("copied");
  mend();
  EXPECT_EQ(dropped.code(), Code::kNotFound);
  EXPECT_EQ(dropped.message(), "there is no session 'copied'");
}

TEST_F(InTheWay, ADirectoryWithoutASessionIsDroppedWithItsSubdirectories) {
  disk().write_file("store/sessions/copied/notes.txt", "no session");
  auto root = *disk().open_root("store", false);
  auto copied = *(*root->open_directory("sessions"))->open_directory("copied");
  ASSERT_TRUE(copied->make_directory("empty").ok());
  EXPECT_TRUE(drop("copied").ok());
  for (const auto& path : disk().list_all()) {
    EXPECT_EQ(path.find("copied"), std::string::npos) << path;
    EXPECT_EQ(path.find("deleted.tmp-"), std::string::npos) << path;
  }
}

// Whoever copies directories into one another without end must not use up our stack.
TEST_F(InTheWay, DirectoriesInOneAnotherAreRemovedToADepthAndDeeperOnesAreSaid) {
  for (const int depth : {64, 65}) {
    std::string path(kLeftOver);
    for (int i = 0; i < depth; ++i) path += "/d";
    disk().write_file(path + "/notes.txt", "somebody's");
    disk().write_file(std::string(kLeftOver) + "/memory.jsonl", "deleted");
    EXPECT_EQ(engine().remove_left_overs().ok(), depth == 64) << depth;
    EXPECT_EQ(disk().exists(path + "/notes.txt"), depth > 64) << depth;
    EXPECT_FALSE(disk().exists(std::string(kLeftOver) + "/memory.jsonl")) << depth;
  }
}

// What is left of it must not be one that shows deleted entries, or takes new ones.
TEST_F(InTheWay, WhileALogCannotBeRemovedItsTombstonesAndItsLockStayAndItIsSaid) {
  using Kinds = std::vector<OperationKind>;
  const Kinds removes = {OperationKind::kRemove};
  const Kinds also_looks = {OperationKind::kRemove, OperationKind::kInfo};
  const std::pair<std::string, Kinds> failing[] = {{"memory.jsonl", removes},
                                                   {"metadata.json", removes},
                                                   {"memory.jsonl", also_looks},
                                                   {"metadata.json", also_looks}};
  for (const auto& [name, kinds] : failing) {
    const std::string left_over(kLeftOver);
    for (const auto* file : {"memory.jsonl", "metadata.json", "tombstones.jsonl", "lock"}) {
      disk().write_file(left_over + "/" + file, "");
    }
    disk().set_fault_hook(io::FailNth(1, EIO, true, kinds).on_file(name));
    EXPECT_EQ(engine().remove_left_overs().code(), Code::kIo) << name;
    mend();
    for (const std::string file : {"memory.jsonl", "metadata.json"}) {
      EXPECT_EQ(disk().exists(left_over + "/" + file), file == name) << file;
    }
    EXPECT_TRUE(disk().exists(left_over + "/tombstones.jsonl"));
    EXPECT_TRUE(disk().exists(left_over + "/lock"));
    EXPECT_TRUE(engine().remove_left_overs().ok());
    EXPECT_FALSE(disk().exists(left_over + "/lock"));
  }
}

TEST_F(InTheWay, ANameThatIsTakenAwayMeanwhileIsNotOneWithoutASession) {
  disk().write_file("store/sessions/copied/notes.txt", "no session");
  const auto before = engine().is_name_without_session("copied");
  ASSERT_TRUE(before.ok()) << before.status().message();
  EXPECT_TRUE(*before);
  at(OperationKind::kInfo, "sessions/copied", [&] {
    auto sessions = *(*disk().open_root("store", false))->open_directory("sessions");
    ASSERT_TRUE(sessions->rename("copied", "elsewhere").ok());
  });
  const auto after = engine().is_name_without_session("copied");
  mend();
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_FALSE(*after);
}

TEST_F(InTheWay, ASessionThatIsMovedAwayBeforeItIsDroppedIsNotFoundAndWhole) {
  at(OperationKind::kMove, "sessions/old", [&] {
    auto sessions = *(*disk().open_root("store", false))->open_directory("sessions");
    ASSERT_TRUE(sessions->rename("old", "elsewhere").ok());
  });
  const Status dropped = drop("old");
  mend();
  EXPECT_EQ(dropped.code(), Code::kNotFound);
  EXPECT_EQ(dropped.message(), "there is no session 'old'");
  EXPECT_EQ(ground_.log_of("elsewhere"), "one\n");
}

TEST_F(InTheWay, ASessionThatOthersReplaceOverAndOverIsNotDropped) {
  const auto process = disk().process(4711);
  const auto other = *ground_.open(*process);
  disk().set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_ours = operation.process_id != process->process_id();
    const bool is_lock = operation.kind == OperationKind::kLock;
    if (!is_ours || !is_lock || !operation.path.ends_with("old/lock")) return std::nullopt;
    EXPECT_TRUE(StoreGround::install_by(*other, "old", Existing::kSwap).ok());
    return std::nullopt;
  });
  const Status busy = drop("old");
  mend();
  EXPECT_EQ(busy.code(), Code::kBusy);
  EXPECT_EQ(busy.message(), "session 'old' keeps being replaced by others; try again");
  EXPECT_EQ(ground_.log_of("old"), "two\n");
  EXPECT_TRUE(drop("old").ok());
}

// Where no file has a link count, nobody can tell a directory that was removed.
TEST_F(InTheWay, AFileSystemWithoutLinkCountsIsNotTakenForARemovedStore) {
  FileSystemWithoutLinkCounts files(disk());
  const auto engine = ground_.open(files);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  EXPECT_TRUE((*engine)->create({"new", "u", "a", 0}, "{}").ok());
  const auto ids = (*engine)->session_ids();
  ASSERT_TRUE(ids.ok()) << ids.status().message();
  EXPECT_EQ(*ids, (std::vector<std::string>{"new", "old"}));
  EXPECT_TRUE((*engine)->rescan().ok());
}

// Nobody holds the name of such a one for durable.
TEST_F(InTheWay, ADirectoryWithoutASessionThatCannotBeDroppedIsThere) {
  disk().write_file("store/sessions/copied/notes.txt", "no session");
  disk().set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_sync = operation.kind == OperationKind::kSyncDirectory;
    return is_sync ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(drop("copied").code(), Code::kUnknown) << "its name is back, and not durably";
  mend();
  EXPECT_EQ(disk().read_file("store/sessions/copied/notes.txt"), "no session");
  EXPECT_TRUE(drop("copied").ok());
}

TEST_F(InTheWay, AFileInTmpIsNobodysLeftOver) {
  disk().write_file("store/tmp/notes.txt", "mine");
  ASSERT_TRUE(ground_.open(disk()).ok());
  ASSERT_TRUE(engine().remove_left_overs().ok());
  EXPECT_EQ(disk().read_file("store/tmp/notes.txt"), "mine");
}

TEST_F(InTheWay, WhatDescribesASessionInNoWayIsARowWithoutAnOwner) {
  disk().write_file("store/sessions/bare/memory.jsonl", "");
  disk().write_file("store/sessions/list/metadata.json", "[]");
  disk().write_file("store/sessions/bad id/metadata.json", "{}");
  disk().write_file("store/sessions/file", "");
  ASSERT_TRUE(engine().rescan().ok());
  const auto page = engine().list("", 10);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->rows.size(), 3u);
  for (const auto& row : page->rows) EXPECT_EQ(row.user_id, "") << row.session_id;
  EXPECT_EQ(*engine().session_ids(), (std::vector<std::string>{"bare", "list", "old"}));
}

// A rebuild that one failure brings about would be a write where somebody only asked.
TEST_F(InTheWay, ARegistryThatCannotBeLookedForIsNotWrittenAnew) {
  disk().clear_trace();
  const io::FailNth no_look =
      io::FailNth(1, EIO, false, {OperationKind::kInfo}).on_file("sessions.jsonl");
  disk().set_fault_hook(no_look);
  const auto page = engine().list("", 10);
  mend();
  EXPECT_GT(no_look.matched(), 0U);
  ASSERT_TRUE(page.ok()) << page.status().message();
  EXPECT_EQ(page->rows.size(), 1u);
  for (const std::string& line : disk().trace()) {
    EXPECT_EQ(line.find("lock"), std::string::npos) << line;
  }
}

// Of a store on a medium that cannot be written, some folders may never have been made.
TEST_F(InTheWay, WithoutPermissionToWriteAndWithoutFoldersWhatIsThereIsRead) {
  for (const std::string has : {"", "sessions", "sessions no list", "sessions indices"}) {
    io::SimulatedFileSystem disk;
    disk.write_file("store/config.json", "{}");
    if (has.starts_with("sessions")) {
      disk.write_file("store/sessions/s/metadata.json", "{\"s\":1}");
      disk.write_file("store/sessions/s/memory.jsonl", "one\n");
    }
    if (has.ends_with("indices")) {
      disk.write_file(kRegistry, R"({"agent_id":"","created_at":"2026-01-10T14:23:45.678Z",)"
                                 R"("session_id":"s","user_id":"u"})"
                                 "\n");
    }
    if (has.ends_with("no list")) disk.write_file("store/indices/lock", "");
    disk.set_read_only(true);
    auto opened = DirectoryEngine::open("store", {&disk, &ground_.clock, &ground_.random}, 1);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    DirectoryEngine& engine = **opened;
    const bool has_session = !has.empty();
    EXPECT_EQ(engine.open("s").code(), has_session ? Code::kOk : Code::kNotFound) << has;
    EXPECT_EQ(engine.session_document("s", kMetadataFile).code(),
              has_session ? Code::kOk : Code::kNotFound);
    EXPECT_EQ(engine.session_ids()->size(), has_session ? 1u : 0u);
    const auto page = engine.list("", 10);
    ASSERT_TRUE(page.ok()) << has << ": " << page.status().message();
    EXPECT_EQ(page->rows.size(), has_session ? 1u : 0u) << has << ": also without a list";
    const Status refused[] = {engine.create({"t", "", "", 0}, "{}").status(), engine.drop("s", {}),
                              engine.rescan(), engine.remove_dead_rows(),
                              engine.install({"t", "", "", 0}, {}, Existing::kSwap)};
    for (const Status& status : refused) {
      EXPECT_EQ(status.code(), Code::kReadOnly) << status.message();
      EXPECT_EQ(status.message(),
                "the store is open for reading: no permission to write in 'store'");
      EXPECT_NE(status.place().path.find("store"), std::string::npos);
    }
  }
}

TEST_F(InTheWay, AStoreThatIsNotThereAndMayNotBeMadeSaysWhy) {
  io::SimulatedFileSystem disk;
  disk.set_read_only(true);
  const auto opened = DirectoryEngine::open("nowhere", {&disk, &ground_.clock, &ground_.random}, 1);
  EXPECT_EQ(opened.code(), Code::kReadOnly);
  EXPECT_EQ(opened.status().place().os_errno, EROFS);
}

// A list whose sync failed is removed. Who waited for its lock must not begin another one that
// knows only the session it creates.
TEST(ListOfSessions, ThatAnotherProcessRemovesMeanwhileIsMadeAnewWhole) {
  StoreGround ground;
  const auto other_disk = ground.disk.process(4711);
  const auto other = *ground.open(*other_disk);
  bool is_about_to_lock = true;
  bool fails = false;
  ground.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_list = operation.path.ends_with(kRegistry);
    if (fails && is_list && operation.kind == OperationKind::kSyncData) return io::Fault{EIO};
    const bool locks = operation.kind == OperationKind::kLock && operation.process_id == 4711 &&
                       operation.path.ends_with("indices/lock");
    if (locks && std::exchange(is_about_to_lock, false)) {
      fails = true;
      EXPECT_EQ(ground.engine->create({"refused", "u", "a", 0}, "{}").code(), Code::kIo);
      EXPECT_FALSE(ground.disk.exists(kRegistry)) << "or nothing is tested";
      fails = false;
    }
    return std::nullopt;
  });
  EXPECT_TRUE(other->create({"new", "u", "a", 0}, "{}").ok());
  ground.disk.set_fault_hook(nullptr);
  ASSERT_FALSE(is_about_to_lock);
  const auto page = ground.engine->list("", 10);
  ASSERT_TRUE(page.ok()) << page.status().message();
  std::string ids;
  for (const SessionRow& row : page->rows) ids += row.session_id + " ";
  EXPECT_EQ(ids, "new old ");
}

}  // namespace
}  // namespace varve::log
