#include "query/ranker.h"

#include <algorithm>

namespace varve::query {

namespace {

// Summaries looked at for the bound of a whole list; longer lists take the trivial one.
constexpr uint32_t kSummariesMax = 512;

}  // namespace

namespace {

Bm25 make_bm25(const index::Index& index, uint32_t row_end, const TextStatistics* shared) {
  if (shared != nullptr) return {shared->entry_count, shared->total_length};
  return {row_end, index.text().total_length(row_end)};
}

uint64_t count_in(const TextStatistics& statistics, std::string_view term) {
  const auto found = statistics.row_counts.find(term);
  return found == statistics.row_counts.end() ? 0 : found->second;
}

}  // namespace

Ranker::Ranker(const index::Index& index, const TextPlan& plan, uint32_t row_end,
               const TextStatistics* shared)
    : index_(index), row_end_(row_end), bm25_(make_bm25(index, row_end, shared)) {
  terms_.reserve(plan.terms.size());
  for (const RankedTerm& ranked : plan.terms) {
    index::PostingCursor cursor(ranked.rows);
    const uint64_t own_count = cursor.count() - cursor.count_from(row_end);
    if (own_count == 0) continue;
    // The collection may have grown less than this session since it was counted.
    const uint64_t row_count =
        shared == nullptr
            ? own_count
            : std::min(shared->entry_count, std::max(own_count, count_in(*shared, ranked.text)));
    const double idf = bm25_.idf(row_count);
    // A term never gives more, whatever its frequency.
    terms_.push_back({&ranked, cursor, own_count, row_count, idf, idf * (Bm25::kK1 + 1), 0});
    Term& term = terms_.back();
    uint32_t block_count = 0;
    double bound = 0;
    for (const auto& run : ranked.rows.runs) {
      block_count += run.block_count();
      for (uint32_t block = 0; block < run.block_count() && block_count <= kSummariesMax; ++block) {
        bound = std::max(bound, block_bound(term, run.summary(block)));
      }
    }
    if (block_count <= kSummariesMax) term.bound = bound;
  }
}

double Ranker::block_bound(Term& term, const index::BlockSummary& block) const {
  return bm25_.score(term.idf, block.frequency_max, block.length_min);
}

double Ranker::score(uint32_t row) {
  double sum = 0;
  for (Term& term : terms_) {
    if (!term.cursor.contains(row)) continue;
    sum += bm25_.score(term.idf, term.cursor.frequency(), index_.text().length(row));
  }
  return sum;
}

// The same, when the walk stands at the row: the sum is made in the same order.
double Ranker::score_at(uint32_t row) {
  double sum = 0;
  for (Term& term : terms_) {
    if (term.row != row) continue;
    sum += bm25_.score(term.idf, term.cursor.frequency(), index_.text().length(row));
  }
  return sum;
}

// Few, and nearly sorted.
void Ranker::sort_by_row(std::vector<Term*>& order) {
  for (size_t i = 1; i < order.size(); ++i) {
    for (size_t j = i; j > 0 && order[j]->row < order[j - 1]->row; --j) {
      std::swap(order[j], order[j - 1]);
    }
  }
}

uint32_t Ranker::next_row_of(Term& term, uint32_t row) {
  term.row = term.cursor.seek(row);
  if (term.row >= row_end_) term.row = kNoRow;
  return term.row;
}

void Ranker::for_each(RowFilter& filter, bool any_row,
                      const std::function<void(uint32_t, double)>& visit) {
  uint64_t list_rows = 0;
  for (const Term& term : terms_) list_rows += term.own_row_count;
  if (any_row || filter.walk_count_max() < list_rows) {
    for (uint32_t row = filter.next(0); row != kNoRow; row = filter.next(row + 1)) {
      const double found = score(row);
      if (found > 0 || any_row) visit(row, found);
    }
    return;
  }
  for (Term& term : terms_) next_row_of(term, 0);
  for (;;) {
    uint32_t row = kNoRow;
    for (const Term& term : terms_) row = std::min(row, term.row);
    if (row == kNoRow) return;
    if (filter.accepts(row)) visit(row, score(row));
    for (Term& term : terms_) {
      if (term.row == row) next_row_of(term, row + 1);
    }
  }
}

void Ranker::find_best(RowFilter& filter, bool any_row, TopK* best) {
  uint64_t list_rows = 0;
  for (const Term& term : terms_) list_rows += term.own_row_count;
  if (any_row || filter.walk_count_max() < list_rows / 2) {
    if (any_row && terms_.empty()) {
      for_each(filter, true,
               [&](uint32_t row, double found) { best->offer(place_of(row, found)); });
    } else {
      walk_filter(filter, best);
    }
  } else {
    walk_lists(filter, best);
  }
}

uint32_t Ranker::skip_hopeless(uint32_t row, const TopK& best) {
  while (row < row_end_) {
    double bound = 0;
    uint32_t last_row = kNoRow;
    for (Term& term : terms_) {
      const index::BlockSummary* block = term.cursor.block_for(row);
      if (block == nullptr) continue;
      bound += block_bound(term, *block);
      last_row = std::min(last_row, block->last_row);
    }
    if (!best.is_beyond(bound)) return row;
    if (last_row == kNoRow || last_row < row) return kNoRow;
    row = last_row + 1;
  }
  return kNoRow;
}

// Rows come from the filter: few of them, or words that must be there.
void Ranker::walk_filter(RowFilter& filter, TopK* best) {
  for (uint32_t row = filter.next(0); row != kNoRow;) {
    if (best->is_full()) {
      const uint32_t worth = skip_hopeless(row, *best);
      if (worth == kNoRow) return;
      if (worth != row) {
        row = filter.next(worth);
        continue;
      }
    }
    best->offer(place_of(row, score(row)));
    row = filter.next(row + 1);
  }
}

void Ranker::walk_lists(RowFilter& filter, TopK* best) {
  std::vector<Term*> order;
  for (Term& term : terms_) {
    if (next_row_of(term, 0) != kNoRow) order.push_back(&term);
  }
  for (;;) {
    sort_by_row(order);
    while (!order.empty() && order.back()->row == kNoRow) order.pop_back();
    // The pivot: before its row, the lists together cannot give enough.
    double bound = 0;
    size_t pivot = 0;
    while (pivot < order.size() && best->is_beyond(bound += order[pivot]->bound)) ++pivot;
    if (pivot == order.size()) return;
    const uint32_t row = order[pivot]->row;
    while (pivot + 1 < order.size() && order[pivot + 1]->row == row) ++pivot;
    // What the blocks around that row can give.
    double block_sum = 0;
    uint32_t last_row = pivot + 1 < order.size() ? order[pivot + 1]->row - 1 : kNoRow - 1;
    for (size_t i = 0; i <= pivot; ++i) {
      const index::BlockSummary* block = order[i]->cursor.block_for(row);
      if (block == nullptr) continue;
      block_sum += block_bound(*order[i], *block);
      last_row = std::min(last_row, block->last_row);
    }
    if (best->is_beyond(block_sum)) {
      const uint32_t next = std::max(last_row, row) + 1;
      for (size_t i = 0; i <= pivot; ++i) {
        if (order[i]->row < next) next_row_of(*order[i], next);
      }
      continue;
    }
    if (order.front()->row != row) {
      for (size_t i = 0; i <= pivot; ++i) {
        if (order[i]->row < row) next_row_of(*order[i], row);
      }
      continue;
    }
    if (filter.accepts(row)) best->offer(place_of(row, score_at(row)));
    for (size_t i = 0; i <= pivot; ++i) next_row_of(*order[i], row + 1);
  }
}

TextStatistics Ranker::statistics() const {
  TextStatistics statistics;
  statistics.entry_count = row_end_;
  statistics.total_length = index_.text().total_length(row_end_);
  for (const Term& term : terms_) statistics.row_counts[term.ranked->text] = term.own_row_count;
  return statistics;
}

std::vector<Ranker::TermFigures> Ranker::figures() const {
  std::vector<TermFigures> figures;
  for (const Term& term : terms_) figures.push_back({term.ranked, term.row_count, term.idf});
  return figures;
}

std::vector<std::pair<uint32_t, double>> Ranker::explain(uint32_t row) {
  std::vector<std::pair<uint32_t, double>> parts;
  for (Term& term : terms_) {
    if (term.cursor.contains(row)) {
      const uint32_t frequency = term.cursor.frequency();
      parts.emplace_back(frequency, bm25_.score(term.idf, frequency, index_.text().length(row)));
    } else {
      parts.emplace_back(0, 0.0);
    }
  }
  return parts;
}

bool Ranker::is_damaged() const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const Term& term) { return term.cursor.is_damaged(); });
}

}  // namespace varve::query
