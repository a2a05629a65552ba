#include "index/segment.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/hash.h"

namespace varve::index {

namespace {

struct SegmentHeader {
  uint32_t key_count = 0;
  uint32_t reserved = 0;
  uint64_t keys_bytes = 0;
  uint64_t values_bytes = 0;
};
static_assert(sizeof(SegmentHeader) == 24, "written as it lies in memory");

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

// One for each eight keys: most are never asked for.
Segment::RecentKeys::RecentKeys(uint32_t key_count)
    : count_(std::clamp(std::bit_ceil(key_count / 8), uint32_t{1} << 10, uint32_t{1} << 12)),
      numbers_(std::make_unique<std::atomic<uint32_t>[]>(count_)) {}

Status Segment::read_layout() {
  if (bytes_->size() < sizeof(SegmentHeader)) {
    return wrong_dictionary("is shorter than its header");
  }
  const std::string_view start = bytes_->view(0, sizeof(SegmentHeader));
  if (start.data() == nullptr) return wrong_dictionary("cannot be read");
  const auto header = load<SegmentHeader>(start, 0);
  key_count_ = header.key_count;
  key_ends_at_ = sizeof(SegmentHeader);
  value_ends_at_ = key_ends_at_ + uint64_t{header.key_count} * sizeof(uint32_t);
  keys_at_ = value_ends_at_ + uint64_t{header.key_count} * sizeof(uint64_t);
  keys_bytes_ = header.keys_bytes;
  values_bytes_ = header.values_bytes;
  if (keys_at_ > bytes_->size() || keys_bytes_ > bytes_->size() - keys_at_) {
    return wrong_dictionary("is shorter than its keys");
  }
  values_at_ = keys_at_ + keys_bytes_;
  if (values_bytes_ != bytes_->size() - values_at_) {
    return wrong_dictionary("has not the size it says");
  }
  if (key_count_ >= RecentKeys::kKeyCountMin) recent_ = std::make_shared<RecentKeys>(key_count_);
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
  uint64_t key_at = 0;
  uint64_t value_at = 0;
  std::string_view last;
  for (uint32_t i = 0; i < key_count_; ++i) {
    const Extent key_extent = extent<uint32_t>(key_ends_at_, i);
    const Extent value_extent = extent<uint64_t>(value_ends_at_, i);
    if (key_extent.end < key_at || key_extent.end > keys_bytes_ || value_extent.end < value_at ||
        value_extent.end > values_bytes_) {
      return wrong_dictionary("has an entry outside itself");
    }
    key_at = key_extent.end;
    value_at = value_extent.end;
    const std::string_view current = key(i);
    if (i > 0 && !(last < current)) return wrong_dictionary("is not sorted");
    last = current;
  }
  if (key_at != keys_bytes_ || value_at != values_bytes_) {
    return wrong_dictionary("has bytes of no entry");
  }
  return {};
}

// `ends_at`: where the ends of all keys, or of all values, stand.
template <typename End>
Segment::Extent Segment::extent(uint64_t ends_at, uint32_t number) const {
  if (number == 0) {
    const std::string_view end = bytes_->view(ends_at, sizeof(End));
    return end.data() == nullptr ? Extent() : Extent{0, load<End>(end, 0)};
  }
  const uint64_t at = ends_at + (uint64_t{number} - 1) * sizeof(End);
  const std::string_view ends = bytes_->view(at, 2 * sizeof(End));
  if (ends.data() == nullptr) return {};
  return {load<End>(ends, 0), load<End>(ends, sizeof(End))};
}

std::string_view Segment::part(const Extent& extent, uint64_t starts_at,
                               uint64_t limit_bytes) const {
  if (extent.begin > extent.end || extent.end > limit_bytes) {
    bytes_->set_damaged();
    return {};
  }
  return bytes_->view(starts_at + extent.begin, extent.end - extent.begin);
}

std::string_view Segment::key(uint32_t number) const {
  return part(extent<uint32_t>(key_ends_at_, number), keys_at_, keys_bytes_);
}

std::string_view Segment::value(uint32_t number) const {
  return part(extent<uint64_t>(value_ends_at_, number), values_at_, values_bytes_);
}

uint32_t Segment::lower_bound(std::string_view wanted) const {
  uint32_t low = 0;
  uint32_t high = key_count_;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (key(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::string_view Segment::find(std::string_view wanted) const {
  std::atomic<uint32_t>* recent = recent_ ? &recent_->at(hash64(wanted)) : nullptr;
  if (recent != nullptr) {
    const uint32_t number = recent->load(std::memory_order_relaxed);
    if (number < key_count_ && key(number) == wanted) return value(number);
  }
  const uint32_t at = lower_bound(wanted);
  if (at >= key_count_ || key(at) != wanted) return {};
  if (recent != nullptr) recent->store(at, std::memory_order_relaxed);
  return value(at);
}

uint64_t Segment::memory_bytes() const {
  return (bytes_ ? bytes_->memory_bytes() : 0) + (recent_ ? recent_->memory_bytes() : 0);
}

void SegmentBuilder::reserve(const Segment& as_much) {
  key_ends_.reserve(as_much.size() * sizeof(uint32_t));
  value_ends_.reserve(as_much.size() * sizeof(uint64_t));
  keys_.reserve(as_much.keys_bytes_);
  values_.reserve(as_much.values_bytes_);
}

void SegmentBuilder::add(std::string_view key, std::string_view value) {
  keys_.append(key);
  values_.append(value);
  store(&key_ends_, static_cast<uint32_t>(keys_.size()));
  store(&value_ends_, uint64_t{values_.size()});
}

std::string SegmentBuilder::encode() const {
  SegmentHeader header;
  header.key_count = static_cast<uint32_t>(key_ends_.size() / sizeof(uint32_t));
  header.keys_bytes = keys_.size();
  header.values_bytes = values_.size();
  std::string out;
  out.reserve(sizeof(SegmentHeader) + key_ends_.size() + value_ends_.size() + keys_.size() +
              values_.size());
  store(&out, header);
  out.append(key_ends_).append(value_ends_).append(keys_).append(values_);
  return out;
}

}  // namespace varve::index
