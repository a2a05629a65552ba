#include "query/cursor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/hash.h"
#include "base/ids.h"
#include "base/time.h"

namespace varve::query {

namespace {

constexpr std::string_view kVersion = "v1";
constexpr size_t kFieldCount = 10;
constexpr size_t kCursorBytes = 128;  // of most, without ids
constexpr char kBetweenSessions = '_';
constexpr char kBeforeRows = '-';

void append_digits(std::string* out, uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  out->append(digits.data(), end);
}

void append_hex(std::string* out, uint64_t value) {
  out->push_back('.');
  append_digits(out, value);
}

std::optional<uint64_t> parse_hex(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool is_right = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return is_right ? std::optional(value) : std::nullopt;
}

// No cursor that was given out has another time, and sums with one may overflow.
bool is_time(int64_t time_ms) { return time_ms >= kFirstMs && time_ms <= kLastMs; }

bool is_id_or_empty(std::string_view text) { return text.empty() || is_valid_id(text); }

}  // namespace

uint64_t row_end_key(std::string_view session_id) { return hash64(session_id); }

// No id holds a '#', so that no session has this for its own.
uint64_t vector_end_key(std::string_view session_id) {
  return hash64(std::string(session_id) + "#vectors");
}

uint64_t seq_end_key(std::string_view session_id) {
  return hash64(std::string(session_id) + "#seq");
}

uint64_t last_seq_key(std::string_view session_id) {
  return hash64(std::string(session_id) + "#last");
}

// No id holds a dot.
std::string format_cursor(const Cursor& cursor) {
  std::string text;
  text.reserve(kCursorBytes + cursor.last_id.size() + cursor.session_id.size() + cursor.id.size());
  text.append(kVersion);
  append_hex(&text, cursor.query_hash);
  append_hex(&text, static_cast<uint64_t>(cursor.now_ms));
  append_hex(&text, std::bit_cast<uint64_t>(cursor.best_match));
  append_hex(&text, std::bit_cast<uint64_t>(cursor.key));
  append_hex(&text, static_cast<uint64_t>(cursor.timestamp_ms));
  text.append(1, '.').append(cursor.last_id);
  text.append(1, '.').append(cursor.session_id);
  text.append(1, '.').append(cursor.id).append(1, '.');
  for (const auto& [session, rows] : cursor.row_ends) {
    if (text.back() != '.') text.push_back(kBetweenSessions);
    append_digits(&text, session);
    text.push_back(kBeforeRows);
    append_digits(&text, rows);
  }
  return text;
}

namespace {

using Fields = std::array<std::string_view, kFieldCount>;

// False unless there are as many.
bool split_fields(std::string_view text, Fields* fields) {
  for (std::string_view& field : *fields) {
    const size_t dot = text.find('.');
    const bool is_last = &field == &fields->back();
    if (is_last != (dot == std::string_view::npos)) return false;
    field = text.substr(0, dot);
    if (!is_last) text.remove_prefix(dot + 1);
  }
  return true;
}

// False for what format_cursor() does not write.
bool parse_row_ends(std::string_view text, RowEnds* row_ends) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(kBetweenSessions), text.size());
    const std::string_view one = text.substr(0, end);
    const size_t middle = one.find(kBeforeRows);
    if (middle == std::string_view::npos) return false;
    const auto session = parse_hex(one.substr(0, middle));
    const auto rows = parse_hex(one.substr(middle + 1));
    if (!session || !rows) return false;
    row_ends->emplace(*session, *rows);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

}  // namespace

std::optional<Cursor> parse_cursor(std::string_view text) {
  Fields fields;
  if (!split_fields(text, &fields) || fields[0] != kVersion) return std::nullopt;
  std::array<uint64_t, 5> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_hex(fields[i + 1]);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  Cursor cursor;
  cursor.query_hash = numbers[0];
  cursor.now_ms = static_cast<int64_t>(numbers[1]);
  cursor.best_match = std::bit_cast<double>(numbers[2]);
  cursor.key = std::bit_cast<double>(numbers[3]);
  cursor.timestamp_ms = static_cast<int64_t>(numbers[4]);
  cursor.last_id = fields[6];
  cursor.session_id = fields[7];
  cursor.id = fields[8];
  if (!is_time(cursor.now_ms) || !is_time(cursor.timestamp_ms) ||
      !std::isfinite(cursor.best_match) || !std::isfinite(cursor.key) ||
      !is_id_or_empty(cursor.last_id) || !is_id_or_empty(cursor.session_id) ||
      !is_id_or_empty(cursor.id) || !parse_row_ends(fields[9], &cursor.row_ends)) {
    return std::nullopt;
  }
  return cursor;
}

}  // namespace varve::query
