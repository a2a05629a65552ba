// What only a directory of sessions has: its layout, who may use it, and what dead makers leave.
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "directories.h"
#include "io/posix.h"
#include "unit/io/temporary_directory.h"

namespace varve::log {
namespace {

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
