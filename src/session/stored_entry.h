// Whether an entry that is to be added is there already, and is the same.
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
  kOther,       // the id is another entry's
  kDeleted,     // the id was used, and is for good
  kUnreadable,  // the line of that id is damaged
};

// Why an entry of this standing is not added: only of the last three.
[[nodiscard]] std::string refusal_of(Standing standing);

// Looks up `id`, expired entries too; `is_same` is asked about the line that is stored.
Result<Standing> find_standing(Core& core, std::string_view id,
                               const std::function<bool(std::string_view line)>& is_same);

// Whether adding `text` to the session gave what `line` says, apart from what is given here (seq,
// batch, checksum) and from a time that `text` does not tell.
bool is_same_entry(std::string_view line, std::string_view text, entry::DraftOptions options,
                   IdGenerator& ids, json::Document& scratch);

}  // namespace varve::session
