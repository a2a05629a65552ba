// The checksum member of a line: "sha256:" and the SHA-256 of the canonical line without it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/document.h"

namespace varve::entry {

// The length [bytes] of  "checksum":"sha256:<64 digits>",
inline constexpr size_t kChecksumMemberBytes = 19 + 64 + 2;

// Appends the member with its comma and room for the digits. Another member must follow.
void append_blank_checksum(std::string& line);

// Writes the digits into the member at `member_at` of `text`. The line that begins at `line_at`
// must be complete, except for its newline.
void fill_checksum(size_t line_at, size_t member_at, std::string& text);

// Compares a line, and `root` parsed from it, with the checksum in the line. Sets *sealed to
// whether there was one. A line that is not canonical is compared in its canonical form.
// errors: kCorruption.
Status verify_checksum(std::string_view line, json::Value root, bool* sealed);

}  // namespace varve::entry
