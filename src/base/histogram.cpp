#include "base/histogram.h"

#include <algorithm>
#include <cmath>

namespace varve {

void Histogram::record(uint64_t value) noexcept {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  uint64_t max = max_.load(std::memory_order_relaxed);
  while (value > max && !max_.compare_exchange_weak(max, value, std::memory_order_relaxed)) {
  }
}

Histogram::Snapshot Histogram::snapshot() const {
  Snapshot snapshot;
  snapshot.bounds = bounds_;
  for (size_t i = 0; i <= bounds_.size(); ++i) {
    snapshot.counts.push_back(counts_[i].load(std::memory_order_relaxed));
    snapshot.count += snapshot.counts.back();
  }
  snapshot.sum = sum_.load(std::memory_order_relaxed);
  snapshot.max = max_.load(std::memory_order_relaxed);
  return snapshot;
}

uint64_t Histogram::Snapshot::quantile(double fraction) const {
  if (count == 0) return 0;
  const double wanted = std::ceil(fraction * static_cast<double>(count));
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, count);
  uint64_t below = 0;
  for (size_t i = 0; i < bounds.size(); ++i) {
    below += counts[i];
    if (below >= rank) return std::min(bounds[i], max);
  }
  return max;
}

}  // namespace varve
