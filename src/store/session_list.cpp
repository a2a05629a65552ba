#include "store/session_list.h"

#include <optional>
#include <unordered_set>
#include <utility>

#include "base/time.h"
#include "io/rules.h"
#include "session/metadata/expiry.h"
#include "session/metadata/metadata.h"
#include "store/session_rows.h"

namespace varve::store {

namespace {

// What metadata.json says. kNotFound: there is no such session; kCorruption: it has lost the file.
Result<std::string> metadata_of(log::Engine& engine, const std::string& id) {
  auto text = engine.session_document(id, log::kMetadataFile);
  if (text.code() != Code::kNotFound) return text;
  // Lost, or the session was deleted, and another one may have its name by now.
  VARVE_TRY_ASSIGN(const auto storage, engine.open(id));
  text = storage->get_document(log::kMetadataFile);
  if (text.code() != Code::kNotFound) return text;
  VARVE_TRY(storage->check_name());
  return Status(Code::kCorruption, "it is missing");
}

// Whose the session is. A row of its id and time may be of another: two users may ask for an id in
// the same millisecond, and it may have been deleted and created again in one.
log::SessionRow with_owner(log::SessionRow row, const json::Tree& metadata) {
  row.user_id = metadata.get_string("user_id", row.user_id);
  row.agent_id = metadata.get_string("agent_id", row.agent_id);
  return row;
}

// What the list says of a session. Nothing if it was deleted, or created again under the same id (a
// newer row then stands for it), or is not one of those that the filter wants.
Result<std::optional<json::Tree>> describe(log::Engine& engine, const log::SessionRow& row,
                                           const ListFilter& filter, int64_t now_ms,
                                           const FindOpen& find_open) {
  const auto text = metadata_of(engine, row.session_id);
  if (text.code() == Code::kNotFound) return std::optional<json::Tree>();
  const bool is_kept = io::is_kept_from_us(text.status());  // as another user's of this machine
  if (is_of_environment(text.code()) && !is_kept) return text.status();
  json::Tree item = json::Tree::object();
  const std::string created_at = format_rfc3339(row.created_at_ms);
  item.set("session_id", json::Tree::string(row.session_id));
  item.set("user_id", json::Tree::string(row.user_id));
  item.set("agent_id", json::Tree::string(row.agent_id));
  item.set("created_at", json::Tree::string(created_at));
  // Lost, no file, or not for us, but there: it hides no other.
  if (!text.ok()) return std::optional<json::Tree>(std::move(item));
  const auto parsed = session::Metadata::parse(*text, row.session_id);
  if (!parsed.ok()) return std::optional<json::Tree>(std::move(item));  // damaged, but there
  const json::Tree& metadata = parsed->tree();
  // Compares times, not texts: the same time can be written in several ways.
  const auto made_at_ms = parse_rfc3339(metadata.get_string("created_at", created_at));
  const bool is_known = row.created_at_ms > 0;  // false in a list rebuilt without the metadata
  if (is_known && made_at_ms && *made_at_ms != row.created_at_ms) {
    return std::optional<json::Tree>();
  }
  if (session::has_expired(metadata, now_ms)) return std::optional<json::Tree>();
  const log::SessionRow owned = with_owner(row, metadata);
  if (!filter.takes(owned)) return std::optional<json::Tree>();
  item.set("user_id", json::Tree::string(owned.user_id));
  item.set("agent_id", json::Tree::string(owned.agent_id));
  item.set("title", json::Tree::string(metadata.get_string("title")));
  item.set("last_accessed", json::Tree::string(metadata.get_string("last_accessed")));
  item.set("total_entries", json::Tree::integer(metadata.get_int64("total_entries")));
  if (const auto session = find_open(row.session_id)) {
    const auto live = session->metadata();
    if (live.ok()) {
      item.set("total_entries", json::Tree::integer(live->get_int64("total_entries")));
    }
  }
  return std::optional<json::Tree>(std::move(item));
}

}  // namespace

Result<json::Tree> list_sessions(log::Engine& engine, const ListFilter& filter, int64_t now_ms,
                                 const FindOpen& find_open) {
  json::Tree list;
  json::Tree next;  // null
  std::unordered_set<std::string> told;
  RowVisitor visitor;
  visitor.begin = [&] {
    list = json::Tree::array();
    told.clear();
  };
  visitor.visit = [&](const RowAt& at) -> Result<bool> {
    // An id that was created again in the same millisecond has several rows that fit.
    if (!filter.takes(at.row) || told.contains(at.row.session_id)) return true;
    VARVE_TRY_ASSIGN(auto item, describe(engine, at.row, filter, now_ms, find_open));
    if (!item) return true;
    told.insert(at.row.session_id);
    list.push(*std::move(item));
    if (list.items().size() < filter.limit) return true;
    if (!at.is_last) next = json::Tree::string(at.cursor);
    return false;
  };
  VARVE_TRY(for_each_row(engine, filter.after, visitor));
  json::Tree answer = json::Tree::object();
  answer.set("sessions", std::move(list));
  answer.set("next", std::move(next));
  return answer;
}

}  // namespace varve::store
