// Results of a query as people read them.
#pragma once

#include <string_view>

#include "cli/context.h"

namespace varve::cli {

struct SearchView {
  bool with_session = false;  // results may be of several sessions
  bool explained = false;     // also the sums behind the order
};

// Prints results, given as the library's JSON with "explain": for each a heading, the part of its
// text that matches, and the figures that put it where it is.
void print_results(Context& context, std::string_view results_json, const SearchView& view);

// Prints only ids, one a line; behind the session with `with_session`.
void print_result_ids(Context& context, std::string_view results_json, bool with_session);

}  // namespace varve::cli
