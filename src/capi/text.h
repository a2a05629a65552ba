// Text across the ABI: checked on the way in, owned by the caller on the way out.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "varve/base.h"

namespace varve::capi {

// kInvalidArgument for an argument of a call; the message is its name and `what`.
Status bad_argument(std::string_view name, std::string_view what);

// The functions below return the text, borrowed from the caller; messages call it `name`. All
// refuse NULL with a length, and impossible lengths: kInvalidArgument.

// For JSON and JSON lines: the parser checks their UTF-8 and tells the offset.
Result<std::string_view> json_in(const char* text, size_t len, std::string_view name);
// The same for optional text: NULL with VARVE_NUL_TERMINATED is also the empty text.
Result<std::string_view> optional_json_in(const char* text, size_t len, std::string_view name);
// Plain text: ids, formats, reasons, paths. kInvalidArgument with the offset unless it is UTF-8.
Result<std::string_view> text_in(const char* text, size_t len, std::string_view name);
Result<std::string_view> optional_text_in(const char* text, size_t len, std::string_view name);

// A pair of outs that the caller will own. They are cleared on construction, so that every return
// has written them. Both may be NULL.
class TextOut {
 public:
  TextOut(char** text_out, size_t* len_out) noexcept;
  TextOut(const TextOut&) = delete;
  TextOut& operator=(const TextOut&) = delete;
  ~TextOut();

  // Reserves memory for a text of up to `len` bytes, so that set() cannot fail for lack of it.
  Status reserve(size_t len);
  Status set(std::string_view text);
  Status set(Result<json::Tree> document);  // canonical

  // Instead of set(), for a text too large to be in memory twice: begin() with nothing, whatever
  // was appended before; append() piece by piece; give() once, at the end.
  void begin() noexcept { size_ = 0; }
  Status append(std::string_view piece);
  Status give();

 private:
  Status make_room(size_t len);

  char** text_out_;
  size_t* len_out_;
  char* reserved_ = nullptr;
  size_t reserved_len_ = 0;
  size_t size_ = 0;  // of what was appended
};

}  // namespace varve::capi
