// Segment: a sorted dictionary from keys to bytes that never changes, as it lies in index.bin.
//
//   header    key_count u32, reserved u32, keys_bytes u64, values_bytes u64
//   groups    of kGroupKeys keys each: the first eight bytes of each group's first key, with zeros
//             behind a shorter one; where its values begin (u64 each), where its keys do (u32 each)
//   keys      of each key a byte: how many of its bytes are those of the key before (4 bits), the
//             number of the others (3 bits), whether it has a value (1 bit); what is more of the
//             first two than these say (a varint each); of a value twice its length, plus one when
//             the key is marked (a varint); the others
//   values    one behind the other
//
// Opening reads the header. A look-up searches the groups and walks one of them; it reads what it
// looks at (SectionBytes) and checks that it lies within: what does not is not found, and the
// segment is_damaged() from then on. That keys are sorted is seen by load_whole() only; before the
// keys are gone through in order, as one list, it is to be called. Values are their reader's to
// check.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "index/section_bytes.h"

namespace varve::index {

class Segment {
 public:
  static constexpr uint32_t kGroupKeys = 48;

  Segment() = default;  // empty
  // kCorruption when the bytes are not a segment, as far as the header tells.
  static Result<Segment> open(std::shared_ptr<SectionBytes> bytes);
  // Of what SegmentBuilder made in this process: nothing to check.
  static Segment adopt(std::string bytes);

  [[nodiscard]] uint32_t size() const { return key_count_; }
  // The value of a key; null data when there is none.
  [[nodiscard]] std::string_view find(std::string_view key) const { return look_up(key).value; }
  [[nodiscard]] bool is_marked(std::string_view key) const { return look_up(key).is_marked; }

  // Reads all of it, once, and checks its structure.
  Status load_whole();
  [[nodiscard]] bool is_damaged() const { return bytes_ && bytes_->is_damaged(); }
  // A reader of its values found one that cannot be.
  void set_damaged() const {
    if (bytes_) bytes_->set_damaged();
  }

  // All of it; after load_whole().
  [[nodiscard]] std::string_view bytes() const {
    return bytes_ ? bytes_->view(0, bytes_->size()) : std::string_view();
  }
  [[nodiscard]] uint64_t size_bytes() const { return bytes_ ? bytes_->size() : 0; }
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  friend class SegmentCursor;
  friend class SegmentBuilder;
  // The keys of a group, and where the value of the first one begins among the values.
  struct Group {
    std::string_view records;
    uint64_t value_at = 0;
  };
  // A key as it is written.
  struct Record {
    uint64_t shared = 0;  // [bytes] that it has in common with the key before
    std::string_view rest;
    uint64_t value_bytes = 0;
    bool is_marked = false;
  };
  struct Found {
    std::string_view value;  // null data: there is no such key
    bool is_marked = false;
  };
  Status read_layout();
  [[nodiscard]] Status check() const;
  [[nodiscard]] Status check_group(uint32_t number, Group* expected, std::string* last) const;
  [[nodiscard]] uint32_t group_count() const { return (key_count_ + kGroupKeys - 1) / kGroupKeys; }
  // Of a group that cannot be read: no records.
  [[nodiscard]] Group group(uint32_t number) const;
  // Takes one off the front, behind a key of so many bytes; false when there is none, which is
  // damage unless `records` is empty.
  [[nodiscard]] bool take_record(std::string_view* records, uint64_t key_bytes,
                                 Record* record) const;
  static bool read_record(std::string_view* records, Record* record);
  [[nodiscard]] std::string_view value(uint64_t at, uint64_t length) const;
  template <typename T>
  [[nodiscard]] T column(uint64_t starts_at, uint32_t number) const;
  [[nodiscard]] uint64_t head(uint32_t group) const;
  // The last group whose first key is not above `key`, or the first one.
  [[nodiscard]] uint32_t group_of(std::string_view key) const;
  [[nodiscard]] bool begins_above(uint32_t group, std::string_view key) const;
  [[nodiscard]] Found look_up(std::string_view key) const;
  [[nodiscard]] Found find_in_group(uint32_t number, std::string_view key) const;

  // Groups in which keys were found lately, by the keys' hashes: what one asks for comes again, and
  // the way to it waits for memory at each step. Any group is right: its keys are compared.
  class RecentGroups {
   public:
    static constexpr uint32_t kKeyCountMin = 1024;  // of a segment for which it pays
    explicit RecentGroups(uint32_t key_count);
    // The group's number + 1; 0: none yet.
    [[nodiscard]] std::atomic<uint32_t>& at(uint64_t hash) { return numbers_[hash % count_]; }
    [[nodiscard]] uint64_t memory_bytes() const { return count_ * sizeof(numbers_[0]); }

   private:
    uint32_t count_;
    std::unique_ptr<std::atomic<uint32_t>[]> numbers_;
  };

  std::shared_ptr<SectionBytes> bytes_;
  std::shared_ptr<RecentGroups> recent_;  // of a segment for which it pays
  bool is_checked_ = true;
  uint32_t key_count_ = 0;
  uint64_t heads_at_ = 0;
  uint64_t value_starts_at_ = 0;
  uint64_t key_starts_at_ = 0;
  uint64_t keys_at_ = 0;
  uint64_t keys_bytes_ = 0;
  uint64_t values_at_ = 0;
  uint64_t values_bytes_ = 0;
};

// Goes through the keys of a segment, which outlives it, in rising order. Ends early where
// something cannot be read or lies outside; then the segment is_damaged().
class SegmentCursor {
 public:
  // At the first key; with `key` at the first one that is not below it.
  explicit SegmentCursor(const Segment& segment);
  SegmentCursor(const Segment& segment, std::string_view key);

  [[nodiscard]] bool at_end() const { return at_end_; }
  // Whether it is at a key that starts with `prefix`: all those stand together.
  [[nodiscard]] bool is_at(std::string_view prefix) const {
    return !at_end_ && key_.starts_with(prefix);
  }
  // The key until next(), and its value.
  [[nodiscard]] std::string_view key() const { return key_; }
  [[nodiscard]] std::string_view value() const;
  [[nodiscard]] bool is_marked() const { return is_marked_; }
  void next();

 private:
  void enter(uint32_t group);
  void take();

  const Segment* segment_;
  uint32_t group_ = 0;
  std::string_view records_;  // the rest of the group
  std::string key_;
  uint64_t value_at_ = 0;
  uint64_t value_bytes_ = 0;
  bool is_marked_ = false;
  bool at_end_ = false;
};

// Collects keys in rising order.
class SegmentBuilder {
 public:
  // Room for as much as a segment has.
  void reserve(const Segment& as_much);
  // A key can be marked, as its keeper likes, when it has a value that is not empty.
  void add(std::string_view key, std::string_view value, bool is_marked = false);
  // Keys must not take 4 GiB together.
  [[nodiscard]] std::string encode() const;

 private:
  void append_record(const Segment::Record& record);

  uint32_t key_count_ = 0;
  std::string heads_;
  std::string value_starts_;
  std::string key_starts_;
  std::string keys_;
  std::string values_;
  std::string last_key_;
};

}  // namespace varve::index
