#include "index/time_order.h"

#include <algorithm>
#include <utility>

namespace varve::index {

void TimeOrder::add(std::span<const uint32_t> rows, const Columns& columns) {
  if (rows.empty()) return;
  const auto is_before = [&](uint32_t a, uint32_t b) {
    return std::pair(columns.timestamps_ms[a], a) < std::pair(columns.timestamps_ms[b], b);
  };
  const auto old_size = static_cast<std::ptrdiff_t>(rows_.size());
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  const auto added = rows_.begin() + old_size;
  // A log is nearly always in its order.
  if (!std::is_sorted(added, rows_.end(), is_before)) std::sort(added, rows_.end(), is_before);
  // Where the first of them belongs; usually at the end.
  const auto first = std::upper_bound(rows_.begin(), added, *added, is_before);
  if (first != added) std::inplace_merge(first, added, rows_.end(), is_before);
  rebuild_levels(static_cast<uint32_t>(first - rows_.begin()), columns);
}

// `below`: how many rows or nodes the level below has.
TimeOrder::Importances TimeOrder::of_node(uint32_t level, uint32_t node, uint32_t below,
                                          const Columns& columns) const {
  const auto at = [&](uint32_t i) {
    if (level > 0) return levels_[level - 1][i];
    const double importance = columns.importances[rows_[i]];
    return Importances{importance, importance};
  };
  Importances all = at(node * kFanout);
  const uint32_t end = std::min((node + 1) * kFanout, below);
  for (uint32_t i = node * kFanout + 1; i < end; ++i) {
    const Importances one = at(i);
    all = {std::max(all.largest, one.largest), std::min(all.least, one.least)};
  }
  return all;
}

void TimeOrder::rebuild_levels(uint32_t from, const Columns& columns) {
  uint32_t below = size();
  for (uint32_t level = 0; level == 0 || below > 1; ++level) {
    if (level == levels_.size()) levels_.emplace_back();
    std::vector<Importances>& nodes = levels_[level];
    from /= kFanout;
    nodes.resize((below + kFanout - 1) / kFanout);
    for (uint32_t node = from; node < nodes.size(); ++node) {
      nodes[node] = of_node(level, node, below, columns);
    }
    below = static_cast<uint32_t>(nodes.size());
  }
}

TimeOrder::Extent TimeOrder::extent(uint32_t level, uint32_t node) const {
  uint64_t width = kFanout;
  for (uint32_t i = 0; i < level; ++i) width *= kFanout;
  const uint64_t begin = node * width;
  return {static_cast<uint32_t>(begin),
          static_cast<uint32_t>(std::min<uint64_t>(begin + width, size()))};
}

uint64_t TimeOrder::memory_bytes() const {
  uint64_t bytes = rows_.capacity() * sizeof(uint32_t);
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Importances);
  return bytes;
}

}  // namespace varve::index
