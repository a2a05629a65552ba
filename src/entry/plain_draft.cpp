#include "entry/plain_draft.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "entry/content_key.h"
#include "entry/draft_defaults.h"
#include "entry/fields.h"
#include "entry/plain_fields.h"
#include "json/canonical.h"

namespace varve::entry {

namespace {

// Room for what lines have and most texts lack, so that memory grows only once.
constexpr size_t kHeadBytes = 256;
constexpr size_t kListItems = 4;

bool is_plain_trace(std::string_view text) {
  return !text.empty() && text.size() <= kTraceCharsMax;
}

// The content is written in its final place, as the first member; the others are kept until all are
// read.
class PlainDraft {
 public:
  PlainDraft(json::PlainReader& reader, const DraftOptions& options, IdGenerator& ids)
      : reader_(reader), options_(options), ids_(ids) {}

  std::optional<Draft> read(size_t text_bytes);

 private:
  struct Member {
    std::string_view name;
    bool (PlainDraft::*read)();
  };
  static const std::array<Member, 16> kMembers;
  // The members that are required or made, and those that exclude each other.
  enum MemberNumber : size_t { kContent = 0, kId = 1, kType = 2, kExpiresAt = 9, kTtlSeconds = 15 };

  bool read_members();
  bool read_member(std::string_view name);
  bool read_content();
  bool read_decay_factor() { return read_fraction(&decay_factor_).has_value(); }
  bool read_expires_at();
  bool read_id() { return take_text(reader_, is_valid_id, &draft_.facts.id); }
  bool read_importance();
  bool read_references() { return read_list(is_valid_id, &draft_.facts.references); }
  bool read_schema_version() { return take_schema_version(reader_); }
  bool read_session_id();
  bool read_span_id() { return read_trace(&span_id_); }
  bool read_tags() { return read_list(is_valid_tag, &draft_.facts.tags); }
  bool read_timestamp() { return take_time(reader_, &draft_.facts.timestamp_ms); }
  bool read_trace_id() { return read_trace(&draft_.facts.trace_id); }
  bool read_ttl_seconds();
  bool read_type() { return take_text(reader_, is_valid_type, &draft_.facts.type); }
  // Members that the library sets itself, as an exported line has them: passed over.
  bool skip_number() { return entry::skip_number(reader_); }
  bool skip_text() { return entry::skip_text(reader_); }

  std::optional<double> read_number(std::string* canonical);
  std::optional<double> read_fraction(std::string* canonical);
  bool read_trace(std::string* out) { return take_text(reader_, is_plain_trace, out); }
  bool read_list(bool (*is_valid)(std::string_view), std::vector<std::string>* out);
  void write_members();

  std::string& body() { return draft_.body; }
  void append_list(const std::vector<std::string>& texts);
  void append_given(std::string_view name, std::string_view text);
  [[nodiscard]] bool was_read(size_t member) const { return (read_ >> member & 1) != 0; }

  json::PlainReader& reader_;
  const DraftOptions& options_;
  IdGenerator& ids_;
  Draft draft_;
  std::string decay_factor_;
  std::string importance_;
  std::string span_id_;
  uint32_t read_ = 0;  // a bit for each of kMembers
};

// In the order of look-up: the most frequent first.
const std::array<PlainDraft::Member, 16> PlainDraft::kMembers = {{
    {"content", &PlainDraft::read_content},
    {"id", &PlainDraft::read_id},
    {"type", &PlainDraft::read_type},
    {"importance", &PlainDraft::read_importance},
    {"references", &PlainDraft::read_references},
    {"tags", &PlainDraft::read_tags},
    {"timestamp", &PlainDraft::read_timestamp},
    {"checksum", &PlainDraft::skip_text},
    {"decay_factor", &PlainDraft::read_decay_factor},
    {"expires_at", &PlainDraft::read_expires_at},
    {"schema_version", &PlainDraft::read_schema_version},
    {"seq", &PlainDraft::skip_number},
    {"session_id", &PlainDraft::read_session_id},
    {"span_id", &PlainDraft::read_span_id},
    {"trace_id", &PlainDraft::read_trace_id},
    {"ttl_seconds", &PlainDraft::read_ttl_seconds},
}};

std::optional<Draft> PlainDraft::read(size_t text_bytes) {
  if (text_bytes > 0) body().reserve(text_bytes + kHeadBytes);
  body() = '{';
  draft_.batch_at = draft_.checksum_at = body().size();
  draft_.facts.timestamp_ms = options_.now_ms;
  decay_factor_ = kDefaultDecayFactor;
  importance_ = kDefaultImportance;
  if (!read_members() || !was_read(kContent) || !was_read(kType)) return std::nullopt;
  if (!was_read(kId)) draft_.facts.id = ids_.next(kIdPrefix);
  write_members();
  return std::move(draft_);
}

bool PlainDraft::read_members() {
  if (!reader_.take('{')) return false;
  do {
    std::string_view name;
    if (!reader_.take_ascii(&name) || !reader_.take(':') || !read_member(name)) return false;
  } while (reader_.take(','));
  return reader_.take('}');
}

bool PlainDraft::read_member(std::string_view name) {
  const auto* const found = std::find_if(kMembers.begin(), kMembers.end(),
                                         [&](const Member& member) { return member.name == name; });
  if (found == kMembers.end()) return false;
  const uint32_t bit = uint32_t{1} << (found - kMembers.begin());
  if ((read_ & bit) != 0) return false;
  read_ |= bit;
  return (this->*found->read)();
}

bool PlainDraft::read_content() {
  json::PlainMembers members;
  body().append("\"content\":");
  if (!reader_.append_value(&body(), &members)) return false;
  read_content_keys(body(), members, &draft_.facts.content_keys);
  return true;
}

bool PlainDraft::read_importance() {
  const auto importance = read_fraction(&importance_);
  draft_.facts.importance = importance.value_or(0);
  return importance.has_value();
}

std::optional<double> PlainDraft::read_fraction(std::string* canonical) {
  const auto number = read_number(canonical);
  return number && *number >= 0 && *number <= 1 ? number : std::nullopt;
}

std::optional<double> PlainDraft::read_number(std::string* canonical) {
  std::string_view token;
  bool is_integer = false;
  canonical->clear();
  if (!reader_.take_number(&token) || !json::append_number(token, *canonical, &is_integer)) {
    return std::nullopt;
  }
  double number = 0;
  std::from_chars(canonical->data(), canonical->data() + canonical->size(), number);
  return number;
}

bool PlainDraft::read_expires_at() {
  return !was_read(kTtlSeconds) && take_time(reader_, &draft_.facts.expires_at_ms);
}

bool PlainDraft::read_ttl_seconds() {
  std::string canonical;
  const double seconds = read_number(&canonical).value_or(0);
  if (was_read(kExpiresAt) || !(seconds > 0) || seconds > kTtlSecondsMax) return false;
  draft_.facts.expires_at_ms = end_of_ttl(options_.now_ms, seconds);
  return true;
}

bool PlainDraft::read_session_id() {
  std::string_view id;
  return reader_.take_ascii(&id) && (options_.adopt_session || id == options_.session_id);
}

bool PlainDraft::read_list(bool (*is_valid)(std::string_view), std::vector<std::string>* out) {
  if (!reader_.take('[')) return false;
  if (reader_.take(']')) return true;
  out->reserve(kListItems);
  do {
    std::string_view item;
    if (!reader_.take_ascii(&item) || !is_valid(item)) return false;
    out->emplace_back(item);
  } while (reader_.take(','));
  return reader_.take(']');
}

// These texts consist of characters that need no escapes.
void PlainDraft::append_list(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) body().append(1, '"').append(text).append("\",");
  if (!texts.empty()) body().pop_back();
}

// Appends a member whose text needs no escapes, if it was given.
void PlainDraft::append_given(std::string_view name, std::string_view text) {
  if (text.empty()) return;
  body().append(",\"").append(name).append("\":\"").append(text).append(1, '"');
}

// The text between two values is one piece, because each piece costs a call.
void PlainDraft::write_members() {
  static_assert(kSchemaVersion == 1);
  const EntryFacts& facts = draft_.facts;
  const bool expires = facts.expires_at_ms != kNeverExpires;
  body().append(R"(,"decay_factor":)").append(decay_factor_);
  if (expires) append_given("expires_at", format_rfc3339(facts.expires_at_ms));
  body().append(R"(,"id":")").append(facts.id);
  body().append(R"(","importance":)").append(importance_);
  body().append(R"(,"references":[)");
  append_list(facts.references);
  body().append(R"(],"schema_version":1,)");
  draft_.seq_at = body().size();
  body().append(R"("session_id":")").append(options_.session_id).append(1, '"');
  append_given("span_id", span_id_);
  body().append(R"(,"tags":[)");
  append_list(facts.tags);
  body().append(R"(],"timestamp":")").append(format_rfc3339(facts.timestamp_ms)).append(1, '"');
  append_given("trace_id", facts.trace_id);
  body().append(R"(,"type":")").append(facts.type).append("\"}");
}

}  // namespace

std::optional<Draft> draft_plain(json::PlainReader& reader, size_t text_bytes,
                                 const DraftOptions& options, IdGenerator& ids) {
  return PlainDraft(reader, options, ids).read(text_bytes);
}

}  // namespace varve::entry
