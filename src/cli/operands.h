// The words after a command's name that are no options, and which of them names the session.
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

// Finds the word that names the session. With --session no word does. Otherwise the first word does
// if there are more than `wanted`; if not, VARVE_SESSION names it. `rest` then has exactly `wanted`
// words or, with `or_more`, at least that many.
Result<SessionOperands> split_session(const Context& context, const Operands& operands,
                                      size_t wanted, bool or_more = false);

// The same for words that were taken from `operands` before.
Result<SessionOperands> split_session(const Context& context, std::vector<std::string> words,
                                      size_t wanted, bool or_more = false);

// Does `work` on each id of `words.rest`. Returns the exit code of the first failure. A failure
// that concerns only the id, as when there is no such entry, does not stop the others. Any other
// failure does, and names the ids that were left.
int for_each_id(Context& context, const SessionOperands& words,
                const std::function<Outcome(const std::string& id)>& work);

// The session that a command's words name; none with `all`.
Result<std::string> session_or_all(const Context& context, const Operands& operands, bool all);

}  // namespace varve::cli
