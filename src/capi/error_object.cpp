#include "capi/error_object.h"

#include <memory>

#include "base/utf8.h"
#include "capi/guard.h"
#include "json/tree.h"

namespace varve::capi {
namespace {

// The token of an error in a slot that the table never reaches, with the code as its generation.
constexpr Token kReservedBase = uint64_t{0x56} << 56 | uint64_t{0xFFFFFF} << 4 |
                                uint64_t{static_cast<uint8_t>(HandleType::kError)} << 1 | 1;
constexpr Token kReservedMask = ~(uint64_t{0xFF} << 28);

// Controls (C0, DEL, C1) and separators of lines, which a terminal obeys.
bool is_control(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029;
}

// Marks of direction and of encoding, which make a text read as something else.
bool is_mark(uint32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x061C ||
         c == 0x200E || c == 0x200F || c == 0xFEFF;
}

// Makes well-formed UTF-8 of it, whatever came in from a file's name or foreign text, with a blank
// for each character that `is_unsafe`.
template <typename IsUnsafe>
std::string readable(std::string_view text, IsUnsafe is_unsafe) {
  const std::string formed = well_formed_utf8(text);
  std::string out;
  out.reserve(formed.size());
  for (std::string_view rest = formed; !rest.empty();) {
    const std::string_view before = rest;
    const auto character = take_code_point(rest);
    if (!character) break;
    if (is_unsafe(*character)) {
      out += ' ';
    } else {
      out += before.substr(0, before.size() - rest.size());
    }
  }
  return out;
}

// Of one line, for a person.
std::string readable_line(std::string_view text) {
  return readable(text, [](uint32_t c) { return is_control(c) || is_mark(c); });
}

// For a program, which may look for the file of that name: names of files may have marks.
std::string readable_name(std::string_view text) { return readable(text, is_control); }

}  // namespace

varve_status_t public_status(Code code) noexcept {
  switch (code) {
    case Code::kConflict: return VARVE_BUSY;
    case Code::kGone:
    case Code::kUnknown: return VARVE_IO;
    default: return static_cast<varve_status_t>(code);
  }
}

std::string details_of(const Place& place) {
  json::Tree details = json::Tree::object();
  if (!place.path.empty()) details.set("path", json::Tree::string(readable_name(place.path)));
  if (!place.member.empty()) {
    details.set("member", json::Tree::string(readable_name(place.member)));
  }
  if (place.offset) details.set("offset", json::Tree::integer_unsigned(*place.offset));
  if (place.line) details.set("line", json::Tree::integer_unsigned(*place.line));
  if (place.size) details.set("size", json::Tree::integer_unsigned(*place.size));
  if (place.limit) details.set("limit", json::Tree::integer_unsigned(*place.limit));
  if (place.os_errno != 0) details.set("errno", json::Tree::integer(place.os_errno));
  return details.canonical();
}

ErrorRecord::ErrorRecord(const Status& failure)
    : status_(public_status(failure.code())),
      message_(readable_line(failure.message())),
      details_(details_of(failure.place())) {}

Token make_error(const Status& failure) noexcept {
  try {
    const auto token = HandleTable::of_process().open(std::make_shared<ErrorRecord>(failure));
    if (token.ok()) return *token;
  } catch (...) {  // no memory: the reserved error says so
  }
  return reserved_error(public_status(failure.code()));
}

Token reserved_error(varve_status_t status) noexcept {
  return kReservedBase | (static_cast<uint64_t>(status) & 0xFF) << 28;
}

bool read_reserved_error(Token token, varve_status_t* status) noexcept {
  if ((token & kReservedMask) != kReservedBase) return false;
  *status = static_cast<varve_status_t>(token >> 28 & 0xFF);
  return *status != VARVE_OK;
}

const char* reserved_message(varve_status_t status) noexcept {
  return status == VARVE_NO_MEMORY ? "memory ran out" : "no memory was left to describe this error";
}

varve_status_t report_defect(const char* what, varve_error_t** error_out) noexcept {
  try {
    return report(Status(Code::kInternal, std::string("a defect in varve, please report it: ") +
                                              (what == nullptr ? "" : what)),
                  error_out);
  } catch (...) {
    return report_without_memory(VARVE_INTERNAL, error_out);
  }
}

}  // namespace varve::capi
