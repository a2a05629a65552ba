// Segment: a sorted dictionary from keys to bytes that never changes, as it lies in index.bin.
//
//   header    key_count u32, reserved u32, keys_bytes u64, values_bytes u64
//   then      the end of every key in keys (u32 each), the end of every value in values (u64 each),
//             keys, values
//
// Opening reads the header. Lookup is a binary search, which reads what it looks at (SectionBytes)
// and checks it: what is not right is not found, and the segment is_damaged() from then on. That
// keys are sorted is seen by load_whole() only; before the keys are gone through in order, as one
// list, it is to be called. Values are their reader's to check.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "index/section_bytes.h"

namespace varve::index {

class Segment {
 public:
  Segment() = default;  // empty
  // kCorruption when the bytes are not a segment, as far as the header tells.
  static Result<Segment> open(std::shared_ptr<SectionBytes> bytes);
  // Of what SegmentBuilder made in this process: nothing to check.
  static Segment adopt(std::string bytes);

  [[nodiscard]] uint32_t size() const { return key_count_; }
  [[nodiscard]] std::string_view key(uint32_t number) const;
  [[nodiscard]] std::string_view value(uint32_t number) const;
  // The number of the first key not below `key`; size() when there is none.
  [[nodiscard]] uint32_t lower_bound(std::string_view key) const;
  // The value of a key; null data when there is none.
  [[nodiscard]] std::string_view find(std::string_view key) const;

  // Reads all of it, once, and checks its structure.
  Status load_whole();
  [[nodiscard]] bool is_damaged() const { return bytes_ && bytes_->is_damaged(); }

  // All of it; after load_whole().
  [[nodiscard]] std::string_view bytes() const {
    return bytes_ ? bytes_->view(0, bytes_->size()) : std::string_view();
  }
  [[nodiscard]] uint64_t size_bytes() const { return bytes_ ? bytes_->size() : 0; }
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  friend class SegmentBuilder;
  // Where something begins and ends.
  struct Extent {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  Status read_layout();
  [[nodiscard]] Status check() const;
  template <typename End>
  [[nodiscard]] Extent extent(uint64_t ends_at, uint32_t number) const;
  [[nodiscard]] std::string_view part(const Extent& extent, uint64_t starts_at,
                                      uint64_t limit_bytes) const;

  // Numbers of keys that were found lately, by their hashes: what one asks for comes again, and the
  // way to it waits for memory at each step. Any number is right: a key is compared.
  class RecentKeys {
   public:
    static constexpr uint32_t kKeyCountMin = 1024;  // of a segment for which it pays
    explicit RecentKeys(uint32_t key_count);
    [[nodiscard]] std::atomic<uint32_t>& at(uint64_t hash) { return numbers_[hash % count_]; }
    [[nodiscard]] uint64_t memory_bytes() const { return count_ * sizeof(numbers_[0]); }

   private:
    uint32_t count_;
    std::unique_ptr<std::atomic<uint32_t>[]> numbers_;
  };

  std::shared_ptr<SectionBytes> bytes_;
  std::shared_ptr<RecentKeys> recent_;  // of a segment for which it pays
  bool is_checked_ = true;
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
