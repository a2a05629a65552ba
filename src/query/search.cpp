#include "query/search.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "query/candidates.h"
#include "query/conditions.h"
#include "query/ordered_search.h"
#include "query/page.h"
#include "query/ranker.h"
#include "query/row_filter.h"
#include "query/text_plan.h"

namespace varve::query {

namespace {

// With so many rows or more for each wanted result, the time orders are searched instead of every
// row that fits: the first results are met early there.
constexpr uint64_t kWalkedPerResult = 64;

constexpr uint64_t kHitsAtFirst = 16;  // that there is room for, if so many are wanted

std::string_view strategy_of(Ranker::Way way) {
  switch (way) {
    case Ranker::Way::kRowsWalked: return "rows that fit, by their match";
    case Ranker::Way::kListsAddedUp: return "the words' lists, added up";
    case Ranker::Way::kListsWalked: break;
  }
  return "best matches, block by block";
}

// The key of a match that `best` does not rank: below 0, however good the match is, so that it
// comes after those it ranks.
double unranked_key(double match, double best_match) {
  return (best_match > 0 ? match / best_match : 0) - 2;
}

void set_match_quality(double match_quality, Hit* hit) {
  const Relevance::Factors& factors = hit->factors;
  hit->match_quality = match_quality;
  hit->relevance =
      decay::relevance(factors.importance, factors.decay, factors.boost, match_quality);
}

struct Matches {
  std::vector<std::pair<uint32_t, double>> rows;  // rising, each with its match [BM25]
  double best = 0;
};

}  // namespace

struct Search::Parts {
  explicit Parts(SearchInput given)
      : input(std::move(given)),
        index(*input.index),
        query(*input.query),
        relevance(index, *input.rules, input.now_ms),
        row_end(find_row_end(input)),
        filter(index, row_end, input.live_ms) {}

  Status prepare();
  Status apply_text();
  Status exclude_words();
  [[nodiscard]] std::optional<PlaceInOrder> after_place() const {
    return find_last_place(input, row_end);
  }
  // Whether the query has a vector and words, which need not be in this index.
  [[nodiscard]] bool fuses() const { return query.has_vector() && text.asks_words; }

  Matches every_match();
  BestMatch find_best_match();
  BestRows best_rows(double best_match);
  Answer run();
  void run_by_best(Answer* answer);
  void take_best(const BestRows& found, Answer* answer);
  void take_unranked(const BestRows& found, Answer* answer);
  void run_by_match(Answer* answer);
  void run_by_words(Answer* answer);
  void run_by_order(Answer* answer);
  void offer_every_row(const OrderKey& key, TopK* best);
  void run_by_vector(Answer* answer);
  Candidates word_candidates(Answer* answer);
  Candidates all_candidates(Answer* answer);
  [[nodiscard]] double order_key(const Hit& hit) const;
  bool walk_in_time(Answer* answer);
  void finish(Answer* answer);
  void explain(Answer* answer);
  Hit hit_of(const PlaceInOrder& place, double match, double best_match) const;
  void take(TopK& best, Answer* answer);
  std::vector<uint32_t> all_rows();
  [[nodiscard]] uint64_t wanted() const {
    return query.limit == kLimitNone ? kLimitNone : query.limit + 1;
  }
  [[nodiscard]] bool is_damaged() const {
    return filter.is_damaged() || (ranker && ranker->is_damaged());
  }

  SearchInput input;
  const index::Index& index;
  const Query& query;
  Relevance relevance;
  uint32_t row_end;
  RowFilter filter;
  TextPlan text;
  std::unique_ptr<Ranker> ranker;
  bool ranks = false;  // there are words to rank by
  bool words_find_nothing = false;

  [[nodiscard]] uint64_t last_seq() const { return row_end > 0 ? index.seq(row_end - 1) : 0; }

  // Whether no row can be found. A vector finds entries that have none of the words.
  [[nodiscard]] bool is_hopeless() const {
    return query.has_vector() ? text.matches_nothing : words_find_nothing;
  }
};

// --- conditions ----------------------------------------------------------------------------------

// One set of all exclusions: a row is asked once, however many there are.
Status Search::Parts::exclude_words() {
  if (text.excluded.empty()) return {};
  std::vector<uint32_t> rows;
  for (const auto& lists : text.excluded) {
    // In all lists of one exclusion: the first gives the rows, the others are asked.
    RowFilter all(index, row_end, input.live_ms);
    for (const auto& list : lists) all.require(RowSet::of_lists({list}));
    const std::vector<uint32_t> found = all.rows();
    if (all.is_damaged()) return index::damaged_list();  // what is not excluded may be deleted
    rows.insert(rows.end(), found.begin(), found.end());
  }
  filter.exclude(RowSet::of_rows(std::move(rows)));
  return {};
}

Status Search::Parts::apply_text() {
  for (const auto& list : text.required) filter.require(RowSet::of_lists({list}));
  VARVE_TRY(exclude_words());
  for (size_t i = 0; i < input.passed.size() && i < text.checks.size(); ++i) {
    switch (text.checks[i].sign) {
      case TextClause::Sign::kNot: filter.exclude(RowSet::of_rows(input.passed[i])); break;
      case TextClause::Sign::kMust: filter.require(RowSet::of_rows(input.passed[i])); break;
      case TextClause::Sign::kRanked:
        if (!input.passed[i].empty()) text.rank_rows(text.checks[i].text, input.passed[i], index);
    }
  }
  // Where another session has the words, entries of this one are measured by them, too; and beside
  // a vector what must be there finds entries, whether it ranks them or not.
  const bool others_rank = input.statistics != nullptr && !input.statistics->row_counts.empty();
  ranks = !text.terms.empty() || others_rank || (fuses() && !text.needs_term);
  if (ranks) ranker = std::make_unique<Ranker>(index, text, row_end, input.statistics);
  words_find_nothing = text.finds_nothing(input.passed.size() == text.checks.size());
  return {};
}

Status Search::Parts::prepare() {
  require_conditions(input, &filter);
  if (!query.has_text()) return {};
  auto clauses = query.is_question ? parse_question(query.text) : parse_text(query.text);
  VARVE_TRY_ASSIGN(text, plan_text(std::move(clauses), index, *input.analyzer, row_end,
                                   input.statistics, input.searches.get()));
  return apply_text();
}

// --- results -------------------------------------------------------------------------------------

Hit Search::Parts::hit_of(const PlaceInOrder& place, double match, double best_match) const {
  Hit hit;
  hit.place = place;
  hit.match = match;
  hit.factors = relevance.factors(place.row);
  // When nothing that was found has any of the words, nothing is better than the rest.
  set_match_quality(best_match > 0 ? std::min(1.0, match / best_match) : 1, &hit);
  return hit;
}

Matches Search::Parts::every_match() {
  Matches matches;
  ranker->for_each(filter, [&](uint32_t row, double score) {
    matches.rows.emplace_back(row, score);
    matches.best = std::max(matches.best, score);
  });
  return matches;
}

BestMatch Search::Parts::find_best_match() {
  TopK first(1, false, std::nullopt);
  ranker->find_best(filter, &first);
  const auto places = first.take();
  if (places.empty()) return {};
  return {places.front().key, places.front().timestamp_ms};
}

BestRows Search::Parts::best_rows(double best_match) {
  return find_best_rows(index, text, *ranker, filter, relevance, *input.analyzer, best_match,
                        input.weights);
}

void Search::Parts::take(TopK& best, Answer* answer) {
  const std::vector<PlaceInOrder> places = best.take();
  std::vector<uint32_t> rows;  // rising: the lists of words are gone through once
  rows.reserve(places.size());
  for (const PlaceInOrder& place : places) rows.push_back(place.row);
  std::sort(rows.begin(), rows.end());
  const std::vector<double> scores = ranks ? ranker->scores(rows) : std::vector<double>();
  for (const PlaceInOrder& place : places) {
    const auto at = std::lower_bound(rows.begin(), rows.end(), place.row) - rows.begin();
    const double match = ranks ? scores[static_cast<size_t>(at)] : 0;
    answer->hits.push_back(hit_of(place, match, answer->best_match));
  }
}

// By BM25 alone: early stopping. A floor for relevance needs the best match first, so it does not
// come here.
void Search::Parts::run_by_match(Answer* answer) {
  TopK best(wanted(), false, after_place());
  best.raise_floor(input.key_min);
  if (answer->best_match == 0 && query.after) answer->best_match = find_best_match().match;
  answer->strategy = strategy_of(ranker->find_best(filter, &best));
  const auto places = best.take();
  for (const PlaceInOrder& place : places) index.prefetch(place.row);
  if (answer->best_match == 0 && !places.empty()) answer->best_match = places.front().key;
  for (const PlaceInOrder& place : places) {
    answer->hits.push_back(hit_of(place, place.key, answer->best_match));
  }
}

// What of the best rows is wanted. Fewer are than were found: only those are sorted.
void Search::Parts::take_best(const BestRows& found, Answer* answer) {
  const auto hit_of_row = [&](const BestRow& row) {
    Hit hit = hit_of(row.place, row.parts.match * found.best_match, found.best_match);
    hit.best = row.parts;
    return hit;
  };
  std::vector<PlaceInOrder> places;
  places.reserve(found.rows.size());
  for (const BestRow& row : found.rows) {
    if (row.place.key < input.key_min) continue;
    const bool counts =
        query.relevance_min <= 0 || hit_of_row(row).relevance >= query.relevance_min;
    if (counts) places.push_back(row.place);
  }
  TopK best(wanted() - answer->hits.size(), query.ascending, after_place());
  best.fill(std::move(places));
  const std::vector<PlaceInOrder> in_order = best.take();
  answer->hits.reserve(in_order.size());
  for (const PlaceInOrder& place : in_order)
    answer->hits.push_back(hit_of_row(*found.find(place.row)));
}

void Search::Parts::run_by_best(Answer* answer) {
  answer->strategy = "best matches with their surroundings";
  const BestRows found = best_rows(answer->best_match);
  answer->best_match = found.best_match;
  if (query.ascending) {
    take_unranked(found, answer);
    if (answer->hits.size() < wanted()) take_best(found, answer);
  } else {
    take_best(found, answer);
    if (answer->hits.size() < wanted()) take_unranked(found, answer);
  }
}

// The rest of the matches, by their match: all behind the best rows.
void Search::Parts::take_unranked(const BestRows& found, Answer* answer) {
  if (input.key_min >= 0) return;
  TopK rest(wanted() - answer->hits.size(), query.ascending, after_place());
  ranker->for_each(filter, [&](uint32_t row, double score) {
    if (found.find(row) != nullptr) return;
    const PlaceInOrder place{unranked_key(score, found.best_match), index.timestamp_ms(row), row};
    if (hit_of(place, score, found.best_match).relevance >= query.relevance_min) rest.offer(place);
  });
  take(rest, answer);
}

// By anything else: every match is looked at.
void Search::Parts::run_by_words(Answer* answer) {
  answer->strategy = "every match";
  const Matches matches = every_match();
  if (answer->best_match == 0) answer->best_match = matches.best;
  TopK best(wanted(), query.ascending, after_place());
  const OrderKey key(index, relevance, query.sort_by);
  for (const auto& [row, score] : matches.rows) {
    const PlaceInOrder place{0, index.timestamp_ms(row), row};
    const Hit hit = hit_of(place, score, answer->best_match);
    if (hit.relevance < query.relevance_min) continue;
    double order = 0;
    switch (query.sort_by) {
      case SortBy::kMatch: order = score; break;
      case SortBy::kRelevance: order = hit.relevance; break;
      default: order = key.of(row);
    }
    best.offer({order, place.timestamp_ms, row});
  }
  take(best, answer);
}

// In a log whose times rise, the order of time is that of the log: a walk from one end.
bool Search::Parts::walk_in_time(Answer* answer) {
  if (query.sort_by != SortBy::kTime || !index.is_in_time_order()) return false;
  uint32_t row = query.ascending ? 0 : kNoRow;
  if (query.after) {
    const auto last = index.find(query.after->id);
    if (!last || query.after->session_id != input.session_id) return false;
    if (!query.ascending && *last == 0) return true;
    row = query.ascending ? *last + 1 : *last - 1;
  }
  answer->strategy = "a walk through the log's end";
  while (answer->hits.size() < wanted()) {
    row = query.ascending ? filter.next(row) : filter.previous(row);
    if (row == kNoRow) return true;
    const int64_t timestamp_ms = index.timestamp_ms(row);
    if (static_cast<double>(timestamp_ms) < input.key_min) return true;
    Hit hit = hit_of({static_cast<double>(timestamp_ms), timestamp_ms, row}, 0, 0);
    if (hit.relevance >= query.relevance_min) answer->hits.push_back(std::move(hit));
    if (!query.ascending && row == 0) return true;
    row = query.ascending ? row + 1 : row - 1;
  }
  return true;
}

void Search::Parts::run_by_order(Answer* answer) {
  if (walk_in_time(answer)) return;
  const SortBy sort_by = query.sort_by == SortBy::kTime || query.sort_by == SortBy::kImportance
                             ? query.sort_by
                             : SortBy::kRelevance;
  const OrderKey key(index, relevance, sort_by);
  TopK best(wanted(), query.ascending, after_place());
  const bool is_relevance = sort_by == SortBy::kRelevance;
  const uint64_t walked = filter.walk_count_max();
  // Without words the rows may not be arranged yet: to look at every one is right, too, but slower.
  const bool few = walked / kWalkedPerResult < std::max<uint64_t>(1, query.limit) ||
                   index.arranged_count() < row_end;
  const bool every = few || (query.relevance_min > 0 && !is_relevance);
  const double lowest = std::numeric_limits<double>::lowest();
  const double key_min = std::max(is_relevance ? query.relevance_min : lowest, input.key_min);
  const bool is_oldest_first = query.ascending && sort_by == SortBy::kTime;
  answer->strategy = is_oldest_first   ? "the oldest first, by the order of time"
                     : query.ascending ? "the least first, bounded by time and importance"
                                       : "the largest first, bounded by time and importance";
  const auto searches = [&] {
    return is_oldest_first ? search_oldest_first(index, filter, walked, &best)
                           : search_in_order(index, filter, key, key_min, walked, &best);
  };
  // The first may have none of what is asked for: then as many are looked at as fit, no more.
  if (every || !searches()) {
    answer->strategy = "every row that fits";
    best = TopK(wanted(), query.ascending, after_place());
    offer_every_row(key, &best);
  }
  take(best, answer);
}

void Search::Parts::offer_every_row(const OrderKey& key, TopK* best) {
  filter.for_each([&](uint32_t row) {
    if (query.relevance_min > 0 && relevance.of(row) < query.relevance_min) return;
    best->offer({key.of(row), index.timestamp_ms(row), row});
  });
}

// Every match, with its place in the order by words.
Candidates Search::Parts::word_candidates(Answer* answer) {
  Candidates found;
  if (!ranks || words_find_nothing) return found;
  double best_match = 0;
  ranker->for_each(filter, [&](uint32_t row, double score) {
    found.push_back({row, score, {}, score, {}});
    best_match = std::max(best_match, score);
  });
  if (answer->best_match == 0) answer->best_match = best_match;
  if (query.sort_by != SortBy::kBest) return found;
  const BestRows best = best_rows(answer->best_match);
  auto ranked = best.rows.begin();  // rising, as the candidates are
  for (Candidate& candidate : found) {
    while (ranked != best.rows.end() && ranked->place.row < candidate.row) ++ranked;
    if (ranked != best.rows.end() && ranked->place.row == candidate.row) {
      candidate.text_key = ranked->place.key;
      candidate.best = ranked->parts;
    } else {
      candidate.text_key = unranked_key(candidate.match, answer->best_match);
    }
  }
  return found;
}

Candidates Search::Parts::all_candidates(Answer* answer) {
  return with_vectors(word_candidates(answer), input.vectors, filter);
}

double Search::Parts::order_key(const Hit& hit) const {
  switch (query.sort_by) {
    case SortBy::kRelevance: return hit.relevance;
    case SortBy::kTime: return static_cast<double>(hit.place.timestamp_ms);
    case SortBy::kImportance: return hit.factors.importance;
    case SortBy::kBest:
    case SortBy::kMatch: break;
  }
  return fuses() ? hit.fusion->score() : *hit.fusion->similarity;
}

// Every vector is looked at, and with words every match.
void Search::Parts::run_by_vector(Answer* answer) {
  answer->fuses = fuses();
  answer->strategy = fuses() ? "every match and every vector, by their ranks" : "every vector";
  const Candidates candidates = all_candidates(answer);
  const RankKeys own = input.rank_keys == nullptr ? rank_keys_of(candidates) : RankKeys();
  const Fusion fusion(input.rank_keys == nullptr ? own : *input.rank_keys, query.vector_weight);
  const auto hit_at = [&](const Candidate& candidate) {
    Hit hit = hit_of({0, index.timestamp_ms(candidate.row), candidate.row}, candidate.match, 0);
    hit.fusion = fusion.parts(candidate.text_key, candidate.similarity);
    hit.best = candidate.best;
    set_match_quality(
        fuses() ? std::min(1.0, hit.fusion->score()) : std::max(0.0, *candidate.similarity), &hit);
    hit.place.key = order_key(hit);
    return hit;
  };
  TopK best(wanted(), query.ascending, after_place());
  for (const Candidate& candidate : candidates) {
    const Hit hit = hit_at(candidate);
    if (hit.relevance >= query.relevance_min) best.offer(hit.place);
  }
  for (const PlaceInOrder& place : best.take()) {
    answer->hits.push_back(hit_at(*find_candidate(candidates, place.row)));
  }
}

Answer Search::Parts::run() {
  Answer answer;
  answer.walk_count_max = filter.walk_count_max();
  answer.row_end = row_end;
  answer.last_seq = last_seq();
  answer.best_match = query.after ? query.after->best_match : input.best_match;
  if (is_hopeless() || query.limit == 0) return answer;
  answer.hits.reserve(std::min(wanted(), kHitsAtFirst));
  const bool plain = query.relevance_min == 0 && !query.ascending;
  if (query.has_vector()) {
    run_by_vector(&answer);
  } else if (!ranks) {
    run_by_order(&answer);
  } else if (query.sort_by == SortBy::kBest) {
    run_by_best(&answer);
  } else if (query.sort_by == SortBy::kMatch && plain) {
    run_by_match(&answer);
  } else {
    run_by_words(&answer);
  }
  finish(&answer);
  return answer;
}

void Search::Parts::finish(Answer* answer) {
  const auto is_small = [this](const Hit& hit) { return hit.place.key < input.key_min; };
  answer->hits.erase(std::find_if(answer->hits.begin(), answer->hits.end(), is_small),
                     answer->hits.end());
  answer->has_more = answer->hits.size() > query.limit || input.key_min > kAllKeys;
  if (answer->hits.size() > query.limit) answer->hits.resize(query.limit);
  if (query.explain && ranks) explain(answer);
}

void Search::Parts::explain(Answer* answer) {
  for (const auto& figures : ranker->figures()) {
    answer->terms.push_back({figures.term->text, figures.row_count, figures.idf});
  }
  for (Hit& hit : answer->hits) hit.terms = ranker->explain(hit.place.row);
}

std::vector<uint32_t> Search::Parts::all_rows() {
  if (words_find_nothing) return {};
  std::vector<uint32_t> rows;
  if (!ranks) {
    rows = filter.rows();
    if (query.relevance_min == 0) return rows;
    std::erase_if(rows, [&](uint32_t row) { return relevance.of(row) < query.relevance_min; });
    return rows;
  }
  const Matches matches = every_match();
  for (const auto& [row, score] : matches.rows) {
    const Hit hit = hit_of({0, index.timestamp_ms(row), row}, score, matches.best);
    if (hit.relevance >= query.relevance_min) rows.push_back(row);
  }
  return rows;
}

// --- the outside ---------------------------------------------------------------------------------

Search::Search(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Search::Search(Search&&) noexcept = default;
Search& Search::operator=(Search&&) noexcept = default;
Search::~Search() = default;

Result<Search> Search::plan(SearchInput input) {
  auto parts = std::make_unique<Parts>(std::move(input));
  VARVE_TRY(parts->prepare());
  return Search(std::move(parts));
}

const std::vector<TextCheck>& Search::checks() const { return parts_->text.checks; }

TextStatistics Search::statistics() const {
  if (parts_->ranker) return parts_->ranker->statistics();
  TextStatistics statistics;  // it has none of the words, but counts
  statistics.entry_count = parts_->row_end;
  statistics.total_length = parts_->index.text().total_length(parts_->row_end);
  return statistics;
}

bool Search::finds_nothing() const { return parts_->is_hopeless(); }

uint64_t Search::last_seq() const { return parts_->last_seq(); }

BestMatch Search::best_match() {
  return parts_->ranker && !parts_->words_find_nothing ? parts_->find_best_match() : BestMatch();
}

RankKeys Search::rank_keys() {
  if (parts_->text.matches_nothing) return {};
  Answer answer;
  answer.best_match = parts_->input.best_match;
  return rank_keys_of(parts_->all_candidates(&answer));
}

Result<std::vector<uint32_t>> Search::rows_to_check(size_t check) {
  std::vector<uint32_t> rows;
  if (parts_->is_hopeless()) return rows;
  RowFilter filter = parts_->filter;
  for (const auto& list : parts_->text.checks[check].lists) {
    filter.require(RowSet::of_lists({list}));
  }
  rows = filter.rows();
  if (filter.is_damaged()) return index::damaged_list();
  return rows;
}

Status Search::check_lists() const {
  return parts_->is_damaged() ? index::damaged_list() : Status();
}

Result<Answer> Search::run() {
  Answer answer = parts_->run();
  VARVE_TRY(check_lists());
  return answer;
}

Result<std::vector<uint32_t>> Search::all_rows() {
  auto rows = parts_->all_rows();
  VARVE_TRY(check_lists());
  return rows;
}

}  // namespace varve::query
