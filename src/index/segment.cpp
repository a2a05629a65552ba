#include "index/segment.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "index/common_start.h"
#include "index/key_head.h"
#include "index/partition_point.h"
#include "index/varint.h"

namespace varve::index {

namespace {

struct SegmentHeader {
  uint32_t key_count = 0;
  uint32_t reserved = 0;
  uint64_t keys_bytes = 0;
  uint64_t values_bytes = 0;
};
static_assert(sizeof(SegmentHeader) == 24, "written as it lies in memory");

constexpr size_t kHeadBytes = sizeof(uint64_t);

// The first byte of a key as it is written: how many bytes it shares with the one before it, how
// many others it has, where the largest number means that more follows, and whether it has a value.
constexpr uint8_t kSharedMax = 15;
constexpr uint8_t kSharedBits = 4;
constexpr uint8_t kRestMax = 7;
constexpr uint8_t kHasValue = 0x80;

template <typename T>
T load(std::string_view bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <typename T>
void store(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

Status wrong_dictionary(std::string_view what) {
  return {Code::kCorruption, "index.bin: a dictionary " + std::string(what)};
}

}  // namespace

// --- opening -------------------------------------------------------------------------------------

// One for each eight keys: most are never asked for.
Segment::RecentGroups::RecentGroups(uint32_t key_count)
    : count_(std::clamp(std::bit_ceil(key_count / 8), uint32_t{1} << 10, uint32_t{1} << 12)),
      numbers_(std::make_unique<std::atomic<uint32_t>[]>(count_)) {}

Status Segment::read_layout() {
  if (bytes_->size() < sizeof(SegmentHeader)) {
    return wrong_dictionary("is shorter than its header");
  }
  const std::string_view start = bytes_->view(0, sizeof(SegmentHeader));
  if (start.data() == nullptr) return wrong_dictionary("cannot be read");
  const auto header = load<SegmentHeader>(start, 0);
  if (header.key_count > UINT32_MAX - kGroupKeys) return wrong_dictionary("has too many keys");
  key_count_ = header.key_count;
  heads_at_ = sizeof(SegmentHeader);
  value_starts_at_ = heads_at_ + uint64_t{group_count()} * kHeadBytes;
  key_starts_at_ = value_starts_at_ + uint64_t{group_count()} * sizeof(uint64_t);
  keys_at_ = key_starts_at_ + uint64_t{group_count()} * sizeof(uint32_t);
  keys_bytes_ = header.keys_bytes;
  values_bytes_ = header.values_bytes;
  if (keys_at_ > bytes_->size() || keys_bytes_ > bytes_->size() - keys_at_) {
    return wrong_dictionary("is shorter than its keys");
  }
  values_at_ = keys_at_ + keys_bytes_;
  if (values_bytes_ != bytes_->size() - values_at_) {
    return wrong_dictionary("does not have the size it states");
  }
  if (key_count_ >= RecentGroups::kKeyCountMin) {
    recent_ = std::make_shared<RecentGroups>(key_count_);
  }
  return {};
}

Result<Segment> Segment::open(std::shared_ptr<SectionBytes> bytes) {
  Segment segment;
  if (bytes->size() == 0) return segment;
  segment.bytes_ = std::move(bytes);
  segment.is_checked_ = false;
  VARVE_TRY(segment.read_layout());
  return segment;
}

Segment Segment::adopt(std::string bytes) {
  Segment segment;
  if (bytes.empty()) return segment;
  segment.bytes_ = std::make_shared<SectionBytes>(std::move(bytes));
  (void)segment.read_layout().ok();
  return segment;
}

Status Segment::load_whole() {
  if (is_checked_) return {};
  VARVE_TRY(bytes_->read_all());
  Status checked = check();
  if (!checked.ok()) bytes_->set_damaged();
  is_checked_ = checked.ok();
  return checked;
}

Status Segment::check() const {
  Group expected{bytes_->view(keys_at_, keys_bytes_), 0};
  std::string last;
  for (uint32_t i = 0; i < group_count(); ++i) VARVE_TRY(check_group(i, &expected, &last));
  if (!expected.records.empty() || expected.value_at != values_bytes_) {
    return wrong_dictionary("has bytes that belong to no entry");
  }
  return {};
}

// *expected: where the group has to begin, with all records from there on; afterwards the same of
// the next group. *last: the last key of the group before; afterwards that of this one.
Status Segment::check_group(uint32_t number, Group* expected, std::string* last) const {
  const uint64_t key_at = keys_bytes_ - expected->records.size();
  if (column<uint32_t>(key_starts_at_, number) != key_at ||
      column<uint64_t>(value_starts_at_, number) != expected->value_at) {
    return wrong_dictionary("has a group that begins at the wrong byte");
  }
  const uint32_t first = number * kGroupKeys;
  const uint32_t end = std::min(first + kGroupKeys, key_count_);
  for (uint32_t i = first; i < end; ++i) {
    Record record;
    if (!take_record(&expected->records, i == first ? 0 : last->size(), &record) ||
        record.value_bytes > values_bytes_ - expected->value_at) {
      return wrong_dictionary("has an entry outside itself");
    }
    expected->value_at += record.value_bytes;
    const std::string_view before = std::string_view(*last).substr(record.shared);
    if (i != 0 && !(before < record.rest)) return wrong_dictionary("is not sorted");
    if (i != first && !before.empty() && before.front() == record.rest.front()) {
      return wrong_dictionary("has a key that shares more with the key before than it states");
    }
    last->resize(record.shared);
    last->append(record.rest);
    if (last->empty()) return wrong_dictionary("has an empty key");
    if (i == first && head(number) != key_head(*last)) {
      return wrong_dictionary("has a group that starts with another key");
    }
  }
  return {};
}

// --- groups --------------------------------------------------------------------------------------

// 0 where it cannot be read.
template <typename T>
T Segment::column(uint64_t starts_at, uint32_t number) const {
  const std::string_view bytes = bytes_->view(starts_at + uint64_t{number} * sizeof(T), sizeof(T));
  return bytes.data() == nullptr ? T() : load<T>(bytes, 0);
}

uint64_t Segment::head(uint32_t group) const {
  const std::string_view bytes = bytes_->view(heads_at_ + uint64_t{group} * kHeadBytes, kHeadBytes);
  return bytes.data() == nullptr ? 0 : key_head(bytes);
}

Segment::Group Segment::group(uint32_t number) const {
  const uint64_t begin = column<uint32_t>(key_starts_at_, number);
  const uint64_t end =
      number + 1 < group_count() ? column<uint32_t>(key_starts_at_, number + 1) : keys_bytes_;
  if (begin >= end || end > keys_bytes_) {  // a group has a key
    bytes_->set_damaged();
    return {};
  }
  return {bytes_->view(keys_at_ + begin, end - begin), column<uint64_t>(value_starts_at_, number)};
}

bool Segment::take_record(std::string_view* records, uint64_t key_bytes, Record* record) const {
  if (records->empty()) return false;
  if (read_record(records, record) && record->shared <= key_bytes) return true;
  bytes_->set_damaged();
  return false;
}

inline bool Segment::read_record(std::string_view* records, Record* record) {
  const auto head = static_cast<uint8_t>(records->front());
  records->remove_prefix(1);
  uint64_t shared = head & kSharedMax;
  uint64_t rest_bytes = head >> kSharedBits & kRestMax;
  uint64_t value = 0;  // twice its length, plus the mark
  uint64_t more = 0;
  if (shared == kSharedMax) {
    if (!take_varint(records, &more) || more > UINT32_MAX) return false;
    shared += more;
  }
  if (rest_bytes == kRestMax) {
    if (!take_varint(records, &more) || more > UINT32_MAX) return false;
    rest_bytes += more;
  }
  if ((head & kHasValue) != 0 && !take_varint(records, &value)) return false;
  if (rest_bytes > records->size()) return false;
  *record = {shared, records->substr(0, rest_bytes), value >> 1, (value & 1) != 0};
  records->remove_prefix(rest_bytes);
  return true;
}

void SegmentBuilder::append_record(const Segment::Record& record) {
  const uint64_t shared_here = std::min<uint64_t>(record.shared, kSharedMax);
  const uint64_t rest_here = std::min<uint64_t>(record.rest.size(), kRestMax);
  const uint64_t flag = record.value_bytes > 0 ? kHasValue : 0;
  keys_.push_back(static_cast<char>(shared_here | rest_here << kSharedBits | flag));
  if (shared_here == kSharedMax) append_varint(&keys_, record.shared - kSharedMax);
  if (rest_here == kRestMax) append_varint(&keys_, record.rest.size() - kRestMax);
  if (flag != 0) append_varint(&keys_, record.value_bytes << 1 | (record.is_marked ? 1 : 0));
  keys_.append(record.rest);
}

std::string_view Segment::value(uint64_t at, uint64_t length) const {
  if (at > values_bytes_ || length > values_bytes_ - at) {
    bytes_->set_damaged();
    return {};
  }
  return bytes_->view(values_at_ + at, length);
}

// --- looking up ----------------------------------------------------------------------------------

bool Segment::begins_above(uint32_t group, std::string_view key) const {
  std::string_view records = this->group(group).records;
  Record first;
  return take_record(&records, 0, &first) && key < first.rest;
}

uint32_t Segment::group_of(std::string_view key) const {
  const uint64_t wanted = key_head(key);
  uint32_t end =
      partition_point(0, group_count(), [&](uint32_t group) { return head(group) < wanted; });
  if (end < group_count() && head(end) == wanted) {  // its head does not tell
    const uint32_t same_end =
        partition_point(end, group_count(), [&](uint32_t group) { return head(group) == wanted; });
    end = partition_point(end, same_end, [&](uint32_t group) { return !begins_above(group, key); });
  }
  return end > 0 ? end - 1 : 0;
}

// Walks the group without putting keys together. A key that shares more bytes with the key before
// it than that has in common with `wanted` is below `wanted`, too; one that shares fewer is above.
Segment::Found Segment::find_in_group(uint32_t number, std::string_view wanted) const {
  auto [records, value_at] = group(number);
  uint64_t matched = 0;  // [bytes] at the start of `wanted` that the key before has, too
  uint64_t key_bytes = 0;
  Record record;
  while (take_record(&records, key_bytes, &record)) {
    key_bytes = record.shared + record.rest.size();
    if (record.shared < matched) return {};
    if (record.shared == matched) {
      const std::string_view left = wanted.substr(matched);
      const size_t same = common_start_bytes(left, record.rest);
      if (same == left.size()) {
        if (same != record.rest.size()) return {};
        return {value(value_at, record.value_bytes), record.is_marked};
      }
      if (same < record.rest.size() &&
          static_cast<uint8_t>(left[same]) < static_cast<uint8_t>(record.rest[same])) {
        return {};
      }
      matched += same;
    }
    value_at += record.value_bytes;
  }
  return {};
}

Segment::Found Segment::look_up(std::string_view wanted) const {
  if (key_count_ == 0) return {};
  std::atomic<uint32_t>* recent = recent_ ? &recent_->at(hash64(wanted)) : nullptr;
  if (recent != nullptr) {
    const uint32_t number = recent->load(std::memory_order_relaxed);
    if (number > 0) {
      const Found found = find_in_group(number - 1, wanted);
      if (found.value.data() != nullptr) return found;
    }
  }
  const uint32_t number = group_of(wanted);
  const Found found = find_in_group(number, wanted);
  if (recent != nullptr && found.value.data() != nullptr) {
    recent->store(number + 1, std::memory_order_relaxed);
  }
  return found;
}

uint64_t Segment::memory_bytes() const {
  return (bytes_ ? bytes_->memory_bytes() : 0) + (recent_ ? recent_->memory_bytes() : 0);
}

// --- SegmentCursor -------------------------------------------------------------------------------

SegmentCursor::SegmentCursor(const Segment& segment) : segment_(&segment) { enter(0); }

SegmentCursor::SegmentCursor(const Segment& segment, std::string_view key) : segment_(&segment) {
  enter(segment.size() > 0 ? segment.group_of(key) : 0);
  while (!at_end_ && key_ < key) next();
}

void SegmentCursor::enter(uint32_t group) {
  at_end_ = group >= segment_->group_count();
  if (at_end_) return;
  group_ = group;
  const Segment::Group entered = segment_->group(group);
  records_ = entered.records;
  value_at_ = entered.value_at;
  key_.clear();
  take();
}

std::string_view SegmentCursor::value() const { return segment_->value(value_at_, value_bytes_); }

void SegmentCursor::next() {
  if (records_.empty()) {
    enter(group_ + 1);
  } else {
    value_at_ += value_bytes_;
    take();
  }
}

void SegmentCursor::take() {
  Segment::Record record;
  at_end_ = !segment_->take_record(&records_, key_.size(), &record);
  if (at_end_) return;
  value_bytes_ = record.value_bytes;
  is_marked_ = record.is_marked;
  key_.resize(record.shared);
  key_.append(record.rest);
}

// --- SegmentBuilder ------------------------------------------------------------------------------

void SegmentBuilder::reserve(const Segment& as_much) {
  heads_.reserve(as_much.group_count() * kHeadBytes);
  value_starts_.reserve(as_much.group_count() * sizeof(uint64_t));
  key_starts_.reserve(as_much.group_count() * sizeof(uint32_t));
  keys_.reserve(as_much.keys_bytes_);
  values_.reserve(as_much.values_bytes_);
}

void SegmentBuilder::add(std::string_view key, std::string_view value, bool is_marked) {
  size_t shared = 0;
  if (key_count_++ % Segment::kGroupKeys == 0) {
    heads_.append(key.substr(0, kHeadBytes));
    heads_.resize(value_starts_.size() + kHeadBytes);
    store(&value_starts_, uint64_t{values_.size()});
    store(&key_starts_, static_cast<uint32_t>(keys_.size()));
  } else {
    shared = common_start_bytes(last_key_, key);
  }
  append_record({shared, key.substr(shared), value.size(), is_marked});
  values_.append(value);
  last_key_.assign(key);
}

std::string SegmentBuilder::encode() const {
  SegmentHeader header;
  header.key_count = key_count_;
  header.keys_bytes = keys_.size();
  header.values_bytes = values_.size();
  std::string out;
  out.reserve(sizeof(SegmentHeader) + heads_.size() + value_starts_.size() + key_starts_.size() +
              keys_.size() + values_.size());
  store(&out, header);
  out.append(heads_).append(value_starts_).append(key_starts_).append(keys_).append(values_);
  return out;
}

}  // namespace varve::index
