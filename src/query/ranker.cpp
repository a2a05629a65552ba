#include "query/ranker.h"

#include <algorithm>
#include <array>
#include <functional>

#include "query/length_limits.h"
#include "query/score_window.h"

namespace varve::query {

namespace {

// Summaries looked at for the bound of a whole list; longer lists take the trivial one.
constexpr uint32_t kSummariesMax = 512;

constexpr uint32_t kFrequenciesKept = 16;  // of words in an entry: most are below

// To look for a row in a list costs as much as to add up so many postings.
constexpr uint64_t kLookupCost = 3;

// To find one wanted row costs about so many look-ups in every list, until the rest can be left
// out.
constexpr uint64_t kLookupsSaved = 16;

// Where fewer rows are wanted, as many look-ups are made as for so many.
constexpr uint64_t kFewWanted = 64;

// Rows that are added up at once until there is a threshold.
constexpr uint32_t kFirstRows = 512;

// A floor is looked for in advance where at most one of so many postings is read for it.
constexpr uint64_t kFloorShare = 3;

// How finely that floor is told.
constexpr size_t kFloorSteps = 128;

// To walk a posting, and to look for its row in the other lists, costs as much as to add up so
// many.
constexpr uint64_t kWalkCost = 8;

// With more words than this, lists are added up: to look for each row in the list of each word
// would cost the product of both numbers.
constexpr size_t kManyTerms = 64;

Bm25 make_bm25(const index::Index& index, uint32_t row_end, const TextStatistics* shared) {
  if (shared != nullptr) return {shared->entry_count, shared->total_length};
  return {row_end, index.text().total_length(row_end)};
}

// Of the first `row_end` rows.
uint64_t count_before(const index::PostingList& rows, uint32_t row_end, const index::Index& index) {
  // Longer than the log is a damaged list alone: that shows when it is walked.
  if (row_end >= index.text_row_count()) return std::min(rows.count(), row_end);
  return rows.count() - index::PostingCursor(rows).count_from(row_end);
}

uint64_t count_in(const TextStatistics& statistics, std::string_view term) {
  const auto found = statistics.row_counts.find(term);
  return found == statistics.row_counts.end() ? 0 : found->second;
}

struct CountedTerm {
  const RankedTerm* ranked;
  uint64_t own_row_count;
  uint64_t row_count;  // of the collection
};

// The terms that rows have. A part comes behind its word.
std::vector<CountedTerm> count_terms(const index::Index& index, const TextPlan& plan,
                                     uint32_t row_end, const TextStatistics* shared) {
  std::vector<CountedTerm> counted;
  counted.reserve(plan.terms.size());
  const uint64_t entry_count = shared != nullptr ? shared->entry_count : row_end;
  const auto shared_count = [&](std::string_view term) {
    return shared != nullptr ? count_in(*shared, term) : 0;
  };
  for (const RankedTerm& ranked : plan.terms) {
    const uint64_t own_count = count_before(ranked.rows, row_end, index);
    if (own_count == 0) continue;
    // The collection may have grown less than this session since it was counted.
    uint64_t row_count = std::max(own_count, shared_count(ranked.text));
    if (ranked.is_part) {
      const std::string_view word = std::string_view(ranked.text).substr(1);
      const bool has_word = !counted.empty() && counted.back().ranked->text == word;
      row_count += has_word ? counted.back().row_count : shared_count(word);
    }
    counted.push_back({&ranked, own_count, std::min(entry_count, row_count)});
  }
  return counted;
}

}  // namespace

Ranker::Ranker(const index::Index& index, const TextPlan& plan, uint32_t row_end,
               const TextStatistics* shared)
    : index_(index),
      row_end_(row_end),
      any_row_(!plan.needs_term),
      bm25_(make_bm25(index, row_end, shared)) {
  auto counted = count_terms(index, plan, row_end, shared);
  // Terms are large: they are put where they stay.
  std::sort(counted.begin(), counted.end(), [](const CountedTerm& a, const CountedTerm& b) {
    return a.row_count != b.row_count ? a.row_count < b.row_count : a.ranked < b.ranked;
  });
  terms_.reserve(counted.size());
  for (const CountedTerm& one : counted) {
    const double idf = bm25_.idf(one.row_count);
    terms_.emplace_back(*one.ranked, one.own_row_count, one.row_count,
                        one.ranked->is_part ? idf * Bm25::kPartWeight : idf);
    find_bounds(&terms_.back());
  }
}

void Ranker::find_bounds(Term* term) const {
  uint32_t block_count = 0;
  uint32_t frequency_max = 0;
  double bound = 0;
  for (const auto& run : term->ranked->rows.runs) {
    block_count += run.block_count();
    if (block_count > kSummariesMax) return;
    for (uint32_t block = 0; block < run.block_count(); ++block) {
      const index::BlockSummary summary = run.summary(block);
      bound = std::max(bound, block_bound(*term, summary));
      frequency_max = std::max(frequency_max, summary.frequency_max());
    }
  }
  term->bound = bound;
  term->frequency_max = frequency_max;
}

double Ranker::block_bound(const Term& term, const index::BlockSummary& block) const {
  return bm25_.score(term.idf, block.frequency_max(), block.length_min());
}

double Ranker::score(uint32_t row) {
  double sum = 0;
  for (Term& term : terms_) {
    if (term.cursor.contains(row)) sum += part_of(term, row);
  }
  return sum;
}

std::vector<double> Ranker::scores(std::span<const uint32_t> rows) {
  std::vector<double> sums(rows.size());
  for (Term& term : terms_) {
    for (auto row = rows.begin(); row != rows.end();) {
      const uint32_t found = term.cursor.seek(*row);
      if (found != *row) row = std::lower_bound(row, rows.end(), found);
      if (row == rows.end() || *row != found) continue;
      sums[static_cast<size_t>(row - rows.begin())] += part_of(term, found);
      ++row;
    }
  }
  return sums;
}

uint64_t Ranker::list_row_count() const {
  uint64_t count = 0;
  for (const Term& term : terms_) count += term.own_row_count;
  return count;
}

uint32_t Ranker::next_row_of(Term& term, uint32_t row) {
  term.row = term.cursor.seek(row);
  if (term.row >= row_end_) term.row = kNoRow;
  return term.row;
}

uint32_t Ranker::first_row() {
  uint32_t first = kNoRow;
  for (Term& term : terms_) first = std::min(first, next_row_of(term, 0));
  return first;
}

uint32_t Ranker::add_window(uint32_t row, uint32_t count_max, ScoreWindow* window, double floor) {
  const uint32_t end = std::min(row_end_, row + std::min(count_max, kNoRow - row));
  uint32_t next_row = kNoRow;
  double rest = 0;  // what the words to come can give
  for (const Term& term : terms_) rest += term.bound;
  for (Term& term : terms_) {
    rest -= term.bound;
    const double least = without_slack(floor) - with_slack(rest);
    const LengthLimits limits(bm25_, term.idf, least);
    const bool can_any_reach =
        with_slack(term.bound) >= least && limits.can_any_reach(term.frequency_max);
    while (term.row < end) {
      const auto block = term.cursor.rest_of_block();
      const auto& rows = block.rows;
      const bool is_all = rows.back() < end;
      const auto behind = is_all ? rows.end() : std::lower_bound(rows.begin(), rows.end(), end);
      const auto count = static_cast<size_t>(behind - rows.begin());
      if (can_any_reach) {
        add_postings(term, limits, rows.first(count), block.frequencies, window);
      } else {
        add_to_touched(term, rows.first(count), block.frequencies, window);
      }
      term.row = term.cursor.skip(count);
    }
    next_row = std::min(next_row, term.row);
  }
  return next_row;
}

void Ranker::add_postings(const Term& term, const LengthLimits& limits,
                          std::span<const uint32_t> rows, std::span<const uint32_t> frequencies,
                          ScoreWindow* window) const {
  const index::TextIndex& text = index_.text();
  const Bm25 bm25 = bm25_;  // of its own, so that it stays in registers
  const double idf = term.idf;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t length = text.length(rows[i]);
    if (!limits.can_reach(frequencies[i], length) && !window->has(rows[i])) continue;
    window->add(rows[i], bm25.score(idf, frequencies[i], length));
  }
}

void Ranker::add_to_touched(const Term& term, std::span<const uint32_t> rows,
                            std::span<const uint32_t> frequencies, ScoreWindow* window) const {
  window->for_each_touched(rows, [&](size_t i) {
    const uint32_t length = index_.text().length(rows[i]);
    window->add(rows[i], bm25_.score(term.idf, frequencies[i], length));
  });
}

template <typename Visit>
void Ranker::add_up(Visit visit) {
  ScoreWindow window;
  for (uint32_t row = first_row(); row < row_end_;) {
    window.start(row);
    row = add_window(row, ScoreWindow::kRows, &window, 0);
    window.take(visit);
  }
}

// For few wanted rows: a threshold refuses most of the others. `first_floor` is one that is known
// in advance; 0: none.
void Ranker::add_up_few(RowFilter& filter, double first_floor, TopK* best) {
  ScoreWindow window;
  const auto offer_row = [&](uint32_t row, double score) {
    if (score >= best->floor() && filter.accepts(row)) best->offer(place_of(row, score));
  };
  for (uint32_t row = first_row(); row < row_end_;) {
    const double floor = std::max(first_floor, best->floor());
    window.start(row, floor);
    row = add_window(row, floor > 0 ? ScoreWindow::kRows : kFirstRows, &window, floor);
    if (floor > 0) {
      window.take_reached(offer_row);
    } else {
      window.take(offer_row);
    }
  }
}

// A score that at least as many accepted rows reach as are wanted, found with the rarest word that
// so many have; 0 where that would not be cheap.
double Ranker::find_floor(RowFilter& filter, const TopK& best) {
  const auto has_enough = [&](const Term& term) { return term.own_row_count >= best.count(); };
  const auto term = std::find_if(terms_.begin(), terms_.end(), has_enough);
  if (term == terms_.end() || best.count() == 0 || best.is_next_page()) return 0;
  if (term->own_row_count > list_row_count() / kFloorShare) return 0;
  // Parts are counted in kFloorSteps steps: to sort them would cost more than a floor that is a
  // little lower.
  std::array<uint32_t, kFloorSteps + 1> counts{};
  const double step = Bm25::weight(term->idf) / kFloorSteps;
  for (uint32_t row = next_row_of(*term, 0); row < row_end_; row = term->cursor.next()) {
    if (!filter.accepts(row)) continue;
    const double at = part_of(*term, row) / step;  // no number, where index.bin is damaged
    counts[at < kFloorSteps ? static_cast<size_t>(at) : kFloorSteps] += 1;
  }
  uint64_t count = 0;
  for (size_t at = counts.size(); at-- > 0;) {
    count += counts[at];
    if (count >= best.count()) return without_slack(static_cast<double>(at) * step);
  }
  return 0;
}

// Where many are wanted a threshold refuses few, if none is known in advance, and all are sorted
// out once.
void Ranker::add_up_best(RowFilter& filter, TopK* best) {
  if (best->count() <= kFewWanted || best->has_floor()) {
    add_up_few(filter, find_floor(filter, *best), best);
    return;
  }
  std::vector<PlaceInOrder> places;
  add_up([&](uint32_t row, double score) {
    if (filter.accepts(row)) places.push_back(place_of(row, score));
  });
  best->fill(std::move(places));
}

void Ranker::for_each(RowFilter& filter, const std::function<void(uint32_t, double)>& visit) {
  if (terms_.size() > kManyTerms) {
    walk_with_scores(filter, visit);
    return;
  }
  if (any_row_ || filter.walk_count_max() < list_row_count()) {
    for (uint32_t row = filter.next(0); row != kNoRow; row = filter.next(row + 1)) {
      const double found = score(row);
      if (found > 0 || any_row_) visit(row, found);
    }
    return;
  }
  add_up([&](uint32_t row, double score) {
    if (filter.accepts(row)) visit(row, score);
  });
}

// The same as for_each().
void Ranker::walk_with_scores(RowFilter& filter,
                              const std::function<void(uint32_t, double)>& visit) {
  uint32_t next = 0;  // not visited yet
  const auto visit_up_to = [&](uint32_t end) {
    if (!any_row_) return;
    for (next = filter.next(next); next < end; next = filter.next(next + 1)) visit(next, 0);
  };
  add_up([&](uint32_t row, double score) {
    visit_up_to(row);
    if (filter.accepts(row)) visit(row, score);
    next = row + 1;
  });
  visit_up_to(kNoRow);
}

Ranker::Way Ranker::find_best(RowFilter& filter, TopK* best) {
  const uint64_t list_rows = list_row_count();
  if (any_row_ && (terms_.empty() || terms_.size() > kManyTerms)) {
    for_each(filter, [&](uint32_t row, double found) { best->offer(place_of(row, found)); });
    return Way::kRowsWalked;
  }
  if (any_row_ || filter.walk_count_max() < list_rows / (terms_.size() * kLookupCost + 1)) {
    walk_filter(filter, best);
    return Way::kRowsWalked;
  }
  if (terms_.size() > kManyTerms ||
      list_rows / (terms_.size() * kLookupsSaved + 1) < std::max(best->count(), kFewWanted)) {
    add_up_best(filter, best);
    return Way::kListsAddedUp;
  }
  return find_best_of_long_lists(filter, best);
}

// Walks the lists, unless so much of them would be walked that to add up all costs less.
Ranker::Way Ranker::find_best_of_long_lists(RowFilter& filter, TopK* best) {
  const double floor = find_floor(filter, *best);
  if (floor > 0) best->raise_floor(floor);
  if (floor > 0 && walked_row_count(floor) > list_row_count() / kWalkCost) {
    add_up_few(filter, floor, best);
    return Way::kListsAddedUp;
  }
  walk_lists(filter, best);
  return Way::kListsWalked;
}

// Rows in the lists that walk_lists() cannot leave out with this floor.
uint64_t Ranker::walked_row_count(double floor) const {
  double rest = 0;
  for (const Term& term : terms_) rest += term.bound;
  uint64_t count = 0;
  for (const Term& term : terms_) {
    if (rest < floor) break;
    count += term.own_row_count;
    rest -= term.bound;
  }
  return count;
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

uint32_t Ranker::skip_hopeless(Term& term, uint32_t row, double rest, const TopK& best) {
  while (const index::BlockSummary* block = term.cursor.block_for(row)) {
    if (!best.is_beyond(block_bound(term, *block) + rest)) return row;
    if (block->last_row < row || block->last_row == kNoRow) break;
    row = block->last_row + 1;
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
    const double found = score(row);
    if (found > 0 || any_row_) best->offer(place_of(row, found));
    row = filter.next(row + 1);
  }
}

// Lists are walked one after the other, those that can give most first. A row's score is made whole
// where it is met first. Once what is left cannot give enough, no row that was not met yet matters:
// mostly the lists of frequent words are never walked.
void Ranker::walk_lists(RowFilter& filter, TopK* best) {
  std::vector<Term*> order;
  for (Term& term : terms_) order.push_back(&term);
  std::stable_sort(order.begin(), order.end(),
                   [](const Term* a, const Term* b) { return a->bound > b->bound; });
  double rest = 0;
  for (const Term* term : order) rest += term->bound;
  for (size_t at = 0; at < order.size() && !best->is_beyond(rest); ++at) {
    rest = 0;
    for (size_t i = at + 1; i < order.size(); ++i) rest += order[i]->bound;
    walk_list(order, at, rest, filter, best);
  }
}

// The list of `order[at]`; those behind it give `rest` at most.
void Ranker::walk_list(const std::vector<Term*>& order, size_t at, double rest, RowFilter& filter,
                       TopK* best) {
  Term& term = *order[at];
  // By frequency, the shortest length that was too long to matter: longer ones are, too.
  std::array<uint32_t, kFrequenciesKept> hopeless_from;
  hopeless_from.fill(UINT32_MAX);
  uint32_t block_end = 0;  // of the block that was looked at last
  for (uint32_t row = next_row_of(term, 0); row < row_end_;) {
    if (row >= block_end && best->has_floor()) {
      const uint32_t worth = skip_hopeless(term, row, rest, *best);
      if (worth == kNoRow) return;
      block_end = term.cursor.block_for(worth)->last_row + 1;
      if (worth != row) {
        row = next_row_of(term, worth);
        continue;
      }
    }
    const uint32_t frequency = term.cursor.frequency();
    const uint32_t length = index_.text().length(row);
    const bool is_kept = frequency < kFrequenciesKept;
    if (!is_kept || length < hopeless_from[frequency]) {
      term.part = bm25_.score(term.idf, frequency, length);
      double bound = term.part;
      for (size_t i = at + 1; i < order.size(); ++i) bound += most_at(*order[i], length);
      if (!best->is_beyond(bound)) {
        offer(order, at, row, bound, filter, best);
      } else if (is_kept) {
        hopeless_from[frequency] = length;
      }
    }
    row = term.cursor.next();
  }
}

// A row of the list of `order[at]`, which may have up to `bound`, unless an earlier list has it.
void Ranker::offer(const std::vector<Term*>& order, size_t at, uint32_t row, double bound,
                   RowFilter& filter, TopK* best) {
  for (size_t i = 0; i < at; ++i) {
    if (order[i]->cursor.contains(row)) return;
    order[i]->part = 0;
  }
  const uint32_t length = index_.text().length(row);
  for (size_t i = at + 1; i < order.size(); ++i) {
    Term& other = *order[i];
    other.part =
        other.cursor.contains(row) ? bm25_.score(other.idf, other.cursor.frequency(), length) : 0;
    bound += other.part - most_at(other, length);
    if (best->is_beyond(bound)) return;
  }
  // Added up as score() does.
  double sum = 0;
  for (const Term& each : terms_) sum += each.part;
  if (!best->is_beyond(sum) && filter.accepts(row)) best->offer(place_of(row, sum));
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
      parts.emplace_back(term.cursor.frequency(), part_of(term, row));
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
