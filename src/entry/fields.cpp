#include "entry/fields.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "base/ids.h"
#include "base/time.h"
#include "base/utf8.h"

namespace varve::entry {
namespace {

constexpr size_t kRelationCharsMax = 64;

constexpr std::string_view kIdRule =
    "must be an id: 1 to 128 of A-Z a-z 0-9 _ -, not starting with -";
constexpr std::string_view kTagRule =
    "must be a tag: 1 to 64 letters, marks and digits of any script and . _ : / -";

bool is_relation_name(std::string_view name) {
  if (name.empty() || name.size() > kRelationCharsMax) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == ':' || c == '-';
  });
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  while (take_code_point(text)) ++count;
  return count;
}

// The largest number when the member is absent or no such number.
uint64_t unsigned_member(json::Value object, std::string_view name) {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  const auto member = object.find(name);
  return member ? member->as_uint64().value_or(kNone) : kNone;
}

}  // namespace

Status FieldReader::read_id(json::Value value, std::string* out) const {
  if (!value.is_string() || !is_valid_id(value.text())) return invalid(value, kIdRule);
  *out = value.text();
  return {};
}

Status FieldReader::read_type(json::Value value, std::string* out) const {
  if (!value.is_string() || !is_valid_type(value.text())) {
    return invalid(value,
                   "must be a type such as \"message\": a lower-case letter, then up to 31 "
                   "of a-z 0-9 _");
  }
  *out = value.text();
  return {};
}

Status FieldReader::read_time(json::Value value, int64_t* out_ms) const {
  const auto time_ms = value.is_string() ? parse_rfc3339(value.text()) : std::nullopt;
  if (!time_ms) {
    return invalid(value, "must be an RFC 3339 time such as \"2026-01-10T14:23:45.678Z\"");
  }
  *out_ms = *time_ms;
  return {};
}

Status FieldReader::read_fraction(json::Value value, double* out) const {
  const double number = value.as_double();
  const bool in_range = number >= 0 && number <= 1;
  if (!value.is_number() || (rules_ == Rules::kStrict && !in_range)) {
    return invalid(value, "must be a number from 0 to 1");
  }
  *out = std::clamp(number, 0.0, 1.0);
  return {};
}

Status FieldReader::read_strings(json::Value value, bool (*is_valid)(std::string_view),
                                 std::string_view what, std::vector<std::string>* out) const {
  if (!value.is_array()) return invalid(value, "must be an array of strings");
  Status status;
  size_t count = 0;
  // Assigned in place, so that a reused vector's strings keep their memory.
  value.for_each_item([&](json::Value item) {
    if (!item.is_string() || (rules_ == Rules::kStrict && !is_valid(item.text()))) {
      status = invalid(item, item.is_string() ? what : "must be a string");
      return false;
    }
    if (count < out->size()) {
      (*out)[count] = item.text();
    } else {
      out->emplace_back(item.text());
    }
    ++count;
    return true;
  });
  out->resize(count);
  return status;
}

Status FieldReader::read_tags(json::Value value, std::vector<std::string>* out) const {
  return read_strings(value, is_valid_tag, kTagRule, out);
}

Status FieldReader::read_references(json::Value value, std::vector<std::string>* out) const {
  return read_strings(value, is_valid_id, kIdRule, out);
}

Status FieldReader::read_relations(json::Value value, std::vector<Relation>* out) const {
  out->clear();
  if (!value.is_object()) return invalid(value, "must be an object of arrays of ids");
  Status status;
  value.for_each_member([&](std::string_view name, json::Value ids) {
    if (rules_ == Rules::kStrict && !is_relation_name(name)) {
      status = invalid(ids, "the relation's name must be 1 to 64 of A-Z a-z 0-9 _ . : -");
      return false;
    }
    Relation& relation = out->emplace_back();
    relation.name = name;
    status = read_references(ids, &relation.ids);
    return status.ok();
  });
  return status;
}

Status FieldReader::read_trace(json::Value value, std::string* out) const {
  const std::string_view text = value.text();
  const bool has_length = !text.empty() && count_characters(text) <= kTraceCharsMax;
  if (!value.is_string() || (rules_ == Rules::kStrict && !has_length)) {
    return invalid(value, "must be a string of 1 to 128 characters");
  }
  *out = text;
  return {};
}

Status FieldReader::read_seq(json::Value value, uint64_t* out) const {
  const auto seq = value.as_uint64();
  if (!seq || *seq == kNoSeq || *seq > kSeqMax) {
    return invalid(value, "must be an integer from 1 to 2^53 - 1");
  }
  *out = *seq;
  return {};
}

Status FieldReader::read_batch(json::Value value, Batch* out) const {
  constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
  const uint64_t count = unsigned_member(value, "n");
  const uint64_t index = unsigned_member(value, "i");
  if (count > kMax || index >= count) {
    return invalid(value, "must be {\"i\":INDEX,\"n\":COUNT} with INDEX below COUNT");
  }
  *out = {static_cast<uint32_t>(count), static_cast<uint32_t>(index)};
  return {};
}

Status FieldReader::check_schema_version(json::Value value) const {
  if (value.kind() != json::Kind::kInteger || value.text().front() == '-') {
    return invalid(value, "must be an integer of at least 0");
  }
  const auto version = value.as_int64();
  if (version && *version <= kSchemaVersion) return {};
  const Status status =
      invalid(value, "the entry has format version " + std::string(value.text().substr(0, 20)) +
                         ", and this library reads up to " + std::to_string(kSchemaVersion) +
                         ": use a newer varve");
  return {Code::kFormatVersion, status.message(), status.place()};
}

Status FieldReader::missing(json::Value object, std::string_view name) const {
  Place place;
  place.member = object.document().path_of(object);
  place.member += place.member.empty() ? "" : ".";
  place.member += name;
  place.offset = object.document().offset_of(object, text_);
  std::string message = "member '" + place.member + "' is missing (in the object at byte " +
                        std::to_string(*place.offset) + ")";
  return {Code::kInvalidArgument, std::move(message), std::move(place)};
}

Status as_corruption(Status status) {
  if (status.ok() || status.code() == Code::kFormatVersion) return status;
  return {Code::kCorruption, status.message(), status.place()};
}

}  // namespace varve::entry
