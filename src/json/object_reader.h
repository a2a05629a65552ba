// ObjectReader: strict reading of an options object. Every member is asked for by name and type;
// what is mistyped or never asked for is an error that names the member and where it stands.
//
//   ObjectReader reader(text, document.root());
//   reader.read_bool("auto_compact", &auto_compact);
//   reader.read_uint("max_session_size_mb", &max_mb, 0, 1 << 20);
//   VARVE_TRY(reader.finish());
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/document.h"

namespace varve::json {

// "the format is "json" or "jsonl", not "xml"".
std::string not_a_choice(std::string_view name, std::string_view choices, std::string_view text);

class ObjectReader {
 public:
  // `text` is what the value's document was parsed from (for offsets); both must outlive this.
  // A value that is not an object is an error of finish().
  ObjectReader(std::string_view text, Value value);

  // Each leaves *out untouched when the member is absent, and remembers the first failure.
  void read_bool(std::string_view name, bool* out);
  void read_uint(std::string_view name, uint64_t* out, uint64_t min, uint64_t max);
  void read_double(std::string_view name, double* out, double min, double max);
  void read_string(std::string_view name, std::string* out);
  void read_strings(std::string_view name, std::vector<std::string>* out);
  void read_ids(std::string_view name, std::vector<std::string>* out);
  void read_types(std::string_view name, std::vector<std::string>* out);
  // Text that `known` makes an optional choice of; `choices` names them to who gave another.
  template <typename Choice, typename Known>
  void read_choice(std::string_view name, Choice* out, Known&& known, std::string_view choices) {
    const auto value = take(name);
    if (!value) return;
    if (!value->is_string()) return fail(*value, "must be a string");
    const auto choice = known(value->text());
    if (!choice) return fail(*value, not_a_choice(name, choices, value->text()));
    *out = *choice;
  }
  // RFC 3339 text -> ms.
  void read_time(std::string_view name, std::optional<int64_t>* out);
  // Any value, for the caller to read further; nullopt when absent. Counts as asked for.
  std::optional<Value> read_any(std::string_view name);
  std::optional<Value> read_object(std::string_view name);

  // Makes a caller's own check of a member fail in the same form.
  void fail(Value at, std::string_view message);

  // The same for a failure about a text that was made from the value `at`.
  void fail_inside(Value at, const Status& failure);

  static constexpr std::string_view kEmptyCondition =
      "is empty, which would be no condition at all; leave it out if you mean that";

  // Fails when one of these members is there but empty (text, array or object). Read as absent, it
  // would match everything where nothing is meant. `message` says what to do instead.
  void refuse_empty(std::span<const std::string_view> names,
                    std::string_view message = kEmptyCondition);
  void refuse_empty(std::initializer_list<std::string_view> names,
                    std::string_view message = kEmptyCondition) {
    refuse_empty(std::span(names.begin(), names.size()), message);
  }

  // From here on no member counts as unknown: of a newer version's file, or the user's own.
  void allow_unknown();

  // The first failure; else an unknown member, named; else success.
  Status finish();

 private:
  std::optional<Value> take(std::string_view name);
  void read_valid_strings(std::string_view name, bool (*is_valid)(std::string_view),
                          std::string_view rule, std::vector<std::string>* out);

  struct Member {
    std::string_view name;
    Value value;
    bool is_taken;  // it was asked for
  };

  std::string_view text_;
  Value value_;
  std::vector<Member> members_;
  Status failure_;
};

// Has `read` take the members of the object that `text` is, and finishes; an empty text has none.
template <typename Read>
Status read_object(std::string_view text, Read&& read) {
  if (text.empty()) return {};
  Document document;
  VARVE_TRY(document.parse(text));
  ObjectReader reader(text, document.root());
  read(reader);
  return reader.finish();
}

// kInvalidArgument with the value's member path and byte offset in `text`.
Status invalid_at(std::string_view text, Value value, std::string_view message);

// For a failure about a text that was made from the caller's, in which its offset means nothing:
// the same without it, or with the member and the offset that the caller can look at. One that
// names a file stays without_offset() as it is: its offset is a place in there.
Status without_offset(const Status& failure);
Status at_place(const Status& failure, std::string member, uint64_t offset);

// For a failure about a text that has to be an object: where it is none, for many a caller gives
// the words themselves, the same with an example.
Status with_example(const Status& failure, std::string_view text, std::string_view example);

}  // namespace varve::json
