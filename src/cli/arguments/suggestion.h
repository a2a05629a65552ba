// "Did you mean ...?"
#pragma once

#include <string>
#include <vector>

namespace varve::cli {

// The one of `known` that `word` most likely means; empty when none is near.
[[nodiscard]] std::string closest(const std::string& word, const std::vector<std::string>& known);

// The same for "--option"; the names in `known` have no dashes.
[[nodiscard]] std::string closest_option(const std::string& word,
                                         const std::vector<std::string>& known);

}  // namespace varve::cli
