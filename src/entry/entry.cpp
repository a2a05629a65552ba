#include "entry/entry.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "entry/checksum.h"
#include "entry/content_key.h"
#include "entry/fields.h"
#include "entry/plain_line.h"

namespace varve::entry {
namespace {

constexpr uint32_t kLineDepthMax = 128;

// Sets defaults for what may be absent; the lists are overwritten in place.
void set_defaults(EntryFacts* facts) {
  facts->expires_at_ms = kNeverExpires;
  facts->importance = 0.5;
  facts->seq = kNoSeq;
  facts->batch = {};
  facts->sealed = false;
  facts->relations.clear();
  facts->trace_id.clear();
}

// The members that are read, found in one pass.
struct Members {
  using Member = std::optional<json::Value>;
  Member batch, checksum, content, expires_at, id, importance, references, relations;
  Member schema_version, seq, tags, timestamp, trace_id, type;

  explicit Members(json::Value root) {
    size_t at = 0;  // in kNames, which have the order of the members
    root.for_each_member([&](std::string_view name, json::Value value) {
      while (at < kNames.size() && kNames[at].first < name) ++at;
      if (at < kNames.size() && kNames[at].first == name) this->*kNames[at].second = value;
      return true;
    });
  }

 private:
  using Name = std::pair<std::string_view, Member Members::*>;
  static const std::array<Name, 14> kNames;
};

const std::array<Members::Name, 14> Members::kNames = {{
    {"batch", &Members::batch},
    {"checksum", &Members::checksum},
    {"content", &Members::content},
    {"expires_at", &Members::expires_at},
    {"id", &Members::id},
    {"importance", &Members::importance},
    {"references", &Members::references},
    {"relations", &Members::relations},
    {"schema_version", &Members::schema_version},
    {"seq", &Members::seq},
    {"tags", &Members::tags},
    {"timestamp", &Members::timestamp},
    {"trace_id", &Members::trace_id},
    {"type", &Members::type},
}};

Status read_needed(const FieldReader& fields, json::Value root, const Members& members,
                   EntryFacts* facts) {
  if (!members.id) return fields.missing(root, "id");
  VARVE_TRY(fields.read_id(*members.id, &facts->id));
  if (!members.type) return fields.missing(root, "type");
  VARVE_TRY(fields.read_type(*members.type, &facts->type));
  if (!members.timestamp) return fields.missing(root, "timestamp");
  VARVE_TRY(fields.read_time(*members.timestamp, &facts->timestamp_ms));
  if (!members.content) return fields.missing(root, "content");
  read_content_keys(*members.content, &facts->content_keys);
  return {};
}

Status read_optional(const FieldReader& fields, const Members& members, EntryFacts* facts) {
  if (members.expires_at) {
    VARVE_TRY(fields.read_time(*members.expires_at, &facts->expires_at_ms));
  }
  if (members.importance) {
    VARVE_TRY(fields.read_fraction(*members.importance, &facts->importance));
  }
  if (members.seq) VARVE_TRY(fields.read_seq(*members.seq, &facts->seq));
  if (members.batch) VARVE_TRY(fields.read_batch(*members.batch, &facts->batch));
  if (members.trace_id) VARVE_TRY(fields.read_trace(*members.trace_id, &facts->trace_id));
  return {};
}

Status read_lists(const FieldReader& fields, const Members& members, EntryFacts* facts) {
  if (members.tags) {
    VARVE_TRY(fields.read_tags(*members.tags, &facts->tags));
  } else {
    facts->tags.clear();
  }
  if (members.references) {
    VARVE_TRY(fields.read_references(*members.references, &facts->references));
  } else {
    facts->references.clear();
  }
  if (members.relations) VARVE_TRY(fields.read_relations(*members.relations, &facts->relations));
  return {};
}

// A wrong checksum is reported before a newer version: a damaged version number must cost one line,
// not the whole file. A newer version with another checksum will not call it sha256.
Status check_whole(std::string_view line, const FieldReader& fields, json::Value root,
                   const Members& members, bool* sealed) {
  const auto& version = members.schema_version;
  const auto& checksum = members.checksum;
  const bool is_foreign = checksum && !checksum->text().starts_with("sha256:");
  if (version && is_foreign) VARVE_TRY(fields.check_schema_version(*version));
  VARVE_TRY(verify_checksum(line, root, sealed));
  if (version) VARVE_TRY(fields.check_schema_version(*version));
  return {};
}

}  // namespace

json::Limits line_limits() {
  json::Limits limits;
  limits.depth_max = kLineDepthMax;
  limits.number_chars_max = std::numeric_limits<uint32_t>::max();
  limits.members_max = std::numeric_limits<uint32_t>::max();
  return limits;
}

Status read_line(std::string_view line, json::Document& scratch, EntryFacts* facts) {
  set_defaults(facts);
  if (read_plain_line(line, facts)) return {};
  if (auto status = scratch.parse(line, line_limits()); !status.ok()) {
    return as_corruption(std::move(status));
  }
  const FieldReader fields(line, Rules::kLenient);
  const json::Value root = scratch.root();
  if (!root.is_object()) {
    return as_corruption(fields.invalid(root, "the line must be a JSON object"));
  }
  const Members members(root);
  auto status = check_whole(line, fields, root, members, &facts->sealed);
  if (status.ok()) status = read_needed(fields, root, members, facts);
  if (status.ok()) status = read_optional(fields, members, facts);
  if (status.ok()) status = read_lists(fields, members, facts);
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

}  // namespace varve::entry
