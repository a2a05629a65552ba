// Members that plain drafts and plain lines have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"
#include "entry/entry.h"
#include "json/plain.h"

namespace varve::entry {

// False, as from the reader's own functions: it is absent, or must be read the long way.
[[nodiscard]] inline bool take_text(json::PlainReader& reader, bool (*is_valid)(std::string_view),
                                    std::string* out) {
  std::string_view text;
  if (!reader.take_ascii(&text) || !is_valid(text)) return false;
  *out = text;
  return true;
}

[[nodiscard]] inline bool take_time(json::PlainReader& reader, int64_t* out_ms) {
  std::string_view text;
  if (!reader.take_ascii(&text)) return false;
  const auto time_ms = parse_rfc3339(text);
  *out_ms = time_ms.value_or(0);
  return time_ms.has_value();
}

[[nodiscard]] inline bool take_schema_version(json::PlainReader& reader) {
  static_assert(kSchemaVersion == 1);
  std::string_view token;
  return reader.take_number(&token) && token == "1";
}

[[nodiscard]] inline bool skip_text(json::PlainReader& reader) {
  std::string_view text;
  return reader.take_ascii(&text);
}

[[nodiscard]] inline bool skip_number(json::PlainReader& reader) {
  std::string_view token;
  return reader.take_number(&token);
}

}  // namespace varve::entry
