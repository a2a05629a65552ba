#include "stores/kv_text.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/time.h"
#include "base/utf8.h"
#include "json/canonical.h"
#include "json/tree.h"

namespace varve::stores {

namespace {

// For an entry made by hand, without a time.
constexpr std::string_view kUnknownTime = "1970-01-01T00:00:00Z";
constexpr std::string_view kNoEntry =
    "an entry's key or value is missing or not a string, or the key is not 1 to 1024 bytes long";

// A key that no call could name is none: it could be neither read nor deleted.
bool is_key(std::string_view key) { return !key.empty() && key.size() <= kKeyBytesMax; }

// False when `item` is no entry.
bool take(const json::Tree& item, std::vector<KvEntry>& entries) {
  const json::Tree* key = item.get("key");
  const json::Tree* value = item.get("value");
  if (key == nullptr || !key->is_string() || value == nullptr || !value->is_string()) return false;
  if (!is_key(key->text())) return false;
  std::string timestamp = item.get_string("ts");
  if (!parse_rfc3339(timestamp)) timestamp = kUnknownTime;
  entries.push_back({key->text(), value->text(), std::move(timestamp)});
  return true;
}

void keep_last_of_each(std::vector<KvEntry>& entries) {
  std::map<std::string_view, size_t> last;
  for (size_t i = 0; i < entries.size(); ++i) last.insert_or_assign(entries[i].key, i);
  if (last.size() == entries.size()) return;
  std::vector<KvEntry> kept;
  kept.reserve(last.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (last.at(entries[i].key) == i) kept.push_back(entries[i]);
  }
  entries = std::move(kept);
}

// Takes the entries with whole lines from a text that is cut off or damaged.
void salvage(std::string_view text, std::vector<KvEntry>& entries) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t first = line.find_first_not_of(" \t");
    const size_t last = line.find_last_not_of(" \t\r,");
    if (first == std::string_view::npos || last == std::string_view::npos || line[first] != '{') {
      continue;
    }
    const auto item = json::Tree::parse(line.substr(first, last + 1 - first));
    if (item.ok() && item->is_object()) take(*item, entries);
  }
}

}  // namespace

KvContents parse_kv(std::string_view text) {
  KvContents contents;
  std::string scratch;
  text = blanked_byte_order_mark(text, &scratch);
  const auto tree = json::Tree::parse(text);
  if (!tree.ok()) {
    contents.damage = "it is not JSON: " + tree.status().message();
    salvage(text, contents.entries);
  } else if (const json::Tree* list = tree->is_object() ? tree->get("entries") : nullptr;
             list != nullptr && list->is_array()) {
    for (const json::Tree& item : list->items()) {
      const bool taken = item.is_object() && take(item, contents.entries);
      if (!taken) contents.damage = kNoEntry;
    }
  } else {
    contents.damage = "it is not an object with an array \"entries\"";
  }
  keep_last_of_each(contents.entries);
  return contents;
}

std::string format_kv(uint64_t cap, const std::vector<KvEntry>& entries) {
  std::string text = "{\n  \"cap\": " + std::to_string(cap) + ",\n  \"entries\": [";
  for (size_t i = 0; i < entries.size(); ++i) {
    text += i == 0 ? "\n    { \"key\": " : ",\n    { \"key\": ";
    json::append_string(entries[i].key, text);
    text += ", \"value\": ";
    json::append_string(entries[i].value, text);
    text += ", \"ts\": ";
    json::append_string(entries[i].timestamp, text);
    text += " }";
  }
  text += entries.empty() ? "]\n}\n" : "\n  ]\n}\n";
  return text;
}

const KvEntry* find_key(const std::vector<KvEntry>& entries, std::string_view key) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const KvEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

bool erase_key(std::vector<KvEntry>& entries, std::string_view key) {
  return std::erase_if(entries, [&](const KvEntry& entry) { return entry.key == key; }) > 0;
}

void set_key(std::vector<KvEntry>& entries, KvEntry entry) {
  erase_key(entries, entry.key);
  entries.push_back(std::move(entry));
}

void evict(std::vector<KvEntry>& entries, uint64_t cap) {
  if (entries.size() <= cap) return;
  entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(cap));
}

}  // namespace varve::stores
