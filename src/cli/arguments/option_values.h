// What the values of options must be, and how mistakes in them are reported: "--format takes json
// or jsonl, not "xml"".
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace varve::cli {

// One of several words.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string> choices);

// Numbers are decimal whatever they begin with: CLI11 would read 010 as eight, and 08 not at all.
// With transform() instead of check() the value is given to it without those zeros.
[[nodiscard]] CLI::Validator number_between(double min, double max);
// A whole number that is not negative.
[[nodiscard]] CLI::Validator whole_number();
// Any text: what is wrong with it is said elsewhere.
[[nodiscard]] CLI::Validator decimal();

// The error of the command line's parser, in the words of the program's other messages.
[[nodiscard]] std::string mistake_text(const CLI::ParseError& error);

}  // namespace varve::cli
