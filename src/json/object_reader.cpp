#include "json/object_reader.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/time.h"
#include "base/utf8.h"
#include "json/canonical.h"

namespace varve::json {

namespace {

std::string member_prefix(const Place& place) {
  return place.member.empty() ? std::string() : "member '" + place.member + "': ";
}

std::string offset_suffix(const Place& place) {
  return " (at byte " + std::to_string(*place.offset) + ")";
}

std::string without_place(std::string message, const Place& place) {
  const std::string told = " at byte " + std::to_string(*place.offset);
  for (const std::string& suffix : {offset_suffix(place), " (in the object" + told + ")"}) {
    if (!message.ends_with(suffix)) continue;
    message.resize(message.size() - suffix.size());
    return message;
  }
  // The parser tells it before the member, whose name may be anything.
  if (const size_t at = message.find(told); at != std::string::npos) message.erase(at, told.size());
  return message;
}

}  // namespace

Status invalid_at(std::string_view text, Value value, std::string_view message) {
  Place place;
  place.member = value.document().path_of(value);
  place.offset = value.document().offset_of(value, text);
  std::string line = member_prefix(place) + std::string(message) + offset_suffix(place);
  return {Code::kInvalidArgument, std::move(line), std::move(place)};
}

Status without_offset(const Status& failure) {
  Place place = failure.place();
  if (!place.offset || !place.path.empty()) return failure;
  std::string message = without_place(failure.message(), place);
  place.offset.reset();
  return {failure.code(), std::move(message), std::move(place)};
}

Status at_place(const Status& failure, std::string member, uint64_t offset) {
  const Status bare = without_offset(failure);
  std::string_view message = bare.message();
  if (const std::string known = member_prefix(bare.place()); message.starts_with(known)) {
    message.remove_prefix(known.size());
  }
  Place place = bare.place();
  place.member = std::move(member);
  place.offset = offset;
  std::string line = member_prefix(place) + std::string(message) + offset_suffix(place);
  return {failure.code(), std::move(line), std::move(place)};
}

std::string not_a_choice(std::string_view name, std::string_view choices, std::string_view text) {
  std::string message = "the ";
  message.append(name).append(" is ").append(choices);
  return message.append(", not \"").append(shown(text)).append("\"");
}

ObjectReader::ObjectReader(std::string_view text, Value value) : text_(text), value_(value) {
  if (!value_.is_object()) fail(value_, "must be an object");
  members_.reserve(value_.is_object() ? value_.size() : 0);
  value_.for_each_member([this](std::string_view name, Value member) {
    members_.push_back({name, member, false});
    return true;
  });
}

// Members stand in canonical order.
std::optional<Value> ObjectReader::take(std::string_view name) {
  const auto found = std::lower_bound(members_.begin(), members_.end(), name,
                                      [](const Member& member, std::string_view wanted) {
                                        return compare_utf16(member.name, wanted) < 0;
                                      });
  if (found == members_.end() || found->name != name) return std::nullopt;
  found->is_taken = true;
  return found->value;
}

void ObjectReader::fail(Value at, std::string_view message) {
  if (failure_.ok()) failure_ = invalid_at(text_, at, message);
}

void ObjectReader::fail_inside(Value at, const Status& failure) {
  if (!failure_.ok()) return;
  const std::string& inner = failure.place().member;
  const std::string_view dot = inner.empty() || inner.starts_with('[') ? "" : ".";
  std::string member = at.document().path_of(at).append(dot).append(inner);
  failure_ = at_place(failure, std::move(member), at.document().offset_of(at, text_));
}

void ObjectReader::refuse_empty(std::span<const std::string_view> names, std::string_view message) {
  for (const Member& member : members_) {
    if (std::find(names.begin(), names.end(), member.name) == names.end()) continue;
    const Value value = member.value;
    const bool is_empty = value.is_string()
                              ? value.text().empty()
                              : (value.is_array() || value.is_object()) && value.size() == 0;
    if (is_empty) fail(value, message);
  }
}

void ObjectReader::read_bool(std::string_view name, bool* out) {
  const auto value = take(name);
  if (!value) return;
  if (!value->is_bool()) return fail(*value, "must be true or false");
  *out = value->as_bool();
}

void ObjectReader::read_uint(std::string_view name, uint64_t* out, uint64_t min, uint64_t max) {
  const auto value = take(name);
  if (!value) return;
  const std::optional<uint64_t> number = value->as_uint64();
  if (!number || *number < min || *number > max) {
    return fail(*value,
                "must be an integer from " + std::to_string(min) + " to " + std::to_string(max));
  }
  *out = *number;
}

void ObjectReader::read_double(std::string_view name, double* out, double min, double max) {
  const auto value = take(name);
  if (!value) return;
  const double number = value->as_double();
  if (!value->is_number() || number < min || number > max) {
    std::string message = "must be a number from ";
    append_double(min, message);
    message += " to ";
    append_double(max, message);
    return fail(*value, message);
  }
  *out = number;
}

void ObjectReader::read_string(std::string_view name, std::string* out) {
  const auto value = take(name);
  if (!value) return;
  if (!value->is_string()) return fail(*value, "must be a string");
  *out = value->text();
}

void ObjectReader::read_strings(std::string_view name, std::vector<std::string>* out) {
  const auto value = take(name);
  if (!value) return;
  if (!value->is_array()) return fail(*value, "must be an array of strings");
  std::vector<std::string> strings;
  strings.reserve(value->size());
  bool all_strings = true;
  value->for_each_item([&](Value item) {
    all_strings = item.is_string();
    if (!all_strings) fail(item, "must be a string");
    strings.emplace_back(item.text());
    return all_strings;
  });
  if (all_strings) *out = std::move(strings);
}

// `rule` ends what is said of one that is not valid: "'x' is not an id: ...".
void ObjectReader::read_valid_strings(std::string_view name, bool (*is_valid)(std::string_view),
                                      std::string_view rule, std::vector<std::string>* out) {
  const auto value = take(name);
  if (!value) return;
  read_strings(name, out);
  value->for_each_item([&](Value item) {
    const bool is_good = !item.is_string() || is_valid(item.text());
    if (!is_good) fail(item, "'" + shown(item.text()) + "' " + std::string(rule));
    return is_good;
  });
}

void ObjectReader::read_ids(std::string_view name, std::vector<std::string>* out) {
  read_valid_strings(name, is_valid_id,
                     "is not an id: 1 to 128 of A-Z a-z 0-9 _ -, not starting with -", out);
}

void ObjectReader::read_types(std::string_view name, std::vector<std::string>* out) {
  read_valid_strings(name, is_valid_type, "is not a type: [a-z][a-z0-9_]{0,31}", out);
}

void ObjectReader::read_time(std::string_view name, std::optional<int64_t>* out) {
  const auto value = take(name);
  if (!value) return;
  const auto time_ms = value->is_string() ? parse_rfc3339(value->text()) : std::nullopt;
  if (!time_ms) {
    return fail(*value, "must be an RFC 3339 time such as \"2026-01-10T14:23:45.678Z\"");
  }
  *out = time_ms;
}

std::optional<Value> ObjectReader::read_any(std::string_view name) { return take(name); }

std::optional<Value> ObjectReader::read_object(std::string_view name) {
  const auto value = take(name);
  if (!value) return std::nullopt;
  if (!value->is_object()) {
    fail(*value, "must be an object");
    return std::nullopt;
  }
  return value;
}

void ObjectReader::allow_unknown() {
  for (Member& member : members_) member.is_taken = true;
}

Status ObjectReader::finish() {
  if (!failure_.ok()) return failure_;
  for (const Member& member : members_) {
    if (!member.is_taken) fail(member.value, "is unknown");
  }
  return failure_;
}

Status with_example(const Status& failure, std::string_view text, std::string_view example) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool begins_object = first != std::string_view::npos && text[first] == '{';
  if (failure.code() != Code::kInvalidArgument || begins_object) return failure;
  return {failure.code(), failure.message() + "; " + std::string(example), Place(failure.place())};
}

}  // namespace varve::json
