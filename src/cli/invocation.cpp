#include "cli/invocation.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include "cli/input.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr std::string_view kFilePrefix = "file:";
constexpr std::string_view kCallFailed = "a call failed";     // what comes of it tells why
constexpr std::string_view kLeftOut = "left out of a query";  // how such a message begins
constexpr std::string_view kMemoryUri = "memory:";
constexpr std::string_view kByteOrderMark =
    "\xEF\xBB\xBF";  // of some editors; the library ignores it
constexpr int64_t kSessionsPerPage = 1000;

// Whether a root has a scheme, as http://x has, or is the name that another library gives to a
// store in memory: for each but file: and memory: the library says that it has no engine.
bool has_scheme(std::string_view root) {
  if (root == ":memory:") return true;
  const size_t colon = root.find(':');
  return colon != std::string_view::npos && colon > 1 && root.find('/') > colon;
}

// The directory that a root names; empty if it is no directory.
std::string root_directory(std::string_view root) {
  if (root.starts_with(kFilePrefix)) return std::string(root.substr(kFilePrefix.size()));
  return has_scheme(root) ? std::string() : std::string(root);
}

// A section of the store's own settings; empty when it has none.
json::object stored_settings(const std::string& root, std::string_view section) {
  const std::string directory = root_directory(root);
  if (directory.empty()) return {};
  std::string text = read_store_file(directory + "/config.json");
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return object_at(parse_object(text), section);
}

// Whether the store's own settings forbid opening damaged sessions.
bool is_strict(const std::string& root) {
  return string_at(stored_settings(root, "integrity"), "recovery") == "strict";
}

// The store's own settings of how large an entry and a session may be.
std::string size_limits(const std::string& root) {
  json::object limits;
  for (const auto& setting : stored_settings(root, "storage")) {
    if (setting.key() == "max_entry_size_bytes" || setting.key() == "max_session_size_mb") {
      limits.insert(setting);
    }
  }
  return json_of(json::object{{"storage", std::move(limits)}});
}

std::string store_config(const Globals& globals) {
  json::object config;
  if (!globals.durability.empty()) config["durability"] = globals.durability;
  if (globals.tolerates_damage && is_strict(globals.root))
    config["integrity"] = json::object{{"recovery", "tail"}};
  return config.empty() ? std::string() : json_of(config);
}

// Who holds the lock, if the lock file tells; else empty.
std::string lock_hint(const std::string& root, const std::string& id) {
  const std::string path = root + "/sessions/" + id + "/lock";
  const json::object lock = parse_object(read_store_file(path));
  const int64_t process = integer_at(lock, "pid");
  if (process <= 0 || process > std::numeric_limits<pid_t>::max()) return {};
  // The note of one that has ended says nothing of who holds the lock now.
  if (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return {};
  const std::string since = format_time(string_at(lock, "timestamp"));
  return "Process " + std::to_string(process) +
         (since.empty() ? " holds it" : " has held it since " + since) + " (" + path + ").";
}

// Where the setting is made whose limit was reached; empty when the message names none.
std::string limit_hint(const std::string& root, std::string_view message) {
  constexpr std::string_view kSection = "(storage.";
  const size_t at = message.find(kSection);
  const size_t end = message.find(')', std::min(at, message.size()));
  if (root.empty() || end == std::string_view::npos) return {};
  const size_t begin = at + kSection.size();
  return "{\"storage\":{" + quote(message.substr(begin, end - begin)) + ":N}} in " + root +
         "/config.json sets it (0: no limit).";
}

// Shows an impossible id as it was given: to the library it is a member of the options.
void name_wrong_id(Failure& failure, std::string_view member, const std::string& id) {
  if (id.empty() || !is_about(failure, member)) return;
  failure.message =
      "'" + id +
      "' is not a session id: it must be 1 to 128 of A-Z a-z 0-9 _ -, not starting with -";
}

}  // namespace

std::string creation_of(const std::string& id) {
  return object_text({{"session_id", quote(id)}, {"if_exists", quote("open")}});
}

Result<bool> has_store(const std::string& directory) {
  struct stat status {};
  if (::stat((directory + "/sessions").c_str(), &status) == 0) return S_ISDIR(status.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return reading_failure("cannot look for a store at " + directory, errno);
}

std::string Invocation::directory() const { return root_directory(globals_.root); }

void Invocation::look_at_terminals() {
  out_terminal_ = Terminal::detect(out_.descriptor(), globals_.color);
  err_terminal_ = Terminal::detect(err_.descriptor(), globals_.color);
}

void Invocation::print(std::string_view line) {
  show_held_warning();
  out_.write(line);
  out_.write("\n");
}

void Invocation::note(std::string_view line) {
  show_held_warning();
  if (globals_.quiet) return;
  out_.flush();
  err_.write(std::string(line) + "\n");
  err_.flush();
}

void Invocation::warn(std::string_view line) {
  if (globals_.json) {
    return note(object_text({{"warning", object_text({{"message", quote(line)}})}}));
  }
  note(err_terminal_.paint(Style::kWarning, "varve: warning:") + " " +
       printable(line, Lines::kJoin));
}

int Invocation::fail(const Failure& failure) {
  if (held_warning_ && failure.message.find(held_warning_->reason) != std::string::npos) {
    held_warning_.reset();
  }
  show_held_warning();
  out_.flush();
  const std::string& hint = failure.usage && failure.hint.empty() ? usage_hint_ : failure.hint;
  if (globals_.json) {
    std::string text = object_text({{"status", std::to_string(failure.status)},
                                    {"name", quote(varve_status_name(failure.status))},
                                    {"message", quote(failure.message)},
                                    {"details", failure.details}});
    if (!hint.empty()) text.insert(text.size() - 1, ",\"hint\":" + quote(hint));
    err_.write(object_text({{"error", text}}) + "\n");
  } else {
    err_.write(err_terminal_.paint(Style::kError, "varve:") + " " +
               printable(failure.message, Lines::kJoin) + "\n");
    if (!hint.empty()) err_.write("  " + printable(hint, Lines::kJoin) + "\n");
  }
  err_.flush();
  return exit_code(failure.status);
}

int Invocation::fail_in_session(Failure failure, const std::string& id) {
  return fail(with_hint(std::move(failure), id));
}

int Invocation::fail_in_one_of_all(Failure failure, const std::string& id) {
  failure.message = id + ": " + failure.message;
  return fail_in_session(std::move(failure), id);
}

void Invocation::warn_of_left_out(const Failure& failure, const std::string& id) {
  const std::string message = std::string(kLeftOut) + ": " + failure.message;
  receive_log_line(VARVE_LOG_WARN, object_text({{"level", quote("WARN")},
                                                {"component", quote("store")},
                                                {"session_id", quote(id)},
                                                {"message", quote(message)},
                                                {"metadata", failure.details}}));
}

void Invocation::receive_log_line(int32_t level, std::string_view line) {
  if (globals_.verbose) return note(line);
  const json::object fields = parse_object(line);
  const std::string session = string_at(fields, "session_id");
  const std::string message = string_at(fields, "message");
  if (message == kCallFailed) return;
  if (globals_.json && level >= VARVE_LOG_ERROR) return note(line);
  const json::object details = object_at(fields, "metadata");
  if (level < VARVE_LOG_ERROR) {
    const int64_t count = integer_at(details, "evicted");
    if (count > 0) note_eviction(session, line, count, integer_at(details, "limit_bytes"));
    // Or nobody could tell what is not there from what was not asked.
    if (!message.starts_with(kLeftOut)) return;
    if (globals_.json) return note(line);
  }
  const std::string reason = string_at(details, "reason");
  const bool tells_it = reason.empty() || message.find(reason) != std::string::npos;
  std::string text =
      (session.empty() ? "" : session + ": ") + message + (tells_it ? "" : ": " + reason);
  if (tells_it) return warn(text);
  show_held_warning();
  held_warning_ = {std::move(text), reason};
}

void Invocation::show_held_warning() {
  if (!held_warning_) return;
  const std::string text = std::exchange(held_warning_, std::nullopt)->text;
  warn(text);
}

void Invocation::note_eviction(const std::string& session, std::string_view line, int64_t count,
                               int64_t limit_bytes) {
  if (globals_.json) return note(line);
  Eviction& eviction = evictions_[session];
  eviction.entry_count += count;
  eviction.limit_bytes = limit_bytes;
}

void Invocation::warn_of_the_rest() {
  show_held_warning();
  for (const auto& [session, eviction] : evictions_) {
    warn(session + ": " +
         format_count(eviction.entry_count, "entry of little relevance was",
                      "entries of little relevance were") +
         " evicted to stay within the limit of " + format_bytes(eviction.limit_bytes) +
         "; storage.max_session_size_mb raises it");
  }
}

Result<Store> Invocation::open_store(Access access) {
  const std::string directory = root_directory(globals_.root);
  if (access == Access::kExisting && !directory.empty()) {
    Result<bool> is_there = has_store(directory);
    if (!is_there.ok()) return std::move(is_there.failure());
    if (!*is_there) {
      return Failure{
          .status = VARVE_NOT_FOUND,
          .message = "no store at " + directory,
          .details = object_text({{"path", quote(directory)}}),
          .hint = "Create one with `varve create`, or name another with --root or VARVE_ROOT."};
    }
  }
  Result<Store> store = Store::open(globals_.root, store_config(globals_));
  if (!store.ok() || globals_.quiet) return store;
  const int32_t level = globals_.verbose ? VARVE_LOG_DEBUG : VARVE_LOG_WARN;
  const auto receive = [this](int32_t of, std::string_view line) { receive_log_line(of, line); };
  if (Outcome failure = outcome_of(store->set_log(level, receive))) return *std::move(failure);
  return store;
}

Result<Store> Invocation::open_trial_store() const {
  return Store::open(kMemoryUri, size_limits(globals_.root));
}

Outcome Invocation::try_in_memory(const std::string& creation_options,
                                  const SessionTrial& trial) const {
  Result<Store> store = open_trial_store();
  // Settings that are refused are reported, with their place, when the store itself is opened.
  if (!store.ok()) return std::nullopt;
  Result<Session> session = store->create_session(creation_options);
  if (!session.ok()) return std::move(session.failure());
  return trial(*session);
}

Result<Store> Invocation::open_store_for(const std::string& creation_options) {
  const std::string directory = root_directory(globals_.root);
  Result<bool> is_there = has_store(directory);
  if (!directory.empty() && is_there.ok() && !*is_there) {
    const auto no_more = [](Session&) { return Outcome(); };
    if (Outcome refused = try_in_memory(creation_options, no_more)) return *std::move(refused);
  }
  return open_store(Access::kCreate);
}

Failure Invocation::with_hint(Failure failure, const std::string& id) const {
  switch (failure.status) {
    case VARVE_BUSY: failure.hint = lock_hint(root_directory(globals_.root), id); break;
    case VARVE_SIZE_LIMIT: {
      const std::string where = limit_hint(root_directory(globals_.root), failure.message);
      failure.hint = where + (where.empty() || failure.hint.empty() ? "" : " ") + failure.hint;
      break;
    }
    case VARVE_CORRUPTION:
      failure.hint =
          "`varve verify " + id + "` lists all damage; `varve repair " + id + "` sets it aside.";
      break;
    default: break;
  }
  return failure;
}

Failure Invocation::creation_failure(Failure failure, const std::string& id) const {
  name_wrong_id(failure, "session_id", id);
  return with_hint(std::move(failure), id);
}

Result<Session> Invocation::open_session(Store& store, const std::string& id) {
  Result<Session> session = store.open_session(id);
  if (session.ok()) return session;
  Failure failure = with_hint(std::move(session.failure()), id);
  name_wrong_id(failure, "id", id);
  if (failure.status == VARVE_NOT_FOUND) {
    failure.hint = "`varve ls` lists the sessions.";
  }
  return failure;
}

Result<OpenSession> open_session(Invocation& invocation, const std::string& id) {
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return std::move(store.failure());
  Result<Session> session = invocation.open_session(*store, id);
  if (!session.ok()) return std::move(session.failure());
  return OpenSession{std::move(*store), std::move(*session)};
}

Result<OpenSession> open_or_create(Invocation& invocation, const std::string& id,
                                   const SessionTrial& trial) {
  Result<OpenSession> existing = open_session(invocation, id);
  if (existing.ok() || existing.failure().status != VARVE_NOT_FOUND) return existing;
  if (Outcome refused = invocation.try_in_memory(creation_of(id), trial)) {
    return invocation.creation_failure(*std::move(refused), id);
  }
  Result<Store> store = invocation.open_store(Access::kCreate);
  if (!store.ok()) return std::move(store.failure());
  Result<Session> session = store->create_session(creation_of(id));
  if (!session.ok()) return invocation.creation_failure(std::move(session.failure()), id);
  return OpenSession{std::move(*store), std::move(*session)};
}

Outcome for_each_session(Store& store, json::object filter,
                         const std::function<void(const json::object&)>& take) {
  filter["limit"] = kSessionsPerPage;
  std::string after;
  do {
    if (!after.empty()) filter["after"] = after;
    Result<std::string> page = store.sessions(json_of(filter));
    if (!page.ok()) return std::move(page.failure());
    const json::object document = parse_object(*page);
    for (const json::value& session : array_at(document, "sessions")) {
      if (session.is_object()) take(session.get_object());
    }
    after = string_at(document, "next");
  } while (!after.empty());
  return std::nullopt;
}

Result<std::vector<std::string>> all_session_ids(Store& store, const std::string& user,
                                                 const std::string& agent) {
  json::object filter;
  if (!user.empty()) filter["user_id"] = user;
  if (!agent.empty()) filter["agent_id"] = agent;
  std::vector<std::string> ids;
  const auto take = [&](const json::object& session) {
    ids.push_back(string_at(session, "session_id"));
  };
  if (Outcome failure = for_each_session(store, std::move(filter), take)) {
    return *std::move(failure);
  }
  return ids;
}

}  // namespace varve::cli
