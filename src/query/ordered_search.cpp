#include "query/ordered_search.h"

#include <algorithm>
#include <queue>
#include <vector>

#include "index/partition_point.h"

namespace varve::query {

namespace {

struct Node {
  double bound = 0;      // of the keys under it: the largest, in ascending order the least
  int64_t first_ms = 0;  // the newest time under it, in ascending order the oldest
  uint32_t type = 0;
  uint32_t level = 0;
  uint32_t number = 0;
};

// Larger bound first, then newer, or the reverse: so that of many equal keys those are found first
// that come first.
struct IsLater {
  bool ascending;
  bool operator()(const Node& a, const Node& b) const {
    if (a.bound != b.bound) return ascending ? a.bound > b.bound : a.bound < b.bound;
    return ascending ? a.first_ms > b.first_ms : a.first_ms < b.first_ms;
  }
};

class OrderedSearch {
 public:
  OrderedSearch(const index::Index& index, RowFilter& filter, const OrderKey& key, double key_min,
                uint64_t fruitless_max, TopK* best)
      : index_(index),
        filter_(filter),
        key_(key),
        key_min_(key_min),
        fruitless_max_(fruitless_max),
        best_(best),
        nodes_(IsLater{best->is_ascending()}) {}

  // False when it gave up.
  bool run() {
    const size_t type_count = index_.type_names().size();
    for (size_t type = 0; type < type_count && !has_given_up(); ++type) {
      ++fruitless_;
      push_type(static_cast<uint32_t>(type));
    }
    while (!nodes_.empty() && !has_given_up()) {
      const Node node = nodes_.top();
      nodes_.pop();
      if (is_hopeless(node)) break;
      open(node);
    }
    return !has_given_up();
  }

 private:
  // Nothing under another node comes before this bound, nor, with this very key, before this time.
  [[nodiscard]] bool is_hopeless(const Node& node) const {
    if (best_->is_beyond(node.bound)) return true;
    if (!best_->is_full() || node.bound != best_->threshold().key) return false;
    const int64_t threshold_ms = best_->threshold().timestamp_ms;
    return best_->is_ascending() ? node.first_ms > threshold_ms : node.first_ms < threshold_ms;
  }

  [[nodiscard]] bool has_given_up() const { return fruitless_ > fruitless_max_; }

  void push_type(uint32_t type) {
    const index::TimeOrder& order = index_.time_order(type);
    if (order.size() == 0 || !filter_.accepts_type(type)) return;
    push(type, order.level_count() - 1, 0);
  }

  void push(uint32_t type, uint32_t level, uint32_t number) {
    const index::TimeOrder& order = index_.time_order(type);
    const auto extent = order.extent(level, number);
    const int64_t oldest_ms = index_.timestamp_ms(order.row(extent.begin));
    const int64_t newest_ms = index_.timestamp_ms(order.row(extent.end - 1));
    if (newest_ms < filter_.start_ms() || oldest_ms >= filter_.end_ms()) return;
    const double largest = key_.bound(type, order.importance_max(level, number), newest_ms);
    if (with_slack(largest) < key_min_) return;
    const bool ascending = best_->is_ascending();
    const bool needs_least = ascending || best_->is_next_page();
    const double least =
        needs_least ? key_.bound(type, order.importance_min(level, number), oldest_ms) : largest;
    if (best_->is_before_page(least, largest)) return;
    nodes_.push(
        {ascending ? least : largest, ascending ? oldest_ms : newest_ms, type, level, number});
  }

  void open(const Node& node) {
    const index::TimeOrder& order = index_.time_order(node.type);
    if (node.level > 0) {
      const uint32_t first = node.number * index::TimeOrder::kFanout;
      const uint32_t end =
          std::min(first + index::TimeOrder::kFanout, order.node_count(node.level - 1));
      for (uint32_t child = first; child < end; ++child) push(node.type, node.level - 1, child);
      return;
    }
    const auto extent = order.extent(0, node.number);
    for (uint32_t position = extent.end; position > extent.begin; --position) {
      const uint32_t row = order.row(position - 1);
      const double key = key_.of(row);
      if (key < key_min_ || best_->is_beyond(key) || !filter_.accepts(row)) {
        ++fruitless_;
        continue;
      }
      best_->offer({key, index_.timestamp_ms(row), row});
    }
  }

  const index::Index& index_;
  RowFilter& filter_;
  const OrderKey& key_;
  double key_min_;
  uint64_t fruitless_max_;
  uint64_t fruitless_ = 0;  // types and rows, of which none was offered
  TopK* best_;
  std::priority_queue<Node, std::vector<Node>, IsLater> nodes_;
};

// The next row of a type.
struct NextRow {
  int64_t timestamp_ms = 0;
  uint32_t row = 0;
  uint32_t type = 0;
  uint32_t position = 0;  // in the order of the type

  // For a heap with the oldest in front.
  friend bool operator<(const NextRow& a, const NextRow& b) {
    if (a.timestamp_ms != b.timestamp_ms) return a.timestamp_ms > b.timestamp_ms;
    return a.row > b.row;
  }
};

class OldestFirst {
 public:
  OldestFirst(const index::Index& index, RowFilter& filter, uint64_t fruitless_max, TopK* best)
      : index_(index), filter_(filter), fruitless_max_(fruitless_max), best_(best) {}

  // False when it gave up.
  bool run() {
    const size_t type_count = index_.type_names().size();
    for (uint32_t type = 0; type < type_count && !has_given_up(); ++type) {
      ++fruitless_;
      if (filter_.accepts_type(type)) push(type, first_on_page(index_.time_order(type)));
    }
    while (!next_.empty() && !best_->is_full() && !has_given_up()) {
      const NextRow next = next_.top();
      next_.pop();
      push(next.type, next.position + 1);
      if (filter_.accepts(next.row)) {
        best_->offer(place_of(next.row));
      } else {
        ++fruitless_;
      }
    }
    return !has_given_up();
  }

 private:
  [[nodiscard]] bool has_given_up() const { return fruitless_ > fruitless_max_; }

  [[nodiscard]] PlaceInOrder place_of(uint32_t row) const {
    const int64_t timestamp_ms = index_.timestamp_ms(row);
    return {static_cast<double>(timestamp_ms), timestamp_ms, row};
  }

  // Before it, rows are too old or on the pages before.
  [[nodiscard]] uint32_t first_on_page(const index::TimeOrder& order) const {
    return index::partition_point(0, order.size(), [&](uint32_t position) {
      const PlaceInOrder place = place_of(order.row(position));
      return place.timestamp_ms < filter_.start_ms() || !best_->is_on_page(place);
    });
  }

  void push(uint32_t type, uint32_t position) {
    const index::TimeOrder& order = index_.time_order(type);
    if (position >= order.size()) return;
    const uint32_t row = order.row(position);
    const int64_t timestamp_ms = index_.timestamp_ms(row);
    if (timestamp_ms < filter_.end_ms()) next_.push({timestamp_ms, row, type, position});
  }

  const index::Index& index_;
  RowFilter& filter_;
  uint64_t fruitless_max_;
  uint64_t fruitless_ = 0;  // types and rows, of which none was offered
  TopK* best_;
  std::priority_queue<NextRow> next_;
};

}  // namespace

bool search_in_order(const index::Index& index, RowFilter& filter, const OrderKey& key,
                     double key_min, uint64_t fruitless_max, TopK* best) {
  return OrderedSearch(index, filter, key, key_min, fruitless_max, best).run();
}

bool search_oldest_first(const index::Index& index, RowFilter& filter, uint64_t fruitless_max,
                         TopK* best) {
  return OldestFirst(index, filter, fruitless_max, best).run();
}

}  // namespace varve::query
