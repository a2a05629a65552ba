// KvText: the text of kv.json: keys with their values, the least recently set first.
//
//   {
//     "cap": 200,
//     "entries": [
//       { "key": "user_name", "value": "sachi", "ts": "2025-04-15T10:30:01Z" }
//     ]
//   }
//
// Pure functions; session/stores/key_value.h applies them to a file. docs/format.md#kv.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve::stores {

inline constexpr size_t kKeyBytesMax = 1024;  // at least 1

struct KvEntry {
  std::string key;
  std::string value;
  std::string timestamp;  // RFC 3339
  friend bool operator==(const KvEntry&, const KvEntry&) = default;
};

struct KvContents {
  std::vector<KvEntry> entries;  // each key once: of several, the last
  std::string damage;            // what is wrong with the text; empty if nothing is
};

// Reads any text. What is valid in it is taken, even if the text as a whole is not JSON: each entry
// is on a line of its own.
KvContents parse_kv(std::string_view text);

std::string format_kv(uint64_t cap, const std::vector<KvEntry>& entries);

// nullptr when the key is not there.
const KvEntry* find_key(const std::vector<KvEntry>& entries, std::string_view key);
// Removes the key. Returns whether it was there.
bool erase_key(std::vector<KvEntry>& entries, std::string_view key);
// Sets the key's value and makes the key the last one.
void set_key(std::vector<KvEntry>& entries, KvEntry entry);
// Removes entries from the front until there are at most `cap`.
void evict(std::vector<KvEntry>& entries, uint64_t cap);

}  // namespace varve::stores
