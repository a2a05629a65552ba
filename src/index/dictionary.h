// Dictionary: from keys to posting lists, or to small values. It only grows.
//
// It has two parts: a frozen Segment (what index.bin had), and what was added since. The list of a
// key is its frozen list followed by its added one. freeze() makes one Segment of both; called when
// what was added has grown in proportion to the rest, it keeps memory near the compressed size and
// all its work together linear in the size of the log.
//
// A key's first byte is its field, which decides whether it has a list or a value. A key with a
// list can be marked; the owner of the dictionary decides what a mark means.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "index/posting_list.h"
#include "index/renumber.h"
#include "index/row_lengths.h"
#include "index/segment.h"

namespace varve::index {

inline constexpr uint64_t kPostingBytes = 2;  // what one more row in a list takes, about

// The key that `rest` has in a field.
[[nodiscard]] inline std::string field_key(char field, std::string_view rest) {
  std::string key(1, field);
  key.append(rest);
  return key;
}

class Dictionary {
 public:
  // The seed is secret where others choose the keys (base/hash.h). No answer depends on it.
  explicit Dictionary(uint64_t hash_seed) : hash_seed_(hash_seed) {}
  [[nodiscard]] uint64_t hash_seed() const { return hash_seed_; }

  // Sets the frozen part; what was added stays. All rows of its lists are below `row_end`, and all
  // rows that are added are not: a frozen list with another row is damaged.
  void set_frozen(Segment segment, uint32_t row_end = kNoRow) {
    frozen_ = std::move(segment);
    frozen_row_end_ = row_end;
  }
  // Reads and checks all of the frozen part. Needed before encode(), freeze() and renumbered().
  Status load_whole() { return frozen_.load_whole(); }
  // Whether something of the frozen part was found wrong: earlier answers may be wrong, too.
  [[nodiscard]] bool is_damaged() const { return frozen_.is_damaged(); }
  [[nodiscard]] const Segment& frozen() const { return frozen_; }

  // The number of the list that rows of the key are added to: 0, 1, 2 ... since the last freeze().
  uint32_t list_number(std::string_view key);
  // That list. Its address stays the same until the next freeze().
  [[nodiscard]] const PostingBuffer& list(uint32_t number) const { return buffers_[number]; }
  // As PostingBuffer::add().
  void add(uint32_t number, std::span<const Posting> postings, uint32_t first_row = 0) {
    PostingBuffer& buffer = buffers_[number];
    const uint64_t before_bytes = buffer.memory_bytes();
    buffer.add(postings, first_row);
    lists_bytes_ += buffer.memory_bytes() - before_bytes;
  }
  // Marks the key of a list.
  void mark(uint32_t number) { marks_[number] = true; }
  // Sets a key's value, unless it has one.
  void put(std::string_view key, std::string_view value);
  // The same for a key that has no value yet, which is not checked.
  void put_new(std::string_view key, std::string_view value);

  // A short list is not read in advance (PostingRun::of_rows): the bounds of its block are loose,
  // and damage of what is behind its count shows when it is walked.
  [[nodiscard]] PostingList find(std::string_view key) const;
  // Null data when there is none.
  [[nodiscard]] std::string_view find_value(std::string_view key) const;
  // Every key that starts with `prefix`, in no particular order, until `visit` answers false. Keys
  // that start with it all have lists.
  void for_each_list(std::string_view prefix,
                     const std::function<bool(std::string_view key)>& visit) const;
  // The same of keys that are marked.
  void for_each_marked(std::string_view prefix,
                       const std::function<bool(std::string_view key)>& visit) const;
  // The same of keys that all have values.
  void for_each_value(
      std::string_view prefix,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) const;

  // Both parts as the bytes of one segment. Of a frozen list that cannot be read, here and in the
  // next two, less is taken: it is_damaged() then, and what was made is of no use.
  [[nodiscard]] std::string encode(const RowLengths& length_of) const;
  // Makes that segment the frozen part; nothing is added then.
  void freeze(const RowLengths& length_of);
  // What the owner decides when rows are renumbered. It is asked about all keys, in rising order.
  class Renumber {
   public:
    virtual ~Renumber() = default;
    // Whether the key has a value; else it has a list.
    virtual bool has_value(std::string_view key) = 0;
    // Whether a key with a value stays. *new_key, which is the key, may be changed, so that new
    // keys rise as the old ones do.
    virtual bool keep_value(std::string_view key, std::string_view value, std::string* new_key) = 0;
    // Told of a key that is left out because none of the rows of its list stays.
    virtual void dropped_list(std::string_view key) = 0;
  };
  [[nodiscard]] Dictionary renumbered(const Renumbering& rows, const RowLengths& new_length_of,
                                      Renumber& keys) const;
  // Makes the frozen part of what encode() gave; only when nothing was added after that.
  void adopt(std::string encoded);

  // [bytes] that keys added since the last freeze take, about.
  [[nodiscard]] uint64_t added_bytes() const { return added_bytes_; }
  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  // The first bytes of a key as numbers that sort as they do.
  struct Head {
    uint64_t first = 0;
    uint64_t second = 0;
    friend bool operator==(const Head&, const Head&) = default;
    friend bool operator<(const Head& a, const Head& b) {
      return a.first != b.first ? a.first < b.first : a.second < b.second;
    }
  };
  static Head head_of(std::string_view key);
  // A key, and what was added to it since the last freeze(). With a null list it has a value.
  struct AddedKey {
    Head head;  // of the key: nearly always enough to compare by
    std::string_view key;
    const PostingBuffer* list;
    std::string_view value;
    bool is_marked = false;  // before, or by what was added
  };
  // Every key, once, in rising order, with what was added to it (which may be nothing) and the
  // bytes of its frozen list or value (null data: there is none).
  void for_each_sorted(
      const std::function<void(const AddedKey& added, std::string_view frozen)>& visit) const;
  [[nodiscard]] std::vector<AddedKey> sorted_added() const;
  [[nodiscard]] PostingRun added_run(std::string_view key) const;
  // Empty, and the frozen part damaged, when the list is, or has rows not below frozen_row_end_.
  [[nodiscard]] PostingRun frozen_run(std::string_view encoded) const;
  void join(PostingBuffer* joined, std::string_view frozen, const PostingBuffer& added,
            const RowLengths& length_of) const;

  // A copy of the text that stays until the next freeze(), in one arena for all: an allocation for
  // each key would cost more than everything else.
  std::string_view keep(std::string_view text);
  // A key with its hash, so that a table that grows need not read all keys.
  struct HashedKey {
    HashedKey(std::string_view key, uint64_t seed) : text(key), hash(hash64(key, seed)) {}
    HashedKey(std::string_view kept, const HashedKey& same) : text(kept), hash(same.hash) {}
    std::string_view text;
    uint64_t hash;
    friend bool operator==(const HashedKey& a, const HashedKey& b) {
      return a.hash == b.hash && a.text == b.text;
    }
  };
  struct StoredHash {
    // NOLINTNEXTLINE(readability-identifier-naming): the name that Boost looks for
    using is_avalanching = void;
    size_t operator()(const HashedKey& key) const noexcept { return key.hash; }
  };
  template <typename Value>
  using KeyMap = boost::unordered_flat_map<HashedKey, Value, StoredHash>;
  using Arena = std::pmr::monotonic_buffer_resource;

  [[nodiscard]] HashedKey hashed(std::string_view key) const { return {key, hash_seed_}; }

  uint64_t hash_seed_;
  Segment frozen_;
  uint32_t frozen_row_end_ = kNoRow;
  std::unique_ptr<Arena> texts_;  // of the keys and values below
  uint64_t texts_bytes_ = 0;
  KeyMap<uint32_t> numbers_;
  std::deque<PostingBuffer> buffers_;
  uint64_t lists_bytes_ = 0;  // of what they hold
  std::vector<bool> marks_;   // of their keys
  KeyMap<std::string_view> values_;
  uint64_t added_bytes_ = 0;
};

}  // namespace varve::index
