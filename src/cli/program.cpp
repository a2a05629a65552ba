#include "cli/program.h"

#include <locale.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>

#include "cli/arguments/command.h"
#include "cli/arguments/command_words.h"
#include "cli/arguments/help.h"
#include "cli/arguments/option_values.h"
#include "cli/arguments/suggestion.h"

namespace varve::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void declare_globals(CLI::App& app, Globals& globals) {
  app.add_option("-r,--root", globals.root, "The store's directory (VARVE_ROOT, else ./memory)")
      ->type_name("DIR");
  app.add_option("-s,--session", globals.session, "The session (VARVE_SESSION)")->type_name("ID");
  app.add_flag("-j,--json", globals.json, "Print JSON, errors too");
  app.add_flag("-q,--quiet", globals.quiet, "Only results and errors: no notes, no progress");
  app.add_flag("-v,--verbose", globals.verbose,
               "Also print the library's log lines, as JSON, on standard error");
  app.add_option(
         "--durability", globals.durability,
         "When to answer: commit (on disk), interval, os; by default what the store's settings say")
      ->type_name("HOW")
      ->check(one_of({"commit", "interval", "os"}));
  const auto when = one_of({"auto", "always", "never"});
  app.add_option("--color", globals.color, "Colour: auto (on a terminal), always, never")
      ->type_name("WHEN")
      ->check(when);
  app.add_option("--progress", globals.progress,
                 "Progress bar: auto (on a terminal, for long work), always, never")
      ->type_name("WHEN")
      ->check(when);
  app.add_flag("-h,--help", globals.help, "Explain the program, or a command");
  app.add_flag("-V,--version", globals.version, "Show the versions");
}

struct DeclaredCommand {
  const Command* command;
  CLI::App* app;
  Runner run;
};

class Program {
 public:
  Program() : groups_(command_groups()) {
    // `program_help` also looks options up; CLI11's own help would hide ours.
    app_.set_help_flag();
    app_.require_subcommand(0, 1);
    app_.allow_extras();
    declare_globals(app_, globals_);
    for (const CommandGroup& group : groups_) {
      for (const Command& command : group.commands) declare(command);
    }
  }

  int run(int argc, char** argv) {
    std::optional<Failure> mistake = parse(argc, argv);
    if (globals_.root.empty()) globals_.root = environment("VARVE_ROOT");
    if (globals_.root.empty()) globals_.root = "memory";
    globals_.environment_session = environment("VARVE_SESSION");
    invocation_.look_at_terminals();
    invocation_.set_usage_hint(help_hint());
    const int code = mistake ? invocation_.fail(*mistake) : run_within_memory();
    invocation_.warn_of_the_rest();
    out_.flush();
    // A reader that has seen enough, such as `head`, is no error.
    if (out_.error() == 0 || out_.error() == EPIPE) return code;
    const int failed = invocation_.fail(system_failure("cannot write the output", out_.error()));
    return code == kExitOk ? failed : code;
  }

 private:
  void declare(const Command& command) {
    CLI::App* sub = app_.add_subcommand(std::string(command.name), std::string(command.summary));
    if (!command.alias.empty()) sub->alias(std::string(command.alias));
    sub->fallthrough();
    sub->allow_extras();
    commands_.push_back({&command, sub, command.declare(*sub)});
  }

  [[nodiscard]] const DeclaredCommand* chosen() const {
    for (const DeclaredCommand& command : commands_) {
      if (command.app->parsed()) return &command;
    }
    return nullptr;
  }

  std::optional<Failure> parse(int argc, char** argv) {
    try {
      std::vector<std::string> words = command_words(app_, {argv + std::min(argc, 1), argv + argc});
      std::reverse(words.begin(), words.end());  // as CLI11 takes them
      app_.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
      // CLI11 sets one option after the other, and none behind the one that is wrong.
      globals_.json = app_.get_option("--json")->count() > 0;
      return usage_failure(mistake_text(error));
    }
    const DeclaredCommand* command = chosen();
    if (globals_.help && command != nullptr) return std::nullopt;
    for (const std::string& word : app_.remaining(true)) {
      if (word != "--") return unexpected(word);
    }
    Outcome empty = refuse_empty(app_);
    return empty || command == nullptr ? empty : refuse_empty(*command->app);
  }

  // An unset variable in a script would remove such an option: everybody's sessions would be meant
  // instead of one user's.
  static Outcome refuse_empty(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      if (!option->nonpositional() || option->get_type_name() == "TEXT") continue;
      const std::vector<std::string>& values = option->results();
      if (std::find(values.begin(), values.end(), "") == values.end()) continue;
      return usage_failure("the value of " + option->get_name() + " is empty",
                           "Give one, or leave the option out.");
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string help_hint() const {
    const DeclaredCommand* command = chosen();
    return "See `varve " + (command == nullptr ? "" : std::string(command->command->name) + " ") +
           "--help`.";
  }

  // The failure for a word from `command_words` that nothing accepts.
  [[nodiscard]] Failure unexpected(const std::string& marked) const {
    const DeclaredCommand* command = chosen();
    std::vector<std::string> known;
    std::string what = "unexpected argument";
    const std::string word = given_word(marked);
    const bool is_operand = is_operand_like_option(marked);
    const bool is_option = word.starts_with("-") && !is_operand;
    if (is_option) {
      what = "unknown option";
      add_option_names(app_, known);
      if (command != nullptr) add_option_names(*command->app, known);
    } else if (command == nullptr) {
      what = "unknown command";
      for (const DeclaredCommand& each : commands_) {
        known.emplace_back(each.command->name);
        if (!each.command->alias.empty()) known.emplace_back(each.command->alias);
      }
    }
    const std::string name = word.substr(0, word.find('='));
    const std::string similar = is_option ? closest_option(name, known) : closest(name, known);
    std::string hint = similar.empty() ? "" : "Did you mean " + similar + "?";
    if (similar.empty() && is_option) {
      hint = "Put \"--\" before words that begin with \"-\" but are not options. " + help_hint();
    }
    if (is_option && similar == name) {  // one of the command, before it
      what = "misplaced option";
      hint = name + " belongs behind the command.";
    }
    if (is_operand) hint = "Options come before \"--\". " + help_hint();
    return usage_failure(what + " \"" + word + "\"", std::move(hint));
  }

  static void add_option_names(const CLI::App& app, std::vector<std::string>& names) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back(name);
    }
  }

  // What is too large for the memory there is, such as an input that is read whole, is no defect.
  int run_within_memory() {
    try {
      return run_command();
    } catch (const std::bad_alloc&) {
      return invocation_.fail(Failure{VARVE_NO_MEMORY, "memory ran out"});
    }
  }

  int run_command() {
    const DeclaredCommand* command = chosen();
    if (globals_.help) {
      out_.write(command == nullptr
                     ? program_help(app_, groups_, invocation_.terminal())
                     : command_help(*command->app, *command->command, invocation_.terminal()));
      return kExitOk;
    }
    if (globals_.version) {
      globals_.version = false;
      for (const DeclaredCommand& each : commands_) {
        if (each.command->name == "version") return each.run(invocation_);
      }
    }
    if (command == nullptr) {
      return invocation_.fail(usage_failure("no command is given"));
    }
    return command->run(invocation_);
  }

  CLI::App app_{"", "varve"};
  Globals globals_;
  Output out_{STDOUT_FILENO};
  Output err_{STDERR_FILENO};
  Invocation invocation_{globals_, out_, err_};
  std::vector<CommandGroup> groups_;
  std::vector<DeclaredCommand> commands_;
};

// Each open session takes several files, and `watch` has 256 sessions open: more than the 1,024
// files that a shell usually allows at first. What it forbids stays forbidden.
void allow_many_files() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

std::vector<CommandGroup> command_groups() {
  return {{"Sessions", {create_command(), list_command(), metadata_command(), drop_command()}},
          {"Entries", {add_command(), get_command(), log_command(), delete_command()}},
          {"Beside the log", {kv_command(), transcript_command()}},
          {"Finding", {search_command(), explain_command(), count_command(), tags_command()}},
          {"Conversations", {context_command(), chat_log_command()}},
          {"Import, export and backup",
           {import_command(), export_command(), backup_command(), restore_command()}},
          {"Maintenance",
           {verify_command(), repair_command(), compact_command(), purge_command(), sweep_command(),
            migrate_command(), index_command(), stats_command(), usage_command(), files_command(),
            metrics_command(), watch_command()}},
          {"The program", {version_command()}}};
}

int run_program(int argc, char** argv) {
  allow_many_files();
  // A reader that is gone becomes an error of write() instead of ending the process.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a file that may not grow any further (`ulimit -f`).
  std::signal(SIGXFSZ, SIG_IGN);
  // Only for the width of characters, whatever language the user has.
  const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 != nullptr) ::uselocale(utf8);
  Program program;
  return program.run(argc, argv);
}

}  // namespace varve::cli
