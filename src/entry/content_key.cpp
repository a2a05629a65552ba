#include "entry/content_key.h"

#include "base/hash.h"
#include "json/raw.h"

namespace varve::entry {

namespace {

constexpr size_t kKeptBytesMax = 64;
constexpr size_t kHashTextBytes = 9;

// Appends the text, or "#" and its hash when it is long. Two texts get the same form only by
// chance: a text that looks like a hash, or would end the name, is hashed as well.
void append_bounded(std::string* out, std::string_view text, bool is_name) {
  const bool looks_hashed = text.size() == kHashTextBytes && text.front() == '#';
  const bool ends_early = is_name && text.find('\0') != std::string_view::npos;
  if (text.size() <= kKeptBytesMax && !looks_hashed && !ends_early) {
    out->append(text);
    return;
  }
  out->push_back('#');
  for (uint64_t hash = hash64(text), i = 0; i < 8; ++i, hash >>= 8) {
    out->push_back(static_cast<char>(hash));
  }
}

char kind_letter(json::Kind kind) {
  switch (kind) {
    case json::Kind::kString: return 's';
    case json::Kind::kInteger:
    case json::Kind::kDouble: return 'n';
    case json::Kind::kTrue: return 't';
    case json::Kind::kFalse: return 'f';
    default: return 'z';
  }
}

// The kind of a value in canonical form that is not a string, by its first character.
json::Kind kind_of_scalar(char first) {
  switch (first) {
    case 't': return json::Kind::kTrue;
    case 'f': return json::Kind::kFalse;
    case 'n': return json::Kind::kNull;
    default: return json::Kind::kInteger;  // any number
  }
}

// Of a value in canonical form whose escapes, in a string, are of two characters.
std::string content_key_of_plain(std::string_view name, std::string_view value) {
  if (value.front() == '"') {
    if (value.find('\\') == std::string_view::npos) {
      return content_string_key(name, value.substr(1, value.size() - 2));
    }
    std::string text;
    json::decode_raw_string(value, &text);
    return content_string_key(name, text);
  }
  const json::Kind kind = kind_of_scalar(value.front());
  std::string key = content_string_prefix(name);
  key.back() = kind_letter(kind);
  append_bounded(&key, kind == json::Kind::kInteger ? value : std::string_view(), false);
  return key;
}

}  // namespace

std::string content_string_prefix(std::string_view name) {
  std::string key;
  append_bounded(&key, name, true);
  key.push_back('\0');
  key.push_back('s');
  return key;
}

std::string content_string_key(std::string_view name, std::string_view text) {
  std::string key = content_string_prefix(name);
  append_bounded(&key, text, false);
  return key;
}

std::string content_key(std::string_view name, json::Value value) {
  std::string key = content_string_prefix(name);
  key.back() = kind_letter(value.kind());
  append_bounded(&key, value.text(), false);
  return key;
}

void read_content_keys(json::Value content, std::vector<std::string>* out) {
  out->clear();
  content.for_each_member([&](std::string_view name, json::Value value) {
    if (!value.is_array() && !value.is_object()) out->push_back(content_key(name, value));
    return true;
  });
}

void read_content_keys(std::string_view content, const json::PlainMembers& members,
                       std::vector<std::string>* out) {
  out->clear();
  out->reserve(members.size());
  for (const json::PlainMember& member : members) {
    const auto value = content.substr(member.begin, member.end - member.begin);
    if (value.front() == '{' || value.front() == '[') continue;
    out->push_back(content_key_of_plain(member.name, value));
  }
}

}  // namespace varve::entry
