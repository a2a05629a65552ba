#include "memory/memory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <set>
#include <utility>

#include "base/ids.h"
#include "base/time.h"
#include "entry/tombstone.h"
#include "json/object_reader.h"
#include "memory/message.h"
#include "session/answered_calls.h"
#include "text/token_estimate.h"
#include "transfer/chat_part.h"
#include "transfer/chat_text.h"
#include "transfer/convert.h"

namespace varve::memory {

namespace {

constexpr uint64_t kWindowMax = 1'000'000;
constexpr double kTtlHoursMax = 1e9;
constexpr double kHourMs = 3'600'000;
constexpr uint64_t kEntriesAtATime = 64;
constexpr int kTriesMax = 8;  // sessions that end while something is recorded in them

uint64_t count_tokens(const json::Tree& message) {
  return text::estimate_tokens(prompt_line(message));
}

json::Tree newest_first(uint64_t limit) {
  json::Tree query = json::Tree::object();
  query.set("sort_by", json::Tree::string("time"));
  query.set("order", json::Tree::string("desc"));
  query.set("limit", json::Tree::integer_unsigned(limit));
  return query;
}

// Of the entries with these ids alone.
json::Tree newest_first_of(const std::vector<std::string>& ids, uint64_t limit) {
  json::Tree wanted = json::Tree::array();
  for (const auto& id : ids) wanted.push(json::Tree::string(id));
  json::Tree query = newest_first(limit);
  query.set("ids", std::move(wanted));
  return query;
}

// Visits entries, newest first, until `visit` answers false. `query` comes from newest_first() or
// newest_first_of().
using Visit = std::function<Result<bool>(const session::QueryResult& entry)>;
Status visit_entries(session::Session& session, json::Tree query, const Visit& visit) {
  while (true) {
    VARVE_TRY_ASSIGN(const auto page, session.query(query.canonical()));
    for (const auto& entry : page.results) {
      VARVE_TRY_ASSIGN(const bool goes_on, visit(entry));
      if (!goes_on) return {};
    }
    if (page.next.empty()) return {};
    query.set("after", json::Tree::string(page.next));
  }
}

}  // namespace

Result<MemoryOptions> parse_memory_options(std::string_view text) {
  MemoryOptions options;
  VARVE_TRY(json::read_object(text, [&](json::ObjectReader& reader) {
    reader.refuse_empty({"user_id", "agent_id"}, "is empty; give an id, or leave it out");
    reader.read_string("user_id", &options.user_id);
    reader.read_string("agent_id", &options.agent_id);
    reader.read_uint("window", &options.window, 1, kWindowMax);
    reader.read_double("ttl_hours", &options.ttl_hours, 0, kTtlHoursMax);
  }));
  return options;
}

// Collects the newest entries that fit, newest first.
struct Memory::Context {
  uint64_t tokens_max = 0;  // 0: no limit
  uint64_t token_count = 0;
  bool is_working = false;  // from working memory
  bool is_cut = false;      // there are older ones
  std::vector<json::Tree> messages;

  Result<bool> take(const session::QueryResult& entry) {
    VARVE_TRY_ASSIGN(json::Tree message, message_of_entry(*entry.line));
    const uint64_t tokens = count_tokens(message);
    if (tokens_max > 0 && tokens > tokens_max - token_count) {
      is_cut = true;
      return false;
    }
    token_count += tokens;
    messages.push_back(std::move(message));
    oldest_ = entry.line;
    return true;
  }

  // Results of tools whose calls are not in the list: no chat program takes them. Those at its
  // beginning, and those whose call has gone since they were recorded.
  void leave_out_results() {
    const bool begins_with_one = !messages.empty() && is_result(messages.back());
    const bool is_behind_its_call = begins_with_one && !is_from_the_start();
    while (is_behind_its_call && !messages.empty() && is_result(messages.back())) {
      token_count -= count_tokens(messages.back());
      messages.pop_back();
    }
    if (std::none_of(messages.begin(), messages.end(), is_result)) return;
    const Called called(messages);
    std::erase_if(messages, [&](const json::Tree& message) {
      const bool is_left_out = is_result(message) && called.lacks_calls_of(message);
      if (is_left_out) token_count -= count_tokens(message);
      return is_left_out;
    });
  }

  // {"entries", "token_count", "source"}, oldest first. Leaves nothing behind.
  json::Tree take_answer() {
    leave_out_results();
    std::reverse(messages.begin(), messages.end());
    json::Tree entries = json::Tree::array();
    for (auto& message : messages) entries.push(std::move(message));
    json::Tree answer = json::Tree::object();
    answer.set("entries", std::move(entries));
    answer.set("token_count", json::Tree::integer_unsigned(token_count));
    answer.set("source", json::Tree::string(is_working ? "working" : "short_term"));
    return answer;
  }

 private:
  // What the messages of a list called.
  class Called {
   public:
    explicit Called(const std::vector<json::Tree>& messages) {
      for (const auto& message : messages) {
        entry_ids_.insert(message.get_string("id"));
        for (const json::Tree* call : transfer::call_objects(message, {"content", "parts"})) {
          const json::Tree* id = transfer::id_of_call(*call);
          if (id != nullptr) call_ids_.insert(id->text());
        }
        if (!is_item_of_result(message)) call_ids_.insert(call_id_of_item(message));
      }
    }

    // Whether a result has ids of calls that are not among them, but were when it was recorded: it
    // refers to their entries.
    [[nodiscard]] bool lacks_calls_of(const json::Tree& result) const {
      const json::Tree* references = result.get("references");
      if (references == nullptr || references->items().empty()) return false;
      const auto is_in = [this](const json::Tree& id) { return entry_ids_.contains(id.text()); };
      if (std::any_of(references->items().begin(), references->items().end(), is_in)) return false;
      std::set<std::string> ids = {result.get_string("tool_call_id"), call_id_of_item(result)};
      for (const auto* part : transfer::result_objects(result, {"content", "parts"})) {
        const json::Tree* id = transfer::call_id_of(*part);
        if (id != nullptr) ids.insert(id->text());
      }
      ids.erase("");
      return !ids.empty() && std::none_of(ids.begin(), ids.end(), [this](const std::string& id) {
        return call_ids_.contains(id);
      });
    }

   private:
    std::set<std::string> entry_ids_;
    std::set<std::string> call_ids_;
  };

  session::EntryLine oldest_;

  // Whether nothing was recorded before the list. Of a call that has expired or was deleted the
  // results may be left.
  [[nodiscard]] bool is_from_the_start() const {
    if (is_cut) return false;
    const auto entry = json::Tree::parse(*oldest_, entry::line_limits());
    return entry.ok() && (entry->get("seq") == nullptr || entry->get_int64("seq") == 1);
  }

  static bool is_result(const json::Tree& message) {
    const bool has_type = message.get_string("type") == "tool_result" ||
                          transfer::type_of_message(message) == "tool_result";
    const bool is_of_chat = message.get("role") != nullptr || is_item_of_result(message);
    return is_of_chat && has_type && !says_more(message);
  }

  // Of OpenAI's responses.
  static bool is_item_of_result(const json::Tree& message) {
    const json::Tree* content = message.get("content");
    return content != nullptr && content->is_object() &&
           content->get_string("type").ends_with(transfer::kItemOutput);
  }

  // Of such a call or result, which is the content; empty for others.
  static std::string call_id_of_item(const json::Tree& message) {
    const json::Tree* content = message.get("content");
    const bool is_message = message.get("role") != nullptr || content == nullptr;
    return is_message || !content->is_object() ? std::string() : content->get_string("call_id");
  }

  static bool says_more(const json::Tree& message) {
    for (const auto name : {"content", "parts"}) {  // an import has the parts elsewhere
      const json::Tree* parts = message.get(name);
      if (parts != nullptr && !transfer::said_beside_results(*parts).empty()) return true;
    }
    return false;
  }
};

Result<std::string> Memory::record(std::string_view session_id, std::string_view message_json) {
  VARVE_TRY_ASSIGN(json::Tree message, read_message(message_json));
  const bool has_own_end =
      message.get("expires_at") != nullptr || message.get("ttl_seconds") != nullptr;
  if (options_.ttl_hours > 0 && !has_own_end) {
    const auto length_ms = static_cast<int64_t>(std::ceil(options_.ttl_hours * kHourMs));
    message.set("expires_at", json::Tree::string(format_rfc3339(store_.now_ms() + length_ms)));
  }
  json::Tree entry = entry_of_message(std::move(message));
  VARVE_TRY(refer_to_calls(session_id, &entry));
  const std::string into(session_id);
  const uint64_t begun = uses();
  VARVE_TRY_ASSIGN(std::string id, add(into, session_options(into), entry.canonical()));
  try {
    // It is recorded: where the log cannot be read now, the next one that is recorded reads it.
    if (begins_with_log(into) && !load(into).ok()) return id;
    work_on(into, id, begun);
  } catch (const std::bad_alloc&) {
    leave(into);  // it is recorded, but working memory would lack it
  }
  return id;
}

Status Memory::refer_to_calls(std::string_view session_id, json::Tree* entry) {
  if (entry->get_string("type") != "tool_result") return {};
  const auto session = open(session_id);
  if (session.code() == Code::kNotFound) return {};  // there are no calls yet
  VARVE_TRY(session);
  Status referred = session::refer_to_calls(**session, entry);
  return referred.code() == Code::kNotFound ? Status() : referred;  // or it has just ended
}

Result<json::Tree> Memory::context(std::string_view session_id, uint64_t tokens_max) {
  Context context;
  context.tokens_max = tokens_max;
  Status collected = collect(session_id, &context);
  // It may also have ended meanwhile.
  if (collected.code() == Code::kNotFound) return Context().take_answer();
  VARVE_TRY(std::move(collected));
  return context.take_answer();
}

Status Memory::collect(std::string_view session_id, Context* context) {
  VARVE_TRY_ASSIGN(const auto session, open(session_id));
  const auto ids = working_ids(session->id());
  if (!ids.empty()) {
    context->is_cut = ids.size() == options_.window;
    VARVE_TRY(visit_entries(*session, newest_first_of(ids, ids.size()), [&](const auto& entry) {
      context->is_working = true;  // even if the newest entry does not fit
      return context->take(entry);
    }));
  }
  if (context->is_working) return {};
  if (!ids.empty()) forget_working(session->id(), ids.back());
  context->is_cut = false;
  return visit_entries(*session, newest_first(kEntriesAtATime),
                       [&](const auto& entry) { return context->take(entry); });
}

Status Memory::load(std::string_view session_id) {
  VARVE_TRY_ASSIGN(const auto session, open(session_id));
  const uint64_t begun = uses();
  std::vector<std::string> ids;
  VARVE_TRY(visit_entries(*session, newest_first(std::min(options_.window, kEntriesAtATime)),
                          [&](const session::QueryResult& entry) -> Result<bool> {
                            ids.push_back(entry.id());
                            return ids.size() < options_.window;
                          }));
  std::reverse(ids.begin(), ids.end());
  replace_working(session->id(), std::move(ids), begun);
  return {};
}

Status Memory::save(std::string_view session_id) {
  VARVE_TRY_ASSIGN(const auto session, open(session_id));
  return session->sync();
}

void Memory::clear() {
  std::vector<SessionPointer> left;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  working_.clear();
  begins_with_log_ = false;
  left.swap(open_);
}

Result<std::string> Memory::store(std::string_view message_json) {
  VARVE_TRY_ASSIGN(json::Tree message, read_message(message_json));
  const std::string session_id = transfer::stable_id("longterm", options_.user_id);
  json::Tree options = session_options(session_id);
  options.erase("ttl_hours");
  options.erase("agent_id");  // long-term memory belongs to all agents
  options.set("title", json::Tree::string("Long-term memory"));
  const std::string entry = entry_of_message(std::move(message)).canonical();
  return add(session_id, options, entry);
}

Result<session::QueryResults> Memory::search(std::string_view query_json) {
  return store_.query_of_user(query_json, options_.user_id);
}

Status Memory::remove(std::string_view entry_id, std::string_view reason) {
  VARVE_TRY(check_id(entry_id, "an id", "id"));
  VARVE_TRY(entry::check_reason(reason));
  const json::Tree query =
      newest_first_of({std::string(entry_id)}, std::numeric_limits<uint64_t>::max());
  VARVE_TRY_ASSIGN(auto found, store_.query_of_user(query.canonical(), options_.user_id));
  bool is_deleted = false;
  for (const auto& result : found.results) {
    auto session = store_.open_session(found.session_ids[result.session]);
    Status removed =
        session.ok() ? (*session)->remove(entry_id, reason) : std::move(session).status();
    if (!removed.ok() && removed.code() != Code::kNotFound) return removed;
    is_deleted = is_deleted || removed.ok();
  }
  if (!found.left_out.ok()) return std::move(found.left_out);  // the entry may be in it, too
  if (is_deleted) return {};
  return {Code::kNotFound, "there is no entry '" + std::string(entry_id) + "' to delete"};
}

json::Tree Memory::session_options(std::string_view session_id) const {
  json::Tree options = json::Tree::object();
  options.set("session_id", json::Tree::string(session_id));
  if (!options_.user_id.empty()) options.set("user_id", json::Tree::string(options_.user_id));
  if (!options_.agent_id.empty()) options.set("agent_id", json::Tree::string(options_.agent_id));
  if (options_.ttl_hours > 0) options.set("ttl_hours", json::Tree::number(options_.ttl_hours));
  return options;
}

Result<Memory::SessionPointer> Memory::open(std::string_view session_id, bool* is_anothers) {
  VARVE_TRY(check_id(session_id, "a session id", "session_id"));  // an "id" is an entry's here
  auto opened = store_.open_session(session_id);
  if (opened.code() == Code::kNotFound) let_go(session_id);
  VARVE_TRY_ASSIGN(auto session, std::move(opened));
  bool is_known = false;
  {
    const std::lock_guard lock(mutex_);
    is_known = std::find(open_.begin(), open_.end(), session) != open_.end();
  }
  if (!is_known && !options_.user_id.empty()) {
    VARVE_TRY_ASSIGN(const json::Tree metadata, session->metadata());
    if (metadata.get_string("user_id") != options_.user_id) {
      if (is_anothers != nullptr) *is_anothers = true;
      return Status(Code::kNotFound,
                    "session '" + std::string(session_id) + "' belongs to another user");
    }
  }
  keep_open(session);
  return session;
}

// For `entry`: one that is refused leaves no session behind.
Result<Memory::SessionPointer> Memory::open_or_create(std::string_view session_id,
                                                      const json::Tree& options,
                                                      std::string_view entry, bool* is_anothers) {
  auto opened = open(session_id);
  if (opened.ok() || opened.code() != Code::kNotFound) return opened;
  const Status right = store_.check_entry(session_id, entry);
  if (!right.ok()) return json::without_offset(right);
  auto created = store_.create_session(options.canonical());
  // Another call created it first, or it belongs to another user.
  if (created.code() == Code::kAlreadyExists) return open(session_id, is_anothers);
  if (created.ok()) keep_open(*created);
  return created;
}

std::vector<Memory::SessionPointer>::iterator Memory::find_open(std::string_view session_id) {
  return std::find_if(open_.begin(), open_.end(),
                      [&](const auto& known) { return known->id() == session_id; });
}

void Memory::keep_open(const SessionPointer& session) {
  SessionPointer left;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto place = find_open(session->id());
  if (place != open_.end()) {
    if (*place != session) working_.erase(session->id());  // of the one before, which has ended
    left = std::exchange(*place, session);
    std::rotate(place, place + 1, open_.end());
    return;
  }
  open_.push_back(session);
  if (open_.size() <= kKeptOpenMax) return;
  left = std::move(open_.front());
  open_.erase(open_.begin());
}

// An open handle would keep the files of a deleted session on the disk. What follows is another
// conversation, which another process may have begun.
void Memory::let_go(std::string_view session_id) {
  SessionPointer left;  // closed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto working = working_.find(session_id);
  if (working != working_.end()) working_.erase(working);
  const auto place = find_open(session_id);
  if (place == open_.end()) return;
  left = std::move(*place);
  open_.erase(place);
}

// A session may end at any moment: its time is over, or somebody deletes it. Then there is a new
// one.
Result<std::string> Memory::add(std::string_view session_id, const json::Tree& options,
                                std::string_view entry) {
  for (int attempt = 1;; ++attempt) {
    bool is_anothers = false;
    const auto session = open_or_create(session_id, options, entry, &is_anothers);
    auto id = session.ok() ? (*session)->add(entry) : Result<std::string>(session.status());
    const bool has_ended = id.code() == Code::kNotFound && !is_anothers;
    if (has_ended && attempt < kTriesMax) continue;
    if (!id.ok()) return session.ok() ? json::without_offset(id.status()) : id.status();
    return id;
  }
}

std::vector<std::string> Memory::working_ids(const std::string& session_id) {
  std::vector<std::string> ids;
  const std::lock_guard lock(mutex_);
  const auto known = working_.find(session_id);
  if (known == working_.end()) return ids;
  known->second.last_use = ++use_count_;
  for (size_t i = 0; i < known->second.ids.size(); ++i) ids.push_back(known->second.ids[i].id);
  return ids;
}

// Of which nothing is left: what others recorded since may belong there. But not where something
// was recorded behind `newest_id` meanwhile.
void Memory::forget_working(const std::string& session_id, const std::string& newest_id) {
  const std::lock_guard lock(mutex_);
  const auto known = working_.find(session_id);
  if (known == working_.end() || known->second.ids.size() == 0) return;
  const Ring<Selected>& ids = known->second.ids;
  if (ids[ids.size() - 1].id == newest_id) working_.erase(known);
}

uint64_t Memory::uses() {
  const std::lock_guard lock(mutex_);
  return use_count_;
}

bool Memory::begins_with_log(std::string_view session_id) {
  const std::lock_guard lock(mutex_);
  return begins_with_log_ && !working_.contains(session_id);
}

void Memory::work_on(const std::string& session_id, const std::string& id, uint64_t begun) {
  const std::lock_guard lock(mutex_);
  Working& working = place_for(session_id);
  // Since the entry was added, a load may have found it.
  for (size_t i = 0; working.last_load > begun && i < working.ids.size(); ++i) {
    if (working.ids[i].id == id) return;
  }
  working.ids.push({id, use_count_});
}

void Memory::replace_working(const std::string& session_id, std::vector<std::string> ids,
                             uint64_t begun) {
  const std::lock_guard lock(mutex_);
  Working& working = place_for(session_id);
  // What was recorded since the log was asked may not have been found.
  for (size_t i = 0; i < working.ids.size(); ++i) {
    const auto& [id, use] = working.ids[i];
    if (use > begun && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  Ring<Selected> fresh(options_.window);  // if an allocation fails, what is there stays
  for (auto& id : ids) fresh.push({std::move(id), use_count_});
  working.ids = std::move(fresh);
  working.last_load = use_count_;
}

void Memory::leave(std::string_view session_id) noexcept {
  const std::lock_guard lock(mutex_);
  const auto known = working_.find(session_id);
  if (known != working_.end()) working_.erase(known);
  begins_with_log_ = true;
}

Memory::Working& Memory::place_for(const std::string& session_id) {
  auto place = working_.find(session_id);
  if (place == working_.end()) {
    if (working_.size() >= kSessionsMax) {
      working_.erase(std::min_element(
          working_.begin(), working_.end(),
          [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
      begins_with_log_ = true;
    }
    Working fresh{Ring<Selected>(options_.window)};
    place = working_.emplace(session_id, std::move(fresh)).first;
  }
  place->second.last_use = ++use_count_;
  return place->second;
}

}  // namespace varve::memory
