#include "program.h"

#include "session/upkeep/compaction.h"
#include "support/exported_text.h"

#include <algorithm>
#include <utility>

namespace varve::crash {
namespace {

const Status kNotOpen(Code::kBadHandle, "an earlier step failed");

bool is_read_only(session::Session& session) {
  const auto stats = session.stats();
  return stats.ok() && stats->get_bool("read_only");
}

}  // namespace

std::string content_of(const std::string& id, size_t bytes) {
  std::string word = word_of(id);
  word.front() = static_cast<char>(word.front() - 'a' + 'A');
  std::string content = "content of " + id + ": " + word + "s ";
  while (content.size() < bytes) content += "tea, not coffee; ";
  return content;
}

void make_version_0(io::SimulatedFileSystem& disk, const std::string& session,
                    const std::vector<std::string>& ids) {
  const std::string folder = std::string(kRoot) + "/sessions/" + session;
  std::string log;
  for (const std::string& id : ids) {
    std::string line = entry_text(id, content_of(id, 60));
    log += line.insert(1, R"("timestamp":"2026-01-01T00:00:00Z",)") + "\n";
  }
  disk.write_file(folder + "/memory.jsonl", log);
  disk.write_file(folder + "/metadata.json",
                  R"({"session_id":")" + session + R"(","created_at":"2026-01-01T00:00:00Z"})");
  const auto directory = *disk.open_root(folder, false);
  for (const char* name : {"index.bin", "lock"}) (void)directory->remove(name).ok();
  (void)directory->sync().ok();
}

Promise promise_of(const Status& status) {
  if (status.ok()) return Promise::kGiven;
  const bool unknown = status.code() == Code::kUnknown ||
                       status.message().find("outcome is unknown") != std::string::npos;
  return unknown ? Promise::kUnknown : Promise::kRefused;
}

Program::Program(io::FileSystem& file_system, Ledger& ledger, std::function<void()> changed,
                 std::function<void()> asked)
    : ledger_(ledger),
      changed_(std::move(changed)),
      asked_(std::move(asked)),
      view_(environment_.with(file_system)) {}

Program::~Program() { close_store(); }

void Program::ask() {
  if (asked_) asked_();
}

void Program::answer(std::string step, Status status) {
  answers_.push_back({std::move(step), std::move(status)});
  if (changed_) changed_();
}

std::string Program::failures() const {
  std::string text;
  for (const Answer& one : answers_) {
    if (!one.status.ok()) {
      text += one.step + ": " + code_name(one.status.code()) + " " + one.status.message() + "\n";
    }
  }
  return text;
}

session::Session* Program::find(const std::string& session) {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second.get();
}

bool Program::is_durable_at_once(const std::string& session) const {
  return !durability_.contains(session);
}

void Program::open_store(std::string_view config) {
  auto opened = store::Store::open(kRoot, config, view_);
  if (opened.ok()) store_ = *opened;
  answer("open store", std::move(opened).status());
}

void Program::close_store() {
  sessions_.clear();
  if (store_) store_->close();
  store_.reset();
  if (changed_) changed_();
}

void Program::create(const std::string& session, std::string_view durability) {
  if (!store_) return answer("create " + session, kNotOpen);
  json::Tree options = json::Tree::object();
  options.set("session_id", json::Tree::string(session));
  if (!durability.empty()) {
    options.set("durability", json::Tree::string(durability));
    durability_[session] = durability;
  }
  SessionPromise& promise = ledger_[session];
  if (promise.dropped == Promise::kGiven) promise = SessionPromise();  // the id again
  ask();
  auto created = store_->create_session(options.canonical());
  if (created.ok()) {
    sessions_[session] = *created;
    promise.created = Promise::kGiven;
  }
  answer("create " + session, std::move(created).status());
}

void Program::open(const std::string& session) {
  if (!store_) return answer("open " + session, kNotOpen);
  auto opened = store_->open_session(session);
  if (opened.ok()) {
    sessions_[session] = *opened;
    // Who can open a session may rely on it, whatever its maker was told; but who may only read
    // could not sync its name, and sees what the system remembers.
    Promise& created = ledger_[session].created;
    if (created != Promise::kGiven && !is_read_only(**opened)) created = Promise::kGiven;
  }
  answer("open " + session, std::move(opened).status());
}

bool Program::try_open(const std::string& session) {
  if (store_ && store_->open_session(session).code() == Code::kNotFound) return false;
  open(session);
  return true;
}

void Program::close(const std::string& session) {
  sessions_.erase(session);
  if (changed_) changed_();
}

void Program::drop(const std::string& session) {
  if (!store_) return answer("drop " + session, kNotOpen);
  ledger_[session].dropped = Promise::kAsked;
  ask();
  Status dropped = store_->delete_session(session);
  ledger_[session].dropped = dropped.ok() ? Promise::kGiven : Promise::kUnknown;
  sessions_.erase(session);
  answer("drop " + session, std::move(dropped));
}

EntryPromise& Program::submit(const std::string& session, const std::string& id,
                              size_t content_bytes) {
  SessionPromise& promise = ledger_[session];
  promise.order.push_back(id);
  EntryPromise& entry = promise.entries[id];
  entry.content = content_of(id, content_bytes);
  return entry;
}

void Program::settle_added(const std::string& session, const std::vector<std::string>& ids,
                           const Status& status) {
  const Promise promise = promise_of(status);
  for (const auto& id : ids) {
    EntryPromise& entry = ledger_[session].entries[id];
    entry.added_visibly = promise;
    if (!status.ok() || is_durable_at_once(session)) entry.added = promise;
  }
}

void Program::add(const std::string& session, const std::string& id, size_t content_bytes) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("add " + id, kNotOpen);
  const std::string content = submit(session, id, content_bytes).content;
  ask();
  auto added = open->add(entry_text(id, content));
  settle_added(session, {id}, added.status());
  answer("add " + id, std::move(added).status());
}

void Program::add_batch(const std::string& session, const std::vector<std::string>& ids,
                        size_t content_bytes) {
  const std::string step = "add batch " + ids.front();
  session::Session* open = find(session);
  if (open == nullptr) return answer(step, kNotOpen);
  std::string text;
  const size_t number = ledger_[session].order.size() + 1;
  for (const auto& id : ids) {
    EntryPromise& entry = submit(session, id, content_bytes);
    entry.batch = number;
    text += entry_text(id, entry.content) + "\n";
  }
  ask();
  auto added = open->add_batch(text);
  settle_added(session, ids, added.status());
  answer(step, std::move(added).status());
}

void Program::import_lines(const std::string& session, const std::vector<std::string>& ids) {
  const std::string step = "import " + ids.front();
  session::Session* open = find(session);
  if (open == nullptr) return answer(step, kNotOpen);
  std::string text;
  for (const auto& id : ids) text += entry_text(id, submit(session, id, 60).content) + "\n";
  ask();
  auto imported = open->import_text(text);
  settle_added(session, ids, imported.status());
  answer(step, std::move(imported).status());
}

void Program::remove(const std::string& session, const std::string& id) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("remove " + id, kNotOpen);
  std::optional<Promise>& removed = ledger_[session].entries[id].removed;
  const bool was_removed = removed == Promise::kGiven;
  if (!was_removed) removed = Promise::kAsked;
  ask();
  Status status = open->remove(id, "");
  if (!was_removed && (!status.ok() || is_durable_at_once(session))) removed = promise_of(status);
  answer("remove " + id, std::move(status));
}

void Program::put_vector(const std::string& session, const std::string& id) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("put " + id, kNotOpen);
  EntryPromise& entry = ledger_[session].entries[id];
  const uint32_t number = entry.given_vectors.back() + 1;
  entry.given_vectors.push_back(number);
  entry.vectors.push_back(number);
  ask();
  Status status = open->put_vector(id, vector_of(id, number));
  if (promise_of(status) == Promise::kRefused) {
    entry.vectors.pop_back();
  } else if (status.ok() && is_durable_at_once(session)) {
    entry.vectors = {number};
  }
  answer("put " + id, std::move(status));
}

void Program::update(const std::string& session, const std::string& title) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("update " + title, kNotOpen);
  std::vector<std::string>& titles = ledger_[session].titles;
  titles.push_back(title);
  json::Tree patch = json::Tree::object();
  patch.set("title", json::Tree::string(title));
  ask();
  Status status = open->update(patch.canonical());
  if (status.ok()) titles = {title};
  answer("update " + title, std::move(status));
}

void Program::sync(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("sync", kNotOpen);
  Status status = open->sync();
  if (status.ok()) {
    for (auto& [id, entry] : ledger_[session].entries) {
      if (entry.added_visibly == Promise::kGiven) entry.added = Promise::kGiven;
      if (entry.removed == Promise::kAsked) entry.removed = Promise::kGiven;
      entry.vectors = {entry.vectors.back()};
    }
  }
  answer("sync", std::move(status));
}

void Program::repair(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("repair", kNotOpen);
  answer("repair", open->repair(false).status());
}

void Program::compact(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("compact", kNotOpen);
  answer("compact", open->compact({}).status());
}

void Program::purge(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("purge", kNotOpen);
  session::CompactionOptions options;
  options.cause = session::CompactionCause::kPurge;
  const Status status = open->compact(options).status();
  for (auto& [id, entry] : ledger_[session].entries) {
    if (!status.ok()) continue;
    if (entry.removed == Promise::kGiven) entry.purged = true;
    for (const uint32_t number : entry.given_vectors) {
      const bool may_stay = !entry.purged && std::find(entry.vectors.begin(), entry.vectors.end(),
                                                       number) != entry.vectors.end();
      if (number != 0 && !may_stay) entry.purged_vectors.push_back(number);
    }
  }
  answer("purge", status);
}

void Program::migrate(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("migrate", kNotOpen);
  answer("migrate", open->migrate(false).status());
}

void Program::verify(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("verify", kNotOpen);
  answer("verify", open->verify().status());
}

void Program::rebuild(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("rebuild", kNotOpen);
  answer("rebuild", open->rebuild_index().status());
}

void Program::read(const std::string& session) {
  session::Session* open = find(session);
  if (open == nullptr) return answer("read", kNotOpen);
  answer("export", exported_text(*open, "jsonl").status());
  for (const auto& [id, entry] : ledger_[session].entries) {
    if (entry.added_visibly != Promise::kGiven || entry.removed) continue;
    answer("get " + id, open->get(id).status());
    if (entry.given_vectors.size() == 1) continue;
    answer("ask " + id, vector_shown(*open, id, entry.given_vectors.back()).status());
  }
}

}  // namespace varve::crash
