#include "entry/plain_line.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "entry/content_key.h"
#include "entry/plain_fields.h"
#include "json/plain.h"

namespace varve::entry {

namespace {

class PlainLine {
 public:
  PlainLine(std::string_view line, EntryFacts* facts) : reader_(line), facts_(*facts) {}

  bool read();

 private:
  struct Member {
    std::string_view name;
    bool (PlainLine::*read)();
  };
  static const std::array<Member, 17> kMembers;
  // The members that are required.
  enum MemberNumber : uint32_t {
    kChecksum = 1,
    kContent = 2,
    kId = 5,
    kReferences = 7,
    kTags = 13,
    kTimestamp = 14,
    kType = 16
  };
  static constexpr uint32_t kNeeded = 1u << kChecksum | 1u << kContent | 1u << kId |
                                      1u << kReferences | 1u << kTags | 1u << kTimestamp |
                                      1u << kType;

  bool read_batch();
  bool read_content();
  bool read_expires_at() { return take_time(reader_, &facts_.expires_at_ms); }
  bool read_id() { return take_text(reader_, is_valid_id, &facts_.id); }
  bool read_importance();
  bool read_references() { return read_list(&facts_.references); }
  bool read_relations();
  bool read_schema_version() { return take_schema_version(reader_); }
  bool read_seq();
  bool read_tags() { return read_list(&facts_.tags); }
  bool read_timestamp() { return take_time(reader_, &facts_.timestamp_ms); }
  bool read_trace_id();
  bool read_type() { return take_text(reader_, is_valid_type, &facts_.type); }
  // Members that nobody asks for.
  bool skip_number() { return entry::skip_number(reader_); }
  bool skip_text() { return entry::skip_text(reader_); }

  bool read_list(std::vector<std::string>* out);
  template <typename Number>
  bool read_integer(Number* out);
  template <typename Number>
  bool read_integer_member(std::string_view name, Number* out);

  json::PlainReader reader_;
  EntryFacts& facts_;
};

const std::array<PlainLine::Member, 17> PlainLine::kMembers = {{
    {"batch", &PlainLine::read_batch},
    {"checksum", &PlainLine::skip_text},
    {"content", &PlainLine::read_content},
    {"decay_factor", &PlainLine::skip_number},
    {"expires_at", &PlainLine::read_expires_at},
    {"id", &PlainLine::read_id},
    {"importance", &PlainLine::read_importance},
    {"references", &PlainLine::read_references},
    {"relations", &PlainLine::read_relations},
    {"schema_version", &PlainLine::read_schema_version},
    {"seq", &PlainLine::read_seq},
    {"session_id", &PlainLine::skip_text},
    {"span_id", &PlainLine::skip_text},
    {"tags", &PlainLine::read_tags},
    {"timestamp", &PlainLine::read_timestamp},
    {"trace_id", &PlainLine::read_trace_id},
    {"type", &PlainLine::read_type},
}};

// In the order of their names, as in our lines: each member is found at the first look.
bool PlainLine::read() {
  if (!reader_.take('{')) return false;
  uint32_t read = 0;
  size_t number = 0;
  do {
    std::string_view name;
    if (!reader_.take_ascii(&name) || !reader_.take(':')) return false;
    while (number < kMembers.size() && kMembers[number].name != name) ++number;
    if (number == kMembers.size() || !(this->*kMembers[number].read)()) return false;
    read |= uint32_t{1} << number++;
  } while (reader_.take(','));
  return reader_.take('}') && reader_.take_end() && (read & kNeeded) == kNeeded;
}

bool PlainLine::read_batch() {
  Batch& batch = facts_.batch;
  return reader_.take('{') && read_integer_member("i", &batch.index) && reader_.take(',') &&
         read_integer_member("n", &batch.count) && reader_.take('}') && batch.index < batch.count;
}

bool PlainLine::read_content() {
  json::PlainMembers members;
  std::string content;
  if (!reader_.append_value(&content, &members)) return false;
  read_content_keys(content, members, &facts_.content_keys);
  return true;
}

bool PlainLine::read_importance() {
  std::string_view token;
  if (!reader_.take_number(&token)) return false;
  double& importance = facts_.importance;
  std::from_chars(token.data(), token.data() + token.size(), importance);
  return importance >= 0 && importance <= 1;
}

bool PlainLine::read_seq() {
  return read_integer(&facts_.seq) && facts_.seq != kNoSeq && facts_.seq <= kSeqMax;
}

bool PlainLine::read_trace_id() {
  std::string_view text;
  if (!reader_.take_ascii(&text)) return false;
  facts_.trace_id = text;
  return true;
}

// An object of lists, in the order of the lists' names.
bool PlainLine::read_relations() {
  facts_.relations.clear();
  if (!reader_.take('{')) return false;
  do {
    std::string_view name;
    if (!reader_.take_ascii(&name) || !reader_.take(':')) return false;
    if (!facts_.relations.empty() && facts_.relations.back().name >= name) return false;
    Relation& relation = facts_.relations.emplace_back();
    relation.name = name;
    if (!read_list(&relation.ids)) return false;
  } while (reader_.take(','));
  return reader_.take('}');
}

// Assigned in place, so that strings keep their memory.
bool PlainLine::read_list(std::vector<std::string>* out) {
  size_t count = 0;
  if (!reader_.take('[')) return false;
  if (!reader_.take(']')) {
    do {
      std::string_view item;
      if (!reader_.take_ascii(&item)) return false;
      if (count == out->size()) out->emplace_back();
      (*out)[count++] = item;
    } while (reader_.take(','));
    if (!reader_.take(']')) return false;
  }
  out->resize(count);
  return true;
}

template <typename Number>
bool PlainLine::read_integer(Number* out) {
  std::string_view token;
  if (!reader_.take_number(&token)) return false;
  const char* const end = token.data() + token.size();
  const auto read = std::from_chars(token.data(), end, *out);
  return read.ec == std::errc() && read.ptr == end;
}

template <typename Number>
bool PlainLine::read_integer_member(std::string_view name, Number* out) {
  std::string_view found;
  return reader_.take_ascii(&found) && found == name && reader_.take(':') && read_integer(out);
}

}  // namespace

bool read_plain_line(std::string_view line, EntryFacts* facts) {
  if (!PlainLine(line, facts).read() || check_seal(line) != Seal::kRight) return false;
  facts->sealed = true;
  return true;
}

}  // namespace varve::entry
