#include "context/sessions.h"

#include <utility>

#include "store/open_session.h"

namespace varve::context {

namespace {

Status unless_gone(Status failure) {
  if (failure.code() != Code::kNotFound) return failure;
  return {Code::kGone, failure.message()};
}

}  // namespace

std::vector<std::string> Sessions::ids() const {
  std::vector<std::string> ids;
  for (const session::Session* session : all_) ids.push_back(session->id());
  return ids;
}

Result<session::QueryResults> Sessions::ask(const query::Query& query) const {
  if (store_ == nullptr) return Status(Code::kUnsupported, "the session is in no store");
  return store_->recall(query, all_.front()->id());
}

Result<std::optional<uint32_t>> Sessions::number_of(const std::string& id) {
  if (id == all_.front()->id()) return std::optional<uint32_t>(0);
  const auto known = numbers_.find(id);
  if (known != numbers_.end()) return known->second;
  VARVE_TRY_ASSIGN(const auto number, open(id));
  numbers_.emplace(id, number);
  return number;
}

Result<std::optional<uint32_t>> Sessions::open(const std::string& id) {
  if (store_ == nullptr || others_.size() >= store_->open_at_once_max()) {
    return std::optional<uint32_t>();
  }
  auto session = store_->open_for_itself(id);
  // The host has others open: those that are open here may do.
  const bool is_lack = store::is_lack_of_descriptors(session.status()) && !others_.empty();
  if (is_lack) return std::optional<uint32_t>();
  if (!session.ok()) return unless_gone(std::move(session).status());
  all_.push_back(session->get());
  others_.push_back(*std::move(session));
  return std::optional<uint32_t>(count() - 1);
}

Status of_session(uint32_t number, Status failure) {
  return number == 0 ? failure : unless_gone(std::move(failure));
}

}  // namespace varve::context
