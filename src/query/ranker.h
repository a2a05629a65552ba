// Ranker: rows by how well they match the words of a query, the best ones without looking at all.
//
// Early stopping is that of MaxScore, a list at a time: rare words first, whose entries fill the
// best; what the lists behind can give at most, and the blocks of the one being walked, decides
// what is looked at. Where a filter leaves few rows, those are walked instead. Where so many rows
// are wanted that little could be left out, all lists are added up: a posting costs less there than
// a look into a list.
//
// source: Turtle and Flood, Query Evaluation: Strategies and Optimizations (IPM 1995); the bounds
// of blocks are those of Ding and Suel, Faster Top-k Document Retrieval Using Block-Max Indexes
// (SIGIR 2011).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "index/index.h"
#include "query/bm25.h"
#include "query/row_filter.h"
#include "query/statistics.h"
#include "query/text_plan.h"
#include "query/top_k.h"

namespace varve::query {

class LengthLimits;
class ScoreWindow;

class Ranker {
 public:
  // Rows are the first `row_end`; statistics are theirs, unless those of several sessions are
  // given. Borrows the index and the plan.
  Ranker(const index::Index& index, const TextPlan& plan, uint32_t row_end,
         const TextStatistics* shared = nullptr);

  // Of these rows alone.
  [[nodiscard]] TextStatistics statistics() const;

  // The BM25 of a row; 0 for one with none of the words. Cheap in rising order.
  double score(uint32_t row);
  // The same of many rows, rising, at a fraction of the cost.
  [[nodiscard]] std::vector<double> scores(std::span<const uint32_t> rows);

  // How the best were looked for: what costs least depends on the lists, the filter and how many
  // are wanted.
  enum class Way : uint8_t {
    kRowsWalked,    // the rows that the filter leaves
    kListsAddedUp,  // every posting of the lists
    kListsWalked,   // the postings that can be among the best
  };
  // Offers rows the filter takes that have one of the words, or any at all when the plan needs none
  // of them: all that can be among the best.
  Way find_best(RowFilter& filter, TopK* best);
  // Calls `visit` with every such row, rising, and its score.
  void for_each(RowFilter& filter, const std::function<void(uint32_t row, double score)>& visit);

  struct TermFigures {
    const RankedTerm* term;
    uint64_t row_count;  // what its idf is made of
    double idf;
  };
  [[nodiscard]] std::vector<TermFigures> figures() const;
  // What each term gives a row, in the order of figures().
  [[nodiscard]] std::vector<std::pair<uint32_t, double>> explain(uint32_t row);
  [[nodiscard]] bool is_damaged() const;

 private:
  struct Term {
    Term(const RankedTerm& of, uint64_t own_count, uint64_t count, double weight)
        : ranked(&of),
          cursor(of.rows),
          own_row_count(own_count),
          row_count(count),
          idf(weight),
          bound(Bm25::weight(weight)) {}

    const RankedTerm* ranked;
    index::PostingCursor cursor;
    uint64_t own_row_count;
    uint64_t row_count;  // of the collection
    double idf;
    double bound;                         // of any row
    uint32_t frequency_max = UINT32_MAX;  // in any row
    uint32_t row = 0;                     // where the walk is; kNoRow at the end
    double part = 0;                      // of the score of the row that is being offered
  };

  void find_bounds(Term* term) const;
  [[nodiscard]] double block_bound(const Term& term, const index::BlockSummary& block) const;
  // What the term can give a row of so many words.
  [[nodiscard]] double most_at(const Term& term, uint32_t length) const {
    return bm25_.score(term.idf, term.frequency_max, length);
  }
  [[nodiscard]] double part_of(Term& term, uint32_t row) const {
    return bm25_.score(term.idf, term.cursor.frequency(), index_.text().length(row));
  }
  [[nodiscard]] uint64_t list_row_count() const;
  uint32_t next_row_of(Term& term, uint32_t row);
  // Puts all terms to their first rows; returned is the least of those.
  uint32_t first_row();
  // Adds the scores of the rows from `row` on, of up to `count_max` numbers, to the window. All
  // terms stand at their first row not below `row`, and afterwards at their first one behind the
  // window; returned is the least of those. Words are added in the order of score(), so that the
  // sums are the same. A row that cannot reach `floor` may be left out, or get less than its score.
  uint32_t add_window(uint32_t row, uint32_t count_max, ScoreWindow* window, double floor);
  void add_postings(const Term& term, const LengthLimits& limits, std::span<const uint32_t> rows,
                    std::span<const uint32_t> frequencies, ScoreWindow* window) const;
  // The same where no posting can reach the floor by itself: only of rows that earlier words have.
  void add_to_touched(const Term& term, std::span<const uint32_t> rows,
                      std::span<const uint32_t> frequencies, ScoreWindow* window) const;
  // Calls `visit` with every row that has a word and its score, rising.
  template <typename Visit>
  void add_up(Visit visit);
  void add_up_best(RowFilter& filter, TopK* best);
  void add_up_few(RowFilter& filter, double first_floor, TopK* best);
  Way find_best_of_long_lists(RowFilter& filter, TopK* best);
  [[nodiscard]] uint64_t walked_row_count(double floor) const;
  double find_floor(RowFilter& filter, const TopK& best);
  void walk_with_scores(RowFilter& filter, const std::function<void(uint32_t, double)>& visit);
  void walk_filter(RowFilter& filter, TopK* best);
  void walk_lists(RowFilter& filter, TopK* best);
  void walk_list(const std::vector<Term*>& order, size_t at, double rest, RowFilter& filter,
                 TopK* best);
  void offer(const std::vector<Term*>& order, size_t at, uint32_t row, double bound,
             RowFilter& filter, TopK* best);
  // The first row not below `row` whose blocks can give more than the threshold; kNoRow: none.
  uint32_t skip_hopeless(uint32_t row, const TopK& best);
  // The same of one term, where the others give `rest` at most.
  uint32_t skip_hopeless(Term& term, uint32_t row, double rest, const TopK& best);
  [[nodiscard]] PlaceInOrder place_of(uint32_t row, double score) const {
    return {score, index_.timestamp_ms(row), row};
  }

  const index::Index& index_;
  uint32_t row_end_;
  bool any_row_;  // a row needs none of the words
  Bm25 bm25_;
  std::vector<Term> terms_;  // rarest first: what the rest can give is least then
};

}  // namespace varve::query
