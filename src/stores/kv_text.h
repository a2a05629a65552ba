// KvText: the text of kv.json, keys with their values, the one that was set longest ago first.
//
//   {
//     "cap": 200,
//     "entries": [
//       { "key": "user_name", "value": "sachi", "ts": "2025-04-15T10:30:01Z" }
//     ]
//   }
//
// Pure functions: session/key_value.h has them on a file. docs/format.md#kv.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve::stores {

struct KvEntry {
  std::string key;
  std::string value;
  std::string timestamp;  // RFC 3339
  friend bool operator==(const KvEntry&, const KvEntry&) = default;
};

struct KvContents {
  std::vector<KvEntry> entries;  // keys are unique: of one that stands twice, the last
  std::string damage;            // what is wrong with the text; empty: nothing
};

// Reads any text. What is right in it is taken, also from a text that is not JSON as a whole: each
// entry stands on a line of its own.
KvContents parse_kv(std::string_view text);

std::string format_kv(uint64_t cap, const std::vector<KvEntry>& entries);

// nullptr when there is none.
const KvEntry* find_key(const std::vector<KvEntry>& entries, std::string_view key);
// Takes the key away; whether it was there.
bool erase_key(std::vector<KvEntry>& entries, std::string_view key);
// The key with this value is the last one afterwards.
void set_key(std::vector<KvEntry>& entries, KvEntry entry);
// The first ones go until there are no more than `cap`.
void evict(std::vector<KvEntry>& entries, uint64_t cap);

}  // namespace varve::stores
