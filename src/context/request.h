// Request: what a context is to be built of, parsed and checked. docs/context.md is the language.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/query.h"

namespace varve::context {

inline constexpr uint64_t kTokensDefault = 4000;

enum class Format : uint8_t { kMarkdown, kChat, kJson, kPlain };

// One of the searches whose results are put together.
struct Retrieval {
  query::Query query;
  bool is_recency = false;
  bool is_across = false;  // asks the sessions that the query names, too
};

// How much each measure of a candidate counts, once it is brought to 0 to 1.
struct RankWeights {
  double temporal = 0;
  double importance = 0;
  double match = 0;
};

struct Request {
  std::vector<Retrieval> retrievals;
  RankWeights rank;
  // Of the tokens, what the newest entries may take before anything else does.
  double recent_share = 0;
  uint64_t tokens_max = kTokensDefault;
  uint64_t tokens_reserved = 0;
  bool is_across = false;  // some retrievals may ask other sessions
  bool keep_together = true;
  std::vector<std::string> pinned;
  std::vector<std::string> exclude_ids;
  Format format = Format::kMarkdown;
  std::optional<int64_t> now_ms;

  [[nodiscard]] uint64_t token_budget() const { return tokens_max - tokens_reserved; }
};

// errors: kInvalidArgument naming member and place. Empty text: everything as it is by default.
Result<Request> parse_request(std::string_view text);

}  // namespace varve::context
