#include "query/best.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "entry/content_key.h"
#include "query/dates.h"

namespace varve::query {

namespace {

constexpr uint32_t kKnownDistance = 2;  // around candidates, within which q is exact
constexpr uint32_t kFoundDistance = 1;  // around candidates, within which entries may be found
constexpr size_t kRolesMax = 1000;

// Words by which a question speaks of the user.
constexpr std::string_view kSelf[] = {"i",  "me", "my",  "mine", "myself",
                                      "we", "us", "our", "ours", "ourselves"};

class BestSearch {
 public:
  BestSearch(const index::Index& index, Ranker& ranker, RowFilter& filter,
             const Relevance& relevance, double best_match, const BestWeights& weights)
      : index_(index),
        ranker_(ranker),
        filter_(filter),
        relevance_(relevance),
        weights_(weights),
        peak_(best_match) {}

  BestRows run(std::string_view question, const std::vector<std::string>& words, bool any_row,
               text::Analyzer& analyzer) {
    dates_ = find_dates(question);
    find_candidates(any_row);
    if (candidates_.empty()) return {};
    score_surroundings();
    find_named_roles(words, analyzer);
    return rank(any_row);
  }

 private:
  void find_candidates(bool any_row) {
    TopK best(weights_.candidate_count, false, std::nullopt);
    ranker_.find_best(filter_, any_row, &best);
    for (const Place& place : best.take()) {
      peak_ = std::max(peak_, place.key);
      candidates_.push_back(place.row);
    }
    if (dates_.empty() || candidates_.size() < weights_.candidate_count) {
      std::sort(candidates_.begin(), candidates_.end());
      return;
    }
    TopK dated(weights_.dated_candidate_count, false, std::nullopt);
    RowFilter on_dates = filter_;
    on_dates.require_that(
        [this](uint32_t row) { return date_match(dates_, index_.timestamp_ms(row)) > 0; });
    ranker_.find_best(on_dates, any_row, &dated);
    for (const Place& place : dated.take()) candidates_.push_back(place.row);
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
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

  // Candidates and the live rows up to `distance` around them, rising.
  [[nodiscard]] std::vector<uint32_t> surroundings(uint32_t distance) const {
    std::vector<uint32_t> rows;
    for (const uint32_t candidate : candidates_) {
      rows.push_back(candidate);
      uint32_t back = candidate;
      uint32_t forth = candidate;
      for (uint32_t i = 0; i < distance; ++i) {
        if (back != kNoRow && (back = before(back)) != kNoRow) rows.push_back(back);
        if (forth != kNoRow && (forth = after(forth)) != kNoRow) rows.push_back(forth);
      }
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

  void score_surroundings() {
    known_ = surroundings(kKnownDistance);
    for (const uint32_t row : known_) {
      const double quality = peak_ > 0 ? std::min(1.0, ranker_.score(row) / peak_) : 0;
      qualities_.push_back(quality);
      double& best = stretches_[index_.stretch(row)];
      best = std::max(best, quality);
    }
  }

  [[nodiscard]] double quality(uint32_t row) const {
    const auto found = std::lower_bound(known_.begin(), known_.end(), row);
    if (found == known_.end() || *found != row) return 0;
    return qualities_[static_cast<size_t>(found - known_.begin())];
  }

  void find_named_roles(const std::vector<std::string>& words, text::Analyzer& analyzer) {
    const std::set<std::string_view> asked(words.begin(), words.end());
    const bool speaks_of_self = std::any_of(std::begin(kSelf), std::end(kSelf),
                                            [&](auto word) { return asked.contains(word); });
    const std::string prefix = entry::content_string_prefix("role");
    size_t count = 0;
    index_.facets().for_each_content(prefix, [&](std::string_view key) {
      const std::string role(key.substr(prefix.size()));
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
      return ++count < kRolesMax;
    });
  }

  [[nodiscard]] bool is_named(uint32_t row) {
    return std::any_of(named_.begin(), named_.end(),
                       [row](RowSet& rows) { return rows.contains(row); });
  }

  BestRows rank(bool any_row) {
    BestRows found;
    found.best_match = peak_;
    for (const uint32_t row : surroundings(kFoundDistance)) {
      if (!filter_.accepts(row)) continue;
      const uint32_t previous = before(row);
      const uint32_t next = after(row);
      const double previous_quality = previous == kNoRow ? 0 : quality(previous);
      const double next_quality = next == kNoRow ? 0 : quality(next);
      const auto stretch = stretches_.find(index_.stretch(row));
      const int64_t timestamp_ms = index_.timestamp_ms(row);
      BestParts parts;
      parts.match = quality(row);
      if (parts.match == 0 && !any_row) continue;
      parts.neighbours = weights_.neighbour * (previous_quality + next_quality);
      if (previous != kNoRow && index_.text().asks(previous)) {
        parts.answer = weights_.answer * previous_quality;
      }
      if (stretch != stretches_.end()) parts.stretch = weights_.stretch * stretch->second;
      if (is_named(row)) parts.role = weights_.role;
      parts.date = weights_.date * date_match(dates_, timestamp_ms);
      parts.relevance = weights_.relevance * relevance_.of(row);
      found.rows.push_back({{parts.sum(), timestamp_ms, row}, parts});
    }
    std::sort(found.rows.begin(), found.rows.end(),
              [](const BestRow& a, const BestRow& b) { return comes_before(a.place, b.place); });
    return found;
  }

  const index::Index& index_;
  Ranker& ranker_;
  RowFilter& filter_;
  const Relevance& relevance_;
  const BestWeights& weights_;
  std::vector<NamedDate> dates_;
  std::vector<uint32_t> candidates_;  // rising
  std::vector<uint32_t> known_;       // rising
  std::vector<double> qualities_;     // of known_
  std::map<uint32_t, double> stretches_;
  std::vector<RowSet> named_;
  double peak_;
};

}  // namespace

BestRows find_best_rows(const index::Index& index, Ranker& ranker, RowFilter& filter, bool any_row,
                        const Relevance& relevance, std::string_view question,
                        const std::vector<std::string>& question_words, text::Analyzer& analyzer,
                        double best_match, const BestWeights& weights) {
  return BestSearch(index, ranker, filter, relevance, best_match, weights)
      .run(question, question_words, any_row, analyzer);
}

}  // namespace varve::query
