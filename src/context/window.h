// Window: the best candidates that fit into the tokens there are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "context/candidates.h"
#include "context/counter.h"
#include "context/format.h"
#include "context/request.h"
#include "context/sessions.h"

namespace varve::context {

struct Content {
  struct Entry {
    std::string id;
    uint32_t session = 0;  // its number
    uint64_t tokens = 0;
    double rank = 0;
    Source source = Source::kRecalled;
  };
  std::string text;
  std::vector<Entry> entries;  // in the order of the text
  uint64_t token_count = 0;
  uint64_t dropped_count = 0;  // candidates for which there was no room
};

// Pinned entries come first, then the newest as far as their share goes, then the others by rank;
// what does not fit is passed over. A call and its results are taken or left together. The text has
// at most the request's tokens by `counter`, counted on the whole of it; with room for nothing it
// is empty. kGone when a log was replaced meanwhile; kCallback.
Result<Content> fill_window(const Sessions& sessions, const Request& request,
                            const Counter& counter, int64_t now_ms, const Candidates& candidates);

}  // namespace varve::context
