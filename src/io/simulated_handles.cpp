#include "io/simulated_handles.h"

#include <algorithm>
#include <new>
#include <utility>

#include "io/rules.h"

namespace varve::io::simulated {
namespace {

std::string bytes_text(size_t count) { return std::to_string(count) + " bytes"; }

FileInfo info_of(const Image& image, NodeId id) {
  const Node& node = image.nodes.at(id);
  FileInfo info;
  info.kind = node.kind;
  info.size_bytes = node.visible.bytes.size();
  info.modified_ms = node.modified_ms;
  info.permissions = node.permissions;
  info.link_count = node.link_count;
  info.identity = {1, image.inode_count == 0 ? id : id % image.inode_count};
  const bool has_stamp = node.kind == FileKind::kRegular && node.link_count == 1;
  if (has_stamp) info.change_stamp = node.last_change;
  return info;
}

// The node of a visible name; 0 when there is none.
NodeId lookup(const Image& image, NodeId directory, std::string_view name) {
  const Names& names = image.nodes.at(directory).visible.names;
  const auto found = names.find(name);
  return found == names.end() ? 0 : found->second;
}

}  // namespace

Handle::Handle(std::shared_ptr<Disk> on_disk, std::shared_ptr<Process> of_process, NodeId of_node,
               std::string of_path)
    : disk(std::move(on_disk)),
      process(std::move(of_process)),
      node(of_node),
      path(std::move(of_path)),
      serial(disk->next_handle++) {
  ++disk->image.nodes.at(node).open_count;
}

Handle::~Handle() {
  const std::lock_guard<std::mutex> guard(disk->mutex);
  Node& held = disk->image.nodes.at(node);
  if (held.lock_handle == serial) held.lock_handle = held.lock_process = 0;
  held.waiting.erase(serial);
  if (--held.open_count > 0 || held.link_count > 0) return;
  try {
    disk->image.collect_garbage();
  } catch (const std::bad_alloc&) {
    // The next collection removes the node.
  }
}

SimulatedFile::SimulatedFile(std::shared_ptr<Disk> disk, std::shared_ptr<Process> process,
                             NodeId node, std::string path, OpenMode mode)
    : handle_(std::move(disk), std::move(process), node, std::move(path)), mode_(mode) {}

Result<size_t> SimulatedFile::read_at(uint64_t offset, std::span<char> out) {
  size_t count = 0;
  const std::string detail = bytes_text(out.size()) + " at " + std::to_string(offset);
  VARVE_TRY(handle_.read(OperationKind::kRead, "read", handle_.path, detail, [&](Image& image) {
    const std::string& bytes = image.nodes.at(handle_.node).visible.bytes;
    if (offset >= bytes.size()) return 0;
    count = std::min<size_t>(out.size(), bytes.size() - static_cast<size_t>(offset));
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, out.begin());
    return 0;
  }));
  return count;
}

// `offset` nullopt: appends.
Status SimulatedFile::write(OperationKind kind, std::optional<uint64_t> offset,
                            std::string_view data) {
  const std::string detail =
      bytes_text(data.size()) + (offset ? " at " + std::to_string(*offset) : "");
  const Fault fault = handle_.start(kind, handle_.path, detail);
  if (fault.os_errno != 0) data = data.substr(0, fault.partial_bytes.value_or(0));
  const std::lock_guard<std::mutex> guard(handle_.disk->mutex);
  if (handle_.process->killed) return status_from_errno(ESRCH, "write", handle_.path);
  Image& image = handle_.disk->image;
  size_t written = 0;
  const uint64_t at = offset.value_or(image.nodes.at(handle_.node).visible.bytes.size());
  const int os_errno = image.write(handle_.node, at, data, written);
  if (fault.os_errno != 0) return status_from_errno(fault.os_errno, "write", handle_.path);
  return os_errno == 0 ? Status() : status_from_errno(os_errno, "write", handle_.path);
}

Status SimulatedFile::append(std::string_view data) {
  if (!may_append(mode_)) return wrong_mode("append to", handle_.path);
  return write(OperationKind::kAppend, std::nullopt, data);
}

Status SimulatedFile::write_at(uint64_t offset, std::string_view data) {
  if (!may_update(mode_)) return wrong_mode("overwrite", handle_.path);
  return write(OperationKind::kWriteAt, offset, data);
}

Status SimulatedFile::truncate(uint64_t size_bytes) {
  if (!may_write(mode_)) return wrong_mode("truncate", handle_.path);
  return handle_.run(OperationKind::kTruncate, "truncate", handle_.path,
                     "to " + std::to_string(size_bytes),
                     [&](Image& image) { return image.resize(handle_.node, size_bytes); });
}

Status SimulatedFile::sync_data() {
  const Fault fault = handle_.start(OperationKind::kSyncData, handle_.path);
  const std::lock_guard<std::mutex> guard(handle_.disk->mutex);
  if (handle_.process->killed) return status_from_errno(ESRCH, "sync", handle_.path);
  if (fault.os_errno == 0) {
    handle_.disk->image.sync_data(handle_.node);
    return {};
  }
  handle_.disk->image.lose_unsynced_writes(handle_.node);
  return status_from_errno(fault.os_errno, "sync", handle_.path);
}

Result<FileInfo> SimulatedFile::info() {
  FileInfo found;
  VARVE_TRY(handle_.read(OperationKind::kInfo, "examine", handle_.path, "open", [&](Image& image) {
    found = info_of(image, handle_.node);
    return 0;
  }));
  return found;
}

Result<bool> SimulatedFile::try_lock() {
  if (!may_update(mode_)) return wrong_mode("lock", handle_.path);
  bool is_ours = false;
  const int os_errno = handle_.attempt(OperationKind::kLock, handle_.path, {}, [&](Image& image) {
    Node& node = image.nodes.at(handle_.node);
    if (node.lock_handle != 0 && node.lock_handle != handle_.serial) return 0;
    node.lock_handle = handle_.serial;
    node.lock_process = handle_.process->serial;
    is_ours = true;
    return 0;
  });
  if (os_errno != 0) return answer_of_refused_lock(os_errno, handle_.path);
  return is_ours;
}

Status SimulatedFile::unlock() {
  if (!may_update(mode_)) return wrong_mode("unlock", handle_.path);
  return handle_.run(OperationKind::kUnlock, "unlock", handle_.path, {}, [&](Image& image) {
    Node& node = image.nodes.at(handle_.node);
    if (node.lock_handle == handle_.serial) node.lock_handle = node.lock_process = 0;
    return 0;
  });
}

Result<bool> SimulatedFile::is_locked() {
  bool held = false;
  VARVE_TRY(handle_.read(OperationKind::kInfo, "examine", handle_.path, {}, [&](Image& image) {
    const Node& node = image.nodes.at(handle_.node);
    held = node.lock_handle != 0 && node.lock_handle != handle_.serial;
    return 0;
  }));
  return held;
}

// Neither is an operation that could fail, or after which a process could be killed: nothing
// depends on what they say.
void SimulatedFile::tell_waiting(bool is_waiting) noexcept {
  const std::lock_guard<std::mutex> guard(handle_.disk->mutex);
  auto& waiting = handle_.disk->image.nodes.at(handle_.node).waiting;
  waiting.erase(handle_.serial);
  if (!is_waiting || handle_.process->killed) return;
  try {
    waiting.emplace(handle_.serial, handle_.process->serial);
  } catch (const std::bad_alloc&) {
    // It waits all the same.
  }
}

bool SimulatedFile::is_another_waiting() noexcept {
  const std::lock_guard<std::mutex> guard(handle_.disk->mutex);
  const auto& waiting = handle_.disk->image.nodes.at(handle_.node).waiting;
  return waiting.size() > waiting.count(handle_.serial);
}

SimulatedDirectory::SimulatedDirectory(std::shared_ptr<Disk> disk, std::shared_ptr<Process> process,
                                       NodeId node, std::string path)
    : handle_(std::move(disk), std::move(process), node, std::move(path)) {}

Result<std::unique_ptr<File>> SimulatedDirectory::open(std::string_view name, OpenMode mode,
                                                       uint32_t permissions) {
  VARVE_TRY(check_name(name));
  const std::string path = path_of(name);
  Status failure;
  std::unique_ptr<File> file;
  Status ran = handle_.run(OperationKind::kOpen, "open", path, {}, [&](Image& image) {
    NodeId node = 0;
    failure = open_node(image, name, mode, permissions, node);
    if (failure.ok()) {
      file = std::make_unique<SimulatedFile>(handle_.disk, handle_.process, node, path, mode);
    }
    return 0;
  });
  VARVE_TRY(may_write(mode) ? std::move(ran) : refused_reading(std::move(ran)));
  if (!failure.ok()) return failure;
  return file;
}

Status SimulatedDirectory::open_node(Image& image, std::string_view name, OpenMode mode,
                                     uint32_t permissions, NodeId& node) const {
  const std::string path = path_of(name);
  node = lookup(image, handle_.node, name);
  if (node == 0) {
    if (!creates(mode)) return status_from_errno(ENOENT, "open", path);
    const int os_errno = image.create(handle_.node, name, FileKind::kRegular, permissions, node);
    return os_errno == 0 ? Status() : status_from_errno(os_errno, "create", path);
  }
  if (mode == OpenMode::kCreateExclusive) return status_from_errno(EEXIST, "create", path);
  const FileKind kind = image.nodes.at(node).kind;
  if (kind == FileKind::kDirectory) return not_a_file(EISDIR, path, "a directory");
  if (kind == FileKind::kOther) return not_a_file(ENXIO, path, "of an unknown kind");
  if (image.read_only && may_write(mode)) return status_from_errno(EROFS, "open", path);
  return {};
}

Result<FileInfo> SimulatedDirectory::info(std::string_view name) {
  VARVE_TRY(check_name(name));
  FileInfo found;
  VARVE_TRY(handle_.read(OperationKind::kInfo, "examine", path_of(name), {}, [&](Image& image) {
    const NodeId node = lookup(image, handle_.node, name);
    if (node == 0) return ENOENT;
    found = info_of(image, node);
    return 0;
  }));
  return found;
}

Status SimulatedDirectory::rename(std::string_view from, std::string_view to) {
  VARVE_TRY(check_name(from));
  VARVE_TRY(check_name(to));
  const int os_errno = handle_.attempt(
      OperationKind::kRename, path_of(from), "to " + path_of(to),
      [&](Image& image) { return image.rename(handle_.node, from, handle_.node, to, true); });
  if (os_errno == 0) return {};
  return status_from_errno(os_errno, "rename '" + path_of(from) + "' to", path_of(to));
}

Status SimulatedDirectory::move_to(std::string_view from, Directory& target, std::string_view to) {
  VARVE_TRY(check_name(from));
  VARVE_TRY(check_name(to));
  const auto& other = static_cast<const SimulatedDirectory&>(target);
  const std::string new_path = other.path_of(to);
  const int os_errno =
      handle_.attempt(OperationKind::kMove, path_of(from), "to " + new_path, [&](Image& image) {
        if (other.handle_.disk != handle_.disk) return EXDEV;
        return image.rename(handle_.node, from, other.handle_.node, to, false);
      });
  if (os_errno == 0) return {};
  return status_from_errno(os_errno, "move '" + path_of(from) + "' to", new_path);
}

Status SimulatedDirectory::exchange(std::string_view name, Directory& other,
                                    std::string_view other_name) {
  VARVE_TRY(check_name(name));
  VARVE_TRY(check_name(other_name));
  const auto& target = static_cast<const SimulatedDirectory&>(other);
  const std::string there = target.path_of(other_name);
  const int os_errno =
      handle_.attempt(OperationKind::kMove, path_of(name), "with " + there, [&](Image& image) {
        if (target.handle_.disk != handle_.disk) return EXDEV;
        return image.exchange(handle_.node, name, target.handle_.node, other_name);
      });
  return os_errno == 0 ? Status() : answer_of_refused_exchange(os_errno, path_of(name), there);
}

Status SimulatedDirectory::remove(std::string_view name) {
  VARVE_TRY(check_name(name));
  return handle_.run(OperationKind::kRemove, "remove", path_of(name), {},
                     [&](Image& image) { return image.unlink(handle_.node, name, false); });
}

Status SimulatedDirectory::make_directory(std::string_view name, uint32_t permissions) {
  VARVE_TRY(check_name(name));
  return handle_.run(
      OperationKind::kMakeDirectory, "make the directory", path_of(name), {}, [&](Image& image) {
        NodeId made = 0;
        return image.create(handle_.node, name, FileKind::kDirectory, permissions, made);
      });
}

Result<std::unique_ptr<Directory>> SimulatedDirectory::open_directory(std::string_view name) {
  VARVE_TRY(check_name(name));
  const std::string path = path_of(name);
  FileKind kind = FileKind::kDirectory;
  std::unique_ptr<Directory> opened;
  VARVE_TRY(handle_.read(OperationKind::kOpenDirectory, "open", path, {}, [&](Image& image) {
    const NodeId node = lookup(image, handle_.node, name);
    if (node == 0) return ENOENT;
    kind = image.nodes.at(node).kind;
    if (kind == FileKind::kDirectory) {
      opened = std::make_unique<SimulatedDirectory>(handle_.disk, handle_.process, node, path);
    }
    return 0;
  }));
  if (opened) return opened;
  return not_a_directory(ENOTDIR, path,
                         kind == FileKind::kRegular ? "a regular file" : "of an unknown kind");
}

Status SimulatedDirectory::remove_directory(std::string_view name) {
  VARVE_TRY(check_name(name));
  return handle_.run(OperationKind::kRemoveDirectory, "remove the directory", path_of(name), {},
                     [&](Image& image) { return image.unlink(handle_.node, name, true); });
}

Result<std::vector<DirectoryItem>> SimulatedDirectory::list() {
  std::vector<DirectoryItem> items;
  VARVE_TRY(handle_.read(OperationKind::kList, "list", handle_.path, {}, [&](Image& image) {
    for (const auto& [name, child] : image.nodes.at(handle_.node).visible.names) {
      items.push_back({name, image.nodes.at(child).kind});
    }
    return 0;
  }));
  return items;
}

Status SimulatedDirectory::sync() {
  return handle_.run(OperationKind::kSyncDirectory, "sync the directory", handle_.path, {},
                     [&](Image& image) {
                       image.sync_directory(handle_.node);
                       return 0;
                     });
}

Result<uint64_t> SimulatedDirectory::free_bytes() {
  uint64_t free = 0;
  VARVE_TRY(handle_.run(OperationKind::kFreeBytes, "ask for the free space of", handle_.path, {},
                        [&](Image& image) {
                          free = image.free_bytes();
                          return 0;
                        }));
  return free;
}

Result<FileInfo> SimulatedDirectory::self_info() {
  FileInfo found;
  VARVE_TRY(handle_.read(OperationKind::kInfo, "examine", handle_.path, {}, [&](Image& image) {
    found = info_of(image, handle_.node);
    return 0;
  }));
  return found;
}

std::string SimulatedDirectory::path_of(std::string_view name) const {
  const std::string_view separator = handle_.path.ends_with('/') ? "" : "/";
  return handle_.path + std::string(separator) + std::string(name);
}

}  // namespace varve::io::simulated
