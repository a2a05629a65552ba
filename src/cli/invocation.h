// Invocation: one run of the program, which every command works with: the global options, where
// output goes, and the way into a store.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client.h"
#include "cli/failure.h"
#include "cli/json_text.h"
#include "cli/view/output.h"
#include "cli/view/terminal.h"

namespace varve::cli {

struct Globals {
  std::string root;                 // --root, else VARVE_ROOT, else ./memory
  std::string session;              // --session
  std::string environment_session;  // VARVE_SESSION
  std::string durability;           // empty: as configured in the store
  std::string color = "auto";
  std::string progress = "auto";
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool help = false;
  bool version = false;
  bool tolerates_damage = false;  // opens damaged sessions even if the store is strict

  // The session where no word of the command names it; empty when there is none.
  [[nodiscard]] const std::string& named_session() const {
    return session.empty() ? environment_session : session;
  }
};

enum class Access { kExisting, kCreate };

// What a command is going to do with a session that it creates.
using SessionTrial = std::function<Outcome(Session&)>;

class Invocation {
 public:
  Invocation(Globals& globals, Output& out, Output& err)
      : globals_(globals), out_(out), err_(err) {}

  // Called after the command line is read, and where a terminal may have another size since.
  void look_at_terminals();

  [[nodiscard]] const Globals& globals() const { return globals_; }
  [[nodiscard]] bool json() const { return globals_.json; }
  [[nodiscard]] bool quiet() const { return globals_.quiet; }
  Output& out() { return out_; }
  Output& err() { return err_; }
  [[nodiscard]] const Terminal& terminal() const { return out_terminal_; }
  [[nodiscard]] const Terminal& err_terminal() const { return err_terminal_; }

  // Prints one line of result.
  void print(std::string_view line);
  // Prints one line to standard error, unless --quiet.
  void note(std::string_view line);
  // The same, marked as a warning; with --json as an object.
  void warn(std::string_view line);
  // Tells of a session that a command leaves out as the library tells of one that a query does.
  void warn_of_left_out(const Failure& failure, const std::string& id);
  // Of the store; empty if it is in no directory.
  [[nodiscard]] std::string directory() const;
  // The hint for mistakes in the command line that have none of their own.
  void set_usage_hint(std::string hint) { usage_hint_ = std::move(hint); }
  // Reports a failure. Returns its exit code.
  int fail(const Failure& failure);
  // The same for a failure about session `id`, with what a person can do next.
  int fail_in_session(Failure failure, const std::string& id);
  // The same where `id` is one of many sessions: the message says which one.
  int fail_in_one_of_all(Failure failure, const std::string& id);
  // At the end: says what is still to be said, and what of each session was evicted while the
  // command ran, once for many compactions.
  void warn_of_the_rest();

  // For commands that look for damage or set it aside. Call it before open_store().
  void tolerate_damage() { globals_.tolerates_damage = true; }
  // kExisting never creates anything: a missing store is a failure. kCreate creates it.
  Result<Store> open_store(Access access);
  // A store in memory with the size limits of the real one.
  [[nodiscard]] Result<Store> open_trial_store() const;
  // Opens the store, or creates it for a session with these options; not when they are refused.
  Result<Store> open_store_for(const std::string& creation_options);
  // Opens `id`, with hints for the usual failures.
  Result<Session> open_session(Store& store, const std::string& id);
  // Adds to a failure about session `id` what a person can do next.
  Failure with_hint(Failure failure, const std::string& id) const;
  // The same for a failure to create session `id`, which may be no id.
  Failure creation_failure(Failure failure, const std::string& id) const;
  // What would be refused of a new session. It is tried in memory: nothing of it is left.
  [[nodiscard]] Outcome try_in_memory(const std::string& creation_options,
                                      const SessionTrial& trial) const;

 private:
  // What automatic compactions of one session evicted.
  struct Eviction {
    int64_t entry_count = 0;
    int64_t limit_bytes = 0;
  };

  // A log line of a call that failed. It is held back until something else is to be shown, since
  // the command may be about to report the same.
  struct HeldWarning {
    std::string text;
    std::string reason;
  };

  void receive_log_line(int32_t level, std::string_view line);
  void show_held_warning();
  void note_eviction(const std::string& session, std::string_view line, int64_t count,
                     int64_t limit_bytes);

  Globals& globals_;
  Output& out_;
  Output& err_;
  Terminal out_terminal_;
  Terminal err_terminal_;
  std::string usage_hint_;
  std::map<std::string, Eviction> evictions_;  // by session
  std::optional<HeldWarning> held_warning_;
};

// Whether `directory` holds a store, which always has the folder of sessions: so a mistyped --root
// does not become one. A failure when it cannot be found out.
Result<bool> has_store(const std::string& directory);

// The options to create session `id`, or to open it if it exists.
std::string creation_of(const std::string& id);

// A store and one open session of it, in the order in which they must be closed.
struct OpenSession {
  Store store;
  Session session;
};

Result<OpenSession> open_session(Invocation& invocation, const std::string& id);
// Creates store and session if they do not exist, but only when `trial` succeeds with such a
// session.
Result<OpenSession> open_or_create(Invocation& invocation, const std::string& id,
                                   const SessionTrial& trial);

// Gives `take` each session that `filter` lets through, as the list has it, newest first.
Outcome for_each_session(Store& store, json::object filter,
                         const std::function<void(const json::object&)>& take);

// Whether a session that was listed could not be used because it is no more: somebody dropped it
// since, or its time is over. Then it is none of "all sessions".
[[nodiscard]] inline bool is_gone(const Failure& failure) {
  return failure.status == VARVE_NOT_FOUND;
}

// The ids of all sessions, or of those of a user or an agent, newest first.
Result<std::vector<std::string>> all_session_ids(Store& store, const std::string& user = {},
                                                 const std::string& agent = {});

}  // namespace varve::cli
