#include "stores/kv_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/time.h"
#include "base/utf8.h"
#include "json/canonical.h"
#include "json/document.h"

namespace varve::stores {

namespace {

// For an entry made by hand, without a time.
constexpr std::string_view kUnknownTime = "1970-01-01T00:00:00Z";
constexpr std::string_view kNoEntry =
    "an entry's key or value is missing or not a string, or the key is not 1 to 1024 bytes long";

// A key that no call could name is none: it could be neither read nor deleted.
bool is_key(std::string_view key) { return !key.empty() && key.size() <= kKeyBytesMax; }

// False when `item` is no entry.
bool take(json::Value item, std::vector<KvEntry>& entries) {
  const auto key = item.find("key");
  const auto value = item.find("value");
  if (!key || !key->is_string() || !value || !value->is_string()) return false;
  if (!is_key(key->text())) return false;
  const auto timestamp = item.find("ts");
  const bool has_time = timestamp && timestamp->is_string() && parse_rfc3339(timestamp->text());
  entries.push_back({std::string(key->text()), std::string(value->text()),
                     std::string(has_time ? timestamp->text() : kUnknownTime)});
  return true;
}

void keep_last_of_each(std::vector<KvEntry>& entries) {
  std::vector<std::pair<std::string_view, size_t>> places;
  places.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) places.emplace_back(entries[i].key, i);
  std::sort(places.begin(), places.end());
  std::vector<bool> is_repeated(entries.size());
  bool any_is = false;
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i - 1].first != places[i].first) continue;
    is_repeated[places[i - 1].second] = true;
    any_is = true;
  }
  if (!any_is) return;
  std::vector<KvEntry> kept;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!is_repeated[i]) kept.push_back(std::move(entries[i]));
  }
  entries = std::move(kept);
}

// Takes the entries with whole lines from a text that is cut off or damaged.
void salvage(std::string_view text, std::vector<KvEntry>& entries) {
  json::Document item;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t first = line.find_first_not_of(" \t");
    const size_t last = line.find_last_not_of(" \t\r,");
    if (first == std::string_view::npos || last == std::string_view::npos || line[first] != '{') {
      continue;
    }
    const Status read = item.parse(line.substr(first, last + 1 - first));
    if (read.ok() && item.root().is_object()) take(item.root(), entries);
  }
}

}  // namespace

KvContents parse_kv(std::string_view text) {
  KvContents contents;
  std::string scratch;
  text = blanked_byte_order_mark(text, &scratch);
  json::Document document;
  const Status read = document.parse(text);
  const auto list = read.ok() ? document.root().find("entries") : std::nullopt;
  if (!read.ok()) {
    contents.damage = "it is not JSON: " + read.message();
    salvage(text, contents.entries);
  } else if (list && list->is_array()) {
    contents.entries.reserve(list->size());
    list->for_each_item([&](json::Value item) {
      const bool taken = item.is_object() && take(item, contents.entries);
      if (!taken) contents.damage = kNoEntry;
      return true;
    });
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
