#include "index/index.h"

#include <algorithm>
#include <type_traits>

#include "index/snapshot_file.h"

namespace varve::index {

bool Index::is_unchecked(uint32_t row) const {
  return !has_all_rows() && row < pending_.file->header().row_count;
}

Location Index::within_log(const Location& place) const {
  const uint64_t covered_bytes = coverage.entries_bytes;
  const bool is_within = may_be_line(place.offset, place.length, covered_bytes);
  if (!is_within) pending_.file->set_damaged();
  return is_within ? place : Location();
}

bool Index::are_rows_damaged() const { return !has_all_rows() && pending_.file->is_damaged(); }

std::string_view Index::tombstone_id(uint32_t number) const {
  const uint64_t begin = number == 0 ? 0 : tombstone_ends_[number - 1];
  return std::string_view(tombstone_ids_).substr(begin, tombstone_ends_[number] - begin);
}

std::vector<std::pair<uint64_t, uint64_t>> Index::gaps() const {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  uint64_t at = 0;
  for (uint32_t row = 0; row < size(); ++row) {
    const Location line = location(row);
    if (line.offset > at) found.emplace_back(at, line.offset);
    at = line.offset + line.length + 1;
  }
  if (at < coverage.entries_bytes) found.emplace_back(at, coverage.entries_bytes);
  return found;
}

bool Index::was_deleted(std::string_view wanted) const {
  return tombstone_table_
      .find(wanted, tombstone_hashes_,
            [&](uint32_t number) { return tombstone_id(number) == wanted; })
      .has_value();
}

std::optional<uint32_t> Index::find_type(std::string_view type) const {
  const auto known = type_numbers_.find(type);
  return known == type_numbers_.end() ? std::nullopt : std::optional(known->second);
}

uint32_t Index::number_of_type(std::string_view type) {
  const auto known = find_type(type);
  return known ? *known : add_type(type);
}

uint32_t Index::add_type(std::string_view type) {
  const auto number = static_cast<uint32_t>(type_names_.size());
  type_numbers_.emplace(type, number);
  type_names_.emplace_back(type);
  type_counts_.push_back(0);
  return number;
}

void Index::note_seq(uint64_t seq, uint64_t settled_seq) {
  if (seq == entry::kNoSeq) return;
  const uint64_t expected = std::max(coverage.last_seq, settled_seq) + 1;
  if (seq > expected) {
    coverage.missing_count += seq - expected;
    last_missing_seq = seq - 1;
  }
  coverage.last_seq = std::max(coverage.last_seq, seq);
}

Index::Added Index::add(const entry::EntryFacts& facts, const Location& location,
                        uint64_t settled_seq) {
  coverage.last_line_offset = location.offset;
  coverage.last_line_length = location.length;
  coverage.last_line_hash = location.line_hash;
  if (find(facts.id)) return Added::kIdTaken;
  note_seq(facts.seq, settled_seq);
  const uint32_t row = size();
  offsets_.push_back(location.offset);
  lengths_.push_back(static_cast<uint32_t>(location.length));
  line_hashes_.push_back(location.line_hash);
  id_hashes_.push_back(id_hash(facts.id));
  ids_.add(facts.id);
  add_time(facts.timestamp_ms);
  expiries_ms_.push_back(facts.expires_at_ms);
  importances_.push_back(facts.importance);
  seqs_.push_back(facts.seq);
  const uint32_t type = number_of_type(facts.type);
  types_.push_back(type);
  flags_.push_back(facts.sealed ? kSealed : 0);
  marks_.push_back(kVerified);
  put_into_table(row);
  facets_.add(row, facts);
  if (tombstone_count() > 0 && was_deleted(facts.id)) {
    marks_[row] |= kDeleted;
    deleted_count_ += 1;
  } else {
    type_counts_[type] += 1;
  }
  return Added::kYes;
}

void Index::add_tombstone(std::string_view id) {
  if (was_deleted(id)) return;
  const uint32_t number = static_cast<uint32_t>(tombstone_hashes_.size());
  tombstone_hashes_.push_back(id_hash(id));
  tombstone_ids_.append(id);
  tombstone_ends_.push_back(tombstone_ids_.size());
  put_tombstone_into_table(number);
  hide(id);
}

void Index::put_into_table(uint32_t row) {
  table_.insert(row, id_hashes_, [this](uint32_t number) { return ids_.at(number); });
}

void Index::put_tombstone_into_table(uint32_t number) {
  tombstone_table_.insert(number, tombstone_hashes_,
                          [this](uint32_t one) { return std::string(tombstone_id(one)); });
}

// The row of a deleted entry, if it is there.
void Index::hide(std::string_view id) {
  const auto row = find(id);
  if (!row || is_deleted(*row)) return;
  marks_[*row] |= kDeleted;
  deleted_count_ += 1;
  type_counts_[types_[*row]] -= 1;
}

std::map<std::string, uint64_t> Index::type_counts() const {
  std::map<std::string, uint64_t> counts;
  for (size_t type = 0; type < type_names_.size(); ++type) {
    if (type_counts_[type] > 0) counts[type_names_[type]] += type_counts_[type];
  }
  return counts;
}

uint32_t Index::expired_count(int64_t now_ms) const {
  uint32_t count = 0;
  for (uint32_t row = 0; row < size(); ++row) {
    if (!is_deleted(row) && is_expired(row, now_ms)) count += 1;
  }
  return count;
}

TextIndex& Index::text_to_extend() {
  if (text_ == nullptr) text_ = std::make_unique<TextIndex>(text_settings_, hash_seed());
  return *text_;
}

void Index::compress_facets() {
  if (has_facets()) facets_.compress();
}

void Index::compress(uint64_t added_words_bytes_max) {
  compress_facets();
  if (has_text() && text_->is_compression_due(added_words_bytes_max)) text_->compress();
}

Status Index::load_whole() {
  VARVE_TRY(facets_.load_whole());
  if (text_) VARVE_TRY(text_->load_whole());
  pending_.rest = false;
  return {};
}

Index Index::renumbered(const Renumbering& rows) const {
  Index index(text_settings_, hash_seed());
  constexpr uint32_t kNoType = UINT32_MAX;
  std::vector<uint32_t> new_types(type_names_.size(), kNoType);  // by old type
  for (const uint32_t row : rows.kept()) {
    uint32_t& new_type = new_types[types_[row]];
    if (new_type == kNoType) new_type = index.add_type(type(row));
    index.take_row(*this, row, new_type);
  }
  index.table_.reserve(index.size(), index.id_hashes_, {});  // nothing is in it
  for (uint32_t row = 0; row < index.size(); ++row) index.put_into_table(row);
  index.tombstone_ends_ = tombstone_ends_;
  index.tombstone_ids_ = tombstone_ids_;
  index.tombstone_hashes_.append(tombstone_hashes_.values());
  for (uint32_t number = 0; number < tombstone_count(); ++number) {
    index.put_tombstone_into_table(number);
  }
  index.coverage.tombstones_bytes = coverage.tombstones_bytes;
  index.last_tombstone = last_tombstone;
  index.damaged_tombstone_count = damaged_tombstone_count;
  if (text_ != nullptr) {
    index.text_ = std::make_unique<TextIndex>(text_->renumbered(rows, text_settings_));
  }
  return index;
}

bool Index::take_words(Index& other, SameRows same) {
  const uint32_t count = other.text_row_count();
  if (text_ != nullptr || !other.has_text() || other.is_damaged() || count > size()) return false;
  for (uint32_t row = 0; row < count; ++row) {
    const bool is_same = same == SameRows::kByLine ? location(row) == other.location(row)
                                                   : ids_.is(row, other.id(row));
    if (!is_same) return false;
  }
  text_ = std::move(other.text_);
  return true;
}

// A live row of another index, behind the last one. `type`: its number here.
void Index::take_row(const Index& from, uint32_t row, uint32_t type) {
  const uint64_t offset = coverage.entries_bytes;
  offsets_.push_back(offset);
  lengths_.push_back(from.lengths_[row]);
  line_hashes_.push_back(from.line_hashes_[row]);
  id_hashes_.push_back(from.id_hashes_[row]);
  ids_.add(from.ids_, row);
  add_time(from.timestamps_ms_[row]);
  expiries_ms_.push_back(from.expiries_ms_[row]);
  importances_.push_back(from.importances_[row]);
  seqs_.push_back(from.seqs_[row]);
  types_.push_back(type);
  type_counts_[type] += 1;
  flags_.push_back(from.flags_[row]);
  marks_.push_back(from.marks_[row]);
  coverage.last_line_offset = offset;
  coverage.last_line_length = from.lengths_[row];
  coverage.last_line_hash = from.line_hashes_[row];
  coverage.last_seq = std::max(coverage.last_seq, from.seqs_[row]);
  coverage.entries_bytes = offset + from.lengths_[row] + 1;
}

// The stretch of a row at this time that comes behind `row`.
uint32_t Index::stretch_behind(uint32_t row, int64_t timestamp_ms) const {
  const int64_t before_ms = timestamps_ms_[row];
  // Unsigned: times of a file may be further apart than 63 bits.
  const uint64_t gap_ms = static_cast<uint64_t>(std::max(timestamp_ms, before_ms)) -
                          static_cast<uint64_t>(std::min(timestamp_ms, before_ms));
  return stretches_[row] + (gap_ms > uint64_t{kStretchGapMs} ? 1 : 0);
}

// Of the next row.
void Index::add_time(int64_t timestamp_ms) {
  const auto count = static_cast<uint32_t>(timestamps_ms_.size());
  stretches_.push_back(count == 0 ? 0 : stretch_behind(count - 1, timestamp_ms));
  if (count > 0 && timestamp_ms < timestamps_ms_[count - 1]) in_time_order_ = false;
  timestamps_ms_.push_back(timestamp_ms);
}

// What of index.bin cannot be read shows in is_damaged().
void Index::arrange() {
  if (arranged_count_ == size()) return;
  (void)timestamps_ms_.load().ok();
  (void)importances_.load().ok();
  std::vector<std::vector<uint32_t>> added(type_names_.size());
  for (uint32_t row = arranged_count_; row < size(); ++row) added[types_[row]].push_back(row);
  time_orders_.resize(type_names_.size());
  for (size_t type = 0; type < added.size(); ++type) {
    time_orders_[type].add(added[type], {timestamps_ms_.values(), importances_.values()});
  }
  arranged_count_ = size();
}

namespace {

template <typename... Columns>
uint64_t held_by(const Columns&... columns) {
  return (columns.memory_bytes() + ...);
}

}  // namespace

uint64_t Index::memory_bytes() const {
  uint64_t orders_bytes = 0;
  for (const auto& order : time_orders_) orders_bytes += order.memory_bytes();
  return held_by(offsets_, lengths_, line_hashes_, id_hashes_, timestamps_ms_, expiries_ms_,
                 importances_, seqs_, types_, flags_, stretches_, ids_, table_, tombstone_hashes_,
                 tombstone_table_) +
         marks_.capacity() + tombstone_ends_.capacity() * sizeof(uint64_t) +
         tombstone_ids_.capacity() + facets_memory_bytes() + text_memory_bytes() + orders_bytes;
}

void swap(Index& a, Index& b) {
  static_assert(std::is_nothrow_move_assignable_v<Index>);
  Index between;
  between = std::move(a);
  a = std::move(b);
  b = std::move(between);
}

}  // namespace varve::index
