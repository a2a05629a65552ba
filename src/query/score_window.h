// ScoreWindow: the scores of a window of rows, added up word by word.
//
// What is touched is marked, so that giving it out and emptying it costs what is in it, not what
// could be. Where only rows with a least score are wanted, those that reach it are noted while
// they do: most are not looked at again. Small enough to stay near the processor, and for the
// stack: 42 KB.
//
// source: the windows of Lucene's BooleanScorer and MaxScoreBulkScorer.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace varve::query {

class ScoreWindow {
 public:
  static constexpr uint32_t kRows = 4096;

  // The rows from `first_row` on, to be given out by take(); with a floor above 0, by
  // take_reached(). Only when empty.
  void start(uint32_t first_row, double floor = std::numeric_limits<double>::infinity()) {
    first_row_ = first_row;
    floor_ = floor;
  }

  // Whether something was added to the row, which is in the window.
  [[nodiscard]] bool has(uint32_t row) const { return is_marked(row - first_row_); }

  // Calls `visit(i)` for each of these rows of the window, `rows[i]`, that something was added to.
  template <typename Visit>
  void for_each_touched(std::span<const uint32_t> rows, Visit visit) const {
    const uint32_t first_row = first_row_;  // of its own, so that it stays in a register
    for (size_t i = 0; i < rows.size(); ++i) {
      if (is_marked(rows[i] - first_row)) visit(i);
    }
  }

  // `row` is in the window, `part` not below 0. Without branches, which nothing could foretell.
  void add(uint32_t row, double part) {
    const uint32_t at = row - first_row_;
    const uint64_t mark = uint64_t{1} << at % kMarkBits;
    uint64_t& marks = marks_[at / kMarkBits];
    const double before = (marks & mark) != 0 ? scores_[at] : 0;
    const double after = before + part;
    scores_[at] = after;
    marks |= mark;
    reached_[reached_count_] = static_cast<uint16_t>(at);  // over again, if it did not
    reached_count_ +=
        static_cast<uint32_t>(before < floor_) & static_cast<uint32_t>(after >= floor_);
  }

  // Calls `visit(row, score)` with each row that something was added to, in rising order, and is
  // empty then.
  template <typename Visit>
  void take(Visit visit) {
    for (size_t i = 0; i < marks_.size(); ++i) {
      for (uint64_t left = marks_[i]; left != 0; left &= left - 1) {
        const size_t at = i * kMarkBits + static_cast<size_t>(std::countr_zero(left));
        visit(first_row_ + static_cast<uint32_t>(at), scores_[at]);
      }
      marks_[i] = 0;
    }
  }

  // The same with each row whose score is not below the floor.
  template <typename Visit>
  void take_reached(Visit visit) {
    const auto end = reached_.begin() + reached_count_;
    std::sort(reached_.begin(), end);
    for (auto at = reached_.begin(); at != end; ++at) visit(first_row_ + *at, scores_[*at]);
    marks_.fill(0);
    reached_count_ = 0;
  }

 private:
  static constexpr size_t kMarkBits = 64;

  [[nodiscard]] bool is_marked(uint32_t at) const {
    return (marks_[at / kMarkBits] >> at % kMarkBits & 1) != 0;
  }

  std::array<double, kRows> scores_;  // what is not marked has no value
  std::array<uint64_t, kRows / kMarkBits> marks_{};
  std::array<uint16_t, kRows + 1> reached_;  // each once, and room for the next
  uint32_t reached_count_ = 0;
  uint32_t first_row_ = 0;
  double floor_ = 0;
};

}  // namespace varve::query
