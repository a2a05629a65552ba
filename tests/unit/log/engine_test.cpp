// The conformance suite of Engine, over directories and memory; then what only a directory has.
#include "log/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/posix.h"
#include "io/simulated.h"
#include "json/tree.h"
#include "log/directory_engine.h"
#include "log/memory_engine.h"
#include "support/environment.h"
#include "unit/io/temporary_directory.h"

namespace varve::log {
namespace {

enum class Backend { kPosix, kSimulated, kMemory };

std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param == Backend::kPosix       ? "Posix"
         : info.param == Backend::kSimulated ? "Simulated"
                                             : "Memory";
}

std::string metadata_of(std::string_view id, std::string_view user, std::string_view created_at) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(id));
  tree.set("user_id", json::Tree::string(user));
  tree.set("created_at", json::Tree::string(created_at));
  return tree.pretty();
}

class Engines : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::kMemory) {
      engine_ = std::make_unique<MemoryEngine>(clock_);
      return;
    }
    const bool posix = GetParam() == Backend::kPosix;
    io::FileSystem& system = posix ? static_cast<io::FileSystem&>(posix_) : disk_;
    auto opened = DirectoryEngine::open(posix ? directory_.path_of("store") : "store",
                                        {&system, &clock_, &random_}, 100);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    engine_ = *std::move(opened);
  }

  Status create(const std::string& id, const std::string& user = "u") {
    const int64_t now_ms = clock_.now_ms();
    clock_.advance_ms(1000);
    return engine_->create({id, user, "agent", now_ms}, "{\"session_id\":\"" + id + "\"}").status();
  }
  Status drop(const std::string& id) { return engine_->drop(id, {}); }
  // The ids of all rows, page by page.
  std::vector<std::string> listed(size_t limit) {
    std::vector<std::string> ids;
    std::string after;
    for (int pages = 0; pages < 1000; ++pages) {
      const auto page = engine_->list(after, limit);
      EXPECT_TRUE(page.ok()) << page.status().message();
      if (!page.ok()) break;
      EXPECT_LE(page->rows.size(), limit);
      EXPECT_EQ(page->rows.size(), page->cursors.size());
      for (const auto& row : page->rows) ids.push_back(row.session_id);
      if (page->at_end) break;
      EXPECT_FALSE(page->rows.empty());
      after = page->cursors.back();
    }
    return ids;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::PosixFileSystem posix_;
  io::SimulatedFileSystem disk_;
  io::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

INSTANTIATE_TEST_SUITE_P(Over, Engines,
                         testing::Values(Backend::kPosix, Backend::kSimulated, Backend::kMemory),
                         backend_name);

TEST_P(Engines, ACreatedSessionIsThereWithItsMetadata) {
  ASSERT_TRUE(create("s1").ok());
  EXPECT_EQ(*engine_->session_document("s1", "metadata.json"), "{\"session_id\":\"s1\"}");
  const auto storage = engine_->open("s1");
  ASSERT_TRUE(storage.ok()) << storage.status().message();
  EXPECT_EQ((*storage)->tail()->entries_bytes, 0u);
}

TEST_P(Engines, CreatingAgainIsRefusedAndChangesNothing) {
  ASSERT_TRUE(create("s1").ok());
  const Status refused = engine_->create({"s1", "other", "", 0}, "{\"other\":1}").status();
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_EQ(*engine_->session_document("s1", "metadata.json"), "{\"session_id\":\"s1\"}");
  EXPECT_EQ(listed(10).size(), 1u);
}

TEST_P(Engines, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(engine_->open("nobody").code(), Code::kNotFound);
  EXPECT_EQ(drop("nobody").code(), Code::kNotFound);
  EXPECT_EQ(engine_->session_document("nobody", "metadata.json").code(), Code::kNotFound);
  EXPECT_EQ(engine_->store_document("config.json").code(), Code::kNotFound);
  ASSERT_TRUE(create("s1").ok());
  EXPECT_EQ(engine_->session_document("s1", "nothing.json").code(), Code::kNotFound);
}

TEST_P(Engines, ADroppedSessionIsGoneForWhoeverHasItOpen) {
  ASSERT_TRUE(create("s1").ok());
  const auto open = engine_->open("s1");
  ASSERT_TRUE(drop("s1").ok());
  EXPECT_EQ((*open)->tail().code(), Code::kNotFound);
  EXPECT_EQ((*open)->lock(clock_.monotonic_us(), "test", nullptr).code(), Code::kNotFound);
  EXPECT_EQ(engine_->open("s1").code(), Code::kNotFound);
  EXPECT_EQ(drop("s1").code(), Code::kNotFound);
}

TEST_P(Engines, ADroppedIdMayBeUsedAgainForAnEmptySession) {
  ASSERT_TRUE(create("s1").ok());
  {
    const auto storage = engine_->open("s1");
    ASSERT_TRUE((*storage)->lock(clock_.monotonic_us(), "test", nullptr).ok());
    ASSERT_TRUE((*storage)->append(Stream::kEntries, 0, "old\n", true, 1).ok());
    (*storage)->unlock();
  }
  ASSERT_TRUE(drop("s1").ok());
  ASSERT_TRUE(create("s1").ok());
  EXPECT_EQ((*engine_->open("s1"))->tail()->entries_bytes, 0u);
}

TEST_P(Engines, DroppingWaitsForTheWriterUntilTheDeadline) {
  ASSERT_TRUE(create("s1").ok());
  const auto writer = engine_->open("s1");
  ASSERT_TRUE((*writer)->lock(clock_.monotonic_us(), "test", nullptr).ok());
  EXPECT_EQ(drop("s1").code(), Code::kBusy);
  EXPECT_TRUE(engine_->open("s1").ok());
  (*writer)->unlock();
  EXPECT_TRUE(drop("s1").ok());
}

TEST_P(Engines, ListsNewestFirstInPagesOfAnySize) {
  std::vector<std::string> expected;
  for (int i = 0; i < 25; ++i) {
    const std::string id = "s" + std::to_string(i);
    ASSERT_TRUE(create(id).ok());
    expected.insert(expected.begin(), id);
  }
  for (const size_t limit : {1u, 2u, 7u, 24u, 25u, 26u, 1000u}) EXPECT_EQ(listed(limit), expected);
}

TEST_P(Engines, RowsSayWhoseSessionItIs) {
  ASSERT_TRUE(create("s1", "user \"quoted\" \xc3\xa9").ok());
  const auto page = engine_->list("", 10);
  ASSERT_EQ(page->rows.size(), 1u);
  EXPECT_EQ(page->rows[0].user_id, "user \"quoted\" \xc3\xa9");
  EXPECT_EQ(page->rows[0].agent_id, "agent");
  EXPECT_EQ(page->rows[0].created_at_ms, test::kStartMs);
  EXPECT_TRUE(page->at_end);
}

TEST_P(Engines, APageThatWasAskedForStaysValidWhileSessionsAreCreated) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(create("s" + std::to_string(i)).ok());
  const auto first = engine_->list("", 2);
  ASSERT_TRUE(create("newer").ok());
  const auto second = engine_->list(first->cursors.back(), 2);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(second->rows[0].session_id, "s3");
  EXPECT_EQ(second->rows[1].session_id, "s2");
}

TEST_P(Engines, CursorsOfOthersAndGarbageAreRefused) {
  ASSERT_TRUE(create("s1").ok());
  for (const std::string cursor : {"x", "-1", "1:2:3", ":", "12:", ":12", "99999999999999999999999",
                                   "7:99999999", "99", " 1", "0x1", "1e3", "\xff\xfe"}) {
    EXPECT_EQ(engine_->list(cursor, 10).code(), Code::kInvalidArgument) << cursor;
  }
  EXPECT_EQ(engine_->list(std::string(100'000, '9'), 10).code(), Code::kInvalidArgument);
}

TEST_P(Engines, AnEmptyStoreListsNothing) {
  const auto page = engine_->list("", 10);
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(page->rows.empty());
  EXPECT_TRUE(page->at_end);
  EXPECT_TRUE(engine_->rescan().ok());
}

// --- directories
// -----------------------------------------------------------------------------------

class Directories : public testing::Test {
 protected:
  static constexpr uint64_t kLockTimeoutMs = 100;

  void SetUp() override {
    engine_ = open();
    ASSERT_NE(engine_, nullptr);
  }
  std::unique_ptr<DirectoryEngine> open(io::SimulatedFileSystem* system = nullptr) {
    io::SimulatedFileSystem* process = system == nullptr ? &disk_ : system;
    auto opened = DirectoryEngine::open("store", {process, &clock_, &random_}, kLockTimeoutMs);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  void create(const std::string& id, const std::string& user = "u") {
    const auto created = engine_->create({id, user, "a", clock_.now_ms()},
                                         metadata_of(id, user, "2026-01-10T14:23:45.678Z"));
    ASSERT_TRUE(created.ok()) << created.status().message();
  }
  // What is there of sessions that were deleted, in tmp/.
  std::string deleted() {
    std::string paths;
    for (const auto& path : disk_.list_all()) {
      if (path.find("deleted.tmp-") != std::string::npos) paths += path + "\n";
    }
    return paths;
  }
  std::vector<std::string> listed() {
    std::vector<std::string> ids;
    const auto page = engine_->list("", 1000);
    EXPECT_TRUE(page.ok()) << page.status().message();
    for (const auto& row : page->rows) ids.push_back(row.session_id);
    return ids;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<DirectoryEngine> engine_;
};

// Its tombstones are there from the start: a missing file could only be asked for by name.
TEST_F(Directories, ACreatedSessionThatIsQuietIsAskedNoName) {
  create("s");
  const auto storage = engine_->open("s");
  ASSERT_TRUE(storage.ok());
  ASSERT_TRUE((*storage)->tail().ok());
  disk_.clear_trace();
  ASSERT_TRUE((*storage)->tail().ok());
  const auto trace = disk_.trace();
  ASSERT_EQ(trace.size(), 2U);
  EXPECT_TRUE(trace[0].ends_with("info store/sessions/s/tombstones.jsonl open")) << trace[0];
  EXPECT_TRUE(trace[1].ends_with("info store/sessions/s/memory.jsonl open")) << trace[1];
}

TEST_F(Directories, TheLayoutIsTheDocumentedOne) {
  create("s1");
  std::set<std::string> paths;
  for (const auto& path : disk_.list_all()) paths.insert(path);
  for (const std::string path :
       {"store/sessions/s1/metadata.json", "store/sessions/s1/memory.jsonl",
        "store/sessions/s1/lock", "store/indices/sessions.jsonl"}) {
    EXPECT_TRUE(disk_.exists(path)) << path;
  }
  auto sessions = *(*disk_.open_root("store", false))->open_directory("sessions");
  EXPECT_EQ(sessions->info("s1")->permissions, 0700u);
  auto session = *sessions->open_directory("s1");
  EXPECT_EQ(session->info("memory.jsonl")->permissions, 0600u);
  EXPECT_EQ(session->info("metadata.json")->permissions, 0600u);
  EXPECT_EQ(session->info("lock")->permissions, 0644u);
}

TEST_F(Directories, ACreatedSessionSurvivesPowerLossAndIsListed) {
  create("s1");
  const auto after = disk_.crash();
  EXPECT_TRUE(after->exists("store/sessions/s1/metadata.json"));
  const auto engine = open(after.get());
  EXPECT_TRUE(engine->open("s1").ok());
  EXPECT_EQ(engine->list("", 10)->rows.size(), 1u);
}

TEST_F(Directories, ATornRowHidesNoOther) {
  create("s1");
  create("s2");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  for (size_t cut = rows.find('\n') + 1; cut < rows.size(); ++cut) {
    disk_.write_file("store/indices/sessions.jsonl", rows.substr(0, cut));
    const std::string id = "after" + std::to_string(cut);
    create(id);
    const auto ids = listed();
    ASSERT_GE(ids.size(), 2u) << cut;
    EXPECT_EQ(ids.front(), id) << cut;
    EXPECT_EQ(ids.back(), "s1") << cut;
  }
}

TEST_F(Directories, DamagedAndForeignRowsArePassedOver) {
  create("s1");
  const std::string row = *disk_.read_file("store/indices/sessions.jsonl");
  disk_.write_file(
      "store/indices/sessions.jsonl",
      "\n" + row + std::string(300, '\0') + "\nnot json\n{}\n[]\n\n" + "{\"session_id\":7}\n");
  create("s2");
  EXPECT_EQ(listed(), (std::vector<std::string>{"s2", "s1"}));
  for (size_t limit = 1; limit <= 3; ++limit) {
    const auto page = engine_->list("", limit);
    EXPECT_EQ(page->rows.size(), std::min<size_t>(limit, 2));
  }
}

TEST_F(Directories, RowsAcrossBlocksAreReadBackwards) {
  std::vector<std::string> expected;
  std::string rows;
  for (int i = 0; i < 2000; ++i) {
    const std::string id = "s" + std::to_string(i);
    rows += R"({"agent_id":"","created_at":"2026-01-10T14:23:45.678Z","session_id":")" + id +
            R"(","user_id":")" + std::string(static_cast<size_t>(i * 7 % 90), 'u') + "\"}\n";
    expected.insert(expected.begin(), id);
  }
  disk_.write_file("store/indices/sessions.jsonl", rows);
  for (const size_t limit : {1u, 97u, 5000u}) {
    std::vector<std::string> ids;
    std::string after;
    for (bool done = false; !done;) {
      const auto page = engine_->list(after, limit);
      ASSERT_TRUE(page.ok());
      for (const auto& row : page->rows) ids.push_back(row.session_id);
      done = page->at_end;
      if (!done) after = page->cursors.back();
    }
    EXPECT_TRUE(ids == expected) << limit;
  }
}

TEST_F(Directories, APageReadsThePageOnly) {
  std::string rows;
  for (int i = 0; i < 20'000; ++i) {
    rows += R"({"agent_id":"","created_at":"2026-01-10T14:23:45.678Z","session_id":"s)" +
            std::to_string(i) + "\",\"user_id\":\"\"}\n";
  }
  disk_.write_file("store/indices/sessions.jsonl", rows);
  disk_.clear_trace();
  ASSERT_EQ(engine_->list("", 100)->rows.size(), 100u);
  EXPECT_LT(disk_.trace().size(), 10u) << "operations for one page of 100 rows of 20,000";
}

TEST_F(Directories, ACursorOfARebuiltRegistryIsRefused) {
  for (int i = 0; i < 4; ++i) create("s" + std::to_string(i));
  const auto page = engine_->list("", 2);
  ASSERT_TRUE(engine_->rescan().ok());
  const auto next = engine_->list(page->cursors.back(), 2);
  EXPECT_EQ(next.code(), Code::kInvalidArgument);
  EXPECT_EQ(next.status().place().member, "after");
}

TEST_F(Directories, RescanFindsWhatWasCopiedInAndForgetsWhatIsGone) {
  create("s1", "first");
  create("s2");
  ASSERT_TRUE(engine_->drop("s2", {}).ok());
  disk_.write_file("store/sessions/copied/metadata.json",
                   metadata_of("copied", "someone", "2020-01-01T00:00:00Z"));
  disk_.write_file("store/sessions/copied/memory.jsonl", "");
  disk_.write_file("store/sessions/bad id/metadata.json", "{}");
  disk_.write_file("store/sessions/a file", "");
  disk_.write_file("store/sessions/damaged/metadata.json", "{\"user");
  ASSERT_TRUE(engine_->rescan().ok());
  EXPECT_EQ(listed(), (std::vector<std::string>{"s1", "copied", "damaged"}));
  const auto page = engine_->list("", 10);
  EXPECT_EQ(page->rows[0].user_id, "first");
  EXPECT_EQ(page->rows[1].user_id, "someone");
}

TEST_F(Directories, RescanKeepsTheRowOfASessionWhoseMetadataIsLost) {
  create("damaged", "before");
  ASSERT_TRUE(engine_->drop("damaged", {}).ok());
  clock_.advance_ms(1);
  const int64_t made_at_ms = clock_.now_ms();
  for (const auto* id : {"damaged", "missing", "whole"}) create(id, std::string("user of ") + id);
  disk_.write_file("store/sessions/damaged/metadata.json", "{\"user");
  ASSERT_TRUE((*disk_.open_root("store/sessions/missing", false))->remove("metadata.json").ok());
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(engine_->rescan().ok());
    const auto page = engine_->list("", 10);
    ASSERT_EQ(page->rows.size(), 3u);
    for (const SessionRow& row : page->rows) {
      EXPECT_EQ(row.user_id, "user of " + row.session_id);
      if (row.session_id == "whole") continue;  // the list says what its metadata say
      EXPECT_EQ(row.agent_id, "a");
      EXPECT_EQ(row.created_at_ms, made_at_ms);
    }
  }
}

TEST_F(Directories, ALostRegistryIsMadeAnew) {
  create("s1");
  create("s2");
  auto indices = *(*disk_.open_root("store", false))->open_directory("indices");
  ASSERT_TRUE(indices->remove("sessions.jsonl").ok());
  EXPECT_EQ(listed().size(), 2u);
  ASSERT_TRUE(indices->remove("sessions.jsonl").ok());
  create("s3");
  EXPECT_EQ(listed().size(), 3u) << "creating first lost the older ones";
}

TEST_F(Directories, LeftOversOfADeadMakerAreSweptAndALiveOnesAreKept) {
  const auto maker = disk_.process(4711);
  auto temporary = *(*maker->open_root("store", false))->open_directory("tmp");
  ASSERT_TRUE(temporary->make_directory("new.tmp-1").ok());
  auto directory = *temporary->open_directory("new.tmp-1");
  auto lock = *directory->open("lock", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  ASSERT_TRUE(directory->open("memory.jsonl", io::OpenMode::kCreateExclusive).ok());
  open();
  EXPECT_TRUE(disk_.exists("store/tmp/new.tmp-1/memory.jsonl")) << "its maker is alive";
  maker->kill();
  open();
  EXPECT_FALSE(disk_.exists("store/tmp/new.tmp-1"));
}

TEST_F(Directories, LeftOversWithoutALockFileAreSweptWhenTheyAreOld) {
  disk_.set_now_ms(clock_.now_ms());
  auto temporary = *(*disk_.open_root("store", false))->open_directory("tmp");
  ASSERT_TRUE(temporary->make_directory("new.tmp-2").ok());
  open();
  EXPECT_TRUE(disk_.exists("store/tmp/new.tmp-2")) << "its maker may be about to lock it";
  clock_.advance_ms(2 * 3'600'000);
  open();
  EXPECT_FALSE(disk_.exists("store/tmp/new.tmp-2"));
}

// Somebody's own, which no list of the library's names.
TEST_F(Directories, ADropRemovesDirectoriesInTheSessionToo) {
  create("s1");
  disk_.write_file("store/sessions/s1/notes/of/mine.txt", "what is to be forgotten");
  ASSERT_TRUE(engine_->drop("s1", {}).ok());
  EXPECT_EQ(deleted(), "");
}

TEST_F(Directories, ADropThatWasInterruptedIsFinishedByTheNextOpen) {
  create("s1");
  disk_.set_fault_hook(io::FailNth(1, EIO, true, {io::OperationKind::kRemove}));
  EXPECT_TRUE(engine_->drop("s1", {}).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(engine_->open("s1").code(), Code::kNotFound);
  EXPECT_NE(deleted(), "") << "or there is nothing to finish";
  engine_.reset();
  disk_.release_locks();
  open();
  EXPECT_EQ(deleted(), "");
}

TEST_F(Directories, ACreationWaitsForAnotherProcessAsLongAsItMay) {
  const auto other = disk_.process(4711);
  const auto indices = *(*other->open_root("store", false))->open_directory("indices");
  const auto lock = *indices->open("lock", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  const int64_t start_us = clock_.monotonic_us();
  EXPECT_EQ(engine_->create({"s1", "", "", 0}, "{}").code(), Code::kBusy);
  EXPECT_EQ(clock_.monotonic_us() - start_us, 1000 * static_cast<int64_t>(kLockTimeoutMs));
  EXPECT_EQ(engine_->open("s1").code(), Code::kNotFound);
  other->kill();
  create("s1");
  EXPECT_EQ(listed(), std::vector<std::string>{"s1"});
}

TEST_F(Directories, AFailedCreationLeavesNothingOrAWholeSession) {
  uint64_t failures = 0;
  for (uint64_t step = 1;; ++step) {
    ASSERT_LT(step, 200u);
    io::FailNth fault(step, ENOSPC);
    disk_.set_fault_hook(fault);
    const auto created = engine_->create({"s1", "", "", 0}, "{\"whole\":1}");
    disk_.set_fault_hook(nullptr);
    failures += !created.ok();
    if (created.ok()) {
      EXPECT_TRUE(engine_->open("s1").ok()) << "step " << step;
    }
    const auto there = engine_->session_document("s1", "metadata.json");
    EXPECT_EQ(there.ok(), created.ok()) << "step " << step << ": " << created.status().message();
    if (there.ok()) {
      EXPECT_EQ(*there, "{\"whole\":1}") << "step " << step;
      ASSERT_TRUE(engine_->drop("s1", {}).ok()) << "step " << step;
    }
    for (const auto& path : disk_.list_all()) {
      EXPECT_TRUE(path.find("/tmp/") == std::string::npos || path.ends_with("/tmp/"))
          << path << " is left at step " << step;
    }
    if (fault.matched() < step) break;
  }
  EXPECT_GT(failures, 10u);
}

TEST_F(Directories, WithoutPermissionToWriteExistingSessionsAreRead) {
  create("s1");
  disk_.set_read_only(true);
  const auto engine = open();
  ASSERT_NE(engine, nullptr);
  EXPECT_TRUE(engine->open("s1").ok());
  EXPECT_EQ(engine->list("", 10)->rows.size(), 1u);
  EXPECT_EQ(engine->create({"s2", "", "", 0}, "{}").code(), Code::kReadOnly);
  EXPECT_EQ(engine->drop("s1", {}).code(), Code::kReadOnly);
  EXPECT_EQ(engine->rescan().code(), Code::kReadOnly);
}

TEST_F(Directories, NamesThatWouldLeaveTheStoreAreRefused) {
  disk_.write_file("outside/metadata.json", "{}");
  using std::string_literals::operator""s;
  for (const std::string& id : {".."s, "."s, "../../outside"s, "a/b"s, ""s, "a\0b"s}) {
    EXPECT_FALSE(engine_->open(id).ok()) << id;
    EXPECT_FALSE(engine_->drop(id, {}).ok()) << id;
    EXPECT_FALSE(engine_->session_document(id, "metadata.json").ok()) << id;
  }
  EXPECT_TRUE(disk_.exists("outside/metadata.json"));
}

TEST_F(Directories, ASymbolicLinkInPlaceOfASessionIsRefused) {
  io::TemporaryDirectory directory;
  io::PosixFileSystem posix;
  auto engine =
      *DirectoryEngine::open(directory.path_of("store"), {&posix, &clock_, &random_}, 100);
  io::put_file(directory.path_of("metadata.json"), "{}");
  std::filesystem::create_directory_symlink(directory.path(),
                                            directory.path_of("store/sessions/link"));
  EXPECT_FALSE(engine->open("link").ok());
  EXPECT_FALSE(engine->session_document("link", "metadata.json").ok());
  EXPECT_FALSE(engine->drop("link", {}).ok());
  EXPECT_TRUE(std::filesystem::exists(directory.path_of("metadata.json")));
}

// --- the log of the store's own ------------------------------------------------------------------

class CatalogLog : public testing::Test {
 protected:
  std::unique_ptr<DirectoryEngine> open(io::SimulatedFileSystem& files) {
    auto opened = DirectoryEngine::open("store", {&files, &clock_, &random_}, 1);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static Status add(SessionStorage& storage) {
    VARVE_TRY(storage.lock(0, "write", nullptr));
    Status added = storage.append(Stream::kEntries, 0, "line\n", true, 1);
    storage.unlock();
    return added;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

TEST_F(CatalogLog, IsMadeOnceAndIsNoSession) {
  const auto engine = open(disk_);
  EXPECT_EQ(engine->open_catalog().code(), Code::kNotFound);
  const auto made = engine->create_catalog("{\"first\":1}");
  ASSERT_TRUE(made.ok()) << made.status().message();
  const auto again = open(disk_)->create_catalog("{\"second\":1}");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*(*again)->get_document("metadata.json"), "{\"first\":1}");
  EXPECT_TRUE(engine->session_ids()->empty());
  EXPECT_TRUE(engine->list("", 10)->rows.empty());
}

TEST_F(CatalogLog, WhatItAnsweredSurvivesALossOfPower) {
  const auto engine = open(disk_);
  ASSERT_TRUE(add(**engine->create_catalog("{}")).ok());
  EXPECT_EQ(disk_.crash()->read_file("store/indices/catalog/memory.jsonl"), "line\n");
  // Gone for good, with all that somebody who has it open may still write.
  const auto held = *engine->open_catalog();
  ASSERT_TRUE(engine->drop_catalog().ok());
  EXPECT_FALSE(disk_.crash()->exists("store/indices/catalog/"));
  EXPECT_EQ(add(*held).code(), Code::kNotFound);
  ASSERT_TRUE(engine->drop_catalog().ok()) << "there is none";
  EXPECT_EQ(engine->open_catalog().code(), Code::kNotFound);
  ASSERT_TRUE(add(**engine->create_catalog("{}")).ok()) << "a new one";
}

// A loss of power may bring its name back as long as the drop is not durable.
TEST_F(CatalogLog, IsWholeUntilItIsGoneForGood) {
  const auto are_lines_there = [this] {
    const auto paths = disk_.list_all();
    return std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
      return path.ends_with("/memory.jsonl") && path.find("/tmp/") != std::string::npos;
    });
  };
  auto engine = open(disk_);
  ASSERT_TRUE(add(**engine->create_catalog("{}")).ok());
  disk_.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kSyncDirectory}).on_file("indices"));
  EXPECT_EQ(engine->drop_catalog().code(), Code::kIo);
  engine.reset();
  disk_.release_locks();
  engine = open(disk_);
  EXPECT_TRUE(are_lines_there()) << "swept before its drop was durable";
  disk_.set_fault_hook({});
  engine = open(disk_);
  EXPECT_FALSE(are_lines_there());
  EXPECT_FALSE(disk_.crash()->exists("store/indices/catalog/"));
}

TEST_F(CatalogLog, IsNotDroppedUnderAWriter) {
  const auto engine = open(disk_);
  const auto held = *engine->create_catalog("{}");
  ASSERT_TRUE(held->lock(0, "write", nullptr).ok());
  EXPECT_EQ(open(disk_)->drop_catalog().code(), Code::kBusy);
  EXPECT_TRUE(disk_.exists("store/indices/catalog/"));
  held->unlock();
}

// Nor one that is made while others drop and make some.
TEST_F(CatalogLog, IsNotTakenForWhatIsNoCatalog) {
  const auto engine = open(disk_);
  const auto process = disk_.process(2002);
  const auto other = open(*process);
  std::unique_ptr<SessionStorage> held;
  uint64_t looks = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_ours = operation.process_id != process->process_id();
    if (!is_ours || operation.name != "catalog" || ++looks > 4) return {};
    if (looks % 2 == 1) {
      EXPECT_TRUE(other->drop_catalog().ok());
      return {};
    }
    held = *other->create_catalog("{}");
    const bool is_locked = looks < 4 || held->lock(0, "write", nullptr).ok();
    EXPECT_TRUE(is_locked);
    return {};
  });
  EXPECT_EQ(engine->drop_catalog().code(), Code::kBusy);
  disk_.set_fault_hook({});
  ASSERT_TRUE(held);
  EXPECT_TRUE(disk_.exists("store/indices/catalog/"));
  held->unlock();
}

TEST_F(CatalogLog, OfAStoreInMemoryThereIsNone) {
  MemoryEngine engine(clock_);
  EXPECT_EQ(engine.open_catalog().code(), Code::kNotFound);
  EXPECT_EQ(engine.create_catalog("{}").code(), Code::kUnsupported);
  EXPECT_TRUE(engine.drop_catalog().ok());
}

TEST_F(CatalogLog, WithoutPermissionToWriteThereIsTheOneThatWasMade) {
  ASSERT_TRUE(open(disk_)->create_catalog("{}").ok());
  disk_.set_read_only(true);
  const auto engine = open(disk_);
  EXPECT_TRUE(engine->open_catalog().ok());
  EXPECT_TRUE(engine->create_catalog("{}").ok());
  EXPECT_EQ(engine->drop_catalog().code(), Code::kReadOnly);
  EXPECT_TRUE(disk_.exists("store/indices/catalog/"));
}

// Folders that are missing there tell that nothing may be written.
TEST_F(CatalogLog, OfAStoreForReadingNoneIsMadeOrDropped) {
  disk_.write_file("store/sessions/note", "");
  disk_.write_file("other/sessions/note", "");
  disk_.write_file("other/indices/catalog/metadata.json", "{}");
  disk_.set_read_only(true);
  const auto engine = open(disk_);
  EXPECT_EQ(engine->open_catalog().code(), Code::kNotFound);
  EXPECT_EQ(engine->create_catalog("{}").code(), Code::kReadOnly);
  EXPECT_TRUE(engine->drop_catalog().ok()) << "there is none";
  const auto other = *DirectoryEngine::open("other", {&disk_, &clock_, &random_}, 1);
  EXPECT_EQ(other->drop_catalog().code(), Code::kReadOnly);
  EXPECT_TRUE(disk_.exists("other/indices/catalog/"));
}

TEST_F(CatalogLog, TheOneOfWhoIsFasterCounts) {
  const auto engine = open(disk_);
  const auto other = open(disk_);
  bool was_made = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_named = operation.kind == io::OperationKind::kMove &&
                          operation.path.find("/tmp/") != std::string::npos;
    if (is_named && !std::exchange(was_made, true)) {
      EXPECT_TRUE(other->create_catalog("{\"first\":1}").ok());
    }
    return std::nullopt;
  });
  const auto made = engine->create_catalog("{\"second\":1}");
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(was_made);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(*(*made)->get_document("metadata.json"), "{\"first\":1}");
}

}  // namespace
}  // namespace varve::log
