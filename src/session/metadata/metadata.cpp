#include "session/metadata/metadata.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "base/ids.h"
#include "base/sha256.h"
#include "base/time.h"
#include "base/utf8.h"
#include "entry/entry.h"
#include "json/object_reader.h"
#include "session/metadata/decay_config.h"
#include "session/metadata/durability_names.h"
#include "session/settings.h"

namespace varve::session {

namespace {

// Members a user's patch may not touch.
constexpr std::array<std::string_view, 23> kOwnMembers = {
    "version",         "session_id",      "created_at",      "last_accessed",
    "user_id",         "agent_id",        "total_entries",   "total_size_bytes",
    "statistics",      "statistics_rest", "generation",      "durable_seq",
    "checksum",        "compactions",     "schema_versions", "compacted_through_seq",
    "stores",          "migrated_from",   "migrations",      "restored_at",
    "last_compaction", kStrayVectors,     kDurableTombstones};

constexpr size_t kMetadataBytesMax = size_t{16} << 20;
constexpr uint32_t kOwnMembersMax = 64;
constexpr size_t kTypesListedMax = 10'000;  // far fewer than an object that is read may have

std::string checksum_of(const json::Tree& tree) {
  return "sha256:" + to_hex(sha256(tree.canonical()));
}

// A file that is larger or has more members could not be read back. The library adds some members
// of its own, and figures.
Status check_fits(const json::Tree& tree) {
  json::Limits limits;
  limits.text_bytes_max = kMetadataBytesMax;
  limits.members_max -= kOwnMembersMax;
  const std::string text = tree.pretty();
  json::Document document;
  if (document.parse(text, limits).ok()) return {};
  Place place;
  if (text.size() > kMetadataBytesMax) {  // else it is the members that are too many
    place.size = text.size();
    place.limit = kMetadataBytesMax;
  }
  return {Code::kSizeLimit,
          "the session's metadata would be too large to be read back: it may have at most " +
              std::to_string(kMetadataBytesMax) + " bytes as JSON, and " +
              std::to_string(limits.members_max) + " members in one object",
          std::move(place)};
}

bool is_own(std::string_view name) {
  for (const auto own : kOwnMembers) {
    if (own == name) return true;
  }
  return false;
}

// Whether the whole decay_config can be read.
Status check_decay(const json::Tree& tree) {
  const json::Tree* config = tree.get("decay_config");
  if (config == nullptr) return {};
  const std::string text = config->canonical();
  json::Document document;
  VARVE_TRY(document.parse(text));
  decay::Rules rules = decay::Rules::defaults();
  return read_decay_config(text, document.root(), UnknownMembers::kRefused, &rules);
}

void read_compaction_config(json::ObjectReader& parent, bool null_allowed) {
  const auto config = parent.read_object("compaction_config");
  if (!config) return;
  config->for_each_member([&](std::string_view name, json::Value value) {
    const bool removed = null_allowed && value.kind() == json::Kind::kNull;
    const bool is_share = value.is_number() && value.as_double() >= 0 && value.as_double() <= 1;
    if (name == "auto_compact" && !removed && !value.is_bool()) {
      parent.fail(value, "must be true or false");
    } else if (name == "threshold" && !removed && !is_share) {
      parent.fail(value, "must be a number from 0 to 1");
    } else if (name != "auto_compact" && name != "threshold") {
      parent.fail(value, "is unknown");
    }
    return true;
  });
}

// Reads the members that creation and patches share. `null_allowed`: null removes one, in a patch.
void read_known_members(json::ObjectReader& reader, json::Value root, bool null_allowed) {
  const auto given = [&](std::string_view name) {
    const auto value = root.find(name);
    if (!value || !null_allowed || value->kind() != json::Kind::kNull) return value.has_value();
    (void)reader.read_any(name);
    return false;
  };
  std::string text;
  for (const auto name : {"user_id", "agent_id", "title"}) {
    if (given(name)) reader.read_string(name, &text);
  }
  double ttl_hours = 0;
  if (given("ttl_hours")) reader.read_double("ttl_hours", &ttl_hours, 0, 1e9);
  uint64_t cap = 0;
  for (const auto name : {"kv_cap", "transcript_cap"}) {
    if (given(name)) reader.read_uint(name, &cap, 0, kCapMax);
  }
  for (const auto name : {"decay_config", "preferences"}) {
    if (given(name)) (void)reader.read_object(name);
  }
  if (given("compaction_config")) read_compaction_config(reader, null_allowed);
  if (given("ttl_policy")) {
    reader.read_string("ttl_policy", &text);
    if (text != "sliding" && text != "fixed") {
      reader.fail(*root.find("ttl_policy"), "must be \"sliding\" or \"fixed\"");
    }
  }
  if (!given("durability")) return;
  reader.read_string("durability", &text);
  if (!durability_named(text)) reader.fail(*root.find("durability"), kMustBeDurability);
}

void read_stores(json::ObjectReader& reader) {
  std::vector<std::string> stores;
  reader.read_strings("stores", &stores);
  for (const auto& store : stores) {
    if (store == "kv" || store == "transcript") continue;
    const auto value = reader.read_any("stores");
    if (value) reader.fail(*value, "may hold only \"kv\" and \"transcript\"");
  }
}

void read_if_exists(json::ObjectReader& reader, CreateOptions* options) {
  const auto known = [](std::string_view text) -> std::optional<IfExists> {
    if (text == "fail") return IfExists::kFail;
    if (text == "open") return IfExists::kOpen;
    return {};
  };
  reader.read_choice("if_exists", &options->if_exists, known, "\"open\" or \"fail\"");
  const auto given = reader.read_any("if_exists");
  if (given && options->if_exists == IfExists::kOpen && options->session_id.empty()) {
    reader.fail(*given, "is \"open\", which needs a session_id");
  }
}

// Four types have plural names, others their own.
std::string statistic_name(const std::string& type) {
  if (type == "conversation" || type == "decision" || type == "finding" || type == "preference") {
    return type + "s";
  }
  return type;
}

}  // namespace

Metadata Metadata::make(const CreateOptions& options, int64_t now_ms) {
  Metadata metadata;
  json::Tree& tree = metadata.tree_;
  tree = options.members;
  const json::Tree now = json::Tree::string(format_rfc3339(now_ms));
  tree.set("version", json::Tree::integer(kMetadataVersion));
  tree.set("session_id", json::Tree::string(options.session_id));
  if (!options.user_id.empty()) tree.set("user_id", json::Tree::string(options.user_id));
  if (!options.agent_id.empty()) tree.set("agent_id", json::Tree::string(options.agent_id));
  tree.set("created_at", now);
  tree.set("last_accessed", now);
  tree.set("total_entries", json::Tree::integer(0));
  tree.set("total_size_bytes", json::Tree::integer(0));
  tree.set("generation", json::Tree::integer(1));
  tree.set("compacted_through_seq", json::Tree::integer(0));
  tree.set("durable_seq", json::Tree::integer(0));
  count_types({}, tree);
  if (tree.get("stores") == nullptr) {
    json::Tree stores = json::Tree::array();
    stores.push(json::Tree::string("kv"));
    stores.push(json::Tree::string("transcript"));
    tree.set("stores", std::move(stores));
  }
  return metadata;
}

Metadata Metadata::recovered(std::string_view session_id, int64_t now_ms,
                             const std::optional<log::SessionRow>& listed) {
  CreateOptions options;
  options.session_id = session_id;
  if (!listed) return make(options, now_ms);
  options.user_id = listed->user_id;
  options.agent_id = listed->agent_id;
  Metadata metadata = make(options, now_ms);
  // With another creation time, the list would take the row for another session's.
  if (listed->created_at_ms > 0) {
    const std::string created_at = format_rfc3339(listed->created_at_ms);
    metadata.tree_.set("created_at", json::Tree::string(created_at));
  }
  return metadata;
}

Result<Metadata> Metadata::parse(std::string_view text, std::string_view session_id) {
  std::string scratch;
  VARVE_TRY_ASSIGN(json::Tree tree, json::Tree::parse(blanked_byte_order_mark(text, &scratch)));
  if (!tree.is_object()) return Status(Code::kCorruption, "it is not a JSON object");
  const int64_t version = tree.get_int64("version", 0);  // hand-made ones may lack it
  if (version > kMetadataVersion) {
    return Status(Code::kFormatVersion, "metadata.json is of version " + std::to_string(version) +
                                            "; this library reads up to " +
                                            std::to_string(kMetadataVersion) +
                                            ": use a newer varve");
  }
  if (tree.get_string("session_id", session_id) != session_id) {
    return Status(Code::kCorruption,
                  "it belongs to session '" + tree.get_string("session_id") + "'");
  }
  Metadata metadata;
  const std::string checksum = tree.get_string("checksum");
  tree.erase("checksum");
  metadata.edited_outside_ = !checksum.empty() && checksum != checksum_of(tree);
  metadata.is_by_hand_ = checksum.empty() || metadata.edited_outside_;
  tree.set("version", json::Tree::integer(kMetadataVersion));
  tree.set("session_id", json::Tree::string(session_id));
  metadata.tree_ = std::move(tree);
  return metadata;
}

std::string Metadata::encode() const {
  json::Tree sealed = tree_;
  sealed.set("checksum", json::Tree::string(checksum_of(tree_)));
  return sealed.pretty();
}

uint64_t Metadata::unsigned_member(std::string_view name) const {
  const int64_t value = tree_.get_int64(name, 0);
  // A number beyond what a log can count to is not believed: it would leave no seq for new entries.
  const bool possible = value > 0 && static_cast<uint64_t>(value) <= entry::kSeqMax;
  return possible ? static_cast<uint64_t>(value) : 0;
}

void count_types(std::map<std::string, uint64_t> counts, json::Tree& metadata) {
  metadata.erase("statistics_rest");
  if (counts.size() > kTypesListedMax) {
    std::vector<std::pair<std::string, uint64_t>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    uint64_t entries = 0;
    for (size_t i = kTypesListedMax; i < sorted.size(); ++i) {
      entries += sorted[i].second;
      counts.erase(sorted[i].first);
    }
    json::Tree rest = json::Tree::object();
    rest.set("types", json::Tree::integer_unsigned(sorted.size() - kTypesListedMax));
    rest.set("entries", json::Tree::integer_unsigned(entries));
    metadata.set("statistics_rest", std::move(rest));
  }
  json::Tree statistics = json::Tree::object();
  for (const auto name : {"conversations", "decisions", "findings", "preferences"}) {
    statistics.set(name, json::Tree::integer(0));
  }
  for (const auto& [type, count] : counts) {
    const std::string name = statistic_name(type);  // two types may share one
    statistics.set(name, json::Tree::integer_unsigned(statistics.get_count(name) + count));
  }
  metadata.set("statistics", std::move(statistics));
}

void Metadata::note_durable(uint64_t last_seq, uint64_t tombstone_count) {
  tree_.set("durable_seq", json::Tree::integer_unsigned(last_seq));
  accept_tombstones(std::max(tombstone_count, durable_tombstones()));
}

void Metadata::accept_tombstones(uint64_t tombstone_count) {
  if (tombstone_count == 0) {
    tree_.erase(kDurableTombstones);
  } else {
    tree_.set(kDurableTombstones, json::Tree::integer_unsigned(tombstone_count));
  }
}

void Metadata::note_new_log(uint64_t last_seq) {
  tree_.set("compacted_through_seq", json::Tree::integer_unsigned(last_seq));
  tree_.set("durable_seq", json::Tree::integer_unsigned(last_seq));
  tree_.set("generation", json::Tree::integer_unsigned(generation() + 1));
}

Status Metadata::apply_patch(std::string_view text) {
  json::Document document;
  VARVE_TRY(document.parse(text));
  json::ObjectReader reader(text, document.root());
  read_known_members(reader, document.root(), true);
  document.root().for_each_member([&](std::string_view name, json::Value value) {
    if (is_own(name)) reader.fail(value, "is kept by the library and cannot be changed");
    return true;
  });
  reader.allow_unknown();  // the user's own members are taken as they are
  VARVE_TRY(reader.finish());
  json::Tree patched = tree_;
  patched.merge_patch(json::Tree::from(document.root()));
  // What was there before may be wrong, edited by hand: that is no reason to refuse a title.
  if (const auto decay = document.root().find("decay_config")) {
    const Status read = check_decay(patched);
    if (!read.ok()) reader.fail_inside(*decay, read);
    VARVE_TRY(reader.finish());
  }
  VARVE_TRY(check_fits(patched));
  tree_ = std::move(patched);
  return {};
}

std::string wrong_member(const json::Tree& metadata) {
  const std::string text = metadata.canonical();
  json::Document document;
  if (!document.parse(text).ok()) return {};
  json::ObjectReader reader(text, document.root());
  read_known_members(reader, document.root(), false);
  reader.allow_unknown();
  Status read = reader.finish();
  if (const auto decay = document.root().find("decay_config"); read.ok() && decay) {
    decay::Rules rules = decay::Rules::defaults();
    read = read_decay_config(text, *decay, UnknownMembers::kRefused, &rules);
  }
  // Its offset is one in a text that nobody has.
  return read.ok() ? std::string() : json::without_offset(read).message();
}

Result<CreateOptions> parse_create_options(std::string_view text) {
  CreateOptions options;
  if (text.empty()) return options;
  json::Document document;
  VARVE_TRY(document.parse(text));
  json::ObjectReader reader(text, document.root());
  // An empty owner would mean anybody, and open others' sessions.
  reader.refuse_empty({"user_id", "agent_id"}, "is empty; give an id, or leave it out");
  reader.read_string("session_id", &options.session_id);
  reader.read_string("user_id", &options.user_id);
  reader.read_string("agent_id", &options.agent_id);
  read_known_members(reader, document.root(), false);
  read_stores(reader);
  const auto id = reader.read_any("session_id");
  if (id && !is_valid_id(options.session_id)) {
    reader.fail(*id, "must be 1 to 128 of A-Z a-z 0-9 _ -, not starting with -");
  }
  read_if_exists(reader, &options);
  VARVE_TRY(reader.finish());
  if (const auto decay = document.root().find("decay_config")) {
    decay::Rules rules = decay::Rules::defaults();
    VARVE_TRY(read_decay_config(text, *decay, UnknownMembers::kRefused, &rules));
  }
  options.members = json::Tree::from(document.root());
  options.members.erase("if_exists");  // of this call, not of the session
  VARVE_TRY(check_fits(options.members));
  return options;
}

}  // namespace varve::session
