#include "cli/arguments/help.h"

#include <algorithm>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kIndent = 4;
constexpr size_t kDefinitionIndent = 22;
constexpr size_t kColumnsMax = 100;

// Lays out sections, paragraphs and definitions.
class Page {
 public:
  explicit Page(const Terminal& terminal)
      : terminal_(terminal),
        columns_(std::clamp<size_t>(terminal.layout_width(), 40, kColumnsMax)) {}

  void section(std::string_view title) {
    if (!text_.empty()) text_ += '\n';
    text_ += terminal_.paint(Style::kHeading, title) + "\n";
  }

  void subsection(std::string_view title) {
    text_ += "  " + terminal_.paint(Style::kHeading, title) + "\n";
  }

  void paragraphs(std::string_view text) {
    while (!text.empty()) {
      const size_t end = std::min(text.find("\n\n"), text.size());
      indented(text.substr(0, end), kIndent);
      text.remove_prefix(std::min(end + 2, text.size()));
      if (!text.empty()) text_ += '\n';
    }
  }

  // Lines that are not wrapped.
  void lines(std::string_view text) {
    for (const std::string& line : wrap(text, 0)) {
      text_ += std::string(kIndent, ' ') + line + "\n";
    }
  }

  void definition(const std::string& term, std::string_view meaning) {
    text_ += std::string(kIndent, ' ');
    if (display_width(term) + kIndent + 2 > kDefinitionIndent) {
      text_ += terminal_.paint(Style::kType, term) + "\n";
      indented(meaning, kDefinitionIndent);
      return;
    }
    const std::vector<std::string> rows = wrap(meaning, columns_ - kDefinitionIndent);
    text_ += terminal_.paint(Style::kType, term) +
             std::string(kDefinitionIndent - kIndent - display_width(term), ' ') + rows[0] + "\n";
    for (size_t i = 1; i < rows.size(); ++i) {
      text_ += std::string(kDefinitionIndent, ' ') + rows[i] + "\n";
    }
  }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  void indented(std::string_view text, size_t indent) {
    for (const std::string& row : wrap(text, columns_ - indent)) {
      text_ += std::string(indent, ' ') + row + "\n";
    }
  }

  const Terminal& terminal_;
  size_t columns_;
  std::string text_;
};

// "-n, --limit N": of several long names, the first is the one to use.
std::string option_term(const CLI::Option& option) {
  std::string term;
  for (const std::string& name : option.get_snames()) term += "-" + name + ", ";
  term += "--" + option.get_lnames().front();
  if (option.get_items_expected_max() > 0) {
    // After a colon, CLI11 repeats what the option's check accepts.
    const std::string type = option.get_type_name();
    term += " " + type.substr(0, type.find(':'));
  }
  return term;
}

void options_section(Page& page, const CLI::App& app, std::string_view title) {
  bool first = true;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    if (first) page.section(title);
    first = false;
    page.definition(option_term(*option), option->get_description());
  }
}

// "delete, forget"
std::string names_of(const Command& command) {
  std::string names(command.name);
  if (!command.alias.empty()) names += ", " + std::string(command.alias);
  return names;
}

constexpr std::string_view kDescription =
    "varve keeps what an agent saw, decided and learnt: entries of JSON, one a line, in files that "
    "a person can read. A store is a directory with any number of sessions; a session is one "
    "memory.\n\n"
    "What was added survives a crash. Several processes may read and write one session at once. "
    "Results go to standard output; everything else, such as what was done, goes to standard "
    "error. With --json the report of what was done is a result, too.\n\n"
    "SESSION may be omitted when --session or VARVE_SESSION names it; before several words, such "
    "as the ids of `varve get`, only with --session. `search`, `explain`, `count` and `context` "
    "take "
    "words only: there --session or VARVE_SESSION names the session. `usage`, `watch`, `backup` "
    "and `restore` mean every session where none is named, whatever VARVE_SESSION says. Options "
    "may appear anywhere; "
    "words after \"--\" are never options. An option with an empty value, such as an unset "
    "variable, is "
    "refused, except --title and --reason. `varve COMMAND --help` and `varve help COMMAND` explain "
    "a command.";

constexpr std::string_view kTimes =
    "A TIME is a date (2026-01-10, its midnight in UTC), a time (2026-01-10T14:30:00Z), or a "
    "number and one of s, m, h, d, w: that long ago (30m, 12h, 7d, 4w), or with --expires-at that "
    "long from now.";

constexpr std::string_view kExamples =
    "varve create notes\n"
    "varve add notes \"tea, not coffee\" --type preference --tag drinks\n"
    "varve log notes\n"
    "varve export notes --format markdown -o notes.md\n"
    "varve --root /srv/memory verify --all";

void environment_section(Page& page) {
  page.section("ENVIRONMENT");
  page.definition("VARVE_ROOT", "The store, when --root does not name one.");
  page.definition("VARVE_SESSION", "The session, when the command line does not name one.");
  page.definition("NO_COLOR", "When set and not empty, no colour unless --color always.");
  page.definition("COLUMNS", "Width of the terminal, instead of asking it.");
  page.definition("TERM", "When it is dumb: no colour, and nothing is drawn in place.");
}

void files_section(Page& page) {
  page.section("FILES");
  page.definition("./memory", "The store, when neither --root nor VARVE_ROOT names one.");
  page.definition("ROOT/config.json", "Settings of the store; optional.");
  page.definition("ROOT/sessions/SESSION/memory.jsonl", "The log: the entries, one a line.");
  page.definition("ROOT/sessions/SESSION/tombstones.jsonl",
                  "The ids of deleted entries, with time and reason.");
  page.definition("ROOT/sessions/SESSION/quarantine.jsonl",
                  "Damaged lines that were set aside, exactly as they were.");
  page.definition("ROOT/sessions/SESSION/kv.json", "Small facts by key.");
  page.definition("ROOT/sessions/SESSION/transcript.md", "What was said, for people to read.");
  page.definition("ROOT/sessions/SESSION/lock", "Who is writing now; for people to read.");
}

}  // namespace

std::string program_help(const CLI::App& app, const std::vector<CommandGroup>& groups,
                         const Terminal& terminal) {
  Page page(terminal);
  page.section("NAME");
  page.lines("varve - memory for agents, in files");
  page.section("SYNOPSIS");
  page.lines("varve [OPTION]... COMMAND [ARGUMENT]...");
  page.section("DESCRIPTION");
  page.paragraphs(kDescription);
  page.section("COMMANDS");
  for (const CommandGroup& group : groups) {
    page.subsection(group.title);
    for (const Command& command : group.commands) {
      page.definition(names_of(command), command.summary);
    }
  }
  options_section(page, app, "OPTIONS");
  page.section("TIMES");
  page.paragraphs(kTimes);
  page.section("EXAMPLES");
  page.lines(kExamples);
  environment_section(page);
  page.section("EXIT CODES");
  for (const ExitCodeMeaning& row : exit_code_meanings()) {
    page.definition(std::to_string(row.code), row.meaning);
  }
  files_section(page);
  return std::move(page).text();
}

std::string command_help(const CLI::App& app, const Command& command, const Terminal& terminal) {
  Page page(terminal);
  page.section("NAME");
  page.lines("varve " + names_of(command) + " - " + std::string(command.summary));
  page.section("SYNOPSIS");
  for (const std::string& form : wrap(command.synopsis, 0)) {
    page.lines("varve " + std::string(command.name) + (form.empty() ? "" : " " + form) +
               " [OPTION]...");
  }
  page.section("DESCRIPTION");
  page.paragraphs(command.description);
  options_section(page, app, "OPTIONS");
  page.section("EXAMPLES");
  page.lines(command.examples);
  page.section("SEE ALSO");
  page.lines("varve --help: global options, times, environment, exit codes, files");
  return std::move(page).text();
}

}  // namespace varve::cli
