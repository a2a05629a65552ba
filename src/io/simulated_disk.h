// What a simulated disk holds: the visible state, the durable state, and the changes between.
// Internal to the simulation.
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "io/simulated.h"

namespace varve::io::simulated {

using NodeId = uint64_t;
using Names = std::map<std::string, NodeId, std::less<>>;

struct Content {
  std::string bytes;  // of a regular file
  Names names;        // of a directory
};

struct Node {
  FileKind kind = FileKind::kRegular;
  uint32_t permissions = 0600;
  int64_t modified_ms = 0;
  Content visible;
  Content durable;
  uint64_t link_count = 0;   // visible names
  uint64_t last_change = 0;  // Change::sequence of the last change that the size does not show
  uint64_t open_count = 0;
  uint64_t lock_handle = 0;              // 0: not locked
  uint64_t lock_process = 0;             // the Process::serial of that handle
  std::map<uint64_t, uint64_t> waiting;  // handles that say so, and their processes
};

enum class ChangeKind : uint8_t { kWrite, kResize, kLink, kUnlink, kRename, kExchange };

struct Change {
  uint64_t sequence = 0;
  ChangeKind kind = ChangeKind::kWrite;
  NodeId node = 0;  // kWrite, kResize: the file; else the directory
  uint64_t offset = 0;
  std::string bytes;
  std::string name;
  NodeId child = 0;      // kLink, kRename, kExchange: what the name stands for
  NodeId target = 0;     // kRename, kExchange: the directory of the new name
  std::string new_name;  // kRename, kExchange
  NodeId other = 0;      // kExchange: what the new name stands for, before

  [[nodiscard]] bool is_data() const noexcept {
    return kind == ChangeKind::kWrite || kind == ChangeKind::kResize;
  }
  // Whether it involves two directories.
  [[nodiscard]] bool moves() const noexcept {
    return kind == ChangeKind::kRename || kind == ChangeKind::kExchange;
  }
};

// The content of a disk, as a value. Operations return 0 or an errno.
struct Image {
  static constexpr NodeId kRoot = 1;

  Image();

  // Follows visible names from the root; 0 when nothing is there.
  [[nodiscard]] NodeId find(std::string_view path) const;
  // Finds or makes the directories of `path`, durable; 0 when something else is in the way.
  NodeId make_durable_directories(std::string_view path);
  NodeId make_durable_node(std::string_view path, FileKind kind, std::string_view bytes);

  // Sets `written` to the number of bytes written, also with ENOSPC.
  int write(NodeId file, uint64_t offset, std::string_view data, size_t& written);
  int resize(NodeId file, uint64_t size_bytes);
  int create(NodeId directory, std::string_view name, FileKind kind, uint32_t permissions,
             NodeId& made);
  int unlink(NodeId directory, std::string_view name, bool is_directory);
  int rename(NodeId directory, std::string_view from, NodeId target, std::string_view to,
             bool replace);
  int exchange(NodeId directory, std::string_view name, NodeId target, std::string_view to);
  void sync_data(NodeId file);
  void lose_unsynced_writes(NodeId file);
  void sync_directory(NodeId directory);

  [[nodiscard]] uint64_t free_bytes() const;
  // The pending changes that can matter: those whose file may have a name after a power loss.
  [[nodiscard]] std::vector<const Change*> relevant_changes() const;
  [[nodiscard]] std::string path_of(NodeId node) const;  // "?" when it has no visible name
  [[nodiscard]] Image after_crash(const CrashPlan& plan) const;
  [[nodiscard]] Image after_kill() const;
  // All paths and bytes that are visible, as one text: equal for equal trees.
  [[nodiscard]] std::string signature() const;
  // Drops files without a name and a handle. Goes through all nodes, so it works only when there
  // are a quarter more than the last time needed. What it leaves over affects no answer.
  void collect_garbage();

  std::map<NodeId, Node> nodes;
  std::vector<Change> pending;
  NodeId next_node = kRoot + 1;
  uint64_t next_sequence = 1;
  uint64_t boot_count = 1;
  std::optional<uint64_t> capacity_bytes;
  bool read_only = false;
  uint64_t inode_count = 0;            // numbers are given modulo this; 0: each file has its own
  int64_t now_ms = 1'767'225'600'000;  // 2026-01-01

 private:
  size_t needed_node_count_ = 0;  // at the last collection

  void record(Change change);
  NodeId add_node(FileKind kind, uint32_t permissions);
  void drop_link(NodeId node);
  void forget_handles();
  [[nodiscard]] Image durable_part() const;
};

struct Process {
  int64_t id = 0;
  uint64_t serial = 0;  // unique on the disk
  bool killed = false;  // guarded by Disk::mutex
};

struct Disk {
  std::mutex mutex;  // guards all below
  Image image;
  std::shared_ptr<const FaultHook> hook;
  uint64_t operation_count = 0;
  std::vector<std::string> trace;
  uint64_t next_handle = 1;
  uint64_t next_process = 1;

  // Counts and traces an operation and asks the hook. Call it without the mutex.
  Fault start(const Process& process, OperationKind kind, const std::string& path,
              const std::string& detail = {});
};

// Splits at '/', leaving out empty parts and ".".
std::vector<std::string_view> components(std::string_view path);

}  // namespace varve::io::simulated
