// add, get, delete.
#include <charconv>
#include <memory>

#include "cli/command.h"
#include "cli/entry_view.h"
#include "cli/input.h"
#include "cli/json_text.h"
#include "cli/operands.h"

namespace varve::cli {
namespace {

struct AddOptions {
  Operands operands;
  std::string type = "observation";
  std::vector<std::string> tags;
  std::vector<std::string> references;
  std::string importance;
  std::string role;
  std::string id;
  std::string timestamp;
  std::string expires_at;
  bool json_entry = false;
  bool json_lines = false;
  bool create = false;
};

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back(quote(text));
  return array_text(items);
}

// The number as JSON; its range is the library's to check, so that there is one rule.
Result<std::string> importance_text(const std::string& given) {
  double value = 0;
  const char* end = given.data() + given.size();
  const auto parsed = std::from_chars(given.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(value >= 0 && value <= 1)) {
    return usage_failure("--importance takes a number from 0 to 1, not \"" + given + "\"");
  }
  return json::serialize(json::value(value));
}

// The entry that the options and a plain text describe.
Result<std::string> entry_text(const AddOptions& options, const std::string& text) {
  std::string content = object_text({{"message", quote(text)}});
  if (!options.role.empty()) {
    content = object_text({{"role", quote(options.role)}, {"message", quote(text)}});
  }
  std::string members = "\"type\":" + quote(options.type) + ",\"content\":" + content;
  const auto append = [&](std::string_view name, const std::string& value) {
    members += "," + quote(name) + ":" + value;
  };
  if (!options.id.empty()) append("id", quote(options.id));
  if (!options.timestamp.empty()) append("timestamp", quote(options.timestamp));
  if (!options.expires_at.empty()) append("expires_at", quote(options.expires_at));
  if (!options.tags.empty()) append("tags", quoted_list(options.tags));
  if (!options.references.empty()) append("references", quoted_list(options.references));
  if (!options.importance.empty()) {
    Result<std::string> importance = importance_text(options.importance);
    if (!importance.ok()) return importance;
    append("importance", *importance);
  }
  return "{" + members + "}";
}

// The text to add: the word itself, or standard input for "-".
Result<std::string> text_to_add(const AddOptions& options, const std::string& word) {
  if (word != kStandardInput) return word;
  Result<std::string> text = read_file(kStandardInput);
  const bool plain = !options.json_entry && !options.json_lines;
  if (text.ok() && plain && text->ends_with('\n')) text->pop_back();
  return text;
}

int run_add(Context& context, const AddOptions& options) {
  Result<SessionOperands> words = split_session(context, options.operands, 1);
  if (!words.ok()) return context.fail(words.failure());
  Result<std::string> text = text_to_add(options, words->rest.front());
  if (!text.ok()) return context.fail(text.failure());
  if (text->empty())
    return context.fail(
        usage_failure("there is nothing to add: the text is "
                      "empty"));
  if (!options.json_entry && !options.json_lines) text = entry_text(options, *text);
  if (!text.ok()) return context.fail(text.failure());
  Result<OpenSession> open = open_session(context, words->session, options.create);
  if (!open.ok()) {
    if (open.failure().status == VARVE_NOT_FOUND) {
      open.failure().hint = "Add --create to make it, or look with `varve ls`.";
    }
    return context.fail(open.failure());
  }
  Result<Text> added =
      options.json_lines ? open->session.add_batch(*text) : open->session.add(*text);
  if (!added.ok()) {
    return context.fail(context.with_hint(std::move(added.failure()), words->session));
  }
  if (context.json()) {
    context.print(options.json_lines ? object_text({{"ids", added->view()}})
                                     : object_text({{"id", quote(added->view())}}));
    return kExitOk;
  }
  if (!options.json_lines) {
    context.print(added->view());
    return kExitOk;
  }
  const std::optional<json::value> ids = parse_json(added->view());
  if (!ids || !ids->is_array()) return kExitOk;
  for (const json::value& id : ids->get_array()) {
    if (id.is_string()) context.print(std::string(id.get_string()));
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
                     "(observation)")
          ->type_name("TYPE"),
      app.add_option("--tag", options->tags, "A tag; may be given several times")
          ->allow_extra_args(false)
          ->type_name("TAG"),
      app.add_option("--ref", options->references,
                     "Id of an entry this one refers to; may be given several times")
          ->allow_extra_args(false)
          ->type_name("ID"),
      app.add_option("--importance", options->importance, "From 0 to 1 (0.5)")->type_name("N"),
      app.add_option("--role", options->role, "Who says it: user, assistant, a name")
          ->type_name("ROLE"),
      app.add_option("--id", options->id, "The entry's id, instead of one made here")
          ->type_name("ID"),
      app.add_option("--timestamp", options->timestamp, "When it happened, instead of now")
          ->type_name("TIME"),
      app.add_option("--expires-at", options->expires_at, "When it is to be forgotten")
          ->type_name("TIME")};
  CLI::Option* entry =
      app.add_flag("--json-entry", options->json_entry, "TEXT is a whole entry as a JSON object");
  CLI::Option* lines =
      app.add_flag("--jsonl", options->json_lines,
                   "TEXT is entries as JSON lines (or a JSON array), added all or none");
  entry->excludes(lines);
  for (CLI::Option* field : fields) {
    entry->excludes(field);
    lines->excludes(field);
  }
  app.add_flag("--create", options->create, "Make the session when it does not exist");
  return [options](Context& context) { return run_add(context, *options); };
}

struct GetOptions {
  Operands operands;
};

int run_get(Context& context, const GetOptions& options) {
  Result<SessionOperands> words = split_session(context, options.operands, 1);
  if (!words.ok()) return context.fail(words.failure());
  Result<OpenSession> open = open_session(context, words->session);
  if (!open.ok()) return context.fail(open.failure());
  Result<Text> entry = open->session.get(words->rest.front());
  if (!entry.ok()) {
    return context.fail(context.with_hint(std::move(entry.failure()), words->session));
  }
  if (context.json()) {
    context.print(entry->view());
  } else {
    print_entry(context, entry->view(), Detail::kEverything, 0);
  }
  return kExitOk;
}

Runner declare_get(CLI::App& app) {
  auto options = std::make_shared<GetOptions>();
  options->operands.declare(app, 2);
  return [options](Context& context) { return run_get(context, *options); };
}

struct DeleteOptions {
  Operands operands;
  std::string reason;
};

int run_delete(Context& context, const DeleteOptions& options) {
  Result<SessionOperands> words = split_session(context, options.operands, 1);
  if (!words.ok()) return context.fail(words.failure());
  const std::string& id = words->rest.front();
  Result<OpenSession> open = open_session(context, words->session);
  if (!open.ok()) return context.fail(open.failure());
  if (Outcome failure = open->session.remove(id, options.reason)) {
    return context.fail(context.with_hint(*failure, words->session));
  }
  if (context.json()) {
    context.print(object_text({{"deleted", quote(id)}}));
  } else {
    context.note("Deleted entry " + id + ".");
  }
  return kExitOk;
}

Runner declare_delete(CLI::App& app) {
  auto options = std::make_shared<DeleteOptions>();
  options->operands.declare(app, 2);
  app.add_option("--reason", options->reason,
                 "Why, for the audit log; it must not repeat what is deleted")
      ->type_name("TEXT");
  return [options](Context& context) { return run_delete(context, *options); };
}

}  // namespace

Command add_command() {
  return {"add",
          "add an entry",
          "[SESSION] TEXT\n[SESSION] -",
          "Adds one entry and prints its id; once it is printed, the entry survives a crash. TEXT "
          "becomes the entry's content, {\"message\": TEXT}, with --role also {\"role\": ROLE}; "
          "\"-\" reads it from standard input.\n\n"
          "With --json-entry TEXT is a whole entry instead, and with --jsonl several of them, of "
          "which all are added or none. Large files are for `varve import`.\n\n"
          "A TEXT that begins with \"-\" goes behind \"--\".",
          "varve add notes \"tea, not coffee\" --type preference --tag drinks\n"
          "varve add notes \"use SQLite\" --type decision --importance 0.9 --ref mem_01\n"
          "varve add notes --json-entry '{\"type\":\"finding\",\"content\":{\"port\":5432}}'\n"
          "date | varve add notes -\n"
          "varve add notes --jsonl - < entries.jsonl",
          &declare_add};
}

Command get_command() {
  return {"get",
          "show one entry",
          "[SESSION] ID",
          "Shows one entry with all its fields, checked against its checksum. With --json it is "
          "the line of the log exactly as stored.",
          "varve get notes mem_01\nvarve get notes mem_01 --json",
          &declare_get};
}

Command delete_command() {
  return {"delete",
          "delete one entry",
          "[SESSION] ID",
          "Hides an entry at once from every reader. Its id, the time and the reason stay in the "
          "audit log, tombstones.jsonl. To delete a whole session, see `varve drop`.",
          "varve delete notes mem_01 --reason \"asked by user\"",
          &declare_delete};
}

}  // namespace varve::cli
