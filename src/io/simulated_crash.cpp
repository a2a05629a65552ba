// Power losses: which states they can leave, and the disk after one.
#include <algorithm>
#include <random>
#include <unordered_set>
#include <utility>

#include "io/simulated.h"
#include "io/simulated_disk.h"

namespace varve::io {
namespace {

using simulated::Change;
using simulated::ChangeKind;
using simulated::Image;

constexpr size_t kAllSubsetsUpTo = 6;         // pending changes: 64 subsets
constexpr size_t kMaxFruitlessSubsets = 100;  // random ones in a row without a new state
using Subset = std::vector<size_t>;

OperationKind kind_of(const Image& image, const Change& change) {
  switch (change.kind) {
    case ChangeKind::kWrite: return OperationKind::kWriteAt;
    case ChangeKind::kResize: return OperationKind::kTruncate;
    case ChangeKind::kUnlink: return OperationKind::kRemove;
    case ChangeKind::kRename:
      return change.node == change.target ? OperationKind::kRename : OperationKind::kMove;
    case ChangeKind::kExchange: return OperationKind::kMove;
    case ChangeKind::kLink: break;
  }
  const bool is_directory = image.nodes.at(change.child).kind == FileKind::kDirectory;
  return is_directory ? OperationKind::kMakeDirectory : OperationKind::kOpen;
}

PendingChange public_change(const Image& image, const Change& change) {
  PendingChange shown;
  shown.kind = kind_of(image, change);
  shown.path = image.path_of(change.node);
  shown.name = change.name;
  shown.target = change.new_name;
  shown.offset = change.offset;
  shown.size_bytes = change.bytes.size();
  return shown;
}

Subset first(size_t count) {
  Subset subset(count);
  for (size_t i = 0; i < count; ++i) subset[i] = i;
  return subset;
}

std::vector<Subset> all_subsets(size_t count) {
  std::vector<Subset> subsets;
  for (size_t bits = 0; bits < (size_t{1} << count); ++bits) {
    Subset subset;
    for (size_t i = 0; i < count; ++i) {
      if (((bits >> i) & 1U) != 0) subset.push_back(i);
    }
    subsets.push_back(std::move(subset));
  }
  return subsets;
}

std::vector<Subset> regular_subsets(size_t count) {
  std::vector<Subset> subsets;
  for (size_t length = 0; length <= count; ++length) subsets.push_back(first(length));
  for (size_t i = 0; i < count; ++i) {
    Subset without = first(count);
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    subsets.push_back(std::move(without));
    subsets.push_back({i});
  }
  return subsets;
}

// Visits the possible states, each only once.
class CrashWalk {
 public:
  using Emit = std::function<void(Image, const CrashPlan&)>;

  CrashWalk(const Image& image, size_t limit, uint64_t seed, Emit emit)
      : image_(image), limit_(limit), random_(seed), emit_(std::move(emit)) {
    for (const Change* change : image.relevant_changes()) {
      write_bytes_.push_back(change->kind == ChangeKind::kWrite ? change->bytes.size() : 0);
    }
  }

  size_t run() {
    const size_t count = write_bytes_.size();
    const bool is_small = count <= kAllSubsetsUpTo;
    for (const Subset& subset : is_small ? all_subsets(count) : regular_subsets(count)) {
      visit(subset, !is_small);
    }
    if (is_small) return visited_;
    size_t fruitless = 0;
    while (visited_ < limit_ && fruitless < kMaxFruitlessSubsets) {
      const size_t before = visited_;
      Subset subset;
      for (size_t i = 0; i < count; ++i) {
        if ((random_() & 1U) != 0) subset.push_back(i);
      }
      visit(subset, true);
      fruitless = visited_ == before ? fruitless + 1 : 0;
    }
    return visited_;
  }

 private:
  void visit(const Subset& subset, bool tear_random_one) {
    CrashPlan plan;
    plan.kept = subset;
    emit_once(plan);
    Subset writes;
    for (const size_t index : subset) {
      if (write_bytes_[index] > 0) writes.push_back(index);
    }
    if (writes.empty()) return;
    tear_in_all_ways(plan, writes.back());
    if (tear_random_one && writes.size() > 1) {
      tear_in_all_ways(plan, writes[random_() % (writes.size() - 1)]);
    }
  }

  void tear_in_all_ways(CrashPlan plan, size_t torn) {
    const size_t bytes = write_bytes_[torn];
    plan.torn = torn;
    plan.garbage_seed = random_();
    const std::pair<Tear, size_t> ways[] = {{Tear::kCut, 1},
                                            {Tear::kCut, bytes / 2},
                                            {Tear::kCut, bytes - 1},
                                            {Tear::kZeros, 0},
                                            {Tear::kGarbage, 0},
                                            {Tear::kZeroTail, bytes / 2},
                                            {Tear::kZeroTail, bytes - 1},
                                            {Tear::kZeroHead, (bytes + 1) / 2}};
    for (const auto& [tear, at] : ways) {
      plan.tear = tear;
      plan.tear_at = at;
      emit_once(plan);
    }
  }

  void emit_once(const CrashPlan& plan) {
    if (visited_ >= limit_) return;
    Image state = image_.after_crash(plan);
    if (!seen_.insert(std::hash<std::string>()(state.signature())).second) return;
    ++visited_;
    emit_(std::move(state), plan);
  }

  const Image& image_;
  const size_t limit_;
  std::mt19937_64 random_;
  const Emit emit_;
  std::vector<size_t> write_bytes_;  // of each pending change; 0 if it is not a write
  std::unordered_set<size_t> seen_;
  size_t visited_ = 0;
};

std::string tear_text(const CrashPlan& plan) {
  const std::string at = std::to_string(plan.tear_at);
  switch (plan.tear) {
    case Tear::kNone: return "whole";
    case Tear::kCut: return "cut at " + at;
    case Tear::kZeros: return "zeros";
    case Tear::kGarbage: return "garbage";
    case Tear::kZeroTail: return "zeros from " + at;
    case Tear::kZeroHead: return "zeros before " + at;
  }
  return "?";
}

}  // namespace

std::vector<PendingChange> SimulatedFileSystem::pending() const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  std::vector<PendingChange> changes;
  for (const Change* change : disk_->image.relevant_changes()) {
    changes.push_back(public_change(disk_->image, *change));
  }
  return changes;
}

CrashPlan SimulatedFileSystem::keep_all() const {
  CrashPlan plan;
  plan.kept = first(pending().size());
  return plan;
}

std::unique_ptr<SimulatedFileSystem> SimulatedFileSystem::crash(const CrashPlan& plan) const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  return on_image(disk_->image.after_crash(plan), process_->id);
}

std::unique_ptr<SimulatedFileSystem> SimulatedFileSystem::copy() const {
  const std::lock_guard<std::mutex> guard(disk_->mutex);
  return on_image(disk_->image.after_kill(), process_->id);
}

size_t SimulatedFileSystem::for_each_crash_state(const Visit& visit, size_t limit,
                                                 uint64_t seed) const {
  Image image;
  {
    const std::lock_guard<std::mutex> guard(disk_->mutex);
    image = disk_->image;  // `visit` may work on this file system too
  }
  const int64_t id = process_->id;
  CrashWalk walk(image, limit, seed, [&](Image state, const CrashPlan& plan) {
    visit(on_image(std::move(state), id), plan);
  });
  return walk.run();
}

std::string SimulatedFileSystem::describe(const CrashPlan& plan) const {
  const std::vector<PendingChange> changes = pending();
  std::string text;
  for (size_t i = 0; i < changes.size(); ++i) {
    const PendingChange& change = changes[i];
    const bool kept = std::find(plan.kept.begin(), plan.kept.end(), i) != plan.kept.end();
    text += kept ? "kept " : "lost ";
    text += std::string(operation_name(change.kind)) + " " + change.path;
    if (!change.name.empty()) text += " " + change.name;
    if (!change.target.empty()) text += " to " + change.target;
    if (change.kind == OperationKind::kWriteAt) {
      text +=
          " " + std::to_string(change.size_bytes) + " bytes at " + std::to_string(change.offset);
    } else if (change.kind == OperationKind::kTruncate) {
      text += " to " + std::to_string(change.offset);
    }
    if (kept && plan.tear != Tear::kNone && plan.torn == i) text += " (" + tear_text(plan) + ")";
    text += "\n";
  }
  return text;
}

}  // namespace varve::io
