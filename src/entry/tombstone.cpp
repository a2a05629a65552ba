#include "entry/tombstone.h"

#include "base/time.h"
#include "entry/checksum.h"
#include "entry/fields.h"
#include "json/canonical.h"

namespace varve::entry {
namespace {

Status read_members(std::string_view line, json::Value root, Tombstone* out) {
  const FieldReader fields(line, Rules::kLenient);
  if (!root.is_object()) return fields.invalid(root, "the line must be a JSON object");
  bool sealed = false;
  VARVE_TRY(verify_checksum(line, root, &sealed));
  const auto id = root.find("id");
  if (!id) return fields.missing(root, "id");
  VARVE_TRY(fields.read_id(*id, &out->id));
  out->reason.clear();
  if (const auto reason = root.find("reason")) {
    if (!reason->is_string()) return fields.invalid(*reason, "must be a string");
    out->reason = reason->text();
  }
  out->timestamp_ms = 0;
  if (const auto timestamp = root.find("timestamp")) {
    VARVE_TRY(fields.read_time(*timestamp, &out->timestamp_ms));
  }
  return {};
}

}  // namespace

Status check_reason(std::string_view reason) {
  if (reason.size() <= kReasonBytesMax) return {};
  return {Code::kInvalidArgument,
          "a reason is at most 1024 bytes",
          {.member = "reason", .size = reason.size(), .limit = kReasonBytesMax}};
}

std::string seal_tombstone(const Tombstone& tombstone) {
  std::string line = "{";
  const size_t checksum_at = line.size();
  append_blank_checksum(line);
  line += "\"id\":";
  json::append_string(tombstone.id, line);
  line += ",\"reason\":";
  json::append_string(tombstone.reason, line);
  line += ",\"timestamp\":";
  json::append_string(format_rfc3339(tombstone.timestamp_ms), line);
  line += '}';
  fill_checksum(0, checksum_at, line);
  line += '\n';
  return line;
}

Status read_tombstone(std::string_view line, json::Document& scratch, Tombstone* out) {
  if (auto status = scratch.parse(line); !status.ok()) return as_corruption(std::move(status));
  return as_corruption(read_members(line, scratch.root(), out));
}

}  // namespace varve::entry
