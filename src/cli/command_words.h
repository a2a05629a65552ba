// The words of a command line as CLI11 reads them rightly.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace varve::cli {

// `given`, but for what CLI11 takes for something else:
//   --option=   with nothing behind it would take the next word as its value: two words now, the
//               second empty
//   help        in place of a command is --help
[[nodiscard]] std::vector<std::string> command_words(const CLI::App& app,
                                                     const std::vector<std::string>& given);

}  // namespace varve::cli
