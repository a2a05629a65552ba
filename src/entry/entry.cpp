#include "entry/entry.h"

#include "base/sha256.h"
#include "entry/checksum.h"
#include "entry/content_key.h"
#include "entry/fields.h"
#include "json/tree.h"

namespace varve::entry {
namespace {

constexpr uint32_t kLineDepthMax = 128;

// What may be absent gets its default; the lists are overwritten in place.
void set_defaults(EntryFacts* facts) {
  facts->expires_at_ms = kNeverExpires;
  facts->importance = 0.5;
  facts->seq = kNoSeq;
  facts->batch = {};
  facts->sealed = false;
  facts->relations.clear();
  facts->trace_id.clear();
}

Status read_needed(const FieldReader& fields, json::Value root, EntryFacts* facts) {
  const auto id = root.find("id");
  if (!id) return fields.missing(root, "id");
  VARVE_TRY(fields.read_id(*id, &facts->id));
  const auto type = root.find("type");
  if (!type) return fields.missing(root, "type");
  VARVE_TRY(fields.read_type(*type, &facts->type));
  const auto timestamp = root.find("timestamp");
  if (!timestamp) return fields.missing(root, "timestamp");
  VARVE_TRY(fields.read_time(*timestamp, &facts->timestamp_ms));
  const auto content = root.find("content");
  if (!content) return fields.missing(root, "content");
  read_content_keys(*content, &facts->content_keys);
  return {};
}

Status read_optional(const FieldReader& fields, json::Value root, EntryFacts* facts) {
  if (const auto value = root.find("expires_at")) {
    VARVE_TRY(fields.read_time(*value, &facts->expires_at_ms));
  }
  if (const auto value = root.find("importance")) {
    VARVE_TRY(fields.read_fraction(*value, &facts->importance));
  }
  if (const auto value = root.find("seq")) VARVE_TRY(fields.read_seq(*value, &facts->seq));
  if (const auto value = root.find("batch")) VARVE_TRY(fields.read_batch(*value, &facts->batch));
  if (const auto value = root.find("trace_id")) {
    VARVE_TRY(fields.read_trace(*value, &facts->trace_id));
  }
  return {};
}

Status read_lists(const FieldReader& fields, json::Value root, EntryFacts* facts) {
  if (const auto value = root.find("tags")) {
    VARVE_TRY(fields.read_tags(*value, &facts->tags));
  } else {
    facts->tags.clear();
  }
  if (const auto value = root.find("references")) {
    VARVE_TRY(fields.read_references(*value, &facts->references));
  } else {
    facts->references.clear();
  }
  if (const auto value = root.find("relations")) {
    VARVE_TRY(fields.read_relations(*value, &facts->relations));
  }
  return {};
}

// A wrong checksum goes before a later version: a damaged version number must cost one line, not
// the whole file. A later version that changes the checksum will not call it sha256.
Status check_whole(std::string_view line, const FieldReader& fields, json::Value root,
                   bool* sealed) {
  const auto version = root.find("schema_version");
  const auto checksum = root.find("checksum");
  const bool is_foreign = checksum && !checksum->text().starts_with("sha256:");
  if (version && is_foreign) VARVE_TRY(fields.check_schema_version(*version));
  VARVE_TRY(verify_checksum(line, root, sealed));
  if (version) VARVE_TRY(fields.check_schema_version(*version));
  return {};
}

}  // namespace

void EntryFacts::clear() {
  id.clear();
  type.clear();
  timestamp_ms = 0;
  tags.clear();
  references.clear();
  content_keys.clear();
  set_defaults(this);
}

json::Limits line_limits() {
  json::Limits limits;
  limits.depth_max = kLineDepthMax;
  limits.number_chars_max = std::numeric_limits<uint32_t>::max();
  limits.members_max = std::numeric_limits<uint32_t>::max();
  return limits;
}

Status read_line(std::string_view line, json::Document& scratch, EntryFacts* facts) {
  set_defaults(facts);
  if (auto status = scratch.parse(line, line_limits()); !status.ok()) {
    return as_corruption(std::move(status));
  }
  const FieldReader fields(line, Rules::kLenient);
  const json::Value root = scratch.root();
  if (!root.is_object()) {
    return as_corruption(fields.invalid(root, "the line must be a JSON object"));
  }
  auto status = check_whole(line, fields, root, &facts->sealed);
  if (status.ok()) status = read_needed(fields, root, facts);
  if (status.ok()) status = read_optional(fields, root, facts);
  if (status.ok()) status = read_lists(fields, root, facts);
  return as_corruption(std::move(status));
}

Result<LineIdentity> read_identity(std::string_view line, json::Document& scratch) {
  VARVE_TRY(as_corruption(scratch.parse(line, line_limits())));
  const FieldReader fields(line, Rules::kLenient);
  const json::Value root = scratch.root();
  const auto id = root.is_object() ? root.find("id") : std::nullopt;
  if (!id) return as_corruption(fields.invalid(root, "the line must be an entry with an id"));
  LineIdentity identity;
  VARVE_TRY(as_corruption(fields.read_id(*id, &identity.id)));
  if (const auto expiry = root.find("expires_at")) {
    VARVE_TRY(as_corruption(fields.read_time(*expiry, &identity.expires_at_ms)));
  }
  return identity;
}

Result<std::string> reseal(std::string_view line, json::Document& scratch, EntryFacts* facts) {
  if (auto status = scratch.parse(line, line_limits()); !status.ok()) {
    return as_corruption(std::move(status));
  }
  if (!scratch.root().is_object()) return Status(Code::kCorruption, "the line is no JSON object");
  json::Tree tree = json::Tree::from(scratch.root());
  tree.erase("checksum");
  const std::string bare = tree.canonical();
  tree.set("checksum", json::Tree::string("sha256:" + to_hex(sha256(bare))));
  std::string sealed = tree.canonical();
  VARVE_TRY(read_line(sealed, scratch, facts));
  return sealed;
}

}  // namespace varve::entry
