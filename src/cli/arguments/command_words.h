// The words of a command line, changed so that CLI11 reads them correctly.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace varve::cli {

// The words of `given`, except those that CLI11 would read as something else:
//   --option=   with nothing after it would take the next word as its value: becomes two words,
//               the second empty
//   help        in place of a command becomes --help
//   [a,b]       as an operand would become a list of words: gets a mark, see given_word
// What begins with "-" behind "--" gets the mark, too: nobody could tell it from an option.
[[nodiscard]] std::vector<std::string> command_words(const CLI::App& app,
                                                     const std::vector<std::string>& given);

// An operand as it was given, without the mark that it may have from command_words.
[[nodiscard]] std::string given_word(std::string word);

// Whether a word from command_words begins with "-" and stood behind "--".
[[nodiscard]] bool is_operand_like_option(const std::string& word);

}  // namespace varve::cli
