// Commands that do one thing to a session, or to every session of the store with --all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "cli/operands.h"

namespace varve::cli {

// What one session gave: the library's report, and what to say about it.
struct SessionOutcome {
  std::string report;
  std::string summary;
  int code = kExitOk;
  bool asked_for = false;  // said even with --quiet
};

using SessionWork =
    std::function<Result<SessionOutcome>(Context&, Session&, const std::string& id)>;

// Does `work` on the session that the operands name, or on all, and prints what it gave. `label` is
// what a progress bar says. Damage does not keep a session from being opened.
int run_on_sessions(Context& context, const Operands& operands, bool all, std::string_view label,
                    const SessionWork& work);

}  // namespace varve::cli
