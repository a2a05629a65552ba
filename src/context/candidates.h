// Candidates: the entries that a context may hold, found by its retrievals and ranked.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "context/request.h"
#include "context/sessions.h"
#include "session/query/selection.h"

namespace varve::context {

enum class Source : uint8_t { kPinned, kRecalled, kRecent };

struct Candidate {
  uint32_t session = 0;  // its number
  session::Selected entry;
  Source source = Source::kRecalled;
  double match = 0;  // of the best match of its retrieval; 0 when there was nothing to match
  double rank = 0;

  [[nodiscard]] EntryKey key() const noexcept { return entry_key(session, entry.place.row); }
};

struct Candidates {
  std::vector<Candidate> ranked;
  boost::unordered_flat_set<EntryKey> excluded;
  uint64_t passed_over_count = 0;  // found in sessions that could not stay open with the others
};

// The union of all retrievals, without duplicates and without what is excluded: pinned entries
// first, in the order given, then best rank first, then newest first. All of one session are of one
// generation: kGone when a log was replaced meanwhile.
Result<Candidates> find_candidates(Sessions& sessions, const Request& request, int64_t now_ms);

// Sets `rank` of each: every measure is brought to 0 to 1 over all of them, then weighted. Times
// and importances lie between the smallest and the largest there are (1 when all are alike).
void rank_candidates(const RankWeights& weights, std::vector<Candidate>* candidates);

}  // namespace varve::context
