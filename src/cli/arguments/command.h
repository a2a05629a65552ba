// The commands: their names, their explanation, and the functions that run them.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string_view>
#include <vector>

#include "cli/invocation.h"

namespace varve::cli {

// Runs a command whose options have been read. Returns the exit code.
using Runner = std::function<int(Invocation&)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view synopsis;     // what follows "varve NAME"; one line for each form
  std::string_view description;  // paragraphs, separated by blank lines
  std::string_view examples;     // one command a line
  // Declares the options on `app`. What they are read into lives as long as the runner.
  Runner (*declare)(CLI::App& app);
  std::string_view alias = {};  // a second name
};

struct CommandGroup {
  std::string_view title;
  std::vector<Command> commands;
};

// In the order of the manual.
[[nodiscard]] std::vector<CommandGroup> command_groups();

[[nodiscard]] Command create_command();
[[nodiscard]] Command list_command();
[[nodiscard]] Command drop_command();
[[nodiscard]] Command metadata_command();
[[nodiscard]] Command add_command();
[[nodiscard]] Command get_command();
[[nodiscard]] Command log_command();
[[nodiscard]] Command delete_command();
[[nodiscard]] Command kv_command();
[[nodiscard]] Command transcript_command();
[[nodiscard]] Command search_command();
[[nodiscard]] Command explain_command();
[[nodiscard]] Command count_command();
[[nodiscard]] Command tags_command();
[[nodiscard]] Command context_command();
[[nodiscard]] Command chat_log_command();
[[nodiscard]] Command import_command();
[[nodiscard]] Command export_command();
[[nodiscard]] Command backup_command();
[[nodiscard]] Command restore_command();
[[nodiscard]] Command verify_command();
[[nodiscard]] Command repair_command();
[[nodiscard]] Command compact_command();
[[nodiscard]] Command purge_command();
[[nodiscard]] Command sweep_command();
[[nodiscard]] Command migrate_command();
[[nodiscard]] Command index_command();
[[nodiscard]] Command stats_command();
[[nodiscard]] Command files_command();
[[nodiscard]] Command metrics_command();
[[nodiscard]] Command usage_command();
[[nodiscard]] Command watch_command();
[[nodiscard]] Command version_command();

}  // namespace varve::cli
