// TopK: the best so many rows of those offered, in the one order all answers have: larger key
// first, then later time, then later in the log. Ascending order is exactly the reverse.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace varve::query {

// Where a row stands in the order.
struct PlaceInOrder {
  double key = 0;
  int64_t timestamp_ms = 0;
  uint32_t row = 0;
};

// Whether `a` comes before `b` in descending order.
[[nodiscard]] inline bool comes_before(const PlaceInOrder& a, const PlaceInOrder& b) {
  if (a.key != b.key) return a.key > b.key;
  if (a.timestamp_ms != b.timestamp_ms) return a.timestamp_ms > b.timestamp_ms;
  return a.row > b.row;
}

// A computed bound may be below what it bounds by its last digits: this is surely not.
[[nodiscard]] inline double with_slack(double bound) { return bound + std::abs(bound) * 1e-9; }

// The same for a lower bound.
[[nodiscard]] inline double without_slack(double floor) { return floor - std::abs(floor) * 1e-9; }

class TopK {
 public:
  // `after`: only what comes after this place counts.
  TopK(uint64_t count, bool ascending, std::optional<PlaceInOrder> after)
      : count_(count), ascending_(ascending), after_(after) {}

  // Whether a place comes after what is on the pages before.
  [[nodiscard]] bool is_on_page(const PlaceInOrder& place) const {
    return !after_ || precedes(*after_, place);
  }

  void offer(const PlaceInOrder& place) {
    if (count_ == 0 || !is_on_page(place)) return;
    if (!is_full()) {
      if (heap_.empty()) heap_.reserve(std::min(count_, kRoomAtFirst));
      heap_.push_back(place);
      std::push_heap(heap_.begin(), heap_.end(), IsFirst{ascending_});
    } else if (precedes(place, heap_.front())) {
      replace_last(place);
    }
  }

  // Offers all of these: cheaper than one by one. Only when nothing was offered before.
  void fill(std::vector<PlaceInOrder> places) {
    if (after_)
      std::erase_if(places, [&](const PlaceInOrder& one) { return !precedes(*after_, one); });
    if (places.size() > count_) {
      const auto end = places.begin() + static_cast<ptrdiff_t>(count_);
      std::nth_element(places.begin(), end, places.end(), IsFirst{ascending_});
      places.resize(count_);
    }
    heap_ = std::move(places);
    std::make_heap(heap_.begin(), heap_.end(), IsFirst{ascending_});
  }

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] bool is_ascending() const { return ascending_; }
  // Whether rows before some place do not count.
  [[nodiscard]] bool is_next_page() const { return after_.has_value(); }
  [[nodiscard]] bool is_full() const { return heap_.size() >= count_; }
  // The last of the best so far: what a row must come before to matter. Only when is_full() and
  // count is not 0.
  [[nodiscard]] const PlaceInOrder& threshold() const { return heap_.front(); }
  // No row with a key (descending) below it is one of them: cheaper than to find that out by
  // offering it. Rises with what is offered.
  [[nodiscard]] double floor() const {
    if (count_ == 0) return kInfinity;
    return is_full() ? std::max(floor_, heap_.front().key) : floor_;
  }
  // Rows with smaller keys do not count: others are known to come before them. To know that of as
  // many rows of the own as are wanted takes that none is before a page.
  void raise_floor(double key) { floor_ = std::max(floor_, key); }
  [[nodiscard]] bool has_floor() const { return floor() > -kInfinity; }
  // Whether nothing with a key up to `bound`, in ascending order from it on, can matter any more.
  [[nodiscard]] bool is_beyond(double bound) const {
    if (!ascending_) return with_slack(bound) < floor();
    return is_full() && (count_ == 0 || without_slack(bound) > heap_.front().key);
  }

  // Whether everything with a key from `least` to `largest` is on a page before.
  [[nodiscard]] bool is_before_page(double least, double largest) const {
    if (!after_) return false;
    return ascending_ ? with_slack(largest) < after_->key : without_slack(least) > after_->key;
  }

  // Leave nothing behind; take() gives them in order.
  std::vector<PlaceInOrder> take_unsorted() { return std::move(heap_); }
  std::vector<PlaceInOrder> take() {
    std::sort(heap_.begin(), heap_.end(), IsFirst{ascending_});
    return std::move(heap_);
  }

 private:
  static constexpr uint64_t kRoomAtFirst = 16;  // for places, if so many are wanted
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  struct IsFirst {
    bool ascending;
    bool operator()(const PlaceInOrder& a, const PlaceInOrder& b) const {
      return ascending ? comes_before(b, a) : comes_before(a, b);
    }
  };
  [[nodiscard]] bool precedes(const PlaceInOrder& a, const PlaceInOrder& b) const {
    return IsFirst{ascending_}(a, b);
  }

  // The place in front goes, and this one is put where it belongs: half of what taking one out of
  // the heap and putting one into it costs.
  void replace_last(const PlaceInOrder& place) {
    size_t hole = 0;
    for (size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
      const bool has_two = child + 1 < heap_.size();
      if (has_two && precedes(heap_[child], heap_[child + 1])) ++child;
      if (!precedes(place, heap_[child])) break;
      heap_[hole] = heap_[child];
      hole = child;
    }
    heap_[hole] = place;
  }

  uint64_t count_;
  bool ascending_;
  double floor_ = -kInfinity;
  std::optional<PlaceInOrder> after_;
  std::vector<PlaceInOrder> heap_;  // the last of the order in front
};

}  // namespace varve::query
