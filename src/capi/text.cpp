#include "capi/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace varve::capi {
namespace {

Result<std::string_view> checked_utf8(Result<std::string_view> text, std::string_view name) {
  if (!text.ok()) return text;
  const auto offset = find_invalid_utf8(*text);
  if (!offset) return text;
  return Status(Code::kInvalidArgument,
                std::string(name) + " is not valid UTF-8 at byte " + std::to_string(*offset),
                {.member = std::string(name), .offset = *offset});
}

// With room for a NUL, and by malloc, since varve_free() is free().
char* allocate_text(size_t len) { return static_cast<char*>(std::malloc(len + 1)); }
char* resize_text(char* text, size_t len) {
  return static_cast<char*>(std::realloc(text, len + 1));
}

Status no_memory(size_t len) {
  return {Code::kNoMemory, "not enough memory for the answer", {.size = len}};
}

}  // namespace

Status bad_argument(std::string_view name, std::string_view what) {
  return Status(Code::kInvalidArgument, std::string(name) + " " + std::string(what),
                {.member = std::string(name)});
}

Result<std::string_view> json_in(const char* text, size_t len, std::string_view name) {
  if (text == nullptr) {
    if (len == 0) return std::string_view();
    return bad_argument(name, "is NULL, but its length is not 0");
  }
  if (len == VARVE_NUL_TERMINATED) return std::string_view(text);
  if (len > static_cast<size_t>(PTRDIFF_MAX)) {
    return bad_argument(name, "has a length that no text can have: a negative number, perhaps");
  }
  return std::string_view(text, len);
}

Result<std::string_view> optional_json_in(const char* text, size_t len, std::string_view name) {
  if (text == nullptr && len == VARVE_NUL_TERMINATED) return std::string_view();
  return json_in(text, len, name);
}

Result<std::string_view> text_in(const char* text, size_t len, std::string_view name) {
  return checked_utf8(json_in(text, len, name), name);
}

Result<std::string_view> optional_text_in(const char* text, size_t len, std::string_view name) {
  return checked_utf8(optional_json_in(text, len, name), name);
}

TextOut::TextOut(char** text_out, size_t* len_out) noexcept
    : text_out_(text_out), len_out_(len_out) {
  if (text_out_ != nullptr) *text_out_ = nullptr;
  if (len_out_ != nullptr) *len_out_ = 0;
}

TextOut::~TextOut() { std::free(reserved_); }

Status TextOut::reserve(size_t len) {
  if (text_out_ == nullptr) return {};
  reserved_ = allocate_text(len);
  reserved_len_ = len;
  return reserved_ != nullptr ? Status() : no_memory(len);
}

Status TextOut::set(std::string_view text) {
  if (text_out_ != nullptr) {
    if (reserved_ == nullptr || text.size() > reserved_len_) {
      std::free(std::exchange(reserved_, nullptr));
      VARVE_TRY(reserve(text.size()));
    }
    std::memcpy(reserved_, text.data(), text.size());
    reserved_[text.size()] = '\0';
    *text_out_ = std::exchange(reserved_, nullptr);
  }
  if (len_out_ != nullptr) *len_out_ = text.size();
  return {};
}

// Twice as much each time; memory that nothing is written to is not taken yet.
Status TextOut::make_room(size_t len) {
  if (reserved_ != nullptr && len <= reserved_len_) return {};
  const size_t wanted = std::max(len, 2 * reserved_len_);
  char* const grown = resize_text(reserved_, wanted);
  if (grown == nullptr) return no_memory(wanted);
  reserved_ = grown;
  reserved_len_ = wanted;
  return {};
}

Status TextOut::append(std::string_view piece) {
  if (text_out_ != nullptr) {
    VARVE_TRY(make_room(size_ + piece.size()));
    std::copy(piece.begin(), piece.end(), reserved_ + size_);
  }
  size_ += piece.size();
  return {};
}

Status TextOut::give() {
  if (text_out_ != nullptr) {
    VARVE_TRY(make_room(size_));
    reserved_[size_] = '\0';
    char* const fitting = resize_text(reserved_, size_);
    *text_out_ = fitting != nullptr ? fitting : reserved_;
    reserved_ = nullptr;
  }
  if (len_out_ != nullptr) *len_out_ = size_;
  return {};
}

Status TextOut::set(Result<json::Tree> document) {
  if (!document.ok()) return std::move(document).status();
  return set(document->canonical());
}

}  // namespace varve::capi
