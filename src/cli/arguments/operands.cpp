#include "cli/arguments/operands.h"

#include <utility>

#include "cli/arguments/command_words.h"

namespace varve::cli {

void Operands::declare(CLI::App& app, size_t most) {
  for (size_t i = 0; i < most; ++i) {
    CLI::Option* option = app.add_option_function<std::string>("operand" + std::to_string(i),
                                                               [](const std::string&) {});
    options_.push_back(option->group(""));
  }
}

void Operands::declare_many(CLI::App& app) {
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(
      "operands", [](const std::vector<std::string>&) {});
  options_.push_back(option->group(""));
  // This option never gets a word: the first takes all. While it waits for one, CLI11 leaves the
  // words after "--" to this command; otherwise it would read them as options after the first word.
  app.add_option_function<std::string>("more", [](const std::string&) {})->group("");
}

std::vector<std::string> Operands::given() const {
  std::vector<std::string> words;
  for (const CLI::Option* option : options_) {
    for (const std::string& word : option->results()) words.push_back(given_word(word));
  }
  return words;
}

std::string Operands::joined() const {
  std::string text;
  for (const std::string& word : given()) text += (text.empty() ? "" : " ") + word;
  return text;
}

Result<SessionOperands> split_session(const Invocation& invocation, const Operands& operands,
                                      size_t count, Wanted wanted) {
  return split_session(invocation, operands.given(), count, wanted);
}

Result<SessionOperands> split_session(const Invocation& invocation, std::vector<std::string> words,
                                      size_t count, Wanted wanted) {
  const Globals& globals = invocation.globals();
  SessionOperands result{globals.session, std::move(words)};
  if (globals.session.empty()) {
    if (result.rest.size() > count) {
      result.session = result.rest.front();
      result.rest.erase(result.rest.begin());
      if (result.session.empty()) return usage_failure("the session's id is empty");
    } else {
      result.session = globals.environment_session;
    }
  }
  if (result.rest.size() < count) return usage_failure("too few arguments");
  if (result.rest.size() > count && wanted == Wanted::kExactly) {
    if (globals.session.empty()) {
      return usage_failure("unexpected argument \"" + result.rest[count] + "\"");
    }
    return usage_failure("too many arguments: the session is named by --session already");
  }
  if (result.session.empty()) {
    // The forgotten word may be the last argument: then the first was taken for another one.
    return usage_failure(
        count == 0 ? "no session is named" : "no session is named, or an argument is missing",
        "Name it as the first argument, with --session, or in VARVE_SESSION.");
  }
  return result;
}

namespace {

std::string not_done(const std::vector<std::string>& ids, size_t from) {
  std::string text;
  for (size_t i = from; i < ids.size(); ++i)
    text += (text.empty() ? "; not done: " : ", ") + ids[i];
  return text;
}

}  // namespace

int for_each_id(Invocation& invocation, const SessionOperands& words,
                const std::function<Outcome(const std::string& id)>& work) {
  int code = kExitOk;
  for (size_t i = 0; i < words.rest.size(); ++i) {
    Outcome failure = work(words.rest[i]);
    if (!failure) continue;
    const bool is_wrong = is_about(*failure, "id");
    const bool is_of_id =
        is_wrong || failure->status == VARVE_NOT_FOUND || failure->status == VARVE_CORRUPTION;
    if (is_wrong) failure->message = "'" + words.rest[i] + "': " + failure->message;
    if (!is_of_id && words.rest.size() > 1) failure->message += not_done(words.rest, i);
    const int failed = invocation.fail_in_session(*std::move(failure), words.session);
    if (code == kExitOk) code = failed;
    if (!is_of_id) break;
  }
  return code;
}

Result<std::string> session_operand(const Invocation& invocation, const Operands& operands) {
  Result<SessionOperands> words = split_session(invocation, operands, 0);
  if (!words.ok()) return std::move(words.failure());
  return words->session;
}

Result<OpenSession> open_session(Invocation& invocation, const Operands& operands) {
  Result<std::string> id = session_operand(invocation, operands);
  if (!id.ok()) return std::move(id.failure());
  return open_session(invocation, *id);
}

Result<std::string> session_or_all(const Invocation& invocation, const Operands& operands,
                                   bool all) {
  if (all) {
    if (!operands.given().empty() || !invocation.globals().session.empty()) {
      return usage_failure("--all means every session: do not name one as well");
    }
    return std::string();
  }
  return session_operand(invocation, operands);
}

}  // namespace varve::cli
