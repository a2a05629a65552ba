// add, get.
#include <memory>
#include <optional>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/input.h"
#include "cli/json_text.h"
#include "cli/view/entry_view.h"

namespace varve::cli {
namespace {

struct AddOptions {
  Operands operands;
  std::string type;  // empty: that of what is recorded (varve/context.h)
  std::vector<std::string> tags;
  std::vector<std::string> references;
  std::optional<double> importance;
  std::string role;
  std::string id;
  std::string timestamp;
  std::string expires_at;
  bool json_entry = false;
  bool json_lines = false;
  bool create = false;
};

// The entry that the options and a plain text make.
Result<std::string> entry_text(const AddOptions& options, const std::string& text) {
  json::object content;
  if (!options.role.empty()) content["role"] = options.role;
  content["message"] = text;
  const std::string& type = options.type;
  const std::string_view usual = options.role.empty() ? "observation" : "message";
  json::object entry{{"type", type.empty() ? usual : type}, {"content", std::move(content)}};
  if (!options.id.empty()) entry["id"] = options.id;
  if (!options.timestamp.empty()) {
    Result<std::string> timestamp = time_text("--timestamp", options.timestamp);
    if (!timestamp.ok()) return timestamp;
    entry["timestamp"] = *timestamp;
  }
  if (!options.expires_at.empty()) {
    Result<std::string> end = time_text("--expires-at", options.expires_at, Direction::kFromNow);
    if (!end.ok()) return end;
    entry["expires_at"] = *end;
  }
  if (!options.tags.empty()) entry["tags"] = array_of(options.tags);
  if (!options.references.empty()) entry["references"] = array_of(options.references);
  if (options.importance) entry["importance"] = *options.importance;
  return json_of(entry);
}

// The text to add: the argument itself, or standard input for "-".
Result<std::string> text_to_add(const AddOptions& options, const std::string& word) {
  if (word != kStandardInput) return word;
  Result<std::string> text = read_file(kStandardInput);
  const bool plain = !options.json_entry && !options.json_lines;
  if (text.ok() && plain && text->ends_with('\n')) text->pop_back();
  return text;
}

Result<std::string> add_to(Session& session, const AddOptions& options, std::string_view text) {
  if (options.json_lines) return session.add_batch(text);
  Result<std::string> added = session.add(text);
  if (added.ok() || options.json_entry) return added;
  name_option_of_member(added.failure(), {{"id", "--id"},
                                          {"type", "--type"},
                                          {"tags", "--tag"},
                                          {"references", "--ref"},
                                          {"timestamp", "--timestamp"},
                                          {"expires_at", "--expires-at"},
                                          {"content.role", "--role"},
                                          {"content.message", "TEXT"}});
  return added;
}

Result<OpenSession> session_to_add_to(Invocation& invocation, const AddOptions& options,
                                      const std::string& id, std::string_view text) {
  if (options.create) {
    return open_or_create(invocation, id, [&](Session& session) -> Outcome {
      Result<std::string> added = add_to(session, options, text);
      if (!added.ok()) return std::move(added.failure());
      return std::nullopt;
    });
  }
  Result<OpenSession> open = open_session(invocation, id);
  if (!open.ok() && open.failure().status == VARVE_NOT_FOUND) {
    open.failure().hint = "Add --create to create it; `varve ls` lists the sessions.";
  }
  return open;
}

int run_add(Invocation& invocation, const AddOptions& options) {
  Result<SessionOperands> words = split_session(invocation, options.operands, 1);
  if (!words.ok()) return invocation.fail(words.failure());
  Result<std::string> text = text_to_add(options, words->rest.front());
  if (!text.ok()) return invocation.fail(text.failure());
  if (text->empty())
    return invocation.fail(usage_failure("there is nothing to add: the text is empty"));
  if (!options.json_entry && !options.json_lines) text = entry_text(options, *text);
  if (!text.ok()) return invocation.fail(text.failure());
  Result<OpenSession> open = session_to_add_to(invocation, options, words->session, *text);
  if (!open.ok()) return invocation.fail(open.failure());
  Result<std::string> added = add_to(open->session, options, *text);
  if (!added.ok()) {
    return invocation.fail_in_session(std::move(added.failure()), words->session);
  }
  if (invocation.json()) {
    invocation.print(options.json_lines ? object_text({{"ids", *added}})
                                        : object_text({{"id", quote(*added)}}));
    return kExitOk;
  }
  if (!options.json_lines) {
    invocation.print(*added);
    return kExitOk;
  }
  const std::optional<json::value> ids = parse_json(*added);
  if (!ids || !ids->is_array()) return kExitOk;
  for (const json::value& id : ids->get_array()) {
    if (id.is_string()) invocation.print(std::string(id.get_string()));
  }
  return kExitOk;
}

Runner declare_add(CLI::App& app) {
  auto options = std::make_shared<AddOptions>();
  options->operands.declare(app, 2);
  std::vector<CLI::Option*> fields = {
      app.add_option("-t,--type", options->type,
                     "Kind of entry: conversation, decision, finding, preference, message, "
                     "tool_call, tool_result, observation, summary, document, or one of your own "
                     "(observation; message with --role)")
          ->type_name("TYPE"),
      app.add_option("--tag", options->tags, "A tag; may be repeated")
          ->allow_extra_args(false)
          ->type_name("TAG"),
      app.add_option("--ref", options->references,
                     "Id of an entry that this one refers to; may be repeated")
          ->allow_extra_args(false)
          ->type_name("ID"),
      app.add_option("--importance", options->importance, "From 0 to 1 (0.5)")
          ->type_name("N")
          ->check(number_between(0, 1)),
      app.add_option("--role", options->role, "Who says it: user, assistant, a name")
          ->type_name("ROLE"),
      app.add_option("--id", options->id, "The entry's id, instead of a generated one")
          ->type_name("ID"),
      app.add_option("--timestamp", options->timestamp, "When it happened, instead of now")
          ->type_name("TIME"),
      app.add_option("--expires-at", options->expires_at, "When the entry expires")
          ->type_name("TIME")};
  CLI::Option* entry =
      app.add_flag("--json-entry", options->json_entry, "TEXT is a whole entry as a JSON object");
  CLI::Option* lines =
      app.add_flag("--jsonl", options->json_lines,
                   "TEXT is JSON lines (or a JSON array) of entries; all are added or none");
  entry->excludes(lines);
  for (CLI::Option* field : fields) {
    entry->excludes(field);
    lines->excludes(field);
  }
  app.add_flag("--create", options->create, "Create the session if it does not exist");
  return [options](Invocation& invocation) { return run_add(invocation, *options); };
}

int run_get(Invocation& invocation, const Operands& operands) {
  Result<SessionOperands> words = split_session(invocation, operands, 1, Wanted::kOrMore);
  if (!words.ok()) return invocation.fail(words.failure());
  Result<OpenSession> open = open_session(invocation, words->session);
  if (!open.ok()) return invocation.fail(open.failure());
  std::vector<std::string> lines;
  const int code = for_each_id(invocation, *words, [&](const std::string& id) -> Outcome {
    Result<std::string> entry = open->session.get(id);
    if (!entry.ok()) return std::move(entry.failure());
    lines.push_back(*entry);
    if (invocation.json()) return std::nullopt;
    if (lines.size() > 1) invocation.print("");
    print_entry(invocation, lines.back(), Detail::kEverything, 0);
    return std::nullopt;
  });
  if (!invocation.json()) return code;
  const bool is_one = words->rest.size() == 1;
  if (!is_one || !lines.empty()) invocation.print(is_one ? lines.front() : array_text(lines));
  return code;
}

Runner declare_get(CLI::App& app) {
  auto operands = std::make_shared<Operands>();
  operands->declare_many(app);
  return [operands](Invocation& invocation) { return run_get(invocation, *operands); };
}

}  // namespace

Command add_command() {
  return {"add",
          "add an entry",
          "[SESSION] TEXT\n[SESSION] -",
          "Adds one entry and prints its id; once that is printed, the entry survives a crash. "
          "TEXT becomes the entry's content, {\"message\": TEXT}, with --role also {\"role\": "
          "ROLE}; \"-\" reads it from standard input.\n\n"
          "With --json-entry, TEXT is a whole entry; with --jsonl, several, all of which are added "
          "or none. For large files, use `varve import`.\n\n"
          "Put \"--\" before a TEXT that begins with \"-\".",
          "varve add notes \"tea, not coffee\" --type preference --tag drinks\n"
          "varve add notes \"use SQLite\" --type decision --importance 0.9 --ref mem_01\n"
          "varve add notes --json-entry '{\"type\":\"finding\",\"content\":{\"port\":5432}}'\n"
          "date | varve add notes -\n"
          "varve add notes --jsonl - < entries.jsonl",
          &declare_add};
}

Command get_command() {
  return {"get",
          "show entries by their ids",
          "[SESSION] ID...",
          "Shows entries with all their fields, checked against their checksums. With --json an "
          "entry is its line of the log exactly as stored, and several are an array of these. An "
          "ID that is not found is reported; the others are shown, and the exit code is 2.",
          "varve get notes mem_01\nvarve get notes mem_01 --json",
          &declare_get};
}

}  // namespace varve::cli
