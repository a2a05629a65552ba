// Format: the text that a model is given, put together from items.
//
// markdown, plain   one block between marks, a line for each item under the day it is of
// json              an object with a notice and one object for each item
// chat              messages: what is recalled as one block, the newest turns as they were said
//
// Whatever an entry holds stays inside its place: lines after its first are indented by four, the
// marks stand at the start of a line and are longer than any run of their character in the items,
// JSON strings are JSON strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "context/candidates.h"
#include "context/entry_text.h"
#include "context/request.h"
#include "context/sessions.h"

namespace varve::context {

// One entry as a part of the text.
struct Item {
  std::string id;
  Source source = Source::kRecalled;
  Speaker speaker = Speaker::kOther;
  int64_t timestamp_ms = 0;
  EntryKey key = 0;
  // Where other sessions are asked as well: it is one of the session that the context is of, and
  // the text says so.
  bool says_this_session = false;
  // As messages of a chat: the call that a result stands behind, else the entry itself.
  int64_t turn_ms = 0;
  EntryKey turn_key = 0;
  // Of a tool's entry: the ids of the calls that it makes, or has the results of. Empty where it
  // has none.
  std::vector<std::string> call_ids;
  bool is_one_result = false;  // of one call, and nothing is said beside it
  bool is_callable = false;    // each of its calls names a tool
  double rank = 0;
  std::string piece;    // with what separates it from the next one
  std::string heading;  // what stands above the first item of its kind; may be empty
  uint64_t tokens = 0;  // of the piece
};

// Whether an item makes calls of tools that await their results, or has results.
[[nodiscard]] inline bool is_call(const Item& item) noexcept {
  return !item.call_ids.empty() && item.speaker != Speaker::kTool;
}
[[nodiscard]] inline bool is_result(const Item& item) noexcept {
  return !item.call_ids.empty() && item.speaker == Speaker::kTool;
}

// Whether an item becomes messages of its own.
[[nodiscard]] constexpr bool is_message(Format format, Source source) noexcept {
  return format == Format::kChat && source == Source::kRecent;
}

// What the text of an item depends on beside its entry: token counts are kept under both.
[[nodiscard]] uint64_t piece_kind(Format format, Source source, bool says_this_session = false);

// Sets piece and heading from the entry and the item's other members.
void write_piece(Format format, const EntryText& entry, Item* item);

// Gives a result that is a message, and the only one of its item, the id of its call.
void set_call_id(const std::string& call_id, Item* result);

// The part as it will stand in the whole text, which is what is counted: in a message of JSON it is
// a JSON string.
[[nodiscard]] std::string counted_form(Format format, Source source, std::string part);

// What stands once around all items with a heading, beside the frame that every text has: in `chat`
// the message that has them. Empty for the other formats.
[[nodiscard]] std::string frame_of_block(Format format);

// The whole text of items that are in order; of none, the frame that every text has. Items with the
// same heading stand together: it is written above the first of them.
[[nodiscard]] std::string put_together(Format format, const std::vector<const Item*>& items);

// Formats whose text is lines: what put_together() writes beside the items' headings and pieces.
// Nothing for the other formats.
[[nodiscard]] std::optional<std::string> frame_of(Format format,
                                                  const std::vector<const Item*>& items);

// The order of the text: pinned items, then the others; each by time, then by place in the log. But
// of one day, what says that it is of this session comes last. In `chat` what is recalled comes
// before what is recent, and there results behind their call.
[[nodiscard]] bool stands_before(Format format, const Item& a, const Item& b);

}  // namespace varve::context
