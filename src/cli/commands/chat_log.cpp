// chat-log.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kSpeakerColumnsMax = 24;
constexpr size_t kTimeColumns = 5;  // 14:23
constexpr size_t kTextColumnsMin = 20;
constexpr size_t kTextColumnsMax = 100;
constexpr size_t kDayChars = 10;  // 2026-01-10
constexpr size_t kTimeStart = 11;
constexpr int64_t kTokensMax = int64_t{1} << 62;  // more than any text has

const std::vector<std::string> kTurnTypes = {"message", "conversation", "tool_call", "tool_result"};

struct ChatLogOptions {
  Operands operands;
  int64_t limit = 50;
  std::vector<std::string> types;
};

struct Turn {
  std::string day;
  std::string time;
  std::string speaker;
  std::string text;
  Style style = Style::kId;
};

struct Told {
  std::string name;  // of who says it; may be empty
  std::string text;
};

// What each of these entries says, by id: as a model would be given it (docs/context.md#formats),
// but without the frame. What says nothing is not there, nor what was deleted meanwhile.
Result<std::map<std::string, Told>> told_by_entries(const Session& session,
                                                    const json::array& results) {
  json::array ids;
  for (const auto& result : results) {
    ids.push_back(json::string(string_at(object_at(result.as_object(), "entry"), "id")));
  }
  const json::object request{{"retrieve", json::array()},
                             {"pinned", std::move(ids)},
                             {"keep_together", false},
                             {"format", "json"},
                             {"budget", {{"max_tokens", kTokensMax}}}};
  Result<std::string> answer = session.build_context(json_of(request));
  if (!answer.ok()) return std::move(answer.failure());
  const json::object context = parse_object(*answer);
  const json::object text = parse_object(string_at(context, "text"));
  const json::array& memory = array_at(text, "memory");
  std::map<std::string, Told> told;
  const auto* next = memory.begin();
  for (const auto& item : array_at(context, "items")) {
    const json::object& entry = item.as_object();
    if (integer_at(entry, "tokens") == 0 || next == memory.end()) continue;  // it says nothing
    const json::object& said = next->as_object();
    told.emplace(string_at(entry, "id"), Told{string_at(said, "name"), string_at(said, "text")});
    ++next;
  }
  return told;
}

Style style_of(std::string_view type, std::string_view role) {
  if (type == "tool_call" || type == "tool_result") return Style::kTag;
  return role == "assistant" ? Style::kType : Style::kId;
}

Turn turn_of(const json::object& entry, Told told) {
  Turn turn;
  const std::string time = format_time(string_at(entry, "timestamp"));
  turn.day = time.substr(0, kDayChars);
  if (time.size() > kTimeStart) turn.time = time.substr(kTimeStart, kTimeColumns);
  const std::string type = string_at(entry, "type");
  const std::string role = string_at(object_at(entry, "content"), "role");
  const bool is_tool = type == "tool_call" || type == "tool_result";
  std::string speaker = role.empty() || is_tool ? type : role;
  if (!told.name.empty()) speaker += " (" + told.name + ")";
  turn.speaker = truncate(printable(speaker, Lines::kJoin), kSpeakerColumnsMax);
  turn.style = style_of(type, role);
  turn.text = std::move(told.text);
  return turn;
}

void print_turn(Invocation& invocation, const Turn& turn, size_t speaker_columns) {
  const Terminal& terminal = invocation.terminal();
  const size_t indent = kTimeColumns + 2 + speaker_columns + 2;
  const size_t width = terminal.width() == 0
                           ? 0
                           : std::clamp(terminal.width() - std::min(indent, terminal.width()),
                                        kTextColumnsMin, kTextColumnsMax);
  const std::vector<std::string> lines = wrap(printable(turn.text, Lines::kKeep), width);
  invocation.print(terminal.paint(Style::kFaint, pad_right(turn.time, kTimeColumns)) + "  " +
                   terminal.paint(turn.style, pad_right(turn.speaker, speaker_columns)) +
                   (lines.empty() || lines[0].empty() ? "" : "  " + lines[0]));
  for (size_t i = 1; i < lines.size(); ++i) {
    invocation.print(lines[i].empty() ? "" : std::string(indent, ' ') + lines[i]);
  }
}

void print_turns(Invocation& invocation, const json::array& results,
                 std::map<std::string, Told> told) {
  std::vector<Turn> turns;
  size_t columns = 0;
  for (auto result = results.rbegin(); result != results.rend(); ++result) {
    const json::object& entry = object_at(result->as_object(), "entry");
    turns.push_back(turn_of(entry, std::move(told[string_at(entry, "id")])));
    columns = std::max(columns, display_width(turns.back().speaker));
  }
  std::string day;
  for (const Turn& turn : turns) {
    if (turn.day != day) {
      if (!day.empty()) invocation.print("");
      invocation.print(invocation.terminal().paint(Style::kHeading, turn.day));
    }
    day = turn.day;
    print_turn(invocation, turn, columns);
  }
}

int run_chat_log(Invocation& invocation, const ChatLogOptions& options) {
  Result<OpenSession> open = open_session(invocation, options.operands);
  if (!open.ok()) return invocation.fail(open.failure());
  json::object query{{"types", array_of(options.types.empty() ? kTurnTypes : options.types)},
                     {"sort_by", "time"},
                     {"limit", limit_of_query(options.limit)}};
  Result<Results> results = open->session.query(json_of(query));
  if (!results.ok()) {
    name_option_of_member(results.failure(), {{"types", "--type"}});
    return invocation.fail_in_session(std::move(results.failure()), open->session.id());
  }
  Result<std::string_view> text = results->json();
  if (!text.ok()) return invocation.fail(text.failure());
  const json::object answer = parse_object(*text);
  if (invocation.json()) {
    std::vector<std::string> entries;
    for (const std::string_view item : raw_items(raw_member(*text, "results"))) {
      entries.emplace_back(raw_member(item, "entry"));
    }
    std::reverse(entries.begin(), entries.end());
    invocation.print(array_text(entries));
    return kExitOk;
  }
  const json::array& turns = array_at(answer, "results");
  auto told = told_by_entries(open->session, turns);
  if (!told.ok()) return invocation.fail_in_session(std::move(told.failure()), open->session.id());
  print_turns(invocation, turns, std::move(*told));
  if (results->empty()) invocation.note("No turns.");
  if (!string_at(answer, "next").empty()) {
    invocation.note("(The last " + format_count(static_cast<int64_t>(results->size())) +
                    "; -n 0 shows all.)");
  }
  return kExitOk;
}

Runner declare_chat_log(CLI::App& app) {
  auto options = std::make_shared<ChatLogOptions>();
  options->operands.declare(app, 1);
  app.add_option(kLimitNames, options->limit, "At most this many turns; 0 for all (50)")
      ->type_name("N")
      ->transform(whole_number());
  app.add_option("-t,--type", options->types,
                 "Entries of this type, instead of messages and tool calls; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TYPE");
  return [options](Invocation& invocation) { return run_chat_log(invocation, *options); };
}

}  // namespace

Command chat_log_command() {
  return {"chat-log",
          "show a session as a conversation",
          "[SESSION]",
          "Shows the last messages, tool calls and their results in order of time, by day: the "
          "time in UTC, who speaks, and what they say. With --json an array of the stored entries.",
          "varve chat-log support\nvarve chat-log support -n 0 | less\n"
          "varve chat-log support --type message --type summary",
          &declare_chat_log};
}

}  // namespace varve::cli
