#include "entry/reseal.h"

#include <utility>

#include "base/hex.h"
#include "base/sha256.h"
#include "entry/fields.h"
#include "json/tree.h"

namespace varve::entry {

namespace {

// Canonical, with the right checksum in place of the one it has.
std::string sealed(json::Tree line) {
  line.erase("checksum");
  line.set("checksum", json::Tree::string("sha256:" + to_hex(sha256(line.canonical()))));
  return line.canonical();
}

// Member by member, for a line that add would not accept.
std::string upgrade_as_it_is(json::Value root, std::string_view session_id, uint64_t seq) {
  json::Tree line = json::Tree::from(root);
  line.set("schema_version", json::Tree::integer(kSchemaVersion));
  line.set("session_id", json::Tree::string(session_id));
  line.set("seq", json::Tree::integer_unsigned(seq));
  return sealed(std::move(line)) + "\n";
}

}  // namespace

Result<std::string> reseal(std::string_view line, json::Document& scratch, EntryFacts* facts) {
  VARVE_TRY(as_corruption(scratch.parse(line, line_limits())));
  if (!scratch.root().is_object())
    return Status(Code::kCorruption, "the line is not a JSON object");
  std::string resealed = sealed(json::Tree::from(scratch.root()));
  VARVE_TRY(read_line(resealed, scratch, facts));
  return resealed;
}

Result<int64_t> schema_version_of(std::string_view line, json::Document& scratch) {
  VARVE_TRY(scratch.parse(line, line_limits()));
  const auto version = scratch.root().find("schema_version");
  return version ? version->as_int64().value_or(0) : 0;
}

Result<std::string> upgrade_line(std::string_view line, std::string_view session_id, uint64_t seq,
                                 IdGenerator& ids, json::Document& scratch) {
  EntryFacts facts;
  VARVE_TRY(read_line(line, scratch, &facts));
  VARVE_TRY(scratch.parse(line, line_limits()));
  DraftOptions options;
  options.session_id = session_id;
  options.adopt_session = true;
  options.entry_bytes_max = 0;
  // In a log ttl_seconds is a member like any other: nobody knows since when it would count, and
  // the entry has been shown as one that does not expire.
  if (!scratch.root().find("ttl_seconds")) {
    auto drafted = draft_value(line, scratch.root(), options, ids);
    if (drafted.ok()) return seal(*drafted, seq, facts.batch);
  }
  return upgrade_as_it_is(scratch.root(), session_id, seq);
}

}  // namespace varve::entry
