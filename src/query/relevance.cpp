#include "query/relevance.h"

namespace varve::query {

Relevance::Factors Relevance::factors(uint32_t row) const {
  const double age = decay::age_hours(index_.timestamp_ms(row), now_ms_);
  return {index_.importance(row), age, decay::factor(rule(index_.type_number(row)), age),
          decay::recency_boost(age)};
}

double Relevance::of(uint32_t row) const {
  const Factors row_factors = factors(row);
  return decay::relevance(row_factors.importance, row_factors.decay, row_factors.boost, 1);
}

double Relevance::bound(uint32_t type, double importance, int64_t timestamp_ms) const {
  const double age = decay::age_hours(timestamp_ms, now_ms_);
  return decay::relevance(importance, decay::factor(rule(type), age), decay::recency_boost(age), 1);
}

}  // namespace varve::query
