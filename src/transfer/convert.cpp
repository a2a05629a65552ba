#include "transfer/convert.h"

#include <algorithm>
#include <array>

#include "base/hex.h"
#include "base/sha256.h"

namespace varve::transfer {
namespace {

bool is_text(std::optional<json::Value> value) { return value && value->is_string(); }

// Many programs write null for what is not there.
std::optional<json::Value> find(json::Value element, std::string_view name) {
  const auto value = element.find(name);
  return value && value->kind() != json::Kind::kNull ? value : std::nullopt;
}

bool is_knowledge(json::Value element) {
  const auto type = element.find("type");
  if (!is_text(type) || element.find("content")) return false;
  if (type->text() == "entity") return is_text(element.find("name")) && element.find("entityType");
  return type->text() == "relation" && element.find("from") && element.find("to") &&
         element.find("relationType");
}

// What an API answers names its kind in the `type` that entries have, too: such a message has
// nothing that only an entry has. A text with an id may be either; the answers' contents are lists.
bool is_message(json::Value element) {
  if (!is_text(find(element, "role"))) return false;
  const auto type = find(element, "type");
  if (!type) return true;
  const auto content = find(element, "content");
  if (!content || (find(element, "id") && !content->is_array())) return false;
  constexpr std::array<std::string_view, 12> kOfEntries = {
      "checksum", "decay_factor", "expires_at", "importance", "references", "relations",
      "seq",      "session_id",   "span_id",    "tags",       "trace_id",   "ttl_seconds"};
  return is_text(type) && type->text() == "message" &&
         std::none_of(kOfEntries.begin(), kOfEntries.end(),
                      [&](std::string_view name) { return find(element, name).has_value(); });
}

}  // namespace

std::string_view type_of_item(json::Value element) {
  const auto type = element.is_object() ? find(element, "type") : std::nullopt;
  if (!is_text(type) || find(element, "content") || find(element, "role")) return {};
  const std::string_view kind = type->text();
  const bool has_call_id = is_text(find(element, "call_id"));
  const bool has_id = is_text(find(element, "id"));
  if (kind.ends_with(kItemOutput)) {
    return has_call_id || has_id ? "tool_result" : std::string_view();
  }
  const bool is_call = has_call_id ? kind.ends_with(kItemCall) : has_id && is_answered_item(kind);
  return is_call ? "tool_call" : std::string_view();
}

ImportFormat kind_of(json::Value element, ImportFormat format) {
  if (format == ImportFormat::kMcp || format == ImportFormat::kChat) return format;
  if (format != ImportFormat::kAuto || !element.is_object()) return ImportFormat::kJsonl;
  if (is_knowledge(element)) return ImportFormat::kMcp;
  const bool is_said = is_message(element) || !type_of_item(element).empty();
  return is_said ? ImportFormat::kChat : ImportFormat::kJsonl;
}

std::string stable_id(std::string_view prefix, std::string_view text) {
  constexpr size_t kDigits = 32;
  return std::string(prefix) + "_" + to_hex(sha256(text)).substr(0, kDigits);
}

}  // namespace varve::transfer
