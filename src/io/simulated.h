// A file system in memory that can lose power, kill processes, fill up and fail: for tests only.
//
// The disk is weaker than any real one, so that no code comes to rely on a kind one:
//   - A write or truncation is visible at once but pending until sync_data() of that file.
//   - A name made, renamed or removed is visible at once but pending until sync() of the
//     directory. Syncing a file does not keep its name, syncing a directory not the content. A
//     move between two directories is one change; syncing either directory keeps it, together
//     with the earlier changes in the other.
//   - A power loss keeps everything that is not pending and any subset of what is, in order;
//     pending writes may be torn (see CrashPlan).
//   - A sync_data() that fails tells so once, and the writes it should have kept are lost: still
//     readable, never on the disk, whatever later calls answer. That is what Linux does.
//   - A sync() of a directory that fails keeps nothing and loses nothing; it may be repeated.
//   - open_root() with `create` syncs the levels it makes, as PosixFileSystem does.
//
//   SimulatedFileSystem disk;
//   auto root = *disk.open_root("store", true);
//   ... work on root ...
//   disk.for_each_crash_state([&](auto state, const CrashPlan& plan) {
//     SCOPED_TRACE(disk.describe(plan));
//     ... open the store on *state and check it ...
//   });
//
// To check every moment of some work, enumerate from the fault hook: it runs before each operation
// and may use the file system.
//
// Paths are counted from one root directory; "/store" and "store" are the same. No links, no
// permissions are enforced, and every handle may be used from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "io/file_system.h"

namespace varve::io {

namespace simulated {
struct Disk;
struct Image;
struct Process;
}  // namespace simulated

enum class OperationKind : uint8_t {
  kOpenRoot,
  kOpen,
  kRead,
  kAppend,
  kWriteAt,
  kTruncate,
  kSyncData,
  kSyncDirectory,
  kRename,
  kMove,
  kRemove,
  kMakeDirectory,
  kOpenDirectory,
  kRemoveDirectory,
  kList,
  kInfo,
  kLock,
  kUnlock,
  kFreeBytes,
};
const char* operation_name(OperationKind kind) noexcept;  // "append"

struct OperationInfo {
  OperationKind kind = OperationKind::kOpen;
  std::string path;      // as in messages; for a rename or move: the old path
  std::string name;      // its last component
  uint64_t ordinal = 0;  // of all operations on this disk, from 1
  int64_t process_id = 0;
};

struct Fault {
  int os_errno = 0;
  // kAppend and kWriteAt: this many bytes are written before the error.
  std::optional<size_t> partial_bytes = std::nullopt;
};

// Called before each operation, without any lock held: it may use the file system.
using FaultHook = std::function<std::optional<Fault>(const OperationInfo&)>;

// A ready-made hook: the n-th matching operation fails, with `sticky` every later one too. Copies
// count together. `n` is from 1; 0 fails nothing, and matched() tells how many operations match.
class FailNth {
 public:
  FailNth(uint64_t n, int os_errno, bool sticky = false, std::vector<OperationKind> kinds = {});

  // Only operations on files of this name, for example "memory.jsonl".
  FailNth on_file(std::string name) &&;
  FailNth after_bytes(size_t partial_bytes) &&;  // see Fault::partial_bytes

  std::optional<Fault> operator()(const OperationInfo& operation) const;
  [[nodiscard]] uint64_t matched() const noexcept { return matched_->load(); }

 private:
  uint64_t n_;
  Fault fault_;
  bool sticky_;
  std::vector<OperationKind> kinds_;  // empty: all
  std::string name_;                  // empty: all
  std::shared_ptr<std::atomic<uint64_t>> matched_;
};

// A change that a power loss may undo.
struct PendingChange {
  OperationKind kind = OperationKind::kAppend;  // kAppend and kWriteAt are both kWriteAt
  std::string path;         // of the changed file or directory; "?" when it has no name left
  std::string name;         // names: the old or only name
  std::string target;       // kRename, kMove: the new name
  uint64_t offset = 0;      // writes; kTruncate: the new size
  uint64_t size_bytes = 0;  // writes
};

// How one pending write reaches the disk. `at` is CrashPlan::tear_at.
enum class Tear : uint8_t {
  kNone,
  kCut,       // only the bytes before `at`: the file is shorter
  kZeros,     // the size, but zeros instead of the bytes
  kGarbage,   // other bytes
  kZeroTail,  // the bytes before `at`, then zeros
  kZeroHead,  // zeros before `at`, then the bytes: blocks reach a disk in any order
};

struct CrashPlan {
  std::vector<size_t> kept;  // indexes into pending(), ascending; the others are lost
  Tear tear = Tear::kNone;
  size_t torn = 0;  // index into pending(): the write that is torn; must be kept
  size_t tear_at = 0;
  uint64_t garbage_seed = 0;
};

class SimulatedFileSystem final : public FileSystem {
 public:
  SimulatedFileSystem();  // empty; process 1001
  ~SimulatedFileSystem() override;
  SimulatedFileSystem(const SimulatedFileSystem&) = delete;
  SimulatedFileSystem& operator=(const SimulatedFileSystem&) = delete;

  Result<std::unique_ptr<Directory>> open_root(std::string_view path, bool create) override;
  Result<std::unique_ptr<File>> open_file(std::string_view path) override;
  [[nodiscard]] int64_t process_id() const override;
  [[nodiscard]] std::string boot_id() const override;  // changes with each crash()

  // Another process on the same disk, whose handles can be killed separately.
  [[nodiscard]] std::unique_ptr<SimulatedFileSystem> process(int64_t process_id) const;
  // Kills this process: its locks are free, and everything opened through it answers ESRCH without
  // any effect, whoever still holds the objects. What it wrote stays visible.
  void kill();
  // Frees all locks of all processes; the handles stay open.
  void release_locks();

  // Crashes. None of these counts as an operation, and the disk itself does not change.
  [[nodiscard]] std::vector<PendingChange> pending() const;
  [[nodiscard]] CrashPlan keep_all() const;
  // The disk after a power loss; the default plan loses all that is pending.
  [[nodiscard]] std::unique_ptr<SimulatedFileSystem> crash(const CrashPlan& plan = {}) const;
  // The disk after all processes were killed: all that is visible stays, pending changes pending.
  [[nodiscard]] std::unique_ptr<SimulatedFileSystem> copy() const;
  // Visits each different state that a power loss could leave, at most `limit`, always the same
  // ones for a seed. Up to 6 pending changes: all subsets. More: the prefixes, all but one, only
  // one, and random ones. Each subset comes with its last write torn in all ways (and, with more
  // than 6, a random write). Changes to files without a name in any state do not count. Returns how
  // many states were visited.
  using Visit = std::function<void(std::unique_ptr<SimulatedFileSystem>, const CrashPlan&)>;
  size_t for_each_crash_state(const Visit& visit, size_t limit = 1000, uint64_t seed = 1) const;
  [[nodiscard]] std::string describe(const CrashPlan& plan) const;  // a line per pending change

  // Faults.
  void set_fault_hook(FaultHook hook);                              // an empty one removes it
  void set_capacity_bytes(std::optional<uint64_t> capacity_bytes);  // of all files; then ENOSPC
  void set_read_only(bool read_only);                               // EROFS
  // Inode numbers repeat after this many files, even if the earlier file is open; 0: never.
  void set_inode_count(uint64_t count);
  void set_now_ms(int64_t now_ms);  // for modification times

  [[nodiscard]] uint64_t operation_count() const;
  [[nodiscard]] std::vector<std::string> trace() const;  // "12 append /store/memory.jsonl 27 bytes"
  void clear_trace();

  // Direct access to the visible state; counts as no operation and has no faults.
  [[nodiscard]] std::optional<std::string> read_file(std::string_view path) const;
  void write_file(std::string_view path, std::string_view bytes);  // durable, directories too
  void plant_other(std::string_view path);  // durable: something that is no file and no directory
  [[nodiscard]] bool exists(std::string_view path) const;
  // Sorted; directories end in '/'.
  [[nodiscard]] std::vector<std::string> list_all() const;

 private:
  SimulatedFileSystem(std::shared_ptr<simulated::Disk> disk, int64_t process_id);
  static std::unique_ptr<SimulatedFileSystem> on_image(simulated::Image image, int64_t process_id);

  std::shared_ptr<simulated::Disk> disk_;
  std::shared_ptr<simulated::Process> process_;
};

}  // namespace varve::io
