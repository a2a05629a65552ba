// --help, as a manual page.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/arguments/command.h"
#include "cli/view/terminal.h"

namespace varve::cli {

// The manual of the program; global options are taken from `app`.
[[nodiscard]] std::string program_help(const CLI::App& app, const std::vector<CommandGroup>& groups,
                                       const Terminal& terminal);

// The manual of one command; its options are taken from `app`.
[[nodiscard]] std::string command_help(const CLI::App& app, const Command& command,
                                       const Terminal& terminal);

}  // namespace varve::cli
