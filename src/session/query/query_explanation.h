// Why a result is where it is, as JSON for `explain`: docs/query.md#explain.
#pragma once

#include <string>

#include "index/index.h"
#include "query/query.h"
#include "query/search.h"

namespace varve::session {

// Explains one result: every factor, and what each word and each term of the order contributed.
[[nodiscard]] std::string explain_hit(const index::Index& index, const decay::Rules& rules,
                                      const query::Query& query, const query::Answer& answer,
                                      const query::Hit& hit);

// Explains the answer: how it was searched.
[[nodiscard]] std::string explain_answer(const query::Query& query, const query::Answer& answer);

}  // namespace varve::session
