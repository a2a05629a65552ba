// Commands that work through sessions: one that is named, with --all each, or all in one call.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>

#include "cli/arguments/operands.h"
#include "cli/invocation.h"
#include "cli/json_text.h"
#include "cli/view/progress.h"

namespace varve::cli {

enum class Said {
  kDone,     // what was done: a note
  kFound,    // what was asked for; with --quiet only if it is bad
  kContents  // what was asked for, also with --quiet
};

// The result for one session: the library's report, and what to print about it.
struct SessionOutcome {
  std::string report;
  std::string summary;
  int code = kExitOk;
  Said said = Said::kDone;
};

using SessionWork =
    std::function<Result<SessionOutcome>(Invocation&, Session&, const std::string& id)>;

// Calls `work` with every session of the store and returns the exit code: the first that is not
// kExitOk. A session that cannot be opened, or that `work` fails on, is reported and does not stop
// the others; one that is dropped meanwhile is left out. Ends early when Interruption::is_asked().
// `label` is the text of a progress bar, `bar`: to clear it before something is printed.
using EachWork = std::function<Result<int>(Session&, const std::string& id, Progress& bar)>;
Result<int> for_each_opened(Invocation& invocation, std::string_view label, const EachWork& work);

// The session that the words name, or with --all each.
struct Sessions {
  Operands operands;
  bool all = false;

  void declare(CLI::App& app, const std::string& meaning_of_all = "Every session");
};

// With --all: whether a session that lost its log and its metadata, so that no list has it, is a
// failure while its directory has other files.
enum class Lost { kPassedOver, kReported };

// Does `work` on these sessions and prints the results. `label` is the text of a progress bar.
// Damaged sessions are opened, too.
int run_on_sessions(Invocation& invocation, const Sessions& sessions, std::string_view label,
                    const SessionWork& work, Lost lost = Lost::kPassedOver);

// Warns of each session that a report has under "problems": what was `left_out` there ("not
// copied"), and why. Returns the exit code.
int warn_of_problems(Invocation& invocation, const json::object& report, std::string_view left_out);

}  // namespace varve::cli
