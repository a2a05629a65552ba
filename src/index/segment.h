// Segment: a sorted dictionary from keys to bytes that never changes, as it lies in index.bin.
//
//   header    key_count u32, reserved u32, keys_bytes u64, values_bytes u64
//   then      the end of every key in keys (u32 each), the end of every value in values (u64 each),
//             keys, values
//
// Opening borrows nothing and copies nothing: the segment owns the bytes it was given. Lookup is a
// binary search. The structure is checked when it is opened; values are their reader's to check.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace varve::index {

class Segment {
 public:
  Segment() = default;  // empty
  // kCorruption when the bytes are not a segment, or its keys not sorted.
  static Result<Segment> open(std::string bytes);
  // Of what SegmentBuilder made in this process: nothing to check.
  static Segment adopt(std::string bytes);

  [[nodiscard]] uint32_t size() const { return key_count_; }
  [[nodiscard]] std::string_view key(uint32_t number) const;
  [[nodiscard]] std::string_view value(uint32_t number) const;
  // The number of the first key not below `key`; size() when there is none.
  [[nodiscard]] uint32_t lower_bound(std::string_view key) const;
  // The value of a key; null data when there is none.
  [[nodiscard]] std::string_view find(std::string_view key) const;

  [[nodiscard]] std::string_view bytes() const { return view_; }
  [[nodiscard]] uint64_t memory_bytes() const { return bytes_ ? bytes_->capacity() : 0; }

 private:
  friend class SegmentBuilder;
  Status read_layout(std::string bytes);
  [[nodiscard]] Status check() const;
  [[nodiscard]] uint64_t key_end(uint32_t number) const;
  [[nodiscard]] uint64_t value_end(uint32_t number) const;

  std::shared_ptr<const std::string> bytes_;
  std::string_view view_;  // of *bytes_
  uint32_t key_count_ = 0;
  uint64_t key_ends_at_ = 0;
  uint64_t value_ends_at_ = 0;
  uint64_t keys_at_ = 0;
  uint64_t keys_bytes_ = 0;
  uint64_t values_at_ = 0;
  uint64_t values_bytes_ = 0;
};

// Collects keys in rising order.
class SegmentBuilder {
 public:
  // Room for as much as a segment has.
  void reserve(const Segment& as_much);
  void add(std::string_view key, std::string_view value);
  // Keys must not take 4 GiB together.
  [[nodiscard]] std::string encode() const;

 private:
  std::string key_ends_;
  std::string value_ends_;
  std::string keys_;
  std::string values_;
};

}  // namespace varve::index
