// What only a directory of sessions has: its layout, its registry, and what dead makers leave.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/posix.h"
#include "io/simulated.h"
#include "json/tree.h"
#include "log/directory_engine.h"
#include "support/environment.h"
#include "unit/io/temporary_directory.h"

namespace varve::log {
namespace {

std::string metadata_of(std::string_view id, std::string_view user, std::string_view created_at) {
  json::Tree tree = json::Tree::object();
  tree.set("session_id", json::Tree::string(id));
  tree.set("user_id", json::Tree::string(user));
  tree.set("created_at", json::Tree::string(created_at));
  return tree.pretty();
}

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

class CountingFileSystem final : public io::FileSystem {
 public:
  explicit CountingFileSystem(io::FileSystem& inner) : inner_(inner) {}
  Result<std::unique_ptr<io::Directory>> open_root(std::string_view path, bool create) override {
    return inner_.open_root(path, create);
  }
  Result<std::unique_ptr<io::File>> open_file(std::string_view path) override {
    return inner_.open_file(path);
  }
  [[nodiscard]] int64_t process_id() const override { return inner_.process_id(); }
  [[nodiscard]] std::string boot_id() const override {
    ++asked_count;
    return inner_.boot_id();
  }
  [[nodiscard]] bool may_run(int64_t process_id) const override {
    return inner_.may_run(process_id);
  }
  mutable int asked_count = 0;

 private:
  io::FileSystem& inner_;
};

TEST_F(Directories, WhichBootItIsIsAskedOnceForAllSessions) {
  for (const std::string id : {"a", "b", "c"}) create(id);
  CountingFileSystem counting(disk_);
  const auto engine = DirectoryEngine::open("store", {&counting, &clock_, &random_}, 100);
  ASSERT_TRUE(engine.ok());
  for (const std::string id : {"a", "b", "c"}) ASSERT_TRUE((*engine)->open(id).ok());
  EXPECT_EQ(counting.asked_count, 1);
}

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

TEST_F(Directories, ATornRowHidesNoSession) {
  create("s1");
  create("s2");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  const size_t second = rows.find('\n') + 1;
  for (size_t cut = second; cut < rows.size(); ++cut) {
    disk_.write_file("store/indices/sessions.jsonl", rows.substr(0, cut));
    const std::string id = "after" + std::to_string(cut);
    create(id);
    const auto ids = listed();
    const auto is_listed = [&](const std::string& one) {
      return std::count(ids.begin(), ids.end(), one) == 1;
    };
    EXPECT_TRUE(is_listed(id)) << cut;
    EXPECT_TRUE(is_listed("s1")) << cut;
    EXPECT_TRUE(cut == second || is_listed("s2")) << cut;
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

TEST_F(Directories, ARegistryOfWhichNoRowIsLeftIsMadeAnew) {
  create("s1");
  create("s2");
  for (const std::string& damaged :
       {std::string(), std::string(9000, '\0'), std::string("x\n{}\n")}) {
    disk_.write_file("store/indices/sessions.jsonl", damaged);
    EXPECT_EQ(listed().size(), 2u);
    disk_.write_file("store/indices/sessions.jsonl", damaged);
    ASSERT_TRUE(engine_->remove_dead_rows().ok());
    EXPECT_EQ(listed().size(), 2u);
  }
  disk_.write_file("store/indices/sessions.jsonl", "");
  create("s3");
  EXPECT_EQ(listed().size(), 3u) << "creating first lost the older ones";
}

TEST_F(Directories, ALineOfTheListThatCannotBeReadHidesNoSession) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  const size_t second = rows.find('\n') + 1;
  const size_t third = rows.find('\n', second) + 1;
  for (const std::string& damaged : {std::string("garbage\n"), std::string(99, '\0') + "\n"}) {
    const std::string text = rows.substr(0, second) + damaged + rows.substr(third);
    disk_.write_file("store/indices/sessions.jsonl", text);
    EXPECT_EQ(listed(), (std::vector<std::string>{"s3", "s2", "s1"}));
    const std::string mended = *disk_.read_file("store/indices/sessions.jsonl");
    EXPECT_EQ(mended.find(damaged), std::string::npos);
    disk_.write_file("store/indices/sessions.jsonl", text);
    ASSERT_TRUE(engine_->remove_dead_rows().ok());
    EXPECT_EQ(*disk_.read_file("store/indices/sessions.jsonl"), mended)
        << "or it is hidden for good";
  }
  const std::string torn = rows + "{\"agent_id\":";
  disk_.write_file("store/indices/sessions.jsonl", torn);
  EXPECT_EQ(listed().size(), 3u);
  EXPECT_EQ(*disk_.read_file("store/indices/sessions.jsonl"), torn) << "somebody appends a row";
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

// It could give a session the name meanwhile.
TEST_F(Directories, ADropOfADirectoryWithoutASessionWaitsForWhoCreatesOne) {
  disk_.write_file("store/sessions/copied/notes.txt", "no session");
  const auto other = disk_.process(4711);
  const auto indices = *(*other->open_root("store", false))->open_directory("indices");
  const auto lock = *indices->open("lock", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  const int64_t start_us = clock_.monotonic_us();
  EXPECT_EQ(engine_->drop("copied", {}).code(), Code::kBusy);
  EXPECT_EQ(clock_.monotonic_us() - start_us, 1000 * static_cast<int64_t>(kLockTimeoutMs));
  EXPECT_EQ(disk_.read_file("store/sessions/copied/notes.txt"), "no session");
  other->kill();
  EXPECT_TRUE(engine_->drop("copied", {}).ok());
  EXPECT_FALSE(disk_.exists("store/sessions/copied/"));
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

// The row of a session is written before the session has its name, so whoever was killed in between
// left a newer row of that id.
TEST_F(Directories, OfSeveralRowsTheOneThatTheMetadataFitsStays) {
  create("s", "owner");
  clock_.advance_ms(1);
  create("t");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  const std::string killed =
      R"({"agent_id":"","created_at":"2020-01-01T00:00:00.000Z","session_id":"s","user_id":"no"})";
  for (const bool has_metadata : {true, false}) {
    disk_.write_file("store/indices/sessions.jsonl", rows + killed + "\n" + killed + "\n");
    if (!has_metadata) disk_.write_file("store/sessions/s/metadata.json", "damaged");
    ASSERT_TRUE(engine_->remove_dead_rows().ok());
    const auto page = engine_->list("", 10);
    ASSERT_EQ(page->rows.size(), 2u);
    const SessionRow& of_s = page->rows[has_metadata ? 1 : 0];
    EXPECT_EQ(of_s.session_id, "s");
    EXPECT_EQ(of_s.user_id, has_metadata ? "owner" : "no") << "else the newest";
  }
}

TEST_F(Directories, OfSeveralRowsThatTheMetadataFitsTheNewestStays) {
  create("s");
  const std::string row = *disk_.read_file("store/indices/sessions.jsonl");
  create("t");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  disk_.write_file("store/indices/sessions.jsonl", rows + row + row);
  uint64_t read_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_open = operation.kind == io::OperationKind::kOpen;
    if (is_open && operation.name == "metadata.json") read_count += 1;
    return std::nullopt;
  });
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(listed(), (std::vector<std::string>{"s", "t"})) << "the latest first";
  EXPECT_EQ(read_count, 1U) << "however often the id was used";
}

// The row that is taken for the valid one could be a killed restore's, for good.
TEST_F(Directories, OfSeveralRowsAllStayWhereTheMetadataCannotBeRead) {
  create("s");
  const std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  disk_.write_file("store/indices/sessions.jsonl", rows + rows);
  disk_.set_fault_hook(
      io::FailNth(1, EIO, false, {io::OperationKind::kOpen}).on_file("metadata.json"));
  EXPECT_EQ(engine_->remove_dead_rows().code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(disk_.read_file("store/indices/sessions.jsonl"), rows + rows);
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(disk_.read_file("store/indices/sessions.jsonl"), rows);
}

TEST_F(Directories, WithoutAListTheDeadRowsOfItHideNobody) {
  create("s");
  create("t");
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(listed().size(), 2u);
}

TEST_F(Directories, ASessionWithoutARowGetsNone) {
  create("s");
  disk_.write_file("store/sessions/copied/metadata.json",
                   metadata_of("copied", "someone", "2020-01-01T00:00:00Z"));
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(listed(), (std::vector<std::string>{"s"})) << "that is what a rescan is for";
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

TEST_F(Directories, WithoutPermissionToWriteSessionsAreListedWithoutTheirList) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  const std::string list = "store/indices/sessions.jsonl";
  const std::string rows = disk_.read_file(list).value();
  const std::vector<std::string> newest_first = {"s3", "s2", "s1"};
  for (const std::string& text :
       {std::string("removed"), std::string(), std::string("damaged\n")}) {
    disk_.set_read_only(false);
    disk_.write_file(list, text);
    if (text == "removed") {
      ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
    }
    disk_.set_read_only(true);
    engine_ = open();
    ASSERT_NE(engine_, nullptr);
    EXPECT_EQ(listed(), newest_first) << text;
    std::string after;
    std::vector<std::string> by_page;
    for (bool at_end = false; !at_end;) {
      const auto page = engine_->list(after, 1);
      ASSERT_TRUE(page.ok()) << page.status().message();
      ASSERT_EQ(page->rows.size(), 1u);
      EXPECT_EQ(page->rows[0].user_id, "u");
      by_page.push_back(page->rows[0].session_id);
      after = page->cursors[0];
      at_end = page->at_end;
    }
    EXPECT_EQ(by_page, newest_first) << text;
  }
  disk_.set_read_only(false);
  disk_.write_file(list, rows);
  EXPECT_EQ(engine_->list("collected:0:s2", 1).code(), Code::kInvalidArgument) << "of no list";
}

// Each page of a long list took a read for each session.
TEST_F(Directories, WithoutPermissionToWriteAllPagesAreOfRowsCollectedOnce) {
  for (const std::string id : {"s1", "s2", "s3"}) create(id);
  ASSERT_TRUE((*disk_.open_root("store/indices", false))->remove("sessions.jsonl").ok());
  disk_.set_read_only(true);
  engine_ = open();
  ASSERT_NE(engine_, nullptr);
  size_t read_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_open = operation.kind == io::OperationKind::kOpen;
    if (is_open && operation.name == "metadata.json") read_count += 1;
    return std::nullopt;
  });
  std::string after;
  for (const size_t read_at_most : {3u, 3u, 3u, 6u}) {  // the fourth is a first page again
    const auto page = engine_->list(after, 1);
    ASSERT_TRUE(page.ok()) << page.status().message();
    ASSERT_EQ(page->rows.size(), 1u);
    EXPECT_EQ(read_count, read_at_most);
    after = page->at_end ? std::string() : page->cursors[0];
  }
}

TEST_F(Directories, WithoutPermissionToWriteSessionsAreListedWithoutTheFolderOfLists) {
  disk_.write_file("bare/sessions/s/metadata.json",
                   metadata_of("s", "u", "2026-01-10T14:23:45.678Z"));
  disk_.set_read_only(true);
  auto engine = DirectoryEngine::open("bare", {&disk_, &clock_, &random_}, kLockTimeoutMs);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const auto page = (*engine)->list("", 10);
  ASSERT_TRUE(page.ok()) << page.status().message();
  ASSERT_EQ(page->rows.size(), 1u);
  EXPECT_EQ(page->rows[0].user_id, "u");
}

TEST_F(Directories, AFullDiskKeepsNobodyFromReadingWhatWasCopiedByHand) {
  create("s1");
  for (const auto& [folder, name] :
       {std::pair("store/indices", "sessions.jsonl"), std::pair("store/sessions/s1", "lock")}) {
    const auto directory = *disk_.open_root(folder, false);
    (void)directory->remove(name).ok();
  }
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool makes_it = operation.kind == io::OperationKind::kOpen && operation.name == "lock";
    if (!makes_it && operation.kind != io::OperationKind::kAppend) return std::nullopt;
    return io::Fault{ENOSPC, std::nullopt};
  });
  EXPECT_EQ(listed(), (std::vector<std::string>{"s1"}));
  const auto storage = engine_->open("s1");
  ASSERT_TRUE(storage.ok()) << storage.status().message();
  EXPECT_TRUE((*storage)->writable());
  const int64_t until_us = clock_.monotonic_us();
  EXPECT_EQ((*storage)->lock(until_us, "write", nullptr).code(), Code::kNoSpace);
  disk_.set_fault_hook({});
  EXPECT_TRUE((*storage)->lock(until_us, "write", nullptr).ok());
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

}  // namespace
}  // namespace varve::log
