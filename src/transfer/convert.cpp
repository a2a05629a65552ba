#include "transfer/convert.h"

#include "base/hex.h"
#include "base/sha256.h"

namespace varve::transfer {
namespace {

bool is_text(std::optional<json::Value> value) { return value && value->is_string(); }

bool is_knowledge(json::Value element) {
  const auto type = element.find("type");
  if (!is_text(type) || element.find("content")) return false;
  if (type->text() == "entity") return is_text(element.find("name")) && element.find("entityType");
  return type->text() == "relation" && element.find("from") && element.find("to") &&
         element.find("relationType");
}

}  // namespace

ImportFormat kind_of(json::Value element, ImportFormat format) {
  if (format == ImportFormat::kMcp || format == ImportFormat::kChat) return format;
  if (format != ImportFormat::kAuto || !element.is_object()) return ImportFormat::kJsonl;
  if (is_knowledge(element)) return ImportFormat::kMcp;
  // An entry has a type; a message has a role and no type.
  if (is_text(element.find("role")) && !element.find("type")) return ImportFormat::kChat;
  return ImportFormat::kJsonl;
}

std::string stable_id(std::string_view prefix, std::string_view text) {
  constexpr size_t kDigits = 32;
  return std::string(prefix) + "_" + to_hex(sha256(text)).substr(0, kDigits);
}

}  // namespace varve::transfer
