// Checks and reads the members of an entry: one set of rules for drafts and for lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "entry/entry.h"
#include "json/document.h"
#include "json/object_reader.h"

namespace varve::entry {

inline constexpr size_t kTraceCharsMax = 128;  // of trace_id and span_id

// Lines from elsewhere, or of a later version, may have tags, references and relations that we
// would not accept from a caller. That is no reason to lose the entry.
enum class Rules { kStrict, kLenient };

class FieldReader {
 public:
  // `text` is what the values were parsed from; used for offsets.
  FieldReader(std::string_view text, Rules rules) : text_(text), rules_(rules) {}

  // errors: kInvalidArgument naming the member and its offset.
  Status read_id(json::Value value, std::string* out) const;
  Status read_type(json::Value value, std::string* out) const;
  Status read_time(json::Value value, int64_t* out_ms) const;
  // A number from 0 to 1; when lenient, the nearest one.
  Status read_fraction(json::Value value, double* out) const;
  Status read_tags(json::Value value, std::vector<std::string>* out) const;
  Status read_references(json::Value value, std::vector<std::string>* out) const;
  Status read_relations(json::Value value, std::vector<Relation>* out) const;
  // 1 to 128 characters: trace_id and span_id.
  Status read_trace(json::Value value, std::string* out) const;
  Status read_seq(json::Value value, uint64_t* out) const;
  Status read_batch(json::Value value, Batch* out) const;
  // kFormatVersion for a version above ours.
  Status check_schema_version(json::Value value) const;

  [[nodiscard]] Status invalid(json::Value value, std::string_view message) const {
    return json::invalid_at(text_, value, message);
  }
  // The failure that `object` lacks `name`.
  [[nodiscard]] Status missing(json::Value object, std::string_view name) const;

 private:
  Status read_strings(json::Value value, bool (*is_valid)(std::string_view), std::string_view what,
                      std::vector<std::string>* out) const;

  std::string_view text_;
  Rules rules_;
};

// The same failure as damage: what is wrong in a file's line is not the caller's argument.
// kFormatVersion stays.
Status as_corruption(Status status);

}  // namespace varve::entry
