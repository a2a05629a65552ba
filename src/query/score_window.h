// ScoreWindow: the scores of a stretch of rows, added up word by word.
//
// What is touched is marked, so that giving it out and emptying it costs what is in it, not what
// could be. Small enough to stay near the processor.
//
// source: the windows of Lucene's BooleanScorer and MaxScoreBulkScorer.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace varve::query {

class ScoreWindow {
 public:
  static constexpr uint32_t kRows = 4096;

  // The rows from `first_row` on. Only when empty.
  void start(uint32_t first_row) { first_row_ = first_row; }

  // `row` is in the window.
  void add(uint32_t row, double part) {
    const uint32_t at = row - first_row_;
    const uint64_t mark = uint64_t{1} << at % kMarkBits;
    uint64_t& marks = marks_[at / kMarkBits];
    scores_[at] = (marks & mark) != 0 ? scores_[at] + part : part;
    marks |= mark;
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

 private:
  static constexpr size_t kMarkBits = 64;

  std::array<double, kRows> scores_;  // what is not marked has no value
  std::array<uint64_t, kRows / kMarkBits> marks_{};
  uint32_t first_row_ = 0;
};

}  // namespace varve::query
