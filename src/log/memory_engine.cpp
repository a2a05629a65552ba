#include "log/memory_engine.h"

#include <charconv>
#include <utility>

namespace varve::log {

namespace {

Status not_found(std::string_view session_id) {
  return {Code::kNotFound, "there is no session '" + std::string(session_id) + "'"};
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
  session->documents.emplace("metadata.json", metadata);
  const std::lock_guard guard(mutex_);
  if (!sessions_.try_emplace(row.session_id, session).second) {
    return Status(Code::kAlreadyExists, "a session '" + row.session_id + "' exists already");
  }
  rows_.push_back(row);
  return std::unique_ptr<SessionStorage>(
      std::make_unique<MemoryStorage>(std::move(session), clock_));
}

Result<std::unique_ptr<SessionStorage>> MemoryEngine::open(std::string_view session_id) {
  auto session = find(session_id);
  if (!session) return not_found(session_id);
  return std::unique_ptr<SessionStorage>(
      std::make_unique<MemoryStorage>(std::move(session), clock_));
}

Status MemoryEngine::drop(std::string_view session_id, int64_t deadline_us) {
  auto session = find(session_id);
  if (!session) return not_found(session_id);
  MemoryStorage storage(session, clock_);
  VARVE_TRY(storage.lock(deadline_us, "delete session", nullptr));
  {
    const std::lock_guard guard(session->mutex);
    session->dropped = true;
    session->entries = std::string();
    session->tombstones = std::string();
    session->quarantine = std::string();
    session->documents.clear();
    session->generation += 1;
  }
  storage.unlock();
  const std::lock_guard guard(mutex_);
  const auto found = sessions_.find(session_id);
  if (found != sessions_.end() && found->second == session) sessions_.erase(found);
  return {};
}

Result<RowPage> MemoryEngine::list(std::string_view after, size_t limit) {
  const std::lock_guard guard(mutex_);
  size_t end = rows_.size();
  if (!after.empty()) {
    const auto parsed = std::from_chars(after.data(), after.data() + after.size(), end);
    if (parsed.ec != std::errc() || parsed.ptr != after.data() + after.size() ||
        end > rows_.size()) {
      return Status(Code::kInvalidArgument, "'after' is not a cursor of this list");
    }
  }
  RowPage page;
  while (end > 0 && page.rows.size() < limit) {
    page.rows.push_back(rows_[--end]);
    page.cursors.push_back(std::to_string(end));
  }
  page.at_end = end == 0;
  return page;
}

Result<std::string> MemoryEngine::session_document(std::string_view session_id,
                                                   std::string_view name) {
  auto session = find(session_id);
  if (!session) return not_found(session_id);
  return MemoryStorage(std::move(session), clock_).get_document(name);
}

Result<std::string> MemoryEngine::store_document(std::string_view name) {
  return Status(Code::kNotFound, "there is no '" + std::string(name) + "'");
}

}  // namespace varve::log
