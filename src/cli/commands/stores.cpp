// kv, transcript.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/input.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"
#include "cli/view/table.h"

namespace varve::cli {
namespace {

constexpr size_t kTurnsUsual = 20;

// The argument itself, or standard input for "-", without its last line end.
Result<std::string> text_of(const std::string& word) {
  if (word != kStandardInput) return word;
  Result<std::string> text = read_file(kStandardInput);
  if (text.ok() && text->ends_with('\n')) text->pop_back();
  return text;
}

// The first word names an action, which says how many other words there are besides the session.
struct Action {
  std::string_view name;
  size_t word_count;
  std::function<int(Invocation& invocation, Session& session, const SessionOperands& words)> run;
};

// For actions without a result: `done` is JSON, for those who asked for it.
int answer(Invocation& invocation, Outcome outcome, const std::string& session,
           const std::string& done) {
  if (outcome) return invocation.fail_in_session(*std::move(outcome), session);
  if (invocation.json()) invocation.print(done);
  return kExitOk;
}

int run_action(Invocation& invocation, const Operands& operands, std::span<const Action> actions) {
  std::vector<std::string> words = operands.given();
  const std::string name = words.empty() ? std::string() : words.front();
  std::string known;
  for (const Action& action : actions) {
    known += (known.empty() ? "" : ", ") + std::string(action.name);
    if (name != action.name) continue;
    words.erase(words.begin());
    Result<SessionOperands> split = split_session(invocation, std::move(words), action.word_count);
    if (!split.ok()) return invocation.fail(split.failure());
    Result<OpenSession> open = open_session(invocation, split->session);
    if (!open.ok()) return invocation.fail(open.failure());
    return action.run(invocation, open->session, *split);
  }
  return invocation.fail(usage_failure(name.empty()
                                           ? "no action is given: use one of " + known
                                           : "unknown action '" + name + "': use one of " + known));
}

// --- kv ------------------------------------------------------------------------------------------

int set_key(Invocation& invocation, Session& session, const SessionOperands& words) {
  Result<std::string> value = text_of(words.rest[1]);
  if (!value.ok()) return invocation.fail(value.failure());
  return answer(invocation, outcome_of(session.kv_set(words.rest[0], *value)), words.session,
                object_text({{"set", quote(words.rest[0])}}));
}

int get_key(Invocation& invocation, Session& session, const SessionOperands& words) {
  Result<std::string> value = session.kv_get(words.rest[0]);
  if (!value.ok()) return invocation.fail_in_session(std::move(value.failure()), words.session);
  if (invocation.json()) {
    invocation.print(object_text({{"key", quote(words.rest[0])}, {"value", quote(*value)}}));
  } else {
    // Away from a terminal it is to be what was set, byte by byte.
    invocation.print(invocation.terminal().is_terminal() ? printable(*value, Lines::kKeep)
                                                         : *value);
  }
  return kExitOk;
}

int delete_key(Invocation& invocation, Session& session, const SessionOperands& words) {
  return answer(invocation, outcome_of(session.kv_remove(words.rest[0])), words.session,
                object_text({{"deleted", quote(words.rest[0])}}));
}

int list_keys(Invocation& invocation, Session& session, const SessionOperands& words) {
  Result<std::string> list = session.kv_list();
  if (!list.ok()) return invocation.fail_in_session(std::move(list.failure()), words.session);
  if (invocation.json()) {
    invocation.print(*list);
    return kExitOk;
  }
  Table table({{"KEY"}, {"SET"}, {"VALUE"}});
  const std::optional<json::value> keys = parse_json(*list);
  if (!keys || !keys->is_array() || keys->get_array().empty()) {
    invocation.note("No keys.");
    return kExitOk;
  }
  for (const json::value& item : keys->get_array()) {
    const json::object& entry = item.get_object();
    const std::string key = string_at(entry, "key");
    if (invocation.quiet()) {
      invocation.print(printable(key, Lines::kJoin));
    } else {
      table.add_row({key, format_time(string_at(entry, "ts")), string_at(entry, "value")});
    }
  }
  if (!invocation.quiet()) table.print(invocation.out(), invocation.terminal());
  return kExitOk;
}

int run_kv(Invocation& invocation, const Operands& operands) {
  const Action actions[] = {{"set", 2, &set_key},
                            {"get", 1, &get_key},
                            {"delete", 1, &delete_key},
                            {"list", 0, &list_keys}};
  return run_action(invocation, operands, actions);
}

Runner declare_kv(CLI::App& app) {
  auto operands = std::make_shared<Operands>();
  operands->declare(app, 4);
  return [operands](Invocation& invocation) { return run_kv(invocation, *operands); };
}

// --- transcript ----------------------------------------------------------------------------------

struct TranscriptOptions {
  Operands operands;
  size_t limit = kTurnsUsual;
  CLI::Option* limit_option = nullptr;
};

int append_turn(Invocation& invocation, Session& session, const SessionOperands& words) {
  Result<std::string> content = text_of(words.rest[1]);
  if (!content.ok()) return invocation.fail(content.failure());
  return answer(invocation, outcome_of(session.transcript_append(words.rest[0], *content)),
                words.session, object_text({{"appended", "true"}, {"role", quote(words.rest[0])}}));
}

void print_turns(Invocation& invocation, std::string_view turns) {
  const std::optional<json::value> list = parse_json(turns);
  if (!list || !list->is_array() || list->get_array().empty()) {
    invocation.note("No turns.");
    return;
  }
  const Terminal& terminal = invocation.terminal();
  bool is_first = true;
  for (const json::value& item : list->get_array()) {
    const json::object& turn = item.get_object();
    if (!is_first) invocation.print("");
    is_first = false;
    invocation.print(
        terminal.paint(Style::kHeading, printable(string_at(turn, "role"), Lines::kJoin)) + "  " +
        format_time(string_at(turn, "timestamp")));
    // Indented, so that nothing that was said looks like another turn.
    for (const auto& line : wrap(printable(string_at(turn, "content"), Lines::kKeep), 0)) {
      invocation.print(line.empty() ? "" : "  " + line);
    }
  }
}

int show_turns(Invocation& invocation, Session& session, const SessionOperands& words,
               size_t limit) {
  Result<std::string> turns = session.transcript_last(limit == 0 ? SIZE_MAX : limit);
  if (!turns.ok()) return invocation.fail_in_session(std::move(turns.failure()), words.session);
  if (invocation.json()) {
    invocation.print(*turns);
  } else {
    print_turns(invocation, *turns);
  }
  return kExitOk;
}

int run_transcript(Invocation& invocation, const TranscriptOptions& options) {
  const std::vector<std::string> given = options.operands.given();
  if (!given.empty() && given.front() == "append" && options.limit_option->count() > 0) {
    return invocation.fail(usage_failure("--limit is for `last`: `append` takes one turn"));
  }
  const auto show_last = [&](Invocation& own, Session& session, const SessionOperands& words) {
    return show_turns(own, session, words, options.limit);
  };
  const Action actions[] = {{"append", 2, &append_turn}, {"last", 0, show_last}};
  return run_action(invocation, options.operands, actions);
}

Runner declare_transcript(CLI::App& app) {
  auto options = std::make_shared<TranscriptOptions>();
  options->operands.declare(app, 4);
  options->limit_option = app.add_option(kLimitNames, options->limit,
                                         "For `last`: at most this many turns (20); 0 for all")
                              ->type_name("N")
                              ->transform(whole_number());
  return [options](Invocation& invocation) { return run_transcript(invocation, *options); };
}

}  // namespace

Command kv_command() {
  return {"kv",
          "keep small facts by key",
          "set [SESSION] KEY VALUE\nget [SESSION] KEY\ndelete [SESSION] KEY\nlist [SESSION]",
          "Sets, shows and deletes keys of a session. Setting an existing key replaces its value "
          "and makes it the newest; beyond the session's cap (kv_cap, 200) the key set longest ago "
          "is removed. A VALUE of \"-\" is read from standard input.\n\n"
          "The key `working_memory` is the agent's working memory: until it is set, it is empty, "
          "not an error.\n\n"
          "Put \"--\" before a VALUE that begins with \"-\".",
          "varve kv set notes user_name sachi\n"
          "varve kv get notes user_name\n"
          "varve kv set notes working_memory - < plan.md\n"
          "varve kv list notes --json",
          &declare_kv};
}

Command transcript_command() {
  return {"transcript",
          "keep what was said, in order",
          "append [SESSION] ROLE TEXT\nlast [SESSION]",
          "Appends what was said to the session's transcript, and shows the last turns, the oldest "
          "of them first. At most transcript_cap (500) are shown; older ones are dropped. A TEXT "
          "of \"-\" is read from standard input.\n\n"
          "Put \"--\" before a TEXT that begins with \"-\".",
          "varve transcript append notes user \"Tell me about your memory.\"\n"
          "varve transcript last notes --limit 5\n"
          "varve transcript last notes --limit 0 --json",
          &declare_transcript};
}

}  // namespace varve::cli
