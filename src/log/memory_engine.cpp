#include "log/memory_engine.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/release_memory.h"
#include "json/tree.h"
#include "log/registry.h"

namespace varve::log {

namespace {

Result<std::string> text_of(const SessionContents::Produce& produce) {
  TextSink sink;
  VARVE_TRY(produce(sink));
  return std::move(sink.text);
}

// Makes every handle answer kNotFound from now on. The caller holds the session's lock.
void forget(MemorySession& session) {
  const std::lock_guard guard(session.mutex);
  session.dropped = true;
  release_memory(&session.entries);
  release_memory(&session.tombstones);
  release_memory(&session.quarantine);
  release_memory(&session.vectors);
  session.documents.clear();
  session.generation += 1;
}

// When it was created, as its metadata says; 0 where it does not tell.
int64_t made_ms_of(std::string_view id, MemorySession& session) {
  const std::lock_guard guard(session.mutex);
  const auto metadata = session.documents.find(kMetadataFile);
  if (metadata == session.documents.end()) return 0;
  const auto tree = json::Tree::parse(metadata->second);
  return tree.ok() && tree->is_object() ? row_of(id, *tree).created_at_ms : 0;
}

// What depends on the session that is replaced.
Status add_rest(const SessionContents& contents, MemorySession& made) {
  if (contents.metadata) {
    VARVE_TRY_ASSIGN(made.documents[std::string(kMetadataFile)], text_of(contents.metadata));
  }
  VARVE_TRY_ASSIGN(made.tombstones, text_of(contents.tombstones));
  return {};
}

}  // namespace

std::shared_ptr<MemorySession> MemoryEngine::find(std::string_view session_id) {
  const std::lock_guard guard(mutex_);
  const auto found = sessions_.find(session_id);
  return found == sessions_.end() ? nullptr : found->second;
}

Result<std::unique_ptr<SessionStorage>> MemoryEngine::create(const SessionRow& row,
                                                             std::string_view metadata) {
  auto session = std::make_shared<MemorySession>();
  session->documents.emplace(kMetadataFile, metadata);
  auto storage = std::make_unique<MemoryStorage>(session, clock_);
  const std::lock_guard guard(mutex_);
  if (sessions_.contains(row.session_id)) return already_there(row.session_id);
  rows_.push_back(row);  // a row without a session does no harm, if the next step fails
  sessions_.emplace(row.session_id, std::move(session));
  return std::unique_ptr<SessionStorage>(std::move(storage));
}

Result<std::unique_ptr<SessionStorage>> MemoryEngine::open(std::string_view session_id) {
  auto session = find(session_id);
  if (!session) return no_session(session_id);
  return std::unique_ptr<SessionStorage>(
      std::make_unique<MemoryStorage>(std::move(session), clock_));
}

Status MemoryEngine::install(const SessionRow& row, const SessionContents& contents,
                             Existing existing) {
  auto made = std::make_shared<MemorySession>();
  VARVE_TRY_ASSIGN(made->entries, text_of(contents.entries));
  for (const auto& [name, produce] : contents.documents) {
    std::string& part = name == kVectorsFile ? made->vectors : made->documents[name];
    VARVE_TRY_ASSIGN(part, text_of(produce));
  }
  const auto present = find(row.session_id);
  if (present && existing == Existing::kRefuse) return already_there(row.session_id);
  std::optional<MemoryStorage> held;
  if (present) {
    held.emplace(present, clock_);
    Status locked = held->lock(clock_.deadline_us(lock_timeout_ms_), "restore", nullptr);
    if (locked.code() == Code::kNotFound) return changed_meanwhile(row.session_id);
    VARVE_TRY(std::move(locked));
  }
  Status status = add_rest(contents, *made);
  if (status.ok()) {
    const std::lock_guard guard(mutex_);
    const auto found = sessions_.find(row.session_id);
    if ((found == sessions_.end() ? nullptr : found->second) != present) {
      status = existing == Existing::kRefuse ? already_there(row.session_id)
                                             : changed_meanwhile(row.session_id);
    } else {
      if (present) dropped_at_ms_[row.session_id] = clock_.now_ms();
      // No row ever goes; one without a session does no harm, if the next step fails.
      if (row.listed_at.empty()) rows_.push_back(row);
      sessions_.insert_or_assign(row.session_id, std::move(made));
    }
  }
  if (status.ok() && present) forget(*present);
  if (held) held->unlock();
  return status;
}

Result<std::vector<std::string>> MemoryEngine::session_ids() {
  const std::lock_guard guard(mutex_);
  std::vector<std::string> ids;
  for (const auto& item : sessions_) ids.push_back(item.first);
  return ids;
}

Status MemoryEngine::drop(std::string_view session_id, const DropWanted& wanted) {
  auto session = find(session_id);
  if (!session) return no_session(session_id);
  const std::string id(session_id);  // from forget() on, nothing may fail
  MemoryStorage storage(session, clock_);
  VARVE_TRY(storage.lock(clock_.deadline_us(lock_timeout_ms_), "delete session", nullptr));
  Status agreed = agree_to_drop(storage, wanted);
  if (!agreed.ok()) {
    storage.unlock();
    return agreed;
  }
  {
    // In one step: nobody finds the name taken by a session that is gone. It is still of that name:
    // whoever puts another in its place needs the lock of one that is there.
    const std::lock_guard guard(mutex_);
    dropped_at_ms_[id] = clock_.now_ms();
    forget(*session);
    sessions_.erase(id);
  }
  storage.unlock();
  return {};
}

// The row of each session that there is, oldest first. Of several that have its id, the newest that
// its metadata fits: one that came back has an older row than another that was dropped. Else the
// newest. With the mutex held.
std::vector<SessionRow> MemoryEngine::live_rows() const {
  struct Valid {
    size_t index = 0;
    std::optional<int64_t> made_ms;  // as the metadata says
  };
  std::unordered_map<std::string_view, Valid> valid;
  for (size_t i = rows_.size(); i-- > 0;) {
    const SessionRow& row = rows_[i];
    const auto session = sessions_.find(row.session_id);
    if (session == sessions_.end()) continue;
    const auto [known, is_first] = valid.try_emplace(row.session_id, Valid{i, {}});
    if (is_first) continue;
    Valid& newest = known->second;
    if (!newest.made_ms) newest.made_ms = made_ms_of(row.session_id, *session->second);
    const bool fits = rows_[newest.index].created_at_ms == *newest.made_ms;
    if (!fits && row.created_at_ms == *newest.made_ms) newest.index = i;
  }
  std::vector<SessionRow> rows;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const auto found = valid.find(rows_[i].session_id);
    if (found != valid.end() && found->second.index == i) rows.push_back(rows_[i]);
  }
  return rows;
}

// Nothing is lost here.
Result<ListedLives> MemoryEngine::lives(const IdWanted& is_wanted) {
  const std::lock_guard guard(mutex_);
  ListedLives lives;
  lives.undropped = live_rows();
  std::reverse(lives.undropped.begin(), lives.undropped.end());
  std::erase_if(lives.undropped, [&](const SessionRow& row) { return !is_wanted(row.session_id); });
  for (const auto& [id, at_ms] : dropped_at_ms_) {
    if (is_wanted(id)) lives.dropped_at_ms.emplace(id, at_ms);
  }
  return lives;
}

Result<ValidRows> MemoryEngine::valid_rows(std::unordered_set<std::string> session_ids) {
  const std::lock_guard guard(mutex_);
  ValidRows valid;
  for (const SessionRow& row : live_rows()) {
    if (session_ids.contains(row.session_id)) valid.insert_or_assign(row.session_id, row);
  }
  return valid;
}

Status MemoryEngine::remove_dead_rows() {
  const std::lock_guard guard(mutex_);
  rows_ = live_rows();
  const int64_t since_ms = clock_.now_ms() - kDropsKeptMs;
  std::erase_if(dropped_at_ms_, [&](const auto& item) { return item.second < since_ms; });
  list_number_ += 1;
  return {};
}

// A cursor is "list_number:end".
Result<RowPage> MemoryEngine::list(std::string_view after, size_t limit) {
  const std::lock_guard guard(mutex_);
  const std::string head = std::to_string(list_number_) + ":";
  size_t end = rows_.size();
  if (!after.empty()) {
    const std::string_view number = after.starts_with(head) ? after.substr(head.size()) : "";
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), end);
    if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size() ||
        end > rows_.size()) {
      return Status(Code::kInvalidArgument,
                    "'after' is not a cursor of this list, or rows of dropped sessions were taken "
                    "out of it meanwhile; start from the first page",
                    {.member = "after"});
    }
  }
  RowPage page;
  while (end > 0 && page.rows.size() < limit) {
    page.rows.push_back(rows_[--end]);
    page.cursors.push_back(head + std::to_string(end));
  }
  page.at_end = end == 0;
  return page;
}

Result<std::string> MemoryEngine::session_document(std::string_view session_id,
                                                   std::string_view name) {
  auto session = find(session_id);
  if (!session) return no_session(session_id);
  return MemoryStorage(std::move(session), clock_).get_document(name);
}

Result<std::string> MemoryEngine::store_document(std::string_view name) {
  return Status(Code::kNotFound, "there is no '" + std::string(name) + "'");
}

}  // namespace varve::log
