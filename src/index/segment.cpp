#include "index/segment.h"

#include <cstring>
#include <utility>

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

uint64_t Segment::key_end(uint32_t number) const {
  return load<uint32_t>(view_, key_ends_at_ + uint64_t{number} * sizeof(uint32_t));
}

uint64_t Segment::value_end(uint32_t number) const {
  return load<uint64_t>(view_, value_ends_at_ + uint64_t{number} * sizeof(uint64_t));
}

Status Segment::read_layout(std::string bytes) {
  bytes_ = std::make_shared<const std::string>(std::move(bytes));
  view_ = *bytes_;
  if (view_.size() < sizeof(SegmentHeader)) return wrong_dictionary("is shorter than its header");
  const auto header = load<SegmentHeader>(view_, 0);
  key_count_ = header.key_count;
  key_ends_at_ = sizeof(SegmentHeader);
  value_ends_at_ = key_ends_at_ + uint64_t{header.key_count} * sizeof(uint32_t);
  keys_at_ = value_ends_at_ + uint64_t{header.key_count} * sizeof(uint64_t);
  keys_bytes_ = header.keys_bytes;
  values_bytes_ = header.values_bytes;
  if (keys_at_ > view_.size() || keys_bytes_ > view_.size() - keys_at_) {
    return wrong_dictionary("is shorter than its keys");
  }
  values_at_ = keys_at_ + keys_bytes_;
  if (values_bytes_ != view_.size() - values_at_) {
    return wrong_dictionary("has not the size it says");
  }
  return {};
}

Result<Segment> Segment::open(std::string bytes) {
  Segment segment;
  if (bytes.empty()) return segment;
  VARVE_TRY(segment.read_layout(std::move(bytes)));
  VARVE_TRY(segment.check());
  return segment;
}

Segment Segment::adopt(std::string bytes) {
  Segment segment;
  if (!bytes.empty()) (void)segment.read_layout(std::move(bytes)).ok();
  return segment;
}

Status Segment::check() const {
  uint64_t key_at = 0;
  uint64_t value_at = 0;
  for (uint32_t i = 0; i < key_count_; ++i) {
    if (key_end(i) < key_at || key_end(i) > keys_bytes_ || value_end(i) < value_at ||
        value_end(i) > values_bytes_) {
      return wrong_dictionary("has an entry outside itself");
    }
    key_at = key_end(i);
    value_at = value_end(i);
    if (i > 0 && !(key(i - 1) < key(i))) return wrong_dictionary("is not sorted");
  }
  if (key_at != keys_bytes_ || value_at != values_bytes_) {
    return wrong_dictionary("has bytes of no entry");
  }
  return {};
}

std::string_view Segment::key(uint32_t number) const {
  const uint64_t begin = number == 0 ? 0 : key_end(number - 1);
  return bytes().substr(keys_at_ + begin, key_end(number) - begin);
}

std::string_view Segment::value(uint32_t number) const {
  const uint64_t begin = number == 0 ? 0 : value_end(number - 1);
  return bytes().substr(values_at_ + begin, value_end(number) - begin);
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
  const uint32_t at = lower_bound(wanted);
  return at < key_count_ && key(at) == wanted ? value(at) : std::string_view();
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
