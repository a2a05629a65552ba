#include "context/candidates.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace varve::context {

namespace {

constexpr size_t kCandidatesUsual = 512;

// What was found, each row once.
class Union {
 public:
  Union() { all_.reserve(kCandidatesUsual); }

  // First of all, and of one selection: they have one generation, which decides.
  void exclude(const std::vector<session::Selected>& entries) {
    for (const auto& entry : entries) {
      generation_ = entry.place.generation;
      excluded_.insert(entry.place.row);
    }
  }

  Status add(const session::Selected& entry, Source source, double match) {
    VARVE_TRY(check_generation(entry));
    const uint32_t row = entry.place.row;
    if (excluded_.contains(row)) return {};
    const auto [number, is_new] = numbers_.try_emplace(row, all_.size());
    if (is_new) {
      all_.push_back({entry, source, match, 0});
      return {};
    }
    Candidate& known = all_[number->second];
    known.match = std::max(known.match, match);
    if (known.source == Source::kRecalled) known.source = source;
    return {};
  }

  std::vector<Candidate> take() { return std::move(all_); }
  boost::unordered_flat_set<uint32_t> take_excluded() { return std::move(excluded_); }

 private:
  // Rows stand for entries as long as the log is the same.
  Status check_generation(const session::Selected& entry) {
    if (!generation_) generation_ = entry.place.generation;
    if (*generation_ == entry.place.generation) return {};
    return {Code::kGone, "the log was replaced"};
  }

  std::optional<uint64_t> generation_;
  boost::unordered_flat_set<uint32_t> excluded_;
  boost::unordered_flat_map<uint32_t, size_t> numbers_{kCandidatesUsual};
  std::vector<Candidate> all_;
};

bool ranks_by_match(const query::Query& query) {
  return !query.ascending &&
         (query.sort_by == query::SortBy::kBest || query.sort_by == query::SortBy::kMatch);
}

// What a result's place in its own order is worth, as a share of the first one's.
double match_of(const query::Query& query, const session::Selected& entry, double best_key) {
  if (!query.has_text() && !query.has_vector()) return 0;
  if (!ranks_by_match(query) || best_key <= 0) return entry.match_quality;
  return std::clamp(entry.key / best_key, 0.0, 1.0);
}

struct Span {
  double least = 0;
  double most = 0;
  [[nodiscard]] double place_of(double value) const {
    return most > least ? (value - least) / (most - least) : 1;
  }
};

template <typename Measure>
Span span_of(const std::vector<Candidate>& candidates, Measure measure) {
  Span span{measure(candidates.front()), measure(candidates.front())};
  for (const auto& candidate : candidates) {
    span.least = std::min(span.least, measure(candidate));
    span.most = std::max(span.most, measure(candidate));
  }
  return span;
}

bool comes_before(const Candidate& a, const Candidate& b) {
  if (a.rank != b.rank) return a.rank > b.rank;
  if (a.entry.timestamp_ms != b.entry.timestamp_ms) {
    return a.entry.timestamp_ms > b.entry.timestamp_ms;
  }
  return a.entry.place.row > b.entry.place.row;
}

// Pinned ones as they are, then the others. Their numbers are sorted, being smaller.
std::vector<Candidate> in_order(const std::vector<Candidate>& candidates) {
  std::vector<uint32_t> numbers(candidates.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto first_found = std::find_if(numbers.begin(), numbers.end(), [&](uint32_t number) {
    return candidates[number].source != Source::kPinned;
  });
  std::sort(first_found, numbers.end(),
            [&](uint32_t a, uint32_t b) { return comes_before(candidates[a], candidates[b]); });
  std::vector<Candidate> sorted;
  sorted.reserve(candidates.size());
  for (const uint32_t number : numbers) sorted.push_back(candidates[number]);
  return sorted;
}

// A failure about a member of a query, told as one about the request that the query stands in.
Status of_retrieval(Status failure, size_t number) {
  if (failure.place().member.empty()) return failure;
  Place place = failure.place();
  place.member = "retrieve[" + std::to_string(number) + "].query." + place.member;
  return {failure.code(), failure.message(), std::move(place)};
}

}  // namespace

void rank_candidates(const RankWeights& weights, std::vector<Candidate>* candidates) {
  if (candidates->empty()) return;
  const auto time = [](const Candidate& one) {
    return static_cast<double>(one.entry.timestamp_ms);
  };
  const auto importance = [](const Candidate& one) { return one.entry.importance; };
  const Span times = span_of(*candidates, time);
  const Span importances = span_of(*candidates, importance);
  for (auto& candidate : *candidates) {
    candidate.rank = weights.temporal * times.place_of(time(candidate)) +
                     weights.importance * importances.place_of(importance(candidate)) +
                     weights.match * candidate.match;
  }
}

Result<Candidates> find_candidates(session::Session& session, const Request& request,
                                   int64_t now_ms) {
  Union all;
  VARVE_TRY_ASSIGN(const auto excluded, session.select_ids(request.exclude_ids, now_ms));
  all.exclude(excluded);
  VARVE_TRY_ASSIGN(const auto pinned, session.select_ids(request.pinned, now_ms));
  for (const auto& entry : pinned) VARVE_TRY(all.add(entry, Source::kPinned, 0));
  for (size_t i = 0; i < request.retrievals.size(); ++i) {
    const Retrieval& retrieval = request.retrievals[i];
    const auto found = session.select(retrieval.query);
    if (!found.ok()) return of_retrieval(found.status(), i);
    const double best_key = found->empty() ? 0 : found->front().key;
    const Source source = retrieval.is_recency ? Source::kRecent : Source::kRecalled;
    for (const auto& entry : *found) {
      const double match = match_of(retrieval.query, entry, best_key);
      VARVE_TRY(all.add(entry, source, match));
    }
  }
  std::vector<Candidate> candidates = all.take();
  rank_candidates(request.rank, &candidates);
  return Candidates{in_order(candidates), all.take_excluded()};
}

}  // namespace varve::context
