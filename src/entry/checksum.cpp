#include "entry/checksum.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "entry/entry.h"
#include "entry/fields.h"
#include "json/canonical.h"
#include "json/raw.h"

namespace varve::entry {
namespace {

constexpr std::string_view kMemberStart = "\"checksum\":\"sha256:";
constexpr std::string_view kPrefix = "sha256:";
constexpr size_t kDigits = 64;
constexpr std::string_view kBlank = " \t\r\n";

static_assert(kMemberStart.size() + kDigits + 2 == kChecksumMemberBytes);

std::string_view trim(std::string_view line) noexcept {
  const size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlank) - begin + 1);
}

bool is_hex(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

// Compares without building a string, so that it can be noexcept.
bool equals_hex(const Sha256Digest& digest, std::string_view hex) noexcept {
  for (size_t i = 0; i < digest.size(); ++i) {
    if (hex[2 * i] != kHexDigits[digest[i] >> 4]) return false;
    if (hex[2 * i + 1] != kHexDigits[digest[i] & 15]) return false;
  }
  return true;
}

bool is_checksum(json::Value member) {
  const std::string_view text = member.text();
  return member.is_string() && text.starts_with(kPrefix) &&
         text.size() == kPrefix.size() + kDigits && is_hex(text.substr(kPrefix.size()));
}

// Whether they differ by one byte changed, lost or inserted.
bool is_nearly(std::string_view text, std::string_view wanted) noexcept {
  const size_t shorter = std::min(text.size(), wanted.size());
  const size_t longer = std::max(text.size(), wanted.size());
  size_t same = 0;
  while (same < shorter && text[same] == wanted[same]) ++same;
  for (size_t i = 1; same < shorter && i <= shorter - same; ++i) {
    if (text[text.size() - i] != wanted[wanted.size() - i]) return same + i == longer;
  }
  return longer - shorter == 1;
}

// Finds a checksum whose name was damaged, for example by a flipped bit: otherwise the line would
// count as one without a checksum. People leave it out or write its name correctly.
std::optional<json::Value> find_misnamed(json::Value root) {
  std::optional<json::Value> found;
  root.for_each_member([&found](std::string_view key, json::Value member) {
    if (!is_nearly(key, "checksum") || !is_checksum(member)) return true;
    found = member;
    return false;
  });
  return found;
}

void append_without_checksum(json::Value root, std::string& out) {
  out += '{';
  root.for_each_member([&out](std::string_view key, json::Value member) {
    if (key == "checksum") return true;
    if (out.back() != '{') out += ',';
    json::append_string(key, out);
    out += ':';
    json::append_canonical(member, out);
    return true;
  });
  out += '}';
}

}  // namespace

void append_blank_checksum(std::string& line) {
  line.append(kMemberStart).append(kDigits, '0').append("\",");
}

void fill_checksum(size_t line_at, size_t member_at, std::string& text) {
  const std::string_view whole = text;
  const auto digest = sha256(whole.substr(line_at, member_at - line_at),
                             whole.substr(member_at + kChecksumMemberBytes));
  write_hex(digest, text.data() + member_at + kMemberStart.size());
}

Seal check_seal(std::string_view line) noexcept {
  line = trim(line);
  size_t begin = std::string_view::npos;  // of the member
  const bool has_none = json::for_each_raw_member(line, [&](std::string_view name, auto) {
    if (name != "checksum") return true;
    begin = static_cast<size_t>(name.data() - line.data()) - 1;
    return false;
  });
  if (has_none) return Seal::kAbsent;
  if (begin == std::string_view::npos) return Seal::kWrong;
  const std::string_view member = line.substr(begin, kChecksumMemberBytes - 1);
  size_t end = begin + member.size();
  if (end >= line.size() || !member.starts_with(kMemberStart) || member.back() != '"') {
    return Seal::kWrong;
  }
  // One comma goes with the member: the one after it, or, for the last member, the one before.
  if (line[end] == ',') {
    ++end;
  } else if (line[end] == '}' && line[begin - 1] == ',') {
    --begin;
  } else if (line[end] != '}') {
    return Seal::kWrong;
  }
  const auto digest = sha256(line.substr(0, begin), line.substr(end));
  return equals_hex(digest, member.substr(kMemberStart.size(), kDigits)) ? Seal::kRight
                                                                         : Seal::kWrong;
}

Status verify_checksum(std::string_view line, json::Value root, bool* sealed) {
  *sealed = false;
  const auto checksum = root.find("checksum");
  if (!checksum) {
    const auto misnamed = find_misnamed(root);
    if (!misnamed) return {};
    return as_corruption(json::invalid_at(line, *misnamed, "is a checksum with a damaged name"));
  }
  const std::string_view text = checksum->text();
  if (!is_checksum(*checksum)) {
    return as_corruption(json::invalid_at(
        line, *checksum, "must be \"sha256:\" and 64 lower-case hexadecimal digits"));
  }
  if (check_seal(line) == Seal::kRight) {
    *sealed = true;
    return {};
  }
  std::string canonical;
  append_without_checksum(root, canonical);
  const auto digest = sha256(canonical);
  if (!equals_hex(digest, text.substr(kPrefix.size()))) {
    return as_corruption(json::invalid_at(
        line, *checksum, "does not match the line, whose checksum is sha256:" + to_hex(digest)));
  }
  *sealed = true;
  return {};
}

}  // namespace varve::entry
