#include "io/simulated.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "io/rules.h"
#include "io/simulated_handles.h"

namespace varve::io {
namespace {

constexpr int64_t kFirstProcessId = 1001;

}  // namespace

const char* operation_name(OperationKind kind) noexcept {
  switch (kind) {
    case OperationKind::kOpenRoot: return "open_root";
    case OperationKind::kOpen: return "open";
    case OperationKind::kRead: return "read";
    case OperationKind::kAppend: return "append";
    case OperationKind::kWriteAt: return "write_at";
    case OperationKind::kTruncate: return "truncate";
    case OperationKind::kSyncData: return "sync_data";
    case OperationKind::kSyncDirectory: return "sync_directory";
    case OperationKind::kRename: return "rename";
    case OperationKind::kMove: return "move";
    case OperationKind::kRemove: return "remove";
    case OperationKind::kMakeDirectory: return "make_directory";
    case OperationKind::kOpenDirectory: return "open_directory";
    case OperationKind::kRemoveDirectory: return "remove_directory";
    case OperationKind::kList: return "list";
    case OperationKind::kInfo: return "info";
    case OperationKind::kLock: return "lock";
    case OperationKind::kUnlock: return "unlock";
    case OperationKind::kFreeBytes: return "free_bytes";
  }
  return "?";
}

FailNth::FailNth(uint64_t n, int os_errno, bool sticky, std::vector<OperationKind> kinds)
    : n_(n),
      fault_{os_errno, std::nullopt},
      sticky_(sticky),
      kinds_(std::move(kinds)),
      matched_(std::make_shared<std::atomic<uint64_t>>(0)) {}

FailNth FailNth::on_file(std::string name) && {
  name_ = std::move(name);
  return std::move(*this);
}

FailNth FailNth::after_bytes(size_t partial_bytes) && {
  fault_.partial_bytes = partial_bytes;
  return std::move(*this);
}

std::optional<Fault> FailNth::operator()(const OperationInfo& operation) const {
  if (!name_.empty() && operation.name != name_) return std::nullopt;
  if (!kinds_.empty() && std::find(kinds_.begin(), kinds_.end(), operation.kind) == kinds_.end()) {
    return std::nullopt;
  }
  const uint64_t number = matched_->fetch_add(1) + 1;
  if (n_ == 0 || number < n_ || (number > n_ && !sticky_)) return std::nullopt;
  return fault_;
}

SimulatedFileSystem::SimulatedFileSystem()
    : SimulatedFileSystem(std::make_shared<simulated::Disk>(), kFirstProcessId) {}

SimulatedFileSystem::SimulatedFileSystem(std::shared_ptr<simulated::Disk> disk, int64_t process_id)
    : disk_(std::move(disk)), process_(std::make_shared<simulated::Process>()) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  process_->id = process_id;
  process_->serial = disk_->next_process++;
}

SimulatedFileSystem::~SimulatedFileSystem() = default;

std::unique_ptr<SimulatedFileSystem> SimulatedFileSystem::on_image(simulated::Image image,
                                                                   int64_t process_id) {
  auto disk = std::make_shared<simulated::Disk>();
  disk->image = std::move(image);
  return std::unique_ptr<SimulatedFileSystem>(new SimulatedFileSystem(std::move(disk), process_id));
}

Result<std::unique_ptr<Directory>> SimulatedFileSystem::open_root(std::string_view path,
                                                                  bool create) {
  VARVE_TRY(check_path(path, "a store"));
  std::string text = without_end_slashes(path);
  const Fault fault = disk_->start(*process_, OperationKind::kOpenRoot, text);
  if (fault.os_errno != 0) return status_from_errno(fault.os_errno, "open the directory", text);
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  simulated::Image& image = disk_->image;
  simulated::NodeId node = image.find(text);
  if (node == 0 && !create) return status_from_errno(ENOENT, "open the directory", text);
  if (node == 0 && image.read_only) return status_from_errno(EROFS, "make the directory", text);
  if (node != 0 && image.nodes.at(node).kind != FileKind::kDirectory) {
    return not_a_directory(ENOTDIR, text, "a regular file");
  }
  if (create && !image.read_only) node = image.make_durable_directories(text);
  if (node == 0) return status_from_errno(ENOTDIR, "open the directory", text);
  return std::unique_ptr<Directory>(
      std::make_unique<simulated::SimulatedDirectory>(disk_, process_, node, text));
}

Result<std::unique_ptr<File>> SimulatedFileSystem::open_file(std::string_view path) {
  VARVE_TRY(check_path(path, "a file"));
  const auto [above, name] = split_path(path);
  VARVE_TRY_ASSIGN(auto directory, open_root(above, false));
  return directory->open(name, OpenMode::kRead);
}

int64_t SimulatedFileSystem::process_id() const { return process_->id; }

std::string SimulatedFileSystem::boot_id() const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  return "boot-" + std::to_string(disk_->image.boot_count);
}

std::unique_ptr<SimulatedFileSystem> SimulatedFileSystem::process(int64_t process_id) const {
  return std::unique_ptr<SimulatedFileSystem>(new SimulatedFileSystem(disk_, process_id));
}

void SimulatedFileSystem::kill() {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  process_->killed = true;
  for (auto& [id, node] : disk_->image.nodes) {
    if (node.lock_process == process_->serial) node.lock_handle = node.lock_process = 0;
    std::erase_if(node.waiting,
                  [&](const auto& waiter) { return waiter.second == process_->serial; });
  }
}

void SimulatedFileSystem::release_locks() {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  for (auto& [id, node] : disk_->image.nodes) node.lock_handle = node.lock_process = 0;
}

void SimulatedFileSystem::set_fault_hook(FaultHook hook) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->hook = hook ? std::make_shared<const FaultHook>(std::move(hook)) : nullptr;
}

void SimulatedFileSystem::set_capacity_bytes(std::optional<uint64_t> capacity_bytes) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->image.capacity_bytes = capacity_bytes;
}

void SimulatedFileSystem::set_inode_count(uint64_t count) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->image.inode_count = count;
}

void SimulatedFileSystem::set_read_only(bool read_only) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->image.read_only = read_only;
}

void SimulatedFileSystem::set_now_ms(int64_t now_ms) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->image.now_ms = now_ms;
}

uint64_t SimulatedFileSystem::operation_count() const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  return disk_->operation_count;
}

std::vector<std::string> SimulatedFileSystem::trace() const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  return disk_->trace;
}

void SimulatedFileSystem::clear_trace() {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->trace.clear();
}

std::optional<std::string> SimulatedFileSystem::read_file(std::string_view path) const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  const simulated::NodeId node = disk_->image.find(path);
  if (node == 0 || disk_->image.nodes.at(node).kind != FileKind::kRegular) return std::nullopt;
  return disk_->image.nodes.at(node).visible.bytes;
}

void SimulatedFileSystem::write_file(std::string_view path, std::string_view bytes) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->image.make_durable_node(path, FileKind::kRegular, bytes);
}

void SimulatedFileSystem::plant_other(std::string_view path) {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  disk_->image.make_durable_node(path, FileKind::kOther, {});
}

bool SimulatedFileSystem::exists(std::string_view path) const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  return disk_->image.find(path) != 0;
}

std::vector<std::string> SimulatedFileSystem::list_all() const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  const simulated::Image& image = disk_->image;
  std::vector<std::string> paths;
  std::vector<std::pair<std::string, simulated::NodeId>> waiting{{"/", simulated::Image::kRoot}};
  while (!waiting.empty()) {
    const auto [above, directory] = std::move(waiting.back());
    waiting.pop_back();
    for (const auto& [name, child] : image.nodes.at(directory).visible.names) {
      const bool is_directory = image.nodes.at(child).kind == FileKind::kDirectory;
      paths.push_back(above + name + (is_directory ? "/" : ""));
      if (is_directory) waiting.emplace_back(paths.back(), child);
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace varve::io
