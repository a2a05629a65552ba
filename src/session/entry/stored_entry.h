// Whether an entry to be added is stored already, and is the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "entry/entry.h"
#include "session/core.h"

namespace varve::session {

enum class Standing : uint8_t {
  kAbsent,
  kSame,
  kOther,       // the id belongs to another entry
  kDeleted,     // the id was used, and so is taken for good
  kUnreadable,  // the line of that id is damaged
};

// Why an entry of this standing is not added. Only for the last three.
[[nodiscard]] std::string refusal_of(Standing standing);

// Looks up `id`, also among expired entries; asks `is_same` about the stored line.
Result<Standing> find_standing(Core& core, std::string_view id,
                               const std::function<bool(std::string_view line)>& is_same);

// What is kept of an entry to compare others with.
struct EntryMark {
  uint64_t body_hash = 0;
  int64_t timestamp_ms = 0;
  int64_t expires_at_ms = 0;
};

EntryMark mark_of(const entry::Draft& draft);

// As is_same_entry(), for the line that was to be made of the entry with this mark.
bool is_same_entry(const EntryMark& mark, std::string_view text, entry::DraftOptions options,
                   IdGenerator& ids, json::Document& scratch);

// Whether `line` is what adding `text` to the session gives, apart from seq, batch and checksum,
// and from the time if `text` has none.
bool is_same_entry(std::string_view line, std::string_view text, entry::DraftOptions options,
                   IdGenerator& ids, json::Document& scratch);

}  // namespace varve::session
