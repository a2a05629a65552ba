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
#include "json/canonical.h"

namespace varve::entry {

namespace {

// Room for what a line has and most texts have not, so that memory grows once.
constexpr size_t kHeadBytes = 256;
constexpr size_t kListItems = 4;

// The content is written where it stands in the end, as the first member; the others are kept until
// all are read.
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
  static const std::array<Member, 7> kMembers;
  // Of what has to be there, or is made.
  enum MemberNumber : size_t { kContent = 0, kId = 1, kType = 6 };

  bool read_members();
  bool read_member(std::string_view name);
  bool read_content();
  bool read_id();
  bool read_importance();
  bool read_references() { return read_list(is_valid_id, &draft_.facts.references); }
  bool read_tags() { return read_list(is_valid_tag, &draft_.facts.tags); }
  bool read_timestamp();
  bool read_type();
  bool read_list(bool (*is_valid)(std::string_view), std::vector<std::string>* out);
  void read_content_keys(const json::PlainMembers& members);
  void write_members();

  std::string& body() { return draft_.body; }
  void append_list(const std::vector<std::string>& texts);
  [[nodiscard]] bool was_read(size_t member) const { return (read_ >> member & 1) != 0; }

  json::PlainReader& reader_;
  const DraftOptions& options_;
  IdGenerator& ids_;
  Draft draft_;
  std::string importance_;
  uint32_t read_ = 0;  // a bit for each of kMembers
};

const std::array<PlainDraft::Member, 7> PlainDraft::kMembers = {{
    {"content", &PlainDraft::read_content},
    {"id", &PlainDraft::read_id},
    {"importance", &PlainDraft::read_importance},
    {"references", &PlainDraft::read_references},
    {"tags", &PlainDraft::read_tags},
    {"timestamp", &PlainDraft::read_timestamp},
    {"type", &PlainDraft::read_type},
}};

std::optional<Draft> PlainDraft::read(size_t text_bytes) {
  if (text_bytes > 0) body().reserve(text_bytes + kHeadBytes);
  body() = '{';
  draft_.batch_at = draft_.checksum_at = body().size();
  draft_.facts.timestamp_ms = options_.now_ms;
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
  read_content_keys(members);
  return true;
}

void PlainDraft::read_content_keys(const json::PlainMembers& members) {
  draft_.facts.content_keys.reserve(members.size());
  for (const json::PlainMember& member : members) {
    const std::string_view value =
        std::string_view(body()).substr(member.begin, member.end - member.begin);
    if (value.front() != '{' && value.front() != '[') {
      draft_.facts.content_keys.push_back(content_key_of_canonical(member.name, value));
    }
  }
}

bool PlainDraft::read_id() {
  std::string_view id;
  if (!reader_.take_ascii(&id) || !is_valid_id(id)) return false;
  draft_.facts.id = id;
  return true;
}

bool PlainDraft::read_importance() {
  std::string_view token;
  bool is_integer = false;
  importance_.clear();
  if (!reader_.take_number(&token) || !json::append_number(token, importance_, &is_integer)) {
    return false;
  }
  double& importance = draft_.facts.importance;
  std::from_chars(importance_.data(), importance_.data() + importance_.size(), importance);
  return importance >= 0 && importance <= 1;
}

bool PlainDraft::read_timestamp() {
  std::string_view text;
  if (!reader_.take_ascii(&text)) return false;
  const auto time_ms = parse_rfc3339(text);
  draft_.facts.timestamp_ms = time_ms.value_or(0);
  return time_ms.has_value();
}

bool PlainDraft::read_type() {
  std::string_view type;
  if (!reader_.take_ascii(&type) || !is_valid_type(type)) return false;
  draft_.facts.type = type;
  return true;
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

// What these texts may be made of needs no escapes.
void PlainDraft::append_list(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) body().append(1, '"').append(text).append("\",");
  if (!texts.empty()) body().pop_back();
}

// With what stands between two values in one piece: a piece is a call.
void PlainDraft::write_members() {
  static_assert(kSchemaVersion == 1 && kDefaultDecayFactor == "1");
  const EntryFacts& facts = draft_.facts;
  body().append(R"(,"decay_factor":1,"id":")").append(facts.id);
  body().append(R"(","importance":)").append(importance_);
  body().append(R"(,"references":[)");
  append_list(facts.references);
  body().append(R"(],"schema_version":1,)");
  draft_.seq_at = body().size();
  body().append(R"("session_id":")").append(options_.session_id).append(R"(","tags":[)");
  append_list(facts.tags);
  body().append(R"(],"timestamp":")").append(format_rfc3339(facts.timestamp_ms));
  body().append(R"(","type":")").append(facts.type).append("\"}");
}

}  // namespace

std::optional<Draft> draft_plain(json::PlainReader& reader, size_t text_bytes,
                                 const DraftOptions& options, IdGenerator& ids) {
  return PlainDraft(reader, options, ids).read(text_bytes);
}

}  // namespace varve::entry
