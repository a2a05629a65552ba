// The handles of a simulated disk. Internal to the simulation.
#pragma once

#include <cerrno>

#include "io/rules.h"
#include "io/simulated_disk.h"

namespace varve::io::simulated {

// What files and directories share: a node that is kept open, and operations on the disk.
class Handle {
 public:
  // The caller holds the disk's mutex.
  Handle(std::shared_ptr<Disk> disk, std::shared_ptr<Process> process, NodeId node,
         std::string path);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] Fault start(OperationKind kind, const std::string& on,
                            const std::string& detail = {}) const {
    return disk->start(*process, kind, on, detail);
  }
  // Announces the operation and runs `work(image)` under the mutex, unless a fault is injected or
  // the process is dead. Both return 0 or an errno.
  template <typename Work>
  int attempt(OperationKind kind, const std::string& on, const std::string& detail,
              Work work) const {
    const int os_errno = start(kind, on, detail).os_errno;
    if (os_errno != 0) return os_errno;
    const std::lock_guard<std::mutex> guard(disk->mutex);
    return process->killed ? ESRCH : work(disk->image);
  }
  template <typename Work>
  Status run(OperationKind kind, std::string_view action, const std::string& on,
             const std::string& detail, Work work) const {
    const int os_errno = attempt(kind, on, detail, work);
    return os_errno == 0 ? Status() : status_from_errno(os_errno, action, on);
  }
  // The same for operations that only read.
  template <typename Work>
  Status read(OperationKind kind, std::string_view action, const std::string& on,
              const std::string& detail, Work work) const {
    return refused_reading(run(kind, action, on, detail, work));
  }

  const std::shared_ptr<Disk> disk;
  const std::shared_ptr<Process> process;
  const NodeId node;
  const std::string path;
  const uint64_t serial;  // unique among the handles of the disk
};

class SimulatedFile final : public File {
 public:
  // As Handle: the caller holds the disk's mutex.
  SimulatedFile(std::shared_ptr<Disk> disk, std::shared_ptr<Process> process, NodeId node,
                std::string path, OpenMode mode);

  Result<size_t> read_at(uint64_t offset, std::span<char> out) override;
  Status append(std::string_view data) override;
  Status write_at(uint64_t offset, std::string_view data) override;
  Status truncate(uint64_t size_bytes) override;
  Status sync_data() override;
  Result<FileInfo> info() override;
  Result<bool> try_lock() override;
  Status unlock() override;
  Result<bool> is_locked() override;
  void tell_waiting(bool is_waiting) noexcept override;
  [[nodiscard]] bool is_another_waiting() noexcept override;

 private:
  Status write(OperationKind kind, std::optional<uint64_t> offset, std::string_view data);

  const Handle handle_;
  const OpenMode mode_;
};

class SimulatedDirectory final : public Directory {
 public:
  // As Handle: the caller holds the disk's mutex.
  SimulatedDirectory(std::shared_ptr<Disk> disk, std::shared_ptr<Process> process, NodeId node,
                     std::string path);

  Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode,
                                     uint32_t permissions) override;
  Result<FileInfo> info(std::string_view name) override;
  Status rename(std::string_view from, std::string_view to) override;
  // `target` must be on a simulated disk too.
  Status move_to(std::string_view from, Directory& target, std::string_view to) override;
  Status exchange(std::string_view name, Directory& other, std::string_view other_name) override;
  Status remove(std::string_view name) override;
  Status make_directory(std::string_view name, uint32_t permissions) override;
  Result<std::unique_ptr<Directory>> open_directory(std::string_view name) override;
  Status remove_directory(std::string_view name) override;
  Result<std::vector<DirectoryItem>> list() override;
  Status sync() override;
  Result<uint64_t> free_bytes() override;
  Result<FileInfo> self_info() override;
  [[nodiscard]] std::string path_of(std::string_view name) const override;

 private:
  // The node of a name, created when it is absent and `mode` says so.
  Status open_node(Image& image, std::string_view name, OpenMode mode, uint32_t permissions,
                   NodeId& node) const;

  const Handle handle_;
};

}  // namespace varve::io::simulated
