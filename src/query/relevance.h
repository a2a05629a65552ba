// Relevance of a row at a moment: the decay of its type, its age, its importance, and what they
// make together (decay/decay.h has the formulas).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "decay/decay.h"
#include "index/index.h"

namespace varve::query {

class Relevance {
 public:
  // Borrows both. One thread at a time.
  Relevance(const index::Index& index, const decay::Rules& rules, int64_t now_ms)
      : index_(index), all_rules_(rules), rules_(index.type_names().size()), now_ms_(now_ms) {}

  struct Factors {
    double importance = 0;
    double age_hours = 0;
    double decay = 1;
    double boost = 1;
  };
  [[nodiscard]] Factors factors(uint32_t row) const;
  // Without text: match_quality 1.
  [[nodiscard]] double of(uint32_t row) const;
  // Of a row of the type with this importance at this time: but for its last digits not below of()
  // for every row with at most this importance, not after this time; nor above it for every row
  // with at least this importance, not before this time.
  [[nodiscard]] double bound(uint32_t type, double importance, int64_t timestamp_ms) const;

  [[nodiscard]] int64_t now_ms() const { return now_ms_; }
  [[nodiscard]] const decay::Rule& rule(uint32_t type) const {
    if (!rules_[type]) rules_[type] = all_rules_.of(index_.type_names()[type]);
    return *rules_[type];
  }

 private:
  const index::Index& index_;
  const decay::Rules& all_rules_;
  mutable std::vector<std::optional<decay::Rule>> rules_;  // by type number, when asked for
  int64_t now_ms_;
};

}  // namespace varve::query
