// Ring: the last items up to a capacity, oldest first; a new item replaces the oldest.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace varve::memory {

template <typename T>
class Ring {
 public:
  explicit Ring(size_t capacity) : capacity_(capacity) {}  // at least 1

  // Cost: O(1), amortised while it fills. After a failed allocation nothing has changed.
  void push(T item) {
    if (items_.size() < capacity_) {
      items_.push_back(std::move(item));
      return;
    }
    items_[oldest_] = std::move(item);
    oldest_ = (oldest_ + 1) % capacity_;
  }
  void clear() noexcept {
    items_.clear();
    oldest_ = 0;
  }
  [[nodiscard]] size_t size() const noexcept { return items_.size(); }
  // 0 is the oldest.
  [[nodiscard]] const T& operator[](size_t age_rank) const noexcept {
    return items_[(oldest_ + age_rank) % items_.size()];
  }

 private:
  size_t capacity_;
  size_t oldest_ = 0;  // where the oldest is, once the ring is full
  std::vector<T> items_;
};

}  // namespace varve::memory
