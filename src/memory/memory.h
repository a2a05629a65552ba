// Memory: what an agent remembers of one user, in three tiers.
//
//   working     per session: the ids of the last entries that the agent has in front of it; kept in
//               this process only
//   short term  the session's log; entries and session expire
//   long term   one session of the user that does not expire
//
// Working memory is a selection, not a copy: the selected entries are read from the log, so an
// entry that was deleted or has expired is gone from all tiers at once, whoever deleted it.
//
// Threads: any. No lock is held while a session is used.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/tree.h"
#include "memory/ring.h"
#include "session/query/query_results.h"
#include "session/session.h"
#include "store/store.h"

namespace varve::memory {

struct MemoryOptions {
  std::string user_id;  // empty: all of the store belongs to one user
  std::string agent_id;
  uint64_t window = 20;    // entries in the working memory of each session
  double ttl_hours = 168;  // of short-term memory; 0: unlimited
};

// kInvalidArgument naming the member.
Result<MemoryOptions> parse_memory_options(std::string_view text);

class Memory {
 public:
  // Sessions with a working memory; beyond that, the least recently used one loses its own.
  static constexpr size_t kSessionsMax = 1024;
  // How many of the most recently used sessions stay open: each has some open files.
  static constexpr size_t kKeptOpenMax = 32;

  // `store` must outlive this.
  Memory(store::Store& store, MemoryOptions options)
      : store_(store), options_(std::move(options)) {}

  // Adds to the session, which is created if needed, and to its working memory. Returns the id.
  Result<std::string> record(std::string_view session_id, std::string_view message_json);
  // {"entries","token_count","source"}, as varve_memory_context.
  Result<json::Tree> context(std::string_view session_id, uint64_t tokens_max);
  // Fills the session's working memory from its log.
  Status load(std::string_view session_id);
  // Makes what was recorded durable.
  Status save(std::string_view session_id);
  // Empties the working memory of all sessions.
  void clear();

  // Adds to long-term memory. Returns the id.
  Result<std::string> store(std::string_view message_json);
  // Searches all sessions of the user.
  Result<session::QueryResults> search(std::string_view query_json);
  // Deletes the entry in whichever session of the user has it.
  Status remove(std::string_view entry_id, std::string_view reason);

 private:
  using SessionPointer = std::shared_ptr<session::Session>;
  struct Selected {
    std::string id;
    uint64_t use = 0;  // that selected it
  };
  // Times are numbers of uses.
  struct Working {
    Ring<Selected> ids;  // some of these entries may no longer exist
    uint64_t last_use = 0;
    uint64_t last_load = 0;
  };
  struct Context;

  // `is_anothers`, if it is wanted, is set when the session is another user's, and else left.
  Result<SessionPointer> open(std::string_view session_id, bool* is_anothers = nullptr);
  Result<SessionPointer> open_or_create(std::string_view session_id, const json::Tree& options,
                                        std::string_view entry, bool* is_anothers);
  Result<std::string> add(std::string_view session_id, const json::Tree& options,
                          std::string_view entry);
  Status refer_to_calls(std::string_view session_id, json::Tree* entry);
  Status collect(std::string_view session_id, Context* context);
  void keep_open(const SessionPointer& session);
  void let_go(std::string_view session_id);
  std::vector<std::string> working_ids(const std::string& session_id);
  void forget_working(const std::string& session_id, const std::string& newest_id);
  uint64_t uses();
  bool begins_with_log(std::string_view session_id);
  // `begun`: uses() before the log was written or asked, since when other calls may have done so.
  void work_on(const std::string& session_id, const std::string& id, uint64_t begun);
  void replace_working(const std::string& session_id, std::vector<std::string> ids, uint64_t begun);
  void leave(std::string_view session_id) noexcept;
  // Under mutex_.
  std::vector<SessionPointer>::iterator find_open(std::string_view session_id);
  Working& place_for(const std::string& session_id);
  [[nodiscard]] json::Tree session_options(std::string_view session_id) const;

  store::Store& store_;
  const MemoryOptions options_;
  std::mutex mutex_;  // guards the rest
  std::map<std::string, Working, std::less<>> working_;
  // Whether a session without working memory may have entries that belong there: none was cleared,
  // or some lost it since.
  bool begins_with_log_ = true;
  std::vector<SessionPointer> open_;  // all of this user; the most recently used one last
  uint64_t use_count_ = 0;
};

}  // namespace varve::memory
