// Irregular English verbs: went is go. Snowball stems endings only; these forms have none.
#pragma once

#include <string_view>

namespace varve::text {

// The base of a folded word that is an irregular form of a verb, else the word itself.
[[nodiscard]] std::string_view verb_base(std::string_view word);

}  // namespace varve::text
