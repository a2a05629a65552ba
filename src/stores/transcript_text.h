// TranscriptText: the text of transcript.md: what was said, oldest first.
//
//   ### user — 2025-04-15T10:30:01Z
//
//   Hello, tell me about your memory system.
//
//   ### assistant — 2025-04-15T10:30:05Z
//
//   I can store key-value pairs.
//
// An entry is a header, a blank line, and its content followed by a line end. Escapes keep content
// from being read as anything else. Two of them also tell a whole entry from one whose append was
// cut short by a crash:
//   - A line end inside content has two blanks before it (a line break in Markdown), the one
//     after content has none. So no beginning of an entry looks like a whole entry.
//     Where content ends in two blanks, the second is written as \u0020.
//   - The file has no NUL, because file systems show lost bytes as NUL. A NUL is written as \u0000.
//     Backslashes in content right before u0000, u0020 or a NUL are doubled.
//   - A line of content that begins with "### ", after any number of backslashes, gets one more.
//
// Pure functions; session/stores/transcript.h applies them to a file. docs/format.md#transcript.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve::stores {

struct TranscriptEntry {
  std::string role;
  std::string content;
  std::string timestamp;  // RFC 3339
  friend bool operator==(const TranscriptEntry&, const TranscriptEntry&) = default;
};

struct TranscriptDamage {
  uint64_t offset = 0;
  uint64_t length = 0;
  std::string reason;
};

struct TranscriptContents {
  std::vector<TranscriptEntry> entries;
  std::vector<TranscriptDamage> damaged;  // in order; they are passed over
  // Bytes of an incomplete end: of an append that is in progress or never finished. 0: none.
  uint64_t torn_bytes = 0;
  // Whether an entry can be appended directly to the text.
  bool ends_whole = true;
};

// Reads any text. An entry that was edited by hand need not be escaped, as long as no line of its
// content looks like a header.
TranscriptContents parse_transcript(std::string_view text);

// Header, blank line, content, line end. One more line end separates two entries.
std::string format_entry(const TranscriptEntry& entry);
std::string format_transcript(const std::vector<TranscriptEntry>& entries);

// Where the first header after a line end begins: in a piece of a transcript, what can be read
// begins there. npos: nowhere.
size_t find_header(std::string_view text);

// 1 to 128 bytes of UTF-8, without control characters and without a blank at either end.
bool is_valid_role(std::string_view role);

}  // namespace varve::stores
