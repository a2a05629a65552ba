#include "log/storage.h"

namespace varve::log {

Status replaced() { return {Code::kGone, "the log was replaced"}; }

std::string SessionStorage::name_of_document(std::string_view name) const {
  const std::string log = name_of(Stream::kEntries);
  return log.substr(0, log.find_last_of("/:") + 1) + std::string(name);
}

Result<bool> Engine::is_name_without_session(std::string_view) { return false; }

Result<std::unique_ptr<SessionStorage>> Engine::open_catalog() {
  return Status(Code::kNotFound, "this store has no catalog");
}

Result<std::unique_ptr<SessionStorage>> Engine::create_catalog(std::string_view) {
  return Status(Code::kUnsupported, "this store has no catalog");
}

Status Engine::drop_catalog() { return {}; }

Status Engine::no_session(std::string_view session_id) {
  return {Code::kNotFound, "there is no session '" + std::string(session_id) + "'"};
}

Status Engine::already_there(std::string_view session_id) {
  return {Code::kAlreadyExists, "a session '" + std::string(session_id) + "' exists already"};
}

Status Engine::changed_meanwhile(std::string_view session_id) {
  return {Code::kConflict,
          "session '" + std::string(session_id) + "' was created or deleted meanwhile"};
}

Status Engine::agree_to_drop(SessionStorage& storage, const DropWanted& wanted) {
  if (!wanted) return {};
  VARVE_TRY_ASSIGN(const bool agreed, wanted(storage));
  return agreed ? Status() : Status(Code::kConflict, "the session changed meanwhile");
}

}  // namespace varve::log
