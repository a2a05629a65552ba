// The memory entry: one line of memory.jsonl.
//
// Writing has two steps, because `seq` is known only under the writer's lock: draft() checks and
// canonicalises what the caller gave (any thread, no lock); seal() adds seq, batch and checksum.
// Reading is lenient where docs/format.md says so (lines made by hand), and exact about checksums.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "json/document.h"

namespace varve::entry {

inline constexpr int64_t kSchemaVersion = 1;
inline constexpr int64_t kNeverExpires = std::numeric_limits<int64_t>::max();
inline constexpr uint64_t kNoSeq = 0;  // lines made by hand may lack it; ours count from 1
inline constexpr uint64_t kSeqMax = (uint64_t{1} << 53) - 1;  // what every JSON reader can hold

// What an entry may be given beside its type and its content.
inline constexpr std::array<std::string_view, 10> kGivenMembers = {
    "id",        "timestamp", "importance", "tags",       "references",
    "relations", "trace_id",  "span_id",    "expires_at", "ttl_seconds"};
[[nodiscard]] constexpr bool is_given_member(std::string_view name) {
  return std::find(kGivenMembers.begin(), kGivenMembers.end(), name) != kGivenMembers.end();
}

struct Batch {
  uint32_t count = 0;  // "n"; 0: not part of a batch
  uint32_t index = 0;  // "i"; 0-based
};

struct Relation {
  std::string name;
  std::vector<std::string> ids;
};

// What the indexes need of an entry. Reused, so that strings keep their memory.
struct EntryFacts {
  std::string id;
  std::string type;
  int64_t timestamp_ms = 0;
  int64_t expires_at_ms = kNeverExpires;
  double importance = 0.5;
  uint64_t seq = kNoSeq;
  Batch batch;
  bool sealed = false;  // had a checksum, and it was right
  std::vector<std::string> tags;
  std::vector<std::string> references;
  std::vector<Relation> relations;
  std::string trace_id;
  std::vector<std::string> content_keys;  // see content_key.h
};

struct DraftOptions {
  std::string_view session_id;  // entries that name another session are refused
  bool adopt_session = false;   // for import: take entries of another session as this one's
  int64_t now_ms = 0;           // for entries without a timestamp
  size_t entry_bytes_max = size_t{1} << 20;  // of the sealed line; 0 means no limit
};

struct Draft {
  EntryFacts facts;
  std::string body;  // the canonical object without seq, batch and checksum
  // [bytes] offsets in `body` right after the ',' or '{' where each member belongs.
  size_t batch_at = 0;
  size_t checksum_at = 0;
  size_t seq_at = 0;
};

// Whether its line will be within the limit, whatever seal() adds.
[[nodiscard]] bool fits(const Draft& draft, const DraftOptions& options);

// Checks `text` as an entry to add and makes it canonical. Members that the library sets (seq,
// batch, checksum, schema_version) are replaced; unknown ones are kept.
//
// defaults: id made by `ids`, timestamp now_ms, importance 0.5, decay_factor 1, tags [],
//           references [].  Required: type, content.
// errors:   kInvalidArgument naming member and byte offset; kSizeLimit with size and limit;
//           kFormatVersion for a schema_version above ours.
Result<Draft> draft(std::string_view text, const DraftOptions& options, IdGenerator& ids,
                    json::Document& scratch);

// As draft(), for one object inside a larger document (an array of entries); `text` is all of it.
Result<Draft> draft_value(std::string_view text, json::Value value, const DraftOptions& options,
                          IdGenerator& ids);

// [bytes] How long the finished line will be, with its newline.
[[nodiscard]] size_t sealed_bytes(const Draft& draft, uint64_t seq, Batch batch);

// Appends the finished line with its newline, and sets facts.seq, facts.batch and facts.sealed.
// Cost: one copy and one SHA-256 of the line.
void append_sealed(Draft& draft, uint64_t seq, Batch batch, std::string* lines);

// The same as a separate text.
std::string seal(Draft& draft, uint64_t seq, Batch batch);

// Reads one line of a log, without its line end, into *facts. The content of `scratch` afterwards
// has no meaning: most lines are read without it.
// errors: kCorruption: not an object, a needed member missing or malformed, checksum wrong;
//         kFormatVersion: a schema_version above ours (the line is whole, and not ours to judge).
Status read_line(std::string_view line, json::Document& scratch, EntryFacts* facts);

// What is needed of a line that was checked before and, by its hash, has not changed: whose it is,
// and when it expires. Cost: a parse, but no checksum.
struct LineIdentity {
  std::string id;
  int64_t expires_at_ms = kNeverExpires;
};
// errors: kCorruption for a line that is no entry.
Result<LineIdentity> read_identity(std::string_view line, json::Document& scratch);

// The parse limits for lines: lines may be deeper than what callers may give, so that limits can
// differ between versions.
[[nodiscard]] json::Limits line_limits();

enum class Seal { kAbsent, kRight, kWrong };

// Checks a line's checksum over its bytes, without parsing, to read back what the index found. For
// a line that is not canonical but has a checksum the answer is kWrong: such lines are checked by
// read_line().
Seal check_seal(std::string_view line) noexcept;

}  // namespace varve::entry
