// context.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kBarColumnsMax = 60;
constexpr size_t kBarColumnsMin = 10;

struct ContextOptions {
  Operands words;
  int64_t tokens = 4000;
  int64_t reserve = 0;
  std::string format;
  std::vector<std::string> pinned;
  std::vector<std::string> excluded;
  bool all = false;
  std::string user;
  std::string agent;
  std::vector<std::string> also;
  std::string now;
  std::string request;
};

// A part of the tokens, and what it was used for.
struct Share {
  std::string_view name;
  char mark;
  Style style;
  int64_t tokens = 0;
};

// The other sessions that are asked; null for none.
json::value across_of(const ContextOptions& options) {
  json::object across;
  if (!options.user.empty()) across["user_id"] = options.user;
  if (!options.agent.empty()) across["agent_id"] = options.agent;
  if (!options.also.empty()) across["session_ids"] = array_of(options.also);
  return options.all || !across.empty() ? json::value(across) : json::value();
}

Result<std::string> request_of(const ContextOptions& options) {
  if (!options.request.empty()) return options.request;
  json::object request;
  request["budget"] =
      json::object{{"max_tokens", options.tokens}, {"reserve_tokens", options.reserve}};
  const std::string question = options.words.joined();
  if (!question.empty()) request["question"] = question;
  const json::value across = across_of(options);
  if (!across.is_null()) request["across"] = across;
  if (!options.format.empty()) request["format"] = options.format;
  if (!options.pinned.empty()) request["pinned"] = array_of(options.pinned);
  if (!options.excluded.empty()) request["exclude_ids"] = array_of(options.excluded);
  if (!options.now.empty()) {
    Result<std::string> now = time_text("--now", options.now);
    if (!now.ok()) return now;
    request["now"] = *now;
  }
  return json_of(request);
}

// Says which of the options the library found to be wrong.
void name_mistake(Failure& failure, const ContextOptions& options) {
  if (!options.request.empty()) {
    name_option(failure, "--request");
    return;
  }
  name_option_of_member(failure, {{"question", "QUESTION"},
                                  {"budget.max_tokens", "--tokens"},
                                  {"budget.reserve_tokens", "--reserve"},
                                  {"pinned", "--pin"},
                                  {"exclude_ids", "--exclude"},
                                  {"across.user_id", "--user"},
                                  {"across.agent_id", "--agent"},
                                  {"across.session_ids", "--also"},
                                  {"now", "--now"}});
}

// The budget of the request; its own numbers if the request was given as JSON.
void read_budget(const ContextOptions& options, int64_t* tokens, int64_t* reserve) {
  *tokens = options.tokens;
  *reserve = options.reserve;
  if (options.request.empty()) return;
  const json::object budget = object_at(parse_object(options.request), "budget");
  if (budget.contains("max_tokens")) *tokens = integer_at(budget, "max_tokens");
  *reserve = integer_at(budget, "reserve_tokens");
}

std::array<Share, 6> shares_of(const json::object& answer, int64_t tokens, int64_t reserve) {
  std::array<Share, 6> shares = {{{"pinned", '#', Style::kId},
                                  {"recalled", '=', Style::kGood},
                                  {"recent", '+', Style::kType},
                                  {"frame", ':', Style::kFaint},
                                  {"free", ' ', Style::kFaint},
                                  {"reserve", '~', Style::kWarning}}};
  int64_t frame = integer_at(answer, "token_count");
  for (const json::value& item : array_at(answer, "items")) {
    const std::string source = string_at(item.as_object(), "source");
    const int64_t count = integer_at(item.as_object(), "tokens");
    for (Share& share : shares) {
      if (share.name == source) share.tokens += count;
    }
    frame -= count;
  }
  shares[3].tokens = std::max<int64_t>(frame, 0);
  shares[4].tokens = std::max<int64_t>(tokens - reserve - integer_at(answer, "token_count"), 0);
  shares[5].tokens = reserve;
  return shares;
}

std::string bar_of(const Invocation& invocation, const std::array<Share, 6>& shares) {
  int64_t total = 0;
  for (const Share& share : shares) total += share.tokens;
  const Terminal& terminal = invocation.err_terminal();
  const size_t width = terminal.width() == 0 ? kBarColumnsMax : terminal.width() - 2;
  const size_t columns = std::clamp(width, kBarColumnsMin, kBarColumnsMax);
  std::string bar = "[";
  int64_t before = 0;
  const auto column_at = [&](int64_t tokens) {
    if (total == 0) return size_t{0};
    const double share = static_cast<double>(tokens) / static_cast<double>(total);
    return static_cast<size_t>(std::lround(share * static_cast<double>(columns)));
  };
  for (const Share& share : shares) {
    const size_t start = column_at(before);
    before += share.tokens;
    bar += terminal.paint(share.style, std::string(column_at(before) - start, share.mark));
  }
  return bar + "]";
}

// " (3 from 2 other sessions)", or nothing when all are of this one.
std::string of_others(const json::object& answer, const std::string& session_id) {
  std::set<std::string> others;
  int64_t count = 0;
  for (const json::value& item : array_at(answer, "items")) {
    const std::string of = string_at(item.as_object(), "session_id");
    if (of.empty() || of == session_id) continue;
    others.insert(of);
    count += 1;
  }
  if (count == 0) return "";
  const auto other_count = static_cast<int64_t>(others.size());
  return " (" + format_count(count) + " from " +
         format_count(other_count, "other session", "other sessions") + ")";
}

void note_budget(Invocation& invocation, const json::object& answer, const ContextOptions& options,
                 const std::string& session_id) {
  int64_t tokens = 0;
  int64_t reserve = 0;
  read_budget(options, &tokens, &reserve);
  const std::array<Share, 6> shares = shares_of(answer, tokens, reserve);
  const bool has_any = std::ranges::any_of(shares, [](const Share& one) { return one.tokens > 0; });
  if (has_any) invocation.note(bar_of(invocation, shares));
  std::string legend;
  for (const Share& share : shares) {
    if (share.tokens == 0) continue;
    if (!legend.empty()) legend += "  ";
    if (share.mark != ' ') legend += std::string(1, share.mark) + " ";
    legend += std::string(share.name) + " " + format_count(share.tokens);
  }
  if (has_any) invocation.note(legend);
  const auto in = static_cast<int64_t>(array_at(answer, "items").size());
  const int64_t out = integer_at(answer, "dropped");
  invocation.note(format_count(integer_at(answer, "token_count")) + " of " +
                  format_count(tokens, "token", "tokens") + "; " +
                  format_count(in, "entry", "entries") + " in" + of_others(answer, session_id) +
                  ", " + format_count(out) + " found and left out");
}

Outcome check(const Invocation& invocation, const ContextOptions& options) {
  if (!options.request.empty() && !options.words.given().empty()) {
    return usage_failure(
        "--request is the whole request: put the words into its member \"question\"");
  }
  if (!invocation.globals().named_session().empty()) return std::nullopt;
  return usage_failure("no session is named",
                       "Name it with --session or in VARVE_SESSION, not as a word.");
}

// The library asks those that are there. Who names one has most likely mistyped it.
Outcome find_others(Invocation& invocation, Store& store, const ContextOptions& options) {
  for (const std::string& id : options.also) {
    Result<Session> other = invocation.open_session(store, id);
    if (!other.ok()) return std::move(other.failure());
  }
  return std::nullopt;
}

// The library ignores ids that are not there: a program's may have expired. A person has most
// likely mistyped one. What is excluded may be another session's, where others are asked.
void warn_of_unknown(Invocation& invocation, Session& session, const ContextOptions& options) {
  const auto look_for = [&](std::string_view option, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
      Result<std::string> entry = session.get(id);
      if (entry.ok() || !is_gone(entry.failure())) continue;
      invocation.warn(std::string(option) + ": " + entry.failure().message);
    }
  };
  look_for("--pin", options.pinned);
  if (across_of(options).is_null()) look_for("--exclude", options.excluded);
}

int run_context(Invocation& invocation, const ContextOptions& options) {
  if (Outcome mistake = check(invocation, options)) return invocation.fail(*mistake);
  Result<std::string> request = request_of(options);
  if (!request.ok()) return invocation.fail(request.failure());
  const std::string& id = invocation.globals().named_session();
  Result<OpenSession> open = open_session(invocation, id);
  if (!open.ok()) return invocation.fail(open.failure());
  Result<std::string> text = open->session.build_context(*request);
  if (!text.ok()) {
    name_mistake(text.failure(), options);
    return invocation.fail_in_session(std::move(text.failure()), id);
  }
  if (Outcome missing = find_others(invocation, open->store, options)) {
    return invocation.fail(*missing);
  }
  warn_of_unknown(invocation, open->session, options);
  if (invocation.json()) {
    invocation.print(*text);
    return kExitOk;
  }
  const json::object answer = parse_object(*text);
  const std::string given = string_at(answer, "text");
  // Away from a terminal it is read by a model, byte by byte.
  invocation.out().write(invocation.terminal().is_terminal() ? printable(given, Lines::kKeep)
                                                             : given);
  if (!given.empty() && !given.ends_with('\n')) invocation.out().write("\n");
  invocation.out().flush();
  note_budget(invocation, answer, options, id);
  return kExitOk;
}

// Which other sessions are asked; several options name those that fit all of them.
std::vector<CLI::Option*> declare_others(CLI::App& app, ContextOptions& options) {
  return {app.add_flag("-a,--all", options.all, "Recall from all other sessions, too"),
          app.add_option("--user", options.user, "Recall from other sessions of this user, too")
              ->type_name("ID"),
          app.add_option("--agent", options.agent, "Recall from other sessions of this agent, too")
              ->type_name("ID"),
          app.add_option("--also", options.also, "Recall from this session, too; may be repeated")
              ->allow_extra_args(false)
              ->type_name("SESSION")};
}

std::vector<CLI::Option*> declare_members(CLI::App& app, ContextOptions& options) {
  return {
      app.add_option("--tokens", options.tokens, "Tokens of the model's window (4000)")
          ->type_name("N")
          ->transform(whole_number()),
      app.add_option("--reserve", options.reserve, "How many of these stay free for the answer (0)")
          ->type_name("N")
          ->transform(whole_number()),
      app.add_option("-f,--format", options.format, "markdown, chat, json or plain (markdown)")
          ->type_name("FORMAT")
          ->check(one_of({"markdown", "chat", "json", "plain"})),
      app.add_option("--pin", options.pinned, "An entry that comes first; may be repeated")
          ->allow_extra_args(false)
          ->type_name("ID"),
      app.add_option("--exclude", options.excluded, "An entry to leave out; may be repeated")
          ->allow_extra_args(false)
          ->type_name("ID"),
      app.add_option("--now", options.now, "The moment at which ages are computed")
          ->type_name("TIME")};
}

Runner declare_context(CLI::App& app) {
  auto options = std::make_shared<ContextOptions>();
  options->words.declare_many(app);
  std::vector<CLI::Option*> members = declare_members(app, *options);
  const std::vector<CLI::Option*> others = declare_others(app, *options);
  members.insert(members.end(), others.begin(), others.end());
  CLI::Option* request = app.add_option("--request", options->request,
                                        "The whole request as JSON, instead of the above")
                             ->type_name("JSON");
  for (CLI::Option* member : members) request->excludes(member);
  return [options](Invocation& invocation) { return run_context(invocation, *options); };
}

}  // namespace

Command context_command() {
  return {
      "context",
      "show what a model would be given for a question",
      "[QUESTION...]",
      "Builds the context that varve_context_build gives: the entries that answer the "
      "question, the newest and the pinned ones, as many as fit into the tokens. Without a "
      "question, the newest. With --all, --user, --agent or --also, what answers the question is "
      "recalled from other sessions as well: from those that fit all of these options.\n\n"
      "The text goes to standard output. How the tokens are spent is shown on standard error, "
      "as a bar and in numbers, unless --quiet is given. With --json the whole answer.",
      "varve context -s notes \"where did we put the kettle?\" --tokens 2000\n"
      "varve context -s notes --format chat --reserve 500 --pin mem_house_rules\n"
      "varve context -s today --user ann \"which colour is her kayak?\"",
      &declare_context};
}

}  // namespace varve::cli
