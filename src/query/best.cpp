#include "query/best.h"

#include <algorithm>
#include <set>
#include <utility>

#include "query/dates.h"
#include "query/relative_dates.h"

namespace varve::query {

namespace {

constexpr uint32_t kKnownDistance = 2;  // around candidates, within which q is exact
constexpr uint32_t kFoundDistance = 1;  // around candidates, within which entries may be found

// Words by which a question speaks of the user.
constexpr std::string_view kSelf[] = {"i",  "me", "my",  "mine", "myself",
                                      "we", "us", "our", "ours", "ourselves"};

class BestSearch {
 public:
  BestSearch(const index::Index& index, const TextPlan& plan, Ranker& ranker, RowFilter& filter,
             const Relevance& relevance, double best_match, const BestWeights& weights)
      : index_(index),
        plan_(plan),
        ranker_(ranker),
        filter_(filter),
        relevance_(relevance),
        weights_(weights),
        peak_(best_match) {}

  BestRows run(text::Analyzer& analyzer) {
    dates_ = find_dates(plan_.question);
    // "The week before May 7" is not told from now.
    if (dates_.empty()) spans_ = find_relative_dates(plan_.question, relevance_.now_ms());
    find_candidates();
    if (candidates_.empty()) return {};
    score_surroundings();
    find_named_roles(analyzer);
    return rank();
  }

 private:
  void find_candidates() {
    TopK best(weights_.candidate_count, false, std::nullopt);
    ranker_.find_best(filter_, &best);
    for (const PlaceInOrder& place : best.take_unsorted()) {
      peak_ = std::max(peak_, place.key);
      candidates_.push_back(place.row);
    }
    const bool names_days = !dates_.empty() || !spans_.empty();
    if (names_days && candidates_.size() >= weights_.candidate_count) add_dated_candidates();
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  }

  void add_dated_candidates() {
    TopK dated(weights_.dated_candidate_count, false, std::nullopt);
    RowFilter on_dates = filter_;
    on_dates.require_that([this](uint32_t row) { return date_fit(index_.timestamp_ms(row)) > 0; });
    ranker_.find_best(on_dates, &dated);
    for (const PlaceInOrder& place : dated.take_unsorted()) candidates_.push_back(place.row);
  }

  [[nodiscard]] double date_fit(int64_t timestamp_ms) const {
    return std::max(date_match(dates_, timestamp_ms), span_match(spans_, timestamp_ms));
  }

  // The live row before, after; kNoRow at the ends.
  [[nodiscard]] uint32_t before(uint32_t row) const {
    while (row > 0) {
      if (filter_.is_live(--row)) return row;
    }
    return kNoRow;
  }
  [[nodiscard]] uint32_t after(uint32_t row) const {
    for (++row; row < filter_.log_end(); ++row) {
      if (filter_.is_live(row)) return row;
    }
    return kNoRow;
  }

  // Candidates and the live rows up to `distance` around them, rising. (Candidates are live.)
  [[nodiscard]] std::vector<uint32_t> surroundings(uint32_t distance) const {
    std::vector<uint32_t> rows;
    rows.reserve(candidates_.size() * (2 * distance + 1));
    for (const uint32_t candidate : candidates_) {
      uint32_t row = candidate;
      uint32_t count = distance;  // behind `row`
      for (; count < 2 * distance; ++count) {
        const uint32_t back = before(row);
        if (back == kNoRow) break;
        row = back;
      }
      for (++count; row != kNoRow && count > 0; --count, row = after(row)) {
        if (rows.empty() || row > rows.back()) rows.push_back(row);
      }
    }
    return rows;
  }

  void score_surroundings() {
    known_ = surroundings(kKnownDistance);
    qualities_ = ranker_.scores(known_);
    for (size_t i = 0; i < known_.size(); ++i) {
      double& quality = qualities_[i];
      quality = peak_ > 0 ? std::min(1.0, quality / peak_) : 0;
      const uint32_t stretch = index_.stretch(known_[i]);
      if (stretches_.empty() || stretches_.back().first != stretch) {
        stretches_.emplace_back(stretch, 0);
      }
      stretches_.back().second = std::max(stretches_.back().second, quality);
    }
  }

  void find_named_roles(text::Analyzer& analyzer) {
    const std::set<std::string_view> asked(plan_.words.begin(), plan_.words.end());
    const bool speaks_of_self = std::any_of(std::begin(kSelf), std::end(kSelf),
                                            [&](auto word) { return asked.contains(word); });
    index_.facets().for_each_role([&](std::string_view role, std::string_view key) {
      const text::Words& parts = analyzer.read(role);
      bool named = !parts.words().empty();
      bool is_user = parts.words().size() == 1;
      for (const auto& part : parts.words()) {
        named = named && asked.contains(parts.text(part));
        is_user = is_user && parts.text(part) == "user";
      }
      if (named || (is_user && speaks_of_self)) {
        named_.push_back(RowSet::of_lists({index_.facets().content(key)}));
      }
      return true;
    });
  }

  [[nodiscard]] bool is_named(uint32_t row) {
    return std::any_of(named_.begin(), named_.end(),
                       [row](RowSet& rows) { return rows.contains(row); });
  }

  BestRows rank() {
    BestRows found;
    found.best_match = peak_;
    size_t at = 0;  // where the row is in known_: its live neighbours stand beside it
    size_t stretch = 0;
    for (const uint32_t row : surroundings(kFoundDistance)) {
      while (known_[at] != row) ++at;
      while (stretches_[stretch].first != index_.stretch(row)) ++stretch;
      if (!filter_.accepts(row)) continue;
      if (qualities_[at] == 0 && plan_.needs_term) continue;
      const BestParts parts = parts_of(at, stretches_[stretch].second);
      found.rows.push_back({{parts.sum(), index_.timestamp_ms(row), row}, parts});
    }
    return found;
  }

  // Of the row known_[at], in whose stretch the largest q is `best_of_stretch`.
  BestParts parts_of(size_t at, double best_of_stretch) {
    const uint32_t row = known_[at];
    const double previous_quality = at > 0 ? qualities_[at - 1] : 0;
    const double next_quality = at + 1 < known_.size() ? qualities_[at + 1] : 0;
    BestParts parts;
    parts.match = qualities_[at];
    parts.neighbours = weights_.neighbour * (previous_quality + next_quality);
    if (at > 0 && index_.text().asks(known_[at - 1])) {
      parts.answer = weights_.answer * previous_quality;
    }
    parts.stretch = weights_.stretch * best_of_stretch;
    if (is_named(row)) parts.role = weights_.role;
    parts.date = weights_.date * date_fit(index_.timestamp_ms(row));
    parts.relevance = weights_.relevance * relevance_.of(row);
    return parts;
  }

  const index::Index& index_;
  const TextPlan& plan_;
  Ranker& ranker_;
  RowFilter& filter_;
  const Relevance& relevance_;
  const BestWeights& weights_;
  std::vector<NamedDate> dates_;
  std::vector<DaySpan> spans_;
  std::vector<uint32_t> candidates_;                    // rising
  std::vector<uint32_t> known_;                         // rising
  std::vector<double> qualities_;                       // of known_
  std::vector<std::pair<uint32_t, double>> stretches_;  // rising; the best quality in each
  std::vector<RowSet> named_;
  double peak_;
};

}  // namespace

const BestRow* BestRows::find(uint32_t row) const {
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), row,
                       [](const BestRow& one, uint32_t other) { return one.place.row < other; });
  return found != rows.end() && found->place.row == row ? &*found : nullptr;
}

BestRows find_best_rows(const index::Index& index, const TextPlan& plan, Ranker& ranker,
                        RowFilter& filter, const Relevance& relevance, text::Analyzer& analyzer,
                        double best_match, const BestWeights& weights) {
  return BestSearch(index, plan, ranker, filter, relevance, best_match, weights).run(analyzer);
}

}  // namespace varve::query
