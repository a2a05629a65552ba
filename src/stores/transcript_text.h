// TranscriptText: the text of transcript.md, what was said, the oldest first.
//
//   ### user — 2025-04-15T10:30:01Z
//
//   Hello, tell me about your memory system.
//
//   ### assistant — 2025-04-15T10:30:05Z
//
//   I can store key-value pairs.
//
// An entry is its header, a blank line, and its content with a line end behind it. Escapes keep
// content from being taken for anything else; two of them are also what tells a whole entry from
// one of which an append was cut short by a crash:
//   - A line end inside content has two blanks before it (a line break in Markdown), the one behind
//     it has not. So no beginning of an entry looks like an entry.
//     Where content ends in two blanks, the second is written as \u0020.
//   - There is no NUL in the file, since that is what a file system shows of bytes it lost. NUL is
//     written as \u0000. Backslashes that content has before u0000 or u0020, or before a NUL, are
//     doubled.
//   - A line of content that begins with "### ", behind any number of backslashes, gets one more.
//
// Pure functions: session/transcript.h has them on a file. docs/format.md#transcript.md.
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
  std::vector<TranscriptDamage> damaged;  // passed over, in order
  // The end that is not whole: an append that is being made, or never was finished. 0: none.
  uint64_t torn_bytes = 0;
  // Whether an entry can be appended to the text as it is.
  bool ends_whole = true;
};

// Reads any text. An entry that was edited by hand need not be escaped, as long as no line of its
// content looks like a header.
TranscriptContents parse_transcript(std::string_view text);

// Header, blank line, content, line end. Between two entries stands one more line end.
std::string format_entry(const TranscriptEntry& entry);
std::string format_transcript(const std::vector<TranscriptEntry>& entries);

// Where the first header behind a line end begins: of a piece of a transcript, the part that can be
// read. npos: there is none.
size_t find_header(std::string_view text);

// 1 to 128 bytes of UTF-8 without control characters, and no blank at either end.
bool is_valid_role(std::string_view role);

}  // namespace varve::stores
