// The words after a command's name that are no options, and which of them names the session.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

#include "cli/invocation.h"

namespace varve::cli {

class Operands {
 public:
  // At most `most` words; the parser of the command line refuses more.
  void declare(CLI::App& app, size_t most);
  // Any number of words.
  void declare_many(CLI::App& app);

  [[nodiscard]] std::vector<std::string> given() const;
  // The words as one text, with a space between each two.
  [[nodiscard]] std::string joined() const;

 private:
  std::vector<CLI::Option*> options_;
};

struct SessionOperands {
  std::string session;
  std::vector<std::string> rest;
};

// How many words a command takes beside the session: so many, or more, too.
enum class Wanted { kExactly, kOrMore };

// Finds the word that names the session. With --session no word does. Otherwise the first word does
// if there are more than `count`; if not, VARVE_SESSION names it. `rest` then has as many words as
// are wanted.
Result<SessionOperands> split_session(const Invocation& invocation, const Operands& operands,
                                      size_t count, Wanted wanted = Wanted::kExactly);

// The same for words that were taken from `operands` before.
Result<SessionOperands> split_session(const Invocation& invocation, std::vector<std::string> words,
                                      size_t count, Wanted wanted = Wanted::kExactly);

// Does `work` on each id of `words.rest`. Returns the exit code of the first failure. A failure
// that concerns only the id, as when there is no such entry, does not stop the others. Any other
// failure does, and names the ids that were left.
int for_each_id(Invocation& invocation, const SessionOperands& words,
                const std::function<Outcome(const std::string& id)>& work);

// The session that a command's words name, which name nothing else.
Result<std::string> session_operand(const Invocation& invocation, const Operands& operands);
// The same, opened.
Result<OpenSession> open_session(Invocation& invocation, const Operands& operands);
// The session that a command's words name; none with `all`.
Result<std::string> session_or_all(const Invocation& invocation, const Operands& operands,
                                   bool all);

}  // namespace varve::cli
