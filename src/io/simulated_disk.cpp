#include "io/simulated_disk.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

namespace varve::io::simulated {
namespace {

constexpr uint64_t kUnlimitedBytes = uint64_t{1} << 40;

Content& content_of(Node& node, bool durable) noexcept {
  return durable ? node.durable : node.visible;
}

// Applies one change to the visible or to the durable state. Its nodes always exist: garbage
// collection keeps all that pending changes name.
void apply(std::map<NodeId, Node>& nodes, const Change& change, bool durable) {
  Content& content = content_of(nodes.at(change.node), durable);
  switch (change.kind) {
    case ChangeKind::kWrite: {
      const size_t end = change.offset + change.bytes.size();
      if (content.bytes.size() < end) content.bytes.resize(end, '\0');
      std::copy(change.bytes.begin(), change.bytes.end(),
                content.bytes.begin() + static_cast<std::ptrdiff_t>(change.offset));
      return;
    }
    case ChangeKind::kResize: content.bytes.resize(change.offset, '\0'); return;
    case ChangeKind::kLink: content.names.insert_or_assign(change.name, change.child); return;
    case ChangeKind::kUnlink: content.names.erase(change.name); return;
    case ChangeKind::kRename:
      content.names.erase(change.name);
      content_of(nodes.at(change.target), durable)
          .names.insert_or_assign(change.new_name, change.child);
      return;
    case ChangeKind::kExchange:
      content.names.insert_or_assign(change.name, change.other);
      content_of(nodes.at(change.target), durable)
          .names.insert_or_assign(change.new_name, change.child);
      return;
  }
}

bool concerns(const Change& change, NodeId directory) noexcept {
  return !change.is_data() &&
         (change.node == directory || (change.moves() && change.target == directory));
}

// Collects everything with a durable name below `top`, and `top` itself.
void add_durable_tree(const std::map<NodeId, Node>& nodes, NodeId top, std::set<NodeId>& found) {
  if (!found.insert(top).second) return;
  for (const auto& [name, child] : nodes.at(top).durable.names) {
    add_durable_tree(nodes, child, found);
  }
}

// The same for visible and durable names.
void add_tree(const std::map<NodeId, Node>& nodes, NodeId top, std::set<NodeId>& found) {
  if (!found.insert(top).second) return;
  const Node& node = nodes.at(top);
  for (const auto& [name, child] : node.durable.names) add_tree(nodes, child, found);
  for (const auto& [name, child] : node.visible.names) add_tree(nodes, child, found);
}

std::string torn(const std::string& bytes, const CrashPlan& plan) {
  const size_t at = std::min(plan.tear_at, bytes.size());
  std::string text = bytes;
  switch (plan.tear) {
    case Tear::kNone: break;
    case Tear::kCut: text.resize(at); break;
    case Tear::kZeros: text.assign(bytes.size(), '\0'); break;
    case Tear::kZeroTail:
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\0');
      break;
    case Tear::kZeroHead:
      std::fill(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\0');
      break;
    case Tear::kGarbage: {
      uint64_t state = plan.garbage_seed;
      for (char& byte : text) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<char>(static_cast<unsigned char>(state >> 56));
      }
      break;
    }
  }
  return text;
}

}  // namespace

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

Image::Image() {
  Node root;
  root.kind = FileKind::kDirectory;
  root.permissions = 0700;
  root.link_count = 1;
  nodes.emplace(kRoot, std::move(root));
}

NodeId Image::find(std::string_view path) const {
  NodeId current = kRoot;
  for (const std::string_view part : components(path)) {
    const Names& names = nodes.at(current).visible.names;
    const auto found = names.find(part);
    if (found == names.end()) return 0;
    current = found->second;
  }
  return current;
}

NodeId Image::make_durable_directories(std::string_view path) {
  NodeId current = kRoot;
  for (const std::string_view part : components(path)) {
    Names& names = nodes.at(current).visible.names;
    const auto found = names.find(part);
    NodeId next = found == names.end() ? 0 : found->second;
    if (next == 0) {
      next = add_node(FileKind::kDirectory, 0700);
      names.emplace(part, next);
    }
    if (nodes.at(next).kind != FileKind::kDirectory) return 0;
    nodes.at(current).durable.names.insert_or_assign(std::string(part), next);
    current = next;
  }
  return current;
}

NodeId Image::make_durable_node(std::string_view path, FileKind kind, std::string_view bytes) {
  const std::vector<std::string_view> parts = components(path);
  if (parts.empty()) return 0;
  const std::string name(parts.back());
  const auto parent_size = static_cast<size_t>(parts.back().data() - path.data());
  const NodeId parent = make_durable_directories(path.substr(0, parent_size));
  if (parent == 0) return 0;
  const auto found = nodes.at(parent).visible.names.find(name);
  NodeId node = found == nodes.at(parent).visible.names.end() ? 0 : found->second;
  if (node == 0) node = add_node(kind, 0600);
  std::erase_if(pending, [&](const Change& change) {
    return change.is_data() ? change.node == node : change.node == parent && change.name == name;
  });
  Node& made = nodes.at(node);
  made.kind = kind;
  made.visible.bytes = bytes;
  made.durable.bytes = bytes;
  made.last_change = next_sequence++;
  nodes.at(parent).visible.names.insert_or_assign(name, node);
  nodes.at(parent).durable.names.insert_or_assign(name, node);
  return node;
}

NodeId Image::add_node(FileKind kind, uint32_t permissions) {
  Node node;
  node.kind = kind;
  node.permissions = permissions;
  node.modified_ms = now_ms;
  node.link_count = 1;
  nodes.emplace(next_node, std::move(node));
  return next_node++;
}

void Image::record(Change change) {
  change.sequence = next_sequence++;
  const uint64_t size_before = nodes.at(change.node).visible.bytes.size();
  apply(nodes, change, false);
  nodes.at(change.node).modified_ms = now_ms;
  // An append shows in the size, so it does not count here: kernels set the time of a change before
  // they set the size.
  const bool is_told = change.kind == ChangeKind::kWrite && change.offset >= size_before;
  for (const NodeId node : {change.node, change.child, change.other}) {
    if (node != 0 && !is_told) nodes.at(node).last_change = change.sequence;
  }
  pending.push_back(std::move(change));
}

int Image::write(NodeId file, uint64_t offset, std::string_view data, size_t& written) {
  written = 0;
  if (read_only) return EROFS;
  if (data.empty()) return 0;
  const uint64_t size = nodes.at(file).visible.bytes.size();
  const uint64_t free = free_bytes();
  const uint64_t hole = offset > size ? offset - size : 0;
  if (hole > free) return ENOSPC;
  const uint64_t inside = offset < size ? size - offset : 0;
  const uint64_t room = inside + free - hole;
  written = static_cast<size_t>(std::min<uint64_t>(data.size(), room));
  if (written > 0) {
    Change change;
    change.kind = ChangeKind::kWrite;
    change.node = file;
    change.offset = offset;
    change.bytes = data.substr(0, written);
    record(std::move(change));
  }
  return written == data.size() ? 0 : ENOSPC;
}

int Image::resize(NodeId file, uint64_t size_bytes) {
  if (read_only) return EROFS;
  const uint64_t size = nodes.at(file).visible.bytes.size();
  if (size_bytes == size) return 0;
  if (size_bytes > size && size_bytes - size > free_bytes()) return ENOSPC;
  Change change;
  change.kind = ChangeKind::kResize;
  change.node = file;
  change.offset = size_bytes;
  record(std::move(change));
  return 0;
}

int Image::create(NodeId directory, std::string_view name, FileKind kind, uint32_t permissions,
                  NodeId& made) {
  const Node& parent = nodes.at(directory);
  if (parent.link_count == 0) return ENOENT;
  if (parent.visible.names.contains(name)) return EEXIST;
  if (read_only) return EROFS;
  made = add_node(kind, permissions);
  Change change;
  change.kind = ChangeKind::kLink;
  change.node = directory;
  change.name = name;
  change.child = made;
  record(std::move(change));
  return 0;
}

int Image::unlink(NodeId directory, std::string_view name, bool is_directory) {
  const Names& names = nodes.at(directory).visible.names;
  const auto found = names.find(name);
  if (found == names.end()) return ENOENT;
  const NodeId child = found->second;
  const Node& node = nodes.at(child);
  if (is_directory && node.kind != FileKind::kDirectory) return ENOTDIR;
  if (!is_directory && node.kind == FileKind::kDirectory) return EISDIR;
  if (is_directory && !node.visible.names.empty()) return ENOTEMPTY;
  if (read_only) return EROFS;
  Change change;
  change.kind = ChangeKind::kUnlink;
  change.node = directory;
  change.name = name;
  record(std::move(change));
  drop_link(child);
  return 0;
}

int Image::rename(NodeId directory, std::string_view from, NodeId target, std::string_view to,
                  bool replace) {
  const Names& names = nodes.at(directory).visible.names;
  const auto found = names.find(from);
  if (found == names.end()) return ENOENT;
  const NodeId child = found->second;
  const Node& target_node = nodes.at(target);
  if (target_node.link_count == 0) return ENOENT;
  if (child == target) return EINVAL;
  const auto taken = target_node.visible.names.find(to);
  NodeId replaced = 0;
  if (taken != target_node.visible.names.end()) {
    if (!replace) return EEXIST;
    replaced = taken->second;
    if (replaced == child) return 0;
    const bool is_directory = nodes.at(child).kind == FileKind::kDirectory;
    const Node& old = nodes.at(replaced);
    if (is_directory && old.kind != FileKind::kDirectory) return ENOTDIR;
    if (!is_directory && old.kind == FileKind::kDirectory) return EISDIR;
    if (!old.visible.names.empty()) return ENOTEMPTY;
  }
  if (read_only) return EROFS;
  Change change;
  change.kind = ChangeKind::kRename;
  change.node = directory;
  change.name = from;
  change.child = child;
  change.target = target;
  change.new_name = to;
  record(std::move(change));
  if (replaced != 0) drop_link(replaced);
  return 0;
}

int Image::exchange(NodeId directory, std::string_view name, NodeId target, std::string_view to) {
  const Names& names = nodes.at(directory).visible.names;
  const Names& others = nodes.at(target).visible.names;
  const auto found = names.find(name);
  const auto taken = others.find(to);
  if (found == names.end() || taken == others.end()) return ENOENT;
  if (read_only) return EROFS;
  Change change;
  change.kind = ChangeKind::kExchange;
  change.node = directory;
  change.name = name;
  change.child = found->second;
  change.target = target;
  change.new_name = to;
  change.other = taken->second;
  record(std::move(change));
  return 0;
}

void Image::drop_link(NodeId node) { --nodes.at(node).link_count; }

void Image::sync_data(NodeId file) {
  std::erase_if(pending, [&](const Change& change) {
    if (!change.is_data() || change.node != file) return false;
    apply(nodes, change, true);
    return true;
  });
}

// A changed size is metadata, which a device error on the data does not undo.
void Image::lose_unsynced_writes(NodeId file) {
  std::erase_if(pending, [&](const Change& change) {
    return change.kind == ChangeKind::kWrite && change.node == file;
  });
}

// Keeps everything pending in `directory`; and in each directory that a move connects with it,
// everything before the move: a journal keeps the order.
void Image::sync_directory(NodeId directory) {
  std::map<NodeId, uint64_t> kept_until;  // directory -> highest sequence that is kept
  kept_until[directory] = std::numeric_limits<uint64_t>::max();
  const auto is_kept = [&](const Change& change) {
    return !change.is_data() &&
           std::any_of(kept_until.begin(), kept_until.end(), [&](const auto& limit) {
             return concerns(change, limit.first) && change.sequence <= limit.second;
           });
  };
  for (bool grew = true; grew;) {
    grew = false;
    for (const Change& change : pending) {
      if (!change.moves() || !is_kept(change)) continue;
      for (const NodeId side : {change.node, change.target}) {
        uint64_t& limit = kept_until[side];
        if (limit >= change.sequence) continue;
        limit = change.sequence;
        grew = true;
      }
    }
  }
  std::erase_if(pending, [&](const Change& change) {
    if (!is_kept(change)) return false;
    apply(nodes, change, true);
    return true;
  });
  collect_garbage();
}

uint64_t Image::free_bytes() const {
  if (!capacity_bytes) return kUnlimitedBytes;
  uint64_t used = 0;
  for (const auto& [id, node] : nodes) {
    if (node.link_count > 0 || node.open_count > 0) used += node.visible.bytes.size();
  }
  return used >= *capacity_bytes ? 0 : *capacity_bytes - used;
}

std::vector<const Change*> Image::relevant_changes() const {
  std::set<NodeId> named;
  add_durable_tree(nodes, kRoot, named);
  for (const Change& change : pending) {
    if (change.kind == ChangeKind::kLink || change.moves()) {
      add_durable_tree(nodes, change.child, named);
    }
  }
  std::vector<const Change*> changes;
  for (const Change& change : pending) {
    if (named.contains(change.node)) changes.push_back(&change);
  }
  return changes;
}

std::string Image::path_of(NodeId node) const {
  if (node == kRoot) return "/";
  for (const auto& [id, parent] : nodes) {
    for (const auto& [name, child] : parent.visible.names) {
      if (child != node) continue;
      std::string above = path_of(id);
      if (above == "?") return above;
      return above == "/" ? "/" + name : above + "/" + name;
    }
  }
  return "?";
}

void Image::forget_handles() {
  for (auto& [id, node] : nodes) {
    node.open_count = 0;
    node.lock_handle = 0;
    node.lock_process = 0;
    node.waiting.clear();
  }
}

// A copy without handles and what is only visible: crash states are made by the thousand.
Image Image::durable_part() const {
  Image part;
  for (const auto& [id, node] : nodes) {
    Node copy;
    copy.kind = node.kind;
    copy.permissions = node.permissions;
    copy.modified_ms = node.modified_ms;
    copy.durable = node.durable;
    part.nodes.insert_or_assign(id, std::move(copy));
  }
  part.next_node = next_node;
  part.next_sequence = next_sequence;
  part.capacity_bytes = capacity_bytes;
  part.read_only = read_only;
  part.now_ms = now_ms;
  return part;
}

Image Image::after_crash(const CrashPlan& plan) const {
  Image state = durable_part();
  const std::vector<const Change*> changes = relevant_changes();
  std::set<size_t> kept(plan.kept.begin(), plan.kept.end());
  for (const size_t index : kept) {
    if (index >= changes.size()) continue;
    Change change = *changes[index];
    if (plan.tear != Tear::kNone && index == plan.torn && change.kind == ChangeKind::kWrite) {
      change.bytes = torn(change.bytes, plan);
      if (change.bytes.empty()) continue;
    }
    apply(state.nodes, change, true);
  }
  state.boot_count = boot_count + 1;
  std::set<NodeId> named;
  add_durable_tree(state.nodes, kRoot, named);
  std::erase_if(state.nodes, [&](const auto& item) { return !named.contains(item.first); });
  for (auto& [id, node] : state.nodes) {
    node.visible = node.durable;
    node.link_count = id == kRoot ? 1 : 0;
  }
  for (const auto& [id, node] : state.nodes) {
    for (const auto& [name, child] : node.durable.names) ++state.nodes.at(child).link_count;
  }
  return state;
}

Image Image::after_kill() const {
  Image state = *this;
  state.forget_handles();
  state.collect_garbage();
  return state;
}

std::string Image::signature() const {
  std::string text;
  std::vector<std::pair<std::string, NodeId>> stack{{"", kRoot}};
  while (!stack.empty()) {
    const auto [path, id] = std::move(stack.back());
    stack.pop_back();
    const Node& node = nodes.at(id);
    text += path + '\0' + std::to_string(static_cast<int>(node.kind)) + ' ' +
            std::to_string(node.visible.bytes.size()) + '\0' + node.visible.bytes;
    for (const auto& [name, child] : node.visible.names) {
      stack.emplace_back(path + "/" + name, child);
    }
  }
  return text;
}

void Image::collect_garbage() {
  if (nodes.size() <= needed_node_count_ + needed_node_count_ / 4) return;
  std::set<NodeId> needed;
  add_tree(nodes, kRoot, needed);
  for (const auto& [id, node] : nodes) {
    if (node.open_count > 0) add_tree(nodes, id, needed);
  }
  for (const Change& change : pending) {
    if (change.is_data()) continue;
    for (const NodeId id : {change.node, change.child, change.target, change.other}) {
      if (id != 0) add_tree(nodes, id, needed);
    }
  }
  std::erase_if(nodes, [&](const auto& item) { return !needed.contains(item.first); });
  std::erase_if(pending, [&](const Change& change) { return !nodes.contains(change.node); });
  needed_node_count_ = nodes.size();
}

Fault Disk::start(const Process& process, OperationKind kind, const std::string& path,
                  const std::string& detail) {
  OperationInfo operation;
  operation.kind = kind;
  operation.path = path;
  operation.name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  operation.process_id = process.id;
  std::shared_ptr<const FaultHook> asked;
  {
    const std::lock_guard<std::mutex> guard(mutex);
    if (process.killed) return {ESRCH, std::nullopt};
    operation.ordinal = ++operation_count;
    trace.push_back(std::to_string(operation.ordinal) + " " + operation_name(kind) + " " + path +
                    (detail.empty() ? "" : " " + detail));
    asked = hook;
  }
  if (!asked) return {};
  return (*asked)(operation).value_or(Fault{});
}

}  // namespace varve::io::simulated
