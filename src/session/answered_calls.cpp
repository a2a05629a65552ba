#include "session/answered_calls.h"

#include <utility>

#include "entry/entry.h"
#include "transfer/chat_calls.h"

namespace varve::session {

namespace {

constexpr int kCallsAtATime = 10;

json::Tree latest_calls() {
  json::Tree types = json::Tree::array();
  types.push(json::Tree::string("tool_call"));
  json::Tree query = json::Tree::object();
  query.set("types", std::move(types));
  query.set("sort_by", json::Tree::string("time"));
  query.set("limit", json::Tree::integer(kCallsAtATime));
  return query;
}

}  // namespace

Result<std::vector<std::string>> calls_answered_by(Session& session, const json::Tree& message) {
  transfer::ChatCalls calls;
  json::Tree query = latest_calls();
  for (int count = 0; count < kOpenCallsMax; count += kCallsAtATime) {
    VARVE_TRY_ASSIGN(const auto page, session.query(query.canonical()));
    for (const auto& call : page.results) {
      VARVE_TRY_ASSIGN(const json::Tree entry, json::Tree::parse(*call.line, entry::line_limits()));
      if (entry.get("content")->is_object()) calls.note_earlier(entry);
    }
    if (page.next.empty() || calls.has_all_of(message)) break;
    query.set("after", json::Tree::string(page.next));
  }
  return calls.answered_by(message);
}

Status refer_to_calls(Session& session, json::Tree* entry) {
  if (entry->get_string("type") != "tool_result" || entry->get("references") != nullptr) return {};
  if (!entry->get("content")->is_object()) return {};
  VARVE_TRY_ASSIGN(const auto calls, calls_answered_by(session, *entry));
  json::Tree references = json::Tree::array();
  for (const auto& id : calls) references.push(json::Tree::string(id));
  if (!calls.empty()) entry->set("references", std::move(references));
  return {};
}

}  // namespace varve::session
