#include "context/candidates.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace varve::context {

namespace {

constexpr size_t kCandidatesUsual = 512;

// What was found, each entry once.
class Union {
 public:
  Union() { all_.reserve(kCandidatesUsual); }

  // Before anything of the session is added.
  Status exclude(uint32_t session, const std::vector<session::Selected>& entries) {
    for (const auto& entry : entries) {
      VARVE_TRY(check_generation(session, entry));
      excluded_.insert(entry_key(session, entry.place.row));
    }
    return {};
  }

  Status add(uint32_t session, const session::Selected& entry, Source source, double match) {
    VARVE_TRY(check_generation(session, entry));
    const EntryKey key = entry_key(session, entry.place.row);
    if (excluded_.contains(key)) return {};
    const auto [number, is_new] = numbers_.try_emplace(key, all_.size());
    if (is_new) {
      all_.push_back({session, entry, source, match, 0});
      return {};
    }
    Candidate& known = all_[number->second];
    known.match = std::max(known.match, match);
    if (known.source == Source::kRecalled) known.source = source;
    return {};
  }

  std::vector<Candidate> take() { return std::move(all_); }
  boost::unordered_flat_set<EntryKey> take_excluded() { return std::move(excluded_); }

 private:
  // Rows stand for entries as long as the log is the same.
  Status check_generation(uint32_t session, const session::Selected& entry) {
    if (session >= generations_.size()) generations_.resize(session + 1);
    std::optional<uint64_t>& generation = generations_[session];
    if (!generation) generation = entry.place.generation;
    if (*generation == entry.place.generation) return {};
    return {Code::kGone, "the log was replaced"};
  }

  std::vector<std::optional<uint64_t>> generations_;  // by session
  boost::unordered_flat_set<EntryKey> excluded_;
  boost::unordered_flat_map<EntryKey, size_t> numbers_{kCandidatesUsual};
  std::vector<Candidate> all_;
};

bool ranks_by_match(const query::Query& query) {
  return !query.ascending &&
         (query.sort_by == query::SortBy::kBest || query.sort_by == query::SortBy::kMatch);
}

// What a result's place in its own order is worth, as a share of the first one's. Of an entry that
// was selected, or a result that was read.
template <typename Found>
double match_of(const query::Query& query, const Found& entry, double best_key) {
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
  return a.key() > b.key();
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
  const bool is_of_file = !failure.place().path.empty();  // what a line of the log has
  if (is_of_file || failure.place().member.empty()) return failure;
  Place place = failure.place();
  place.member = "retrieve[" + std::to_string(number) + "].query." + place.member;
  return {failure.code(), failure.message(), std::move(place)};
}

class Finder {
 public:
  Finder(Sessions& sessions, const Request& request, int64_t now_ms)
      : sessions_(sessions), request_(request), now_ms_(now_ms) {
    if (request.is_across) {
      excluded_ids_.insert(request.exclude_ids.begin(), request.exclude_ids.end());
    }
  }

  Result<Candidates> find() {
    VARVE_TRY(exclude(0));
    VARVE_TRY_ASSIGN(const auto pinned, sessions_.at(0).select_ids(request_.pinned, now_ms_));
    for (const auto& entry : pinned) VARVE_TRY(all_.add(0, entry, Source::kPinned, 0));
    for (size_t i = 0; i < request_.retrievals.size(); ++i) {
      const Retrieval& retrieval = request_.retrievals[i];
      const Status taken = retrieval.is_across ? recall(retrieval.query) : retrieve(retrieval);
      if (!taken.ok()) return of_retrieval(taken, i);
    }
    std::vector<Candidate> candidates = all_.take();
    rank_candidates(request_.rank, &candidates);
    return Candidates{in_order(candidates), all_.take_excluded(), passed_over_.size()};
  }

 private:
  Status exclude(uint32_t session) {
    VARVE_TRY_ASSIGN(const auto excluded,
                     sessions_.at(session).select_ids(request_.exclude_ids, now_ms_));
    return all_.exclude(session, excluded);
  }

  Status retrieve(const Retrieval& retrieval) {
    VARVE_TRY_ASSIGN(const auto found, sessions_.at(0).select(retrieval.query));
    const double best_key = found.empty() ? 0 : found.front().key;
    const Source source = retrieval.is_recency ? Source::kRecent : Source::kRecalled;
    for (const auto& entry : found) {
      VARVE_TRY(all_.add(0, entry, source, match_of(retrieval.query, entry, best_key)));
    }
    return {};
  }

  // From all sessions: they share one order, and what a match is measured against.
  Status recall(const query::Query& query) {
    VARVE_TRY_ASSIGN(const auto found, sessions_.ask(query));
    const double best_key = found.results.empty() ? 0 : found.results.front().key;
    for (const auto& result : found.results) {
      const double match = match_of(query, result, best_key);
      VARVE_TRY_ASSIGN(const auto number, number_of(found.session_ids[result.session]));
      if (number) {
        VARVE_TRY(of_session(*number, add_by_id(*number, result.id(), match)));
      } else if (!excluded_ids_.contains(result.id())) {
        passed_over_.emplace(found.session_ids[result.session], result.id());
      }
    }
    return {};
  }

  Result<std::optional<uint32_t>> number_of(const std::string& session_id) {
    const uint32_t known_count = sessions_.count();
    VARVE_TRY_ASSIGN(const auto number, sessions_.number_of(session_id));
    const bool is_new = sessions_.count() > known_count;
    if (is_new) VARVE_TRY(of_session(*number, exclude(*number)));
    return number;
  }

  Status add_by_id(uint32_t session, const std::string& id, double match) {
    VARVE_TRY_ASSIGN(const auto entries, sessions_.at(session).select_ids({id}, now_ms_));
    for (const auto& entry : entries) {
      VARVE_TRY(all_.add(session, entry, Source::kRecalled, match));
    }
    return {};
  }

  Sessions& sessions_;
  const Request& request_;
  int64_t now_ms_;
  Union all_;
  std::set<std::string_view> excluded_ids_;                    // of sessions that are not open
  std::set<std::pair<std::string, std::string>> passed_over_;  // sessions and ids
};

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

Result<Candidates> find_candidates(Sessions& sessions, const Request& request, int64_t now_ms) {
  return Finder(sessions, request, now_ms).find();
}

}  // namespace varve::context
