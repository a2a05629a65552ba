// A message as chat programs write it: {"role","content",...}.
//
// The log keeps a message as an entry with the role beside the text in its content, where queries
// look. What is read back has the form that was given.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"

namespace varve::memory {

// Reads a message. "content" is required. "role", if given, is one line of text. "timestamp" may
// have any form of RFC 3339; the result has ours. Other members are kept as they came.
// errors: kInvalidArgument with member and offset.
Result<json::Tree> read_message(std::string_view text);

// The entry for a message: its content has "role" and "message"; its type is that of the message,
// else what an import makes of it if there is a role, and "observation" if not.
[[nodiscard]] json::Tree entry_of_message(json::Tree message);

// The message of a stored entry, without what the log adds (seq, checksum, batch, ...).
// errors: kCorruption when the line is no JSON object.
Result<json::Tree> message_of_entry(std::string_view line);

// "role: content" and a line end, for a prompt. Calls of tools follow the content. Further lines of
// the content are indented by two spaces, so that none looks like another message. Without a role,
// the type takes its place.
[[nodiscard]] std::string prompt_line(const json::Tree& message);

}  // namespace varve::memory
