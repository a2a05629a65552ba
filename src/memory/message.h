// The message: what is said, as chat programs write it: {"role","content",...}.
//
// The log keeps a message as an entry whose content has the role beside the text, which is what
// queries look at; what is read back has the form that was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"

namespace varve::memory {

// Reads a message. Needed: "content". "role", when given, is one line of text; "timestamp" is
// RFC 3339 in any form, here in ours. Other members are kept as they came.
// errors: kInvalidArgument with member and offset.
Result<json::Tree> read_message(std::string_view text);

// The entry that a message becomes: the role in the content, under "role" and "message", and a
// type: that of the message, else "message" with a role and "observation" without.
[[nodiscard]] json::Tree entry_of_message(json::Tree message);

// The message of a stored entry, without what the log keeps for itself (seq, checksum, batch, ...).
// errors: kCorruption when the line is no JSON object.
Result<json::Tree> message_of_entry(std::string_view line);

// "role: content" and a line end, for a prompt. Lines of the content after the first are indented
// by two spaces, so that none of them passes for another message. Without a role, the type speaks.
[[nodiscard]] std::string prompt_line(const json::Tree& message);

}  // namespace varve::memory
