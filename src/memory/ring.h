// Ring: the last so many items, oldest first; a new one takes the place of the oldest.
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

  // Cost: O(1), amortised while it fills. When there is no memory, nothing changes.
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
  size_t oldest_ = 0;  // place of the oldest, once it is full
  std::vector<T> items_;
};

}  // namespace varve::memory
