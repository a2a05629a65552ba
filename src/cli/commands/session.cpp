// create, ls, drop, metadata.
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"
#include "cli/view/table.h"

namespace varve::cli {
namespace {

struct CreateOptions {
  Operands operands;
  std::string user;
  std::string agent;
  std::string title;
  std::string extra;
  double ttl_hours = 0;
  CLI::Option* ttl = nullptr;
  bool if_missing = false;
};

// The object of --options with `members` in place of those of the same name. As text: its numbers
// keep their digits, and a name that is there twice is for the library to refuse.
std::string with_members(std::string_view given, const json::object& members) {
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view value) {
    text += (text.empty() ? "" : ",") + quote(name) + ":";
    text += value;
  };
  for (const RawMember& member : raw_members(given)) {
    if (!members.contains(member.name)) add(member.name, member.value);
  }
  for (const auto& member : members) add(member.key(), json_of(member.value()));
  return "{" + text + "}";
}

// Says which of the options the library found to be wrong; the settings of the store are no option.
void name_mistake(Failure& failure, const CreateOptions& options) {
  const json::object details = parse_object(failure.details);
  if (details.contains("path")) return;
  const std::string member = string_at(details, "member");
  const bool is_own = (member == "user_id" && !options.user.empty()) ||
                      (member == "agent_id" && !options.agent.empty()) ||
                      (member == "title" && !options.title.empty());
  if (is_own) {
    name_option_of_member(failure,
                          {{"user_id", "--user"}, {"agent_id", "--agent"}, {"title", "--title"}});
  } else if (!raw_member(options.extra, member.substr(0, member.find_first_of(".["))).empty()) {
    name_option(failure, "--options");
  }
}

bool is_same(const json::value& one, const json::value& other) {
  if (!one.is_number() || !other.is_number()) return one == other;
  return one.to_number<double>() == other.to_number<double>();
}

// What the session is must not depend on which of two answers counts.
Outcome refuse_contradiction(const json::object& extra, const json::object& document,
                             const CreateOptions& options) {
  const std::string_view id_from =
      options.operands.given().empty() ? "--session or VARVE_SESSION" : "the argument";
  for (const auto& [member, from] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"session_id", id_from},
           {"user_id", "--user"},
           {"agent_id", "--agent"},
           {"title", "--title"},
           {"ttl_hours", "--ttl-hours"},
           {"if_exists", "--if-missing"}}) {
    const json::value* one = document.if_contains(member);
    const json::value* other = extra.if_contains(member);
    if (one == nullptr || other == nullptr || is_same(*one, *other)) continue;
    return usage_failure(
        "--options has another '" + std::string(member) + "' than " + std::string(from),
        "Leave out one of the two.");
  }
  return {};
}

Result<std::string> creation_options(const CreateOptions& options, const std::string& id) {
  json::object document;
  json::object extra;
  if (!options.extra.empty()) {
    const std::optional<json::value> parsed = parse_json(options.extra);
    if (!parsed || !parsed->is_object()) return usage_failure("--options takes a JSON object");
    extra = parsed->get_object();
  }
  if (!id.empty()) document["session_id"] = id;
  if (!options.user.empty()) document["user_id"] = options.user;
  if (!options.agent.empty()) document["agent_id"] = options.agent;
  if (!options.title.empty()) document["title"] = options.title;
  if (options.ttl->count() > 0) document["ttl_hours"] = options.ttl_hours;
  // An id that is still to be made belongs to nobody yet.
  const bool has_id = !id.empty() || extra.contains("session_id");
  if (options.if_missing && has_id) document["if_exists"] = "open";
  if (Outcome refused = refuse_contradiction(extra, document, options)) return *std::move(refused);
  return with_members(options.extra, document);
}

int run_create(Invocation& invocation, const CreateOptions& options) {
  const std::vector<std::string> words = options.operands.given();
  const Globals& globals = invocation.globals();
  if (!words.empty() && !globals.session.empty()) {
    return invocation.fail(
        usage_failure("the session is named twice: as an argument and by --session"));
  }
  if (!words.empty() && words.front().empty()) {
    return invocation.fail(
        usage_failure("the session's id is empty", "Leave it out to have one made."));
  }
  const std::string id = words.empty() ? globals.named_session() : words.front();
  Result<std::string> document = creation_options(options, id);
  if (!document.ok()) return invocation.fail(document.failure());
  Result<Store> store = invocation.open_store_for(*document);
  if (!store.ok()) {
    name_mistake(store.failure(), options);
    return invocation.fail(invocation.creation_failure(std::move(store.failure()), id));
  }
  Result<Session> session = store->create_session(*document);
  if (!session.ok()) {
    name_mistake(session.failure(), options);
    Failure failure = invocation.creation_failure(std::move(session.failure()), id);
    if (failure.status == VARVE_ALREADY_EXISTS && !options.if_missing) {
      failure.hint = "With --if-missing, that is not an error.";
    }
    return invocation.fail(failure);
  }
  if (!invocation.json()) {
    invocation.print(session->id());
    return kExitOk;
  }
  Result<std::string> metadata = session->metadata();
  if (!metadata.ok()) return invocation.fail(metadata.failure());
  invocation.print(*metadata);
  return kExitOk;
}

Runner declare_create(CLI::App& app) {
  auto options = std::make_shared<CreateOptions>();
  options->operands.declare(app, 1);
  app.add_option("--user", options->user, "The user that the session belongs to")->type_name("ID");
  app.add_option("--agent", options->agent, "The agent that the session belongs to")
      ->type_name("ID");
  app.add_option("--title", options->title, "What the session is about")->type_name("TEXT");
  options->ttl =
      app.add_option("--ttl-hours", options->ttl_hours, "Hours after which the session expires")
          ->type_name("N")
          ->check(number_between(0, 1e9));
  app.add_option("--options", options->extra,
                 "More creation options as a JSON object: stores, kv_cap, transcript_cap, "
                 "ttl_policy, decay_config, compaction_config, preferences, durability")
      ->type_name("JSON");
  app.add_flag("--if-missing", options->if_missing, "Succeed if the session already exists");
  return [options](Invocation& invocation) { return run_create(invocation, *options); };
}

constexpr int64_t kPageMax = 10'000;  // the most that the library gives

struct ListOptions {
  Operands operands;
  int64_t limit = 100;
  std::string after;
  std::string user;
  std::string agent;
  bool all = false;
  bool rescan = false;
};

void add_session_row(Table& table, const json::object& session) {
  table.add_row({string_at(session, "session_id"),
                 format_count(integer_at(session, "total_entries")),
                 format_time(string_at(session, "created_at")),
                 format_time(string_at(session, "last_accessed")), string_at(session, "user_id"),
                 string_at(session, "agent_id"), string_at(session, "title")});
}

Table session_table() {
  return Table({{"SESSION", Align::kLeft, Style::kId},
                {"ENTRIES", Align::kRight},
                {"CREATED", Align::kLeft, Style::kFaint},
                {"LAST USED", Align::kLeft, Style::kFaint},
                {"USER"},
                {"AGENT"},
                {"TITLE"}});
}

std::string list_filter(const ListOptions& options, const std::string& after, bool first) {
  json::object filter{{"limit", options.limit == 0 ? kPageMax : options.limit}};
  if (!after.empty()) filter["after"] = after;
  if (!options.user.empty()) filter["user_id"] = options.user;
  if (!options.agent.empty()) filter["agent_id"] = options.agent;
  if (options.rescan && first) filter["rescan"] = true;
  return json_of(filter);
}

// The items of the page's "sessions" array, as the library wrote them.
std::string_view inside_brackets(std::string_view array) {
  return array.size() >= 2 ? array.substr(1, array.size() - 2) : std::string_view();
}

int run_list(Invocation& invocation, const ListOptions& options) {
  if (!invocation.globals().session.empty()) {
    return invocation.fail(usage_failure("a list is of every session: do not name one"));
  }
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  Table table = session_table();
  std::string raw_sessions;
  std::string next = options.after;
  size_t count = 0;
  bool first = true;
  do {
    Result<std::string> page = store->sessions(list_filter(options, next, first));
    if (!page.ok()) {
      name_option_of_member(page.failure(), {{"user_id", "--user"}, {"agent_id", "--agent"}});
      return invocation.fail(page.failure());
    }
    first = false;
    const json::object document = parse_object(*page);
    for (const json::value& session : array_at(document, "sessions")) {
      if (!session.is_object()) continue;
      ++count;
      if (invocation.quiet() && !invocation.json()) {
        invocation.print(string_at(session.get_object(), "session_id"));
      }
      add_session_row(table, session.get_object());
    }
    const std::string_view items = inside_brackets(raw_member(*page, "sessions"));
    if (!items.empty() && !raw_sessions.empty()) raw_sessions += ',';
    raw_sessions += items;
    next = string_at(document, "next");
  } while ((options.all || options.limit == 0) && !next.empty());
  if (invocation.json()) {
    invocation.print(object_text(
        {{"sessions", "[" + raw_sessions + "]"}, {"next", next.empty() ? "null" : quote(next)}}));
    return kExitOk;
  }
  if (invocation.quiet()) return kExitOk;
  if (count == 0) invocation.note("No sessions.");
  table.print(invocation.out(), invocation.terminal());
  if (!next.empty()) invocation.note("There may be more: add --after " + next + ", or --all.");
  return kExitOk;
}

Runner declare_list(CLI::App& app) {
  auto options = std::make_shared<ListOptions>();
  options->operands.declare(app, 0);
  app.add_option("-n,--limit", options->limit, "Sessions per page (100); 0 for all")
      ->type_name("N")
      ->transform(number_between(0, kPageMax));
  app.add_option("--after", options->after, "Continue after this cursor of the previous page")
      ->type_name("CURSOR");
  app.add_flag("-a,--all", options->all, "All pages");
  app.add_option("--user", options->user, "Only sessions of this user")->type_name("ID");
  app.add_option("--agent", options->agent, "Only sessions of this agent")->type_name("ID");
  app.add_flag("--rescan", options->rescan,
               "Scan the directories first, after copying sessions in by hand");
  return [options](Invocation& invocation) { return run_list(invocation, *options); };
}

struct DropOptions {
  Operands operands;
  bool yes = false;
};

// A session as somebody is asked about it. Of one that cannot be read, nothing.
struct AskedAbout {
  int64_t entries = 0;
  std::string created_at;  // tells it from a later one of the same id
};

Result<AskedAbout> look_at(Invocation& invocation, Store& store, const std::string& id) {
  AskedAbout seen;
  Result<Session> session = invocation.open_session(store, id);
  if (!session.ok() && session.failure().status == VARVE_NOT_FOUND) return session.failure();
  if (!session.ok()) return seen;
  Result<std::string> stats = session->stats();
  if (stats.ok()) seen.entries = integer_at(parse_object(*stats), "entries");
  Result<std::string> metadata = session->metadata();
  if (metadata.ok()) seen.created_at = string_at(parse_object(*metadata), "created_at");
  return seen;
}

// An answer may take its time, in which others use the store.
Outcome confirm_drop(Invocation& invocation, Store& store, const std::string& id) {
  Result<AskedAbout> asked = look_at(invocation, store, id);
  if (!asked.ok()) return asked.failure();
  const std::string question = "Delete session " + printable(id, Lines::kJoin) + " with " +
                               format_count(asked->entries, "entry", "entries") + " for good?";
  if (Outcome refused = confirm(invocation, question, "dropping a session")) return refused;
  Result<AskedAbout> present = look_at(invocation, store, id);
  if (!present.ok()) return present.failure();
  const bool are_known = !asked->created_at.empty() && !present->created_at.empty();
  if (!are_known || present->created_at == asked->created_at) return std::nullopt;
  return Failure{
      VARVE_NOT_FOUND,
      "session '" + id + "' was dropped and created anew meanwhile; nothing was deleted"};
}

int run_drop(Invocation& invocation, const DropOptions& options) {
  Result<std::string> id = session_operand(invocation, options.operands);
  if (!id.ok()) return invocation.fail(id.failure());
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  if (!options.yes) {
    if (Outcome refused = confirm_drop(invocation, *store, *id)) return invocation.fail(*refused);
  }
  if (Outcome failure = outcome_of(store->delete_session(*id))) {
    return invocation.fail_in_session(*failure, *id);
  }
  if (invocation.json()) {
    invocation.print(object_text({{"dropped", quote(*id)}}));
  } else {
    invocation.note("Dropped session " + *id + ".");
  }
  return kExitOk;
}

Runner declare_drop(CLI::App& app) {
  auto options = std::make_shared<DropOptions>();
  options->operands.declare(app, 1);
  app.add_flag("-y,--yes", options->yes, "Do not ask");
  return [options](Invocation& invocation) { return run_drop(invocation, *options); };
}

struct MetadataOptions {
  Operands operands;
  std::string patch;
};

int run_metadata(Invocation& invocation, const MetadataOptions& options) {
  Result<OpenSession> open = open_session(invocation, options.operands);
  if (!open.ok()) return invocation.fail(open.failure());
  if (!options.patch.empty()) {
    if (Outcome failure = outcome_of(open->session.update(options.patch))) {
      name_option(*failure, "--set");
      return invocation.fail_in_session(*std::move(failure), open->session.id());
    }
  }
  Result<std::string> metadata = open->session.metadata();
  if (!metadata.ok()) return invocation.fail(metadata.failure());
  invocation.print(invocation.json() ? *metadata : printable(indent_json(*metadata), Lines::kKeep));
  return kExitOk;
}

Runner declare_metadata(CLI::App& app) {
  auto options = std::make_shared<MetadataOptions>();
  options->operands.declare(app, 1);
  app.add_option("--set", options->patch,
                 "Change it first: a JSON merge patch (RFC 7396), where null removes a member")
      ->type_name("JSON");
  return [options](Invocation& invocation) { return run_metadata(invocation, *options); };
}

}  // namespace

Command create_command() {
  return {"create",
          "create a session",
          "[SESSION]",
          "Creates a session, and the store if there is none yet, and prints the session's id. "
          "Without SESSION an id is generated: \"sess_\" and 26 characters that sort by time.",
          "varve create notes --user ann --title \"Things to remember\"\n"
          "session=$(varve create --agent planner)",
          &declare_create};
}

Command list_command() {
  return {"ls",
          "list the sessions",
          "",
          "Lists the sessions, newest first, a page at a time, without opening them. With --quiet "
          "only the ids.",
          "varve ls --user ann\nvarve ls --all --quiet",
          &declare_list};
}

Command drop_command() {
  return {"drop",
          "delete a whole session",
          "[SESSION]",
          "Deletes a session with everything in it, at once and for good. Asks first on a "
          "terminal; without one, --yes is required. To delete one entry, see `varve delete`.",
          "varve drop notes\nvarve drop notes --yes",
          &declare_drop};
}

Command metadata_command() {
  return {"metadata",
          "show or change a session's metadata",
          "[SESSION]",
          "Prints what is known about a session: user, agent, title, times, counts, settings.",
          "varve metadata notes\nvarve metadata notes --set '{\"title\":\"Kitchen notes\"}'",
          &declare_metadata};
}

}  // namespace varve::cli
