// delete.
#include <memory>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/conditions.h"
#include "cli/arguments/operands.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

struct DeleteOptions {
  Operands operands;
  Conditions conditions;
  std::string text;
  std::string reason;
  bool yes = false;
};

// One id gives one object, several give a list.
std::string deleted_json(const std::vector<std::string>& asked,
                         const std::vector<std::string>& deleted) {
  return object_text(
      {{"deleted", asked.size() == 1 ? quote(asked[0]) : json_of(array_of(deleted))}});
}

int delete_by_ids(Invocation& invocation, const DeleteOptions& options) {
  Result<SessionOperands> words = split_session(invocation, options.operands, 1, Wanted::kOrMore);
  if (!words.ok()) return invocation.fail(words.failure());
  Result<OpenSession> open = open_session(invocation, words->session);
  if (!open.ok()) return invocation.fail(open.failure());
  std::vector<std::string> deleted;
  const int code = for_each_id(invocation, *words, [&](const std::string& id) -> Outcome {
    if (Outcome failure = outcome_of(open->session.remove(id, options.reason))) return failure;
    deleted.push_back(id);
    if (!invocation.json()) invocation.note("Deleted entry " + printable(id, Lines::kJoin) + ".");
    return std::nullopt;
  });
  const bool has_answer = !deleted.empty() || words->rest.size() > 1;
  if (invocation.json() && has_answer) invocation.print(deleted_json(words->rest, deleted));
  return code;
}

// Says how many entries there are, and asks. If there are none, there is nothing to ask.
Outcome ask_first(Invocation& invocation, OpenSession& open, const std::string& query) {
  Result<uint64_t> count = open.session.count(query);
  if (!count.ok()) return std::move(count.failure());
  if (*count == 0) return std::nullopt;
  const std::string question = "Delete " +
                               format_count(static_cast<int64_t>(*count), "entry", "entries") +
                               " of session " + printable(open.session.id(), Lines::kJoin) + "?";
  return confirm(invocation, question, "deleting by conditions");
}

int fail_where(Invocation& invocation, const DeleteOptions& options, Failure failure,
               const std::string& session) {
  const bool is_raw = !options.conditions.raw().empty();
  if (is_about(failure, "reason")) {
    name_option(failure, "--reason");
  } else {
    if (!is_raw) name_option_of_member(failure, {{"text", "--text"}});
    options.conditions.name_option(failure);
  }
  return invocation.fail_in_session(std::move(failure), session);
}

int delete_where(Invocation& invocation, const DeleteOptions& options) {
  const size_t most = invocation.globals().session.empty() ? 1 : 0;
  if (options.operands.given().size() > most) {
    return invocation.fail(usage_failure("give either ids of entries or conditions, not both"));
  }
  Result<std::string> id = session_operand(invocation, options.operands);
  if (!id.ok()) return invocation.fail(id.failure());
  Result<std::string> query = options.conditions.query_json(options.text);
  if (!query.ok()) return invocation.fail(query.failure());
  Result<OpenSession> open = open_session(invocation, *id);
  if (!open.ok()) return invocation.fail(open.failure());
  if (!options.yes) {
    if (Outcome refused = ask_first(invocation, *open, *query)) {
      return fail_where(invocation, options, *std::move(refused), *id);
    }
  }
  Result<uint64_t> deleted = open->session.remove_where(*query, options.reason);
  if (!deleted.ok()) {
    return fail_where(invocation, options, std::move(deleted.failure()), *id);
  }
  if (invocation.json()) {
    invocation.print(object_text({{"deleted_count", std::to_string(*deleted)}}));
  } else if (*deleted == 0) {
    invocation.note("Nothing was found, so nothing was deleted.");
  } else {
    invocation.note("Deleted " + format_count(static_cast<int64_t>(*deleted), "entry", "entries") +
                    ".");
  }
  return kExitOk;
}

Runner declare_delete(CLI::App& app) {
  auto options = std::make_shared<DeleteOptions>();
  options->operands.declare_many(app);
  options->conditions.declare(app, "--where");
  options->conditions.add(
      app.add_option("--text", options->text, "Only entries with these words, as for search")
          ->type_name("WORDS"));
  app.add_option("--reason", options->reason,
                 "Why, for the audit log; it must not repeat what is deleted")
      ->type_name("TEXT");
  app.add_flag("-y,--yes", options->yes, "Do not ask before deleting by conditions");
  return [options](Invocation& invocation) {
    return options->conditions.given() ? delete_where(invocation, *options)
                                       : delete_by_ids(invocation, *options);
  };
}

}  // namespace

Command delete_command() {
  return {"delete",
          "delete entries, by id or by conditions",
          "[SESSION] ID...\n[SESSION] CONDITIONS",
          "Hides entries from every reader at once. Their ids, the time and the reason stay in the "
          "audit log, tombstones.jsonl; their bytes stay in the log until `varve purge`. `varve "
          "forget` is another name for this command.\n\n"
          "An ID that is not found is reported; the others are deleted, and the exit code is 2.\n\n"
          "With conditions, deletes every entry that `varve search` finds with them; all of them "
          "must hold. Asks first on a terminal; without one, --yes is required. `varve count` says "
          "how many there are. To delete a whole session, see `varve drop`.",
          "varve delete notes mem_01 mem_02 --reason \"asked by user\"\n"
          "varve delete notes --tag temporary --until 2026-01-01 --yes\n"
          "varve forget notes --text '+\"phone number\"' --reason \"asked by user\"",
          &declare_delete,
          "forget"};
}

}  // namespace varve::cli
