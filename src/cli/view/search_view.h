// Results of a query as shown to people.
#pragma once

#include <string>
#include <string_view>

#include "cli/invocation.h"

namespace varve::cli {

struct SearchView {
  bool with_session = false;  // results may be of several sessions
  bool explained = false;     // also the sums behind the order
  std::string question;       // as it was asked
};

// Prints results, given as the library's JSON with "explain": for each a heading, the part of its
// text that matches, and the figures that decide its place.
void print_results(Invocation& invocation, std::string_view results_json, const SearchView& view);

// Prints only ids, one a line; after the session's id with `with_session`.
Outcome print_result_ids(Invocation& invocation, const Results& results, bool with_session);

}  // namespace varve::cli
