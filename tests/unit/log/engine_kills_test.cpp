// Whoever takes a session's name away is killed at any of its calls on files: who has the session
// open is answered in what lasts, or not at all.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/simulated.h"
#include "log/directory_engine.h"
#include "support/environment.h"
#include "wrapped_files.h"

namespace varve::log {
namespace {

constexpr int64_t kTaker = 4711;  // a process id

struct Taking {
  const char* name;
  bool has_exchange;
  Status (*run)(DirectoryEngine&);
};
void PrintTo(const Taking& taking, std::ostream* out) { *out << taking.name; }

Status install(DirectoryEngine& engine) {
  SessionContents contents;
  contents.entries = [](Sink& sink) { return sink.append("restored\n"); };
  contents.tombstones = [](Sink&) { return Status(); };
  contents.metadata = [](Sink& sink) { return sink.append("{}"); };
  return engine.install({"s", "u", "", 2}, contents, Existing::kSwapOrMove);
}

const Taking kTakings[] = {
    {"Drop", true, [](DirectoryEngine& engine) { return engine.drop("s", {}); }},
    {"InstallByExchange", true, install},
    {"InstallByMoves", false, install},
    {"DropOfTheCatalog", true, [](DirectoryEngine& engine) { return engine.drop_catalog(); }},
};

class KilledTaker : public testing::TestWithParam<Taking> {
 protected:
  // One session and the catalog, each written to by one process, which has them open.
  struct Ground {
    explicit Ground(bool has_exchange) : engine(open(disk)) {
      sessions_writer = *engine->create({"s", "u", "", 1}, "{}");
      catalogs_writer = *engine->create_catalog("{}");
      EXPECT_TRUE(add(*sessions_writer, "first\n").ok());
      EXPECT_TRUE(add(*catalogs_writer, "first\n").ok());
      io::FileSystem& files = has_exchange ? static_cast<io::FileSystem&>(*taker_process)
                                           : static_cast<io::FileSystem&>(old_kernel);
      taker = open(files);
    }
    std::unique_ptr<DirectoryEngine> open(io::FileSystem& files) {
      auto opened = DirectoryEngine::open("store", {&files, &clock, &random}, 0);
      EXPECT_TRUE(opened.ok()) << opened.status().message();
      return opened.ok() ? *std::move(opened) : nullptr;
    }
    Status add(SessionStorage& storage, std::string_view line) {
      VARVE_TRY(storage.lock(clock.monotonic_us(), "write", nullptr));
      const auto tail = storage.tail();
      Status status = tail.ok()
                          ? storage.append(Stream::kEntries, tail->entries_bytes, line, true, 1)
                          : tail.status();
      storage.unlock();
      return status;
    }
    // At its `number`-th call on files, which is not done any more.
    void kill_taker_at(uint64_t number) {
      disk.set_fault_hook(
          [this, number, seen = uint64_t{0}](
              const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
            if (operation.process_id == kTaker && ++seen == number) {
              taker_process->kill();
              was_killed = true;
            }
            return std::nullopt;
          });
    }

    test::ManualClock clock;
    test::SeededRandom random;
    io::SimulatedFileSystem disk;
    std::unique_ptr<io::SimulatedFileSystem> taker_process = disk.process(kTaker);
    FileSystemWithoutExchange old_kernel{*taker_process};
    std::unique_ptr<DirectoryEngine> engine;
    std::unique_ptr<SessionStorage> sessions_writer;
    std::unique_ptr<SessionStorage> catalogs_writer;
    std::unique_ptr<DirectoryEngine> taker;
    bool was_killed = false;
  };

  static std::string log_of(const io::SimulatedFileSystem& disk, std::string_view directory) {
    return disk.read_file("store/" + std::string(directory) + "/memory.jsonl").value_or("");
  }
};

TEST_P(KilledTaker, LeavesNobodyAnsweredInWhatIsRemovedLater) {
  const bool is_of_catalog = std::string_view(GetParam().name) == "DropOfTheCatalog";
  const std::string_view directory = is_of_catalog ? "indices/catalog" : "sessions/s";
  int refused = 0;
  bool was_killed = true;
  for (uint64_t number = 1; was_killed; ++number) {
    SCOPED_TRACE(number);
    Ground ground(GetParam().has_exchange);
    SessionStorage& writer = is_of_catalog ? *ground.catalogs_writer : *ground.sessions_writer;
    ground.kill_taker_at(number);
    const Status taken = GetParam().run(*ground.taker);
    ground.disk.set_fault_hook(nullptr);
    was_killed = ground.was_killed;
    ASSERT_TRUE(was_killed || taken.ok()) << taken.message();
    std::string answered;
    for (const std::string_view line : {"second\n", "third\n"}) {
      const Status added = ground.add(writer, line);
      if (added.ok()) answered += line;
      EXPECT_TRUE(added.ok() || added.code() == Code::kNotFound) << added.message();
    }
    const auto next_process = ground.disk.process(99);
    const auto next = ground.open(*next_process);  // and removes what is left over
    ASSERT_TRUE(next);
    const std::string log = log_of(ground.disk, directory);
    EXPECT_TRUE(answered.empty() || log == "first\n" + answered)
        << answered << "and there is " << log;
    EXPECT_TRUE(answered.empty() || log_of(*ground.disk.crash(), directory) == log);
    refused += answered.empty() ? 1 : 0;
  }
  EXPECT_GT(refused, 1) << "it was never killed behind the moment the name was gone";
}

INSTANTIATE_TEST_SUITE_P(Of, KilledTaker, testing::ValuesIn(kTakings),
                         [](const auto& given) { return std::string(given.param.name); });

// What it does not know to be told, it does not do.
TEST_P(KilledTaker, TakesNothingFromWhomItCannotTell) {
  Ground ground(GetParam().has_exchange);
  const bool is_of_catalog = std::string_view(GetParam().name) == "DropOfTheCatalog";
  SessionStorage& writer = is_of_catalog ? *ground.catalogs_writer : *ground.sessions_writer;
  const std::string_view lock_file = is_of_catalog ? "indices/catalog/lock" : "sessions/s/lock";
  ground.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it = operation.kind == io::OperationKind::kWriteAt &&
                       operation.process_id == kTaker && operation.path.ends_with(lock_file);
    return is_it ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  EXPECT_EQ(GetParam().run(*ground.taker).code(), Code::kIo);
  ground.disk.set_fault_hook(nullptr);
  EXPECT_TRUE(ground.add(writer, "second\n").ok());
  EXPECT_EQ(log_of(ground.disk, is_of_catalog ? "indices/catalog" : "sessions/s"),
            "first\nsecond\n");
}

// Of a session that stays nothing is copied.
TEST(RefusedTaker, LeavesNoSuspicion) {
  test::ManualClock clock;
  test::SeededRandom random;
  io::SimulatedFileSystem disk;
  auto engine = *DirectoryEngine::open("store", {&disk, &clock, &random}, 0);
  ASSERT_TRUE(engine->create({"s", "u", "", 1}, "{}").ok());
  const auto inode = [&] {
    return (*disk.open_root("store/sessions/s", false))->info(kEntriesFile)->identity.inode;
  };
  const uint64_t before = inode();
  for (const auto kind : {io::OperationKind::kMove, io::OperationKind::kSyncDirectory}) {
    disk.set_fault_hook(io::FailNth(1, EIO, false, {kind}));
    EXPECT_EQ(engine->drop("s", {}).code(), Code::kIo);
    disk.set_fault_hook(io::FailNth(1, EIO, false, {kind}));
    EXPECT_FALSE(install(*engine).ok());
    disk.set_fault_hook(nullptr);
  }
  const auto refuses = [](SessionStorage&) { return Result<bool>(false); };
  EXPECT_EQ(engine->drop("s", refuses).code(), Code::kConflict);
  const auto writer = *engine->open("s");
  ASSERT_TRUE(writer->lock(clock.monotonic_us(), "write", nullptr).ok());
  EXPECT_EQ(inode(), before) << "the log was copied for nothing";
}

// Who removes a left-over holds its lock until it is gone: it may be a new session's by then.
TEST(Sweeping, HoldsTheLockOfWhatItRemoves) {
  test::ManualClock clock;
  test::SeededRandom random;
  io::SimulatedFileSystem disk;
  const std::string left_over = "store/tmp/new.tmp-0123456789abcdef";
  for (const auto* name : {"/lock", "/memory.jsonl", "/metadata.json"}) {
    disk.write_file(left_over + name, "");
  }
  const auto sweeper = disk.process(4711);
  int removed = 0;
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.process_id != 4711 || operation.kind != io::OperationKind::kRemove) return {};
    removed += 1;
    const auto lock = (*disk.open_root(left_over, false))->open(kLockFile, io::OpenMode::kRead);
    EXPECT_TRUE(lock.ok() && *(*lock)->is_locked()) << operation.path;
    return {};
  });
  ASSERT_TRUE(DirectoryEngine::open("store", {sweeper.get(), &clock, &random}, 0).ok());
  disk.set_fault_hook(nullptr);
  EXPECT_GE(removed, 3);
  EXPECT_FALSE(disk.exists(left_over));
}

// Deletions are known as long as what they deleted can be read.
TEST(Removing, ShowsReadersNoLogWithoutItsTombstones) {
  for (const bool is_backwards : {false, true}) {
    test::ManualClock clock;
    test::SeededRandom random;
    io::SimulatedFileSystem disk;
    const auto process = disk.process(4711);
    FileSystemListedBackwards backwards(*process);
    io::FileSystem& files = is_backwards ? static_cast<io::FileSystem&>(backwards) : *process;
    const auto engine = *DirectoryEngine::open("store", {&files, &clock, &random}, 0);
    ASSERT_TRUE(engine->create({"s", "u", "", 1}, "{}").ok());
    disk.write_file("store/sessions/s/memory.jsonl", "one\n");
    disk.write_file("store/sessions/s/tombstones.jsonl", "gone\n");
    const auto reader = *DirectoryStorage::open(*disk.open_root("store/sessions/s", false),
                                                {&disk, &clock, &random});
    int seen_whole = 0;
    int seen_deleted = 0;
    disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.process_id != 4711 || operation.kind != io::OperationKind::kRemove) return {};
      const auto tail = reader->tail();
      const bool is_whole = tail.ok() && tail->entries_bytes == 4 && tail->tombstones_bytes == 5;
      EXPECT_TRUE(is_whole || tail.code() == Code::kNotFound) << operation.path;
      (is_whole ? seen_whole : seen_deleted) += 1;
      return {};
    });
    ASSERT_TRUE(engine->drop("s", {}).ok());
    EXPECT_GT(seen_whole, 0);
    EXPECT_GT(seen_deleted, 0);
  }
}

}  // namespace
}  // namespace varve::log
