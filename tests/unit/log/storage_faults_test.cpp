// The k-th call on files fails, once and from then on, under each thing that a session's storage is
// asked to do: what the answer says is so, nothing from before is lost, and writing goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "log/lock_state.h"
#include "support/environment.h"

namespace varve::log {
namespace {

constexpr std::string_view kFirstLine = "one\n";

// A session with something in each of its files, in a folder that may lose its name.
class StorageGround {
 public:
  StorageGround() {
    const std::pair<std::string_view, std::string_view> files[] = {
        {kMetadataFile, "{}"},       {kEntriesFile, kFirstLine},
        {kTombstonesFile, "gone\n"}, {kVectorsFile, "vectors"},
        {kTranscriptFile, "said"},   {"index.bin", "index"},
        {kQuarantineFile, "bad\n"},  {"index.bin.tmp-0123456789abcdef", "left over"},
    };
    for (const auto& [name, bytes] : files) disk.write_file(path_of(name), bytes);
  }

  static std::string path_of(std::string_view name) { return "store/s/" + std::string(name); }
  // "(none)": there is no such file.
  static std::string bytes_in(const io::SimulatedFileSystem& of, std::string_view name) {
    return of.read_file(path_of(name)).value_or("(none)");
  }
  [[nodiscard]] std::string bytes(std::string_view name) const { return bytes_in(disk, name); }

  Result<std::unique_ptr<DirectoryStorage>> open(io::FileSystem& system,
                                                 std::unique_ptr<io::Directory>* name_in) {
    VARVE_TRY_ASSIGN(*name_in, system.open_root("store", false));
    VARVE_TRY_ASSIGN(auto directory, (*name_in)->open_directory("s"));
    return DirectoryStorage::open(std::move(directory), {&system, &clock, &random},
                                  {name_in->get(), "s"});
  }
  void open_one() {
    auto opened = open(disk, &parent);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    storage = *std::move(opened);
  }
  Status lock(std::string_view operation = "write") {
    return storage->lock(clock.monotonic_us(), operation, nullptr);
  }
  Status add(std::string_view lines, bool durable) {
    VARVE_TRY_ASSIGN(const Tail tail, storage->tail());
    return storage->append(Stream::kEntries, tail.entries_bytes, lines, durable, 0);
  }
  // As a writer leaves the lock file that was killed between a sync that failed and saying so.
  void plant_suspicion() {
    LockState state = decode_lock_state(bytes(kLockFile)).value_or(LockState());
    state.boot_id = disk.boot_id();
    state.suspect = true;
    disk.write_file(path_of(kLockFile), encode_lock_state(state));
  }

  test::ManualClock clock;
  test::SeededRandom random;
  io::SimulatedFileSystem disk;
  std::unique_ptr<io::Directory> parent;
  std::unique_ptr<DirectoryStorage> storage;
  std::unique_ptr<io::File> lock_of_another;
};

// What may be in a file when a call was answered with ok, and when it was refused.
struct FileOutcome {
  std::string_view file;
  std::string_view done;
  std::string_view undone;
  bool may_be_done = false;  // although it was refused
};

struct StorageWork {
  const char* name;
  Status (*prepare)(StorageGround&);
  Status (*run)(StorageGround&);
  std::vector<FileOutcome> outcomes;
  Code expected = Code::kOk;  // without a fault
};
void PrintTo(const StorageWork& work, std::ostream* out) { *out << work.name; }

Status unprepared(StorageGround&) { return {}; }
Status with_lock(StorageGround& ground) { return ground.lock(); }
Status append_to(Stream stream, StorageGround& ground, std::string_view bytes, bool durable) {
  VARVE_TRY_ASSIGN(const Tail tail, ground.storage->tail());
  VARVE_TRY_ASSIGN(const VectorsTail vectors, ground.storage->vectors_tail());
  const uint64_t end = stream == Stream::kVectors ? vectors.bytes : tail.tombstones_bytes;
  return ground.storage->append(stream, end, bytes, durable, 0);
}

const StorageWork kStorageWorks[] = {
    {"Open",
     unprepared,
     [](StorageGround& ground) {
       std::unique_ptr<io::Directory> parent;
       return ground.open(ground.disk, &parent).status();
     },
     {}},
    {"Lock",
     unprepared,
     [](StorageGround& ground) {
       VARVE_TRY(ground.lock());
       ground.storage->unlock();
       return Status();
     },
     {}},
    {"LockThatAnotherHolds",
     [](StorageGround& ground) {
       auto root = ground.disk.process(4711)->open_root("store/s", false);
       ground.lock_of_another = *(*root)->open(kLockFile, io::OpenMode::kUpdateOrCreate);
       return ground.lock_of_another->try_lock().status();
     },
     [](StorageGround& ground) { return ground.lock(); },
     {},
     Code::kBusy},
    {"LockOfWhatIsSuspect",
     [](StorageGround& ground) {
       ground.plant_suspicion();
       return Status();
     },
     [](StorageGround& ground) { return ground.lock(); },
     {{kTranscriptFile, "said", "said"}}},
    {"Add",
     with_lock,
     [](StorageGround& ground) { return ground.add("two\n", true); },
     {{kEntriesFile, "one\ntwo\n", kFirstLine}}},
    {"AddToAFileThatIsNotThere",
     [](StorageGround& ground) {
       VARVE_TRY(ground.parent->open_directory("s"));
       VARVE_TRY((*ground.parent->open_directory("s"))->remove(kTombstonesFile));
       return ground.lock();
     },
     [](StorageGround& ground) {
       return ground.storage->append(Stream::kTombstones, 0, "gone\n", true, 0);
     },
     {{kTombstonesFile, "gone\n", "", true}}},
    {"AddBehindWhatIsNotSynced",
     [](StorageGround& ground) {
       VARVE_TRY(ground.lock());
       return ground.add("two\n", false);
     },
     [](StorageGround& ground) { return ground.add("three\n", true); },
     {{kEntriesFile, "one\ntwo\nthree\n", "one\ntwo\n"}}},
    {"SyncOfEverything",
     [](StorageGround& ground) {
       VARVE_TRY(ground.lock());
       VARVE_TRY(ground.add("two\n", false));
       VARVE_TRY(append_to(Stream::kTombstones, ground, "too\n", false));
       VARVE_TRY(append_to(Stream::kVectors, ground, " more", false));
       return ground.storage->append_to_transcript(4, " it", false);
     },
     [](StorageGround& ground) { return ground.storage->sync(2); },
     {{kEntriesFile, "one\ntwo\n", "one\ntwo\n"},
      {kTombstonesFile, "gone\ntoo\n", "gone\ntoo\n"},
      {kVectorsFile, "vectors more", "vectors more"},
      {kTranscriptFile, "said it", "said it"}}},
    {"SyncOfWhatOthersWrote",
     with_lock,
     [](StorageGround& ground) { return ground.storage->sync(1); },
     {{kTranscriptFile, "said", "said"}}},
    {"Tombstone",
     with_lock,
     [](StorageGround& ground) { return append_to(Stream::kTombstones, ground, "too\n", true); },
     {{kTombstonesFile, "gone\ntoo\n", "gone\n"}}},
    {"Vector",
     with_lock,
     [](StorageGround& ground) { return append_to(Stream::kVectors, ground, " more", true); },
     {{kVectorsFile, "vectors more", "vectors"}}},
    {"Transcript",
     with_lock,
     [](StorageGround& ground) { return ground.storage->append_to_transcript(4, " it", true); },
     {{kTranscriptFile, "said it", "said"}}},
    {"Quarantine",
     with_lock,
     [](StorageGround& ground) {
       return ground.storage->append(Stream::kQuarantine, 0, "worse\n", true, 0);
     },
     {{kQuarantineFile, "bad\nworse\n", "bad\n", true}}},
    {"Truncate",
     [](StorageGround& ground) {
       VARVE_TRY(ground.lock());
       return ground.add("torn", true);
     },
     [](StorageGround& ground) {
       return ground.storage->truncate(Stream::kEntries, 8, kFirstLine.size());
     },
     {{kEntriesFile, kFirstLine, "one\ntorn", true}}},
    {"Replace",
     with_lock,
     [](StorageGround& ground) {
       return ground.storage->replace(Stream::kEntries,
                                      [](Sink& sink) { return sink.append("one\n"); });
     },
     {{kEntriesFile, kFirstLine, kFirstLine}}},
    {"ReplaceVectors",
     with_lock,
     [](StorageGround& ground) {
       return ground.storage->replace(Stream::kVectors,
                                      [](Sink& sink) { return sink.append("others"); });
     },
     {{kVectorsFile, "others", "vectors", true}}},
    {"RemoveVectors",
     with_lock,
     [](StorageGround& ground) { return ground.storage->remove_vectors(); },
     {{kVectorsFile, "(none)", "vectors", true}}},
    {"RemoveResidue",
     with_lock,
     [](StorageGround& ground) {
       ground.disk.write_file(StorageGround::path_of("memory.jsonl.tmp-0123456789abcdef"), "old");
       constexpr std::string_view kIndex[] = {"index.bin"};
       return ground.storage->remove_residue(kIndex);
     },
     {{kQuarantineFile, "(none)", "bad\n", true},
      {"index.bin", "(none)", "index", true},
      {"memory.jsonl.tmp-0123456789abcdef", "(none)", "old", true},
      {kTranscriptFile, "said", "said"}}},
    {"PutDocument",
     with_lock,
     [](StorageGround& ground) {
       return ground.storage->put_document("d", "new", DocumentDurability::kNamed);
     },
     {{"d", "new", "(none)", true}}},
    {"ReadAView",
     unprepared,
     [](StorageGround& ground) {
       VARVE_TRY_ASSIGN(const auto view, ground.storage->open_document(kTranscriptFile));
       std::string bytes(9, ' ');
       VARVE_TRY_ASSIGN(const size_t got, view->read(0, bytes));
       EXPECT_EQ(bytes.substr(0, got), "said");
       return Status();
     },
     {}},
    {"ReadWhole",
     unprepared,
     [](StorageGround& ground) {
       VARVE_TRY_ASSIGN(const std::string bytes, ground.storage->get_document(kTranscriptFile));
       EXPECT_EQ(bytes, "said");
       return Status();
     },
     {}},
    {"ReadAStream",
     unprepared,
     [](StorageGround& ground) {
       VARVE_TRY_ASSIGN(const Tail tail, ground.storage->tail());
       std::string bytes(9, ' ');
       VARVE_TRY_ASSIGN(const size_t got,
                        ground.storage->read(Stream::kEntries, tail.generation, 0, bytes));
       EXPECT_EQ(bytes.substr(0, got), kFirstLine);
       return ground.storage->vectors_tail().status();
     },
     {}},
    {"Files",
     unprepared,
     [](StorageGround& ground) {
       VARVE_TRY_ASSIGN(const auto files, ground.storage->files());
       for (const auto& file : files) EXPECT_FALSE(file.name.find(".tmp-") != std::string::npos);
       return Status();
     },
     {}},
    // They have no status: what cannot be read is not known.
    {"MarkAndHolder",
     [](StorageGround& ground) {
       VARVE_TRY(ground.lock("a test"));
       return ground.add("two\n", true);
     },
     [](StorageGround& ground) {
       const uint64_t marked = ground.storage->durable_mark().entries_bytes;
       EXPECT_TRUE(marked == 0 || marked == 8) << marked;
       const LockHolder holder = ground.storage->lock_holder();
       EXPECT_TRUE(holder.operation.empty() || (holder.is_held && holder.operation == "a test"));
       return Status();
     },
     {{kEntriesFile, "one\ntwo\n", "one\ntwo\n"}}},
};

class StorageFaults : public testing::TestWithParam<StorageWork> {
 protected:
  // One run with one fault; false when the work ends before the fault comes.
  bool run(uint64_t number, bool sticky) {
    SCOPED_TRACE("call " + std::to_string(number) + (sticky ? " and later ones" : ""));
    StorageGround ground;
    ground.open_one();
    const Status prepared = GetParam().prepare(ground);
    EXPECT_TRUE(prepared.ok()) << prepared.message();
    const io::FailNth fault(number, EIO, sticky);
    ground.disk.set_fault_hook(fault);
    const Status answer = GetParam().run(ground);
    ground.disk.set_fault_hook(nullptr);
    const bool happened = fault.matched() >= number;
    if (happened) {
      expect_a_failure_that_says_so(answer);
    } else {
      EXPECT_EQ(answer.code(), GetParam().expected) << answer.message();
    }
    expect_what_it_says(answer, ground);
    expect_writing_to_go_on(ground);
    return happened;
  }

  static void expect_a_failure_that_says_so(const Status& answer) {
    if (answer.ok() || answer.code() == GetParam().expected) return;
    EXPECT_TRUE(answer.code() == Code::kIo || answer.code() == Code::kUnknown) << answer.message();
    EXPECT_EQ(answer.place().os_errno, EIO) << answer.message();
    EXPECT_NE(answer.message().find("'store"), std::string::npos) << answer.message();
  }

  static void expect_what_it_says(const Status& answer, const StorageGround& ground) {
    const bool is_unknown = answer.code() == Code::kUnknown ||
                            answer.message().find("outcome is unknown") != std::string::npos;
    const auto lost = ground.disk.crash();
    for (const FileOutcome& outcome : GetParam().outcomes) {
      const std::string now = ground.bytes(outcome.file);
      const std::string later = StorageGround::bytes_in(*lost, outcome.file);
      if (answer.ok()) {
        EXPECT_EQ(now, outcome.done) << outcome.file;
        EXPECT_EQ(later, outcome.done) << outcome.file << " after a power loss";
      } else if (outcome.may_be_done || is_unknown) {
        const auto shorter = std::min(outcome.done.size(), outcome.undone.size());
        EXPECT_TRUE(now == outcome.done || now == outcome.undone ||
                    now.starts_with(outcome.undone.substr(0, shorter)))
            << outcome.file << ": " << now;
      } else {
        EXPECT_EQ(now, outcome.undone) << outcome.file << ": " << answer.message();
      }
    }
  }

  // By the same object, or it says that writing stopped; and in any case by the next one.
  static void expect_writing_to_go_on(StorageGround& ground) {
    ground.storage->unlock();
    ground.disk.release_locks();
    Status again = ground.lock();
    if (again.ok()) again = ground.add("again\n", true);
    if (!again.ok()) {
      EXPECT_EQ(again.code(), Code::kReadOnly) << again.message();
      EXPECT_NE(again.message().find("close and open the session"), std::string::npos);
    }
    ground.storage->unlock();
    const auto process = ground.disk.process(99);
    std::unique_ptr<io::Directory> parent;
    auto next = ground.open(*process, &parent);
    ASSERT_TRUE(next.ok()) << next.status().message();
    const Status held = (*next)->lock(ground.clock.monotonic_us(), "next", nullptr);
    ASSERT_TRUE(held.ok()) << held.message();
    const uint64_t end = (*next)->tail()->entries_bytes;
    const Status added = (*next)->append(Stream::kEntries, end, "next\n", true, 9);
    ASSERT_TRUE(added.ok()) << added.message();
    const std::string log = StorageGround::bytes_in(*ground.disk.crash(), kEntriesFile);
    EXPECT_EQ(log, ground.bytes(kEntriesFile));
    EXPECT_TRUE(log.starts_with(kFirstLine)) << log;
    EXPECT_TRUE(log.ends_with(again.ok() ? "again\nnext\n" : "next\n")) << log;
  }
};

TEST_P(StorageFaults, LoseNothingAndAreSaid) {
  uint64_t count = 0;
  for (const bool sticky : {false, true}) {
    for (uint64_t number = 1; run(number, sticky); ++number) count += 1;
  }
  EXPECT_GT(count, 1u) << "no call on files was made";
}

INSTANTIATE_TEST_SUITE_P(All, StorageFaults, testing::ValuesIn(kStorageWorks),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::log
