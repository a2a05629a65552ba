#include "entry/reseal.h"

#include "base/hex.h"
#include "base/sha256.h"
#include "json/tree.h"

namespace varve::entry {

namespace {

// Member by member, for a line that add would not accept.
std::string seal_as_it_is(json::Value root, std::string_view session_id, uint64_t seq) {
  json::Tree tree = json::Tree::from(root);
  tree.erase("checksum");
  tree.set("schema_version", json::Tree::integer(kSchemaVersion));
  tree.set("session_id", json::Tree::string(session_id));
  tree.set("seq", json::Tree::integer_unsigned(seq));
  tree.set("checksum", json::Tree::string("sha256:" + to_hex(sha256(tree.canonical()))));
  return tree.canonical() + "\n";
}

}  // namespace

Result<int64_t> schema_version_of(std::string_view line, json::Document& scratch) {
  VARVE_TRY(scratch.parse(line, line_limits()));
  const auto version = scratch.root().find("schema_version");
  return version ? version->as_int64().value_or(0) : 0;
}

Result<std::string> reseal(std::string_view line, std::string_view session_id, uint64_t seq,
                           IdGenerator& ids, json::Document& scratch) {
  EntryFacts facts;
  VARVE_TRY(read_line(line, scratch, &facts));
  VARVE_TRY(scratch.parse(line, line_limits()));
  DraftOptions options;
  options.session_id = session_id;
  options.adopt_session = true;
  options.entry_bytes_max = 0;
  auto drafted = draft_value(line, scratch.root(), options, ids);
  if (drafted.ok()) return seal(*drafted, seq, facts.batch);
  return seal_as_it_is(scratch.root(), session_id, seq);
}

}  // namespace varve::entry
