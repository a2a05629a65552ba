#include "index/facets.h"

#include <algorithm>

#include "base/release_memory.h"
#include "index/common_start.h"
#include "index/varint.h"

namespace varve::index {

namespace {

constexpr char kTag = 't';
constexpr char kTrace = 'x';
constexpr char kContent = 'c';
constexpr char kIncoming = 'i';
constexpr char kRelated = 'r';
constexpr char kOutgoing = 'o';
constexpr std::string_view kRolePrefix("crole\0s", 7);  // of the strings of content's "role"

// Below this compressing is not worth its time.
constexpr uint64_t kFacetCompressBytesMin = uint64_t{1} << 20;

// A log that nobody queries waits with it: that many bytes are a hundred thousand usual entries,
// and one megabyte of tags that are as deep as they may be, of which each level is a key.
constexpr uint64_t kFacetWaitingBytesMax = uint64_t{64} << 20;

// Big-endian, so that keys come in the order of rows.
std::string outgoing_key(uint32_t row) {
  std::string key(1, kOutgoing);
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(row >> shift));
  return key;
}

void assign_relation_key(std::string* key, std::string_view target, std::string_view relation) {
  key->assign(1, kRelated).append(target).append(1, '\0').append(relation);
}

void append_text(std::string* out, std::string_view text) {
  append_varint(out, text.size());
  out->append(text);
}

// Ids of one session start alike, mostly: with when they were made.
void append_reference(std::string* out, const Reference& reference, std::string_view id) {
  const std::string_view target = reference.target;
  const size_t shared_bytes = common_start_bytes(target, id);
  append_varint(out, shared_bytes << 1 | (reference.relation.empty() ? 0 : 1));
  if (!reference.relation.empty()) append_text(out, reference.relation);
  append_text(out, target.substr(shared_bytes));
}

bool take_text(std::string_view* bytes, std::string_view* text) {
  uint64_t size = 0;
  if (!take_varint(bytes, &size) || size > bytes->size()) return false;
  *text = bytes->substr(0, size);
  bytes->remove_prefix(size);
  return true;
}

// `target` is what the reference's is in.
bool take_reference(std::string_view* bytes, std::string_view id, std::string* target,
                    Reference* reference) {
  uint64_t number = 0;
  std::string_view rest;
  reference->relation = {};
  if (!take_varint(bytes, &number) || number >> 1 > id.size()) return false;
  if ((number & 1) != 0 && !take_text(bytes, &reference->relation)) return false;
  if (!take_text(bytes, &rest)) return false;
  target->assign(id.substr(0, number >> 1)).append(rest);
  reference->target = *target;
  return true;
}

}  // namespace

void Facets::add_row(std::string_view key, uint32_t row) {
  const uint32_t number = dictionary_.list_number(key);
  const PostingBuffer& list = dictionary_.list(number);
  if (list.count() > 0 && list.last_row() == row) return;  // said twice
  if (list.count() == 0 && key.starts_with(kRolePrefix)) added_roles_.emplace_back(key);
  const Posting posting{row, 1, 0};
  dictionary_.add(number, {&posting, 1});
  postings_added_ += 1;
}

void Facets::add_field(char field, std::string_view rest, uint32_t row) {
  key_.assign(1, field).append(rest);
  add_row(key_, row);
}

void Facets::add_tag(std::string_view tag, uint32_t row) {
  for (size_t end = tag.find('.'); end != std::string_view::npos; end = tag.find('.', end + 1)) {
    if (end > 0) add_field(kTag, tag.substr(0, end), row);
  }
  add_field(kTag, tag, row);
}

void Facets::add_references(uint32_t row, const entry::EntryFacts& facts) {
  outgoing_.clear();
  const auto add = [&](std::string_view relation, const std::vector<std::string>& targets) {
    for (const auto& target : targets) {
      add_field(kIncoming, target, row);
      if (!relation.empty()) {
        assign_relation_key(&key_, target, relation);
        add_row(key_, row);
      }
      append_reference(&outgoing_, {relation, target}, facts.id);
    }
  };
  add("", facts.references);
  for (const auto& relation : facts.relations) add(relation.name, relation.ids);
  if (!outgoing_.empty()) dictionary_.put_new(outgoing_key(row), outgoing_);
}

void Facets::add(uint32_t row, const entry::EntryFacts& facts) {
  for (const auto& tag : facts.tags) add_tag(tag, row);
  if (!facts.trace_id.empty()) add_field(kTrace, facts.trace_id, row);
  for (const auto& member : facts.content_keys) add_field(kContent, member, row);
  add_references(row, facts);
}

PostingList Facets::tag(std::string_view tag) const {
  return dictionary_.find(field_key(kTag, tag));
}

PostingList Facets::trace(std::string_view trace_id) const {
  return dictionary_.find(field_key(kTrace, trace_id));
}

PostingList Facets::content(std::string_view content_key) const {
  return dictionary_.find(field_key(kContent, content_key));
}

PostingList Facets::referring(std::string_view target) const {
  return dictionary_.find(field_key(kIncoming, target));
}

PostingList Facets::referring(std::string_view target, std::string_view relation) const {
  std::string key;
  assign_relation_key(&key, target, relation);
  return dictionary_.find(key);
}

void Facets::references_of(uint32_t row, std::string_view id,
                           const std::function<void(const Reference&)>& visit) const {
  std::string_view bytes = dictionary_.find_value(outgoing_key(row));
  std::string target;
  Reference reference;
  while (take_reference(&bytes, id, &target, &reference)) visit(reference);
}

void Facets::for_each_tag(
    const std::function<void(std::string_view, const PostingList&)>& visit) const {
  dictionary_.for_each_list(std::string(1, kTag), [&](std::string_view key) {
    visit(key.substr(1), dictionary_.find(key));
    return true;
  });
}

void Facets::for_each_role(
    const std::function<bool(std::string_view, std::string_view)>& visit) const {
  const auto visit_key = [&](std::string_view key) {
    return visit(key.substr(kRolePrefix.size()), key.substr(1));
  };
  const Segment& frozen = dictionary_.frozen();
  for (SegmentCursor at(frozen, kRolePrefix); at.is_at(kRolePrefix); at.next()) {
    if (!visit_key(at.key())) return;
  }
  for (const std::string& key : added_roles_) {
    if (frozen.find(key).data() == nullptr && !visit_key(key)) return;
  }
}

namespace {

// Values are what a row refers to; their keys have the row's number.
class RenumberFacets final : public Dictionary::Renumber {
 public:
  explicit RenumberFacets(const Renumbering& rows) : rows_(rows) {}

  bool has_value(std::string_view key) override { return key.front() == kOutgoing; }
  bool keep_value(std::string_view key, std::string_view, std::string* new_key) override {
    uint32_t row = 0;
    for (const char c : key.substr(1)) row = row << 8 | static_cast<uint8_t>(c);
    const uint32_t new_row = rows_.new_row(row);
    if (new_row == kNoRow) return false;
    *new_key = outgoing_key(new_row);
    return true;
  }
  void dropped_list(std::string_view) override {}

 private:
  const Renumbering& rows_;
};

}  // namespace

Facets Facets::renumbered(const Renumbering& rows) const {
  RenumberFacets keys(rows);
  Facets facets(hash_seed());
  facets.dictionary_ = dictionary_.renumbered(rows, RowLengths(), keys);
  return facets;
}

bool Facets::has_added(uint64_t bytes_min) const {
  const uint64_t added_bytes = dictionary_.added_bytes() + postings_added_ * kPostingBytes;
  return added_bytes >= std::max(bytes_min, dictionary_.frozen().size_bytes() / 2);
}

bool Facets::is_compression_due() const { return has_added(kFacetCompressBytesMin); }

bool Facets::is_compression_pressing() const { return has_added(kFacetWaitingBytesMax); }

void Facets::compress() {
  if (!is_compression_due() || !dictionary_.load_whole().ok()) return;
  dictionary_.freeze(RowLengths());
  postings_added_ = 0;
  release_memory(&added_roles_);
}

}  // namespace varve::index
