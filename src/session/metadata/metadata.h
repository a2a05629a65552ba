// Metadata: metadata.json, what is known about a session besides its entries.
//
// Unknown members are kept. Counts in it are a cache: the log decides. Recovery relies on three
// numbers: a log that ends before `durable_seq` has lost entries, gaps in seq up to
// `compacted_through_seq` are legal, and fewer tombstones than `durable_tombstones` are a loss.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/tree.h"
#include "log/storage.h"

namespace varve::session {

inline constexpr int64_t kMetadataVersion = 1;

// Present and true: vectors.bin may have vectors of entries that a compaction dropped, whose ids
// are free. They must go before any entry is added.
inline constexpr std::string_view kStrayVectors = "stray_vectors";
inline constexpr std::string_view kDurableTombstones = "durable_tombstones";

enum class IfExists { kFail, kOpen };

struct CreateOptions {
  std::string session_id;
  std::string user_id;
  std::string agent_id;
  IfExists if_exists = IfExists::kFail;       // kOpen: session_id is given
  json::Tree members = json::Tree::object();  // title, stores, kv_cap, ttl_hours, decay_config, …
};

class Metadata {
 public:
  // For a new session.
  static Metadata make(const CreateOptions& options, int64_t now_ms);
  // For a log without metadata: what can be known. `listed`: its row in the store's list.
  static Metadata recovered(std::string_view session_id, int64_t now_ms,
                            const std::optional<log::SessionRow>& listed = {});
  // Reads the file's text. kFormatVersion when it is newer; kCorruption when it is not metadata of
  // `session_id`. A valid text with a wrong checksum was edited by hand: it is accepted, and
  // edited_outside() is true.
  static Result<Metadata> parse(std::string_view text, std::string_view session_id);

  // The file's text: canonical members, indented for people, with a checksum.
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] const json::Tree& tree() const { return tree_; }
  [[nodiscard]] json::Tree& tree() { return tree_; }
  [[nodiscard]] bool edited_outside() const { return edited_outside_; }
  // Edited outside, or without a checksum.
  [[nodiscard]] bool is_by_hand() const { return is_by_hand_; }

  [[nodiscard]] uint64_t durable_seq() const { return unsigned_member("durable_seq"); }
  [[nodiscard]] uint64_t compacted_through_seq() const {
    return unsigned_member("compacted_through_seq");
  }
  // How many ids tombstones.jsonl had when it was last known to be durable: fewer are a loss.
  [[nodiscard]] uint64_t durable_tombstones() const { return unsigned_member(kDurableTombstones); }
  [[nodiscard]] uint64_t generation() const { return unsigned_member("generation"); }

  // Entries up to `last_seq`, and so many tombstones, are durable.
  void note_durable(uint64_t last_seq, uint64_t tombstone_count);
  // That there are only so many tombstones is accepted.
  void accept_tombstones(uint64_t tombstone_count);

  // To be written before a new log takes the place of the old one, which had numbers up to
  // `last_seq`: gaps in both are legal then.
  void note_new_log(uint64_t last_seq);

  // Applies the user's merge patch. kInvalidArgument for members that only the library may set, and
  // for known members of a wrong type.
  Status apply_patch(std::string_view patch);

 private:
  [[nodiscard]] uint64_t unsigned_member(std::string_view name) const;

  json::Tree tree_ = json::Tree::object();
  bool edited_outside_ = false;
  bool is_by_hand_ = false;
};

// Of the members that change what a session does, the first that no call of the library would have
// taken, and why; empty when there is none. It is kept, but may have no effect.
std::string wrong_member(const json::Tree& metadata);

// Sets `statistics` to the types with the most entries, and `statistics_rest` to how many others
// there are.
void count_types(std::map<std::string, uint64_t> counts, json::Tree& metadata);

// Reads the options of varve_session_create; defaults are left to make().
Result<CreateOptions> parse_create_options(std::string_view text);

}  // namespace varve::session
