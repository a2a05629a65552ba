// The words after a command's name that are not options, and which of them is the session.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"

namespace varve::cli {

class Operands {
 public:
  // At most `most` words; more are refused by the command line's reader.
  void declare(CLI::App& app, size_t most);
  // Any number of words.
  void declare_many(CLI::App& app);

  [[nodiscard]] std::vector<std::string> given() const;

 private:
  std::vector<CLI::Option*> options_;
};

struct SessionOperands {
  std::string session;
  std::vector<std::string> rest;
};

// Tells the session from the other words. With --session no word is the session. Otherwise the
// first one is when there are more than `wanted`; when there are not, VARVE_SESSION is the session.
// `rest` has `wanted` words exactly, or, with `or_more`, that many at least.
Result<SessionOperands> split_session(const Context& context, const Operands& operands,
                                      size_t wanted, bool or_more = false);

// The same of words that were taken from them.
Result<SessionOperands> split_session(const Context& context, std::vector<std::string> words,
                                      size_t wanted, bool or_more = false);

// Does `work` on each id of `words.rest`; gives the exit code of the first failure. One that is the
// id's alone, as when there is no such entry, does not stop the others; any other one does, and
// names the ids that were left.
int for_each_id(Context& context, const SessionOperands& words,
                const std::function<Outcome(const std::string& id)>& work);

// The words of a command that works on one session, or on all with `all`: no session then.
Result<std::string> session_or_all(const Context& context, const Operands& operands, bool all);

}  // namespace varve::cli
