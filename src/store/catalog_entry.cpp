#include "store/catalog_entry.h"

#include <utility>

#include "base/hash.h"
#include "base/hex.h"
#include "base/ids.h"
#include "json/document.h"
#include "json/tree.h"

namespace varve::store {

namespace {

constexpr std::string_view kAnybody = "?";

std::string hashed(std::string_view kind, std::string_view text) {
  return to_hex(hash64(std::string(kind) + std::string(text)));
}

bool may_be(std::string_view owner, std::string_view wanted) {
  return wanted.empty() || owner == wanted || owner == kAnybody;
}

}  // namespace

std::string hashed_tag(std::string_view tag) { return hashed("tag ", tag); }

std::string hashed_user(std::string_view id) {
  return id.empty() ? std::string() : hashed("user ", id);
}

std::string hashed_agent(std::string_view id) {
  return id.empty() ? std::string() : hashed("agent ", id);
}

CatalogOwner anybody() { return {std::string(kAnybody), std::string(kAnybody)}; }

bool CatalogEntry::may_be_of(std::string_view user, std::string_view agent) const {
  return may_be(owner.user, user) && may_be(owner.agent, agent);
}

std::string catalog_line(std::string_view type, std::string_view session_id,
                         const CatalogOwner& owner, std::string_view mark,
                         std::span<const std::string> tags) {
  json::Tree content = json::Tree::object();
  content.set("agent", json::Tree::string(owner.agent));
  if (!mark.empty()) content.set("mark", json::Tree::string(mark));
  content.set("session", json::Tree::string(session_id));
  content.set("user", json::Tree::string(owner.user));
  json::Tree list = json::Tree::array();
  for (const auto& tag : tags) list.push(json::Tree::string(tag));
  json::Tree entry = json::Tree::object();
  entry.set("content", std::move(content));
  entry.set("tags", std::move(list));
  entry.set("type", json::Tree::string(type));
  return entry.canonical() + "\n";
}

Result<CatalogEntry> read_catalog_entry(std::string_view line) {
  json::Document document;
  VARVE_TRY(document.parse(line));
  const auto text = [](const std::optional<json::Value>& object, std::string_view name) {
    const auto member = object ? object->find(name) : std::nullopt;
    return member && member->is_string() ? std::string(member->text()) : std::string();
  };
  const std::optional<json::Value> entry = document.root();
  const auto content = entry->find("content");
  CatalogEntry read;
  read.type = text(entry, "type");
  read.session_id = text(content, "session");
  read.owner = {text(content, "user"), text(content, "agent")};
  // Nobody wrote this who knew what it means: the catalog can no longer be believed.
  if (!is_valid_id(read.session_id)) return Status(Code::kCorruption, "it names no session");
  return read;
}

}  // namespace varve::store
