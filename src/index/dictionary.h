// Dictionary: from keys to posting lists, or to small values, growing.
//
// Two parts: a frozen Segment (what index.bin had), and what was added since. A list found is both
// parts one behind the other. freeze() makes one of the two when what was added has grown enough,
// so that memory stays near the compressed size and the work near the size of the log.
//
// A key's first byte is its field, and decides whether it has a list or a value. A key with a list
// can be marked; what that means is for the dictionary's keeper.
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

inline constexpr uint64_t kPostingBytes = 2;  // of one more row in a list, about

struct KeyHash {
  // NOLINTBEGIN(readability-identifier-naming): the names that Boost looks for
  using is_transparent = void;
  using is_avalanching = void;
  // NOLINTEND(readability-identifier-naming)
  size_t operator()(std::string_view key) const noexcept { return hash64(key); }
};

class Dictionary {
 public:
  // Puts a frozen part under what was added so far, and what will be. Its rows are below `row_end`,
  // theirs are not: a list that has it otherwise is damaged.
  void set_frozen(Segment segment, uint32_t row_end = kNoRow) {
    frozen_ = std::move(segment);
    frozen_row_end_ = row_end;
  }
  // Reads all of the frozen part: before what goes through all keys, encode() and what uses it.
  Status load_whole() { return frozen_.load_whole(); }
  // Something of the frozen part was wrong: what was answered may be.
  [[nodiscard]] bool is_damaged() const { return frozen_.is_damaged(); }
  [[nodiscard]] const Segment& frozen() const { return frozen_; }

  // The number of a key's list, of the lists added to since the last freeze(): 0, 1, 2 ...
  uint32_t list_number(std::string_view key);
  // What is added to it; stays where it is until freeze().
  [[nodiscard]] PostingBuffer& list(uint32_t number) { return buffers_[number]; }
  PostingBuffer& buffer(std::string_view key) { return list(list_number(key)); }
  // Marks the key of a list.
  void mark(uint32_t number) { marks_[number] = true; }
  // Sets a key's value, unless it has one.
  void put(std::string_view key, std::string_view value);
  // The same of a key that has none, as the caller knows.
  void put_new(std::string_view key, std::string_view value);

  [[nodiscard]] PostingList find(std::string_view key) const;
  // The same for who asks for rows alone (PostingRun::of_rows).
  [[nodiscard]] PostingList find_rows(std::string_view key) const;
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

  // All of it as the bytes of one segment.
  [[nodiscard]] std::string encode(const RowLengths& length_of) const;
  // As encode(), and becomes it.
  void freeze(const RowLengths& length_of);
  // How keys fare when rows are renumbered. All are asked in rising order of keys.
  class Renumber {
   public:
    virtual ~Renumber() = default;
    // Whether the key has a value; else it has a list.
    virtual bool has_value(std::string_view key) = 0;
    // Of a key with a value: false when it goes. *new_key is the key unless changed; new keys rise,
    // too.
    virtual bool keep_value(std::string_view key, std::string_view value, std::string* new_key) = 0;
    // Of a key whose list keeps no row, and goes.
    virtual void dropped_list(std::string_view key) = 0;
  };
  [[nodiscard]] Dictionary renumbered(const Renumbering& rows, const RowLengths& new_length_of,
                                      Renumber& keys) const;
  // Takes what encode() gave, when nothing was added since.
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
  // What was added of a key since the last freeze(); a null list: it has a value.
  struct AddedKey {
    Head head;  // of the key: nearly always enough to compare by
    std::string_view key;
    const PostingBuffer* list;
    std::string_view value;
    bool is_marked = false;  // before, or by what was added
  };
  // Every key, once, in rising order, with what was added of it, which may be nothing but the key,
  // and what is frozen of it (null data: nothing).
  void for_each_sorted(
      const std::function<void(const AddedKey& added, std::string_view frozen)>& visit) const;
  [[nodiscard]] std::vector<AddedKey> sorted_added() const;
  [[nodiscard]] PostingRun added_run(std::string_view key) const;
  // The list as far as it is right: rows below frozen_row_end_ only, or none.
  [[nodiscard]] PostingRun frozen_run(std::string_view encoded) const;
  void join(PostingBuffer* joined, std::string_view frozen, const PostingBuffer& added,
            const RowLengths& length_of) const;

  // Of text that stays until the next freeze(): for each key memory of its own would cost more than
  // the rest.
  std::string_view keep(std::string_view text);
  // With its hash, so that a table that grows need not read all keys.
  struct HashedKey {
    explicit HashedKey(std::string_view key) : text(key), hash(hash64(key)) {}
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

  Segment frozen_;
  uint32_t frozen_row_end_ = kNoRow;
  std::unique_ptr<Arena> texts_;  // of the keys and values below
  uint64_t texts_bytes_ = 0;
  KeyMap<uint32_t> numbers_;
  std::deque<PostingBuffer> buffers_;
  std::vector<bool> marks_;  // of their keys
  KeyMap<std::string_view> values_;
  uint64_t added_bytes_ = 0;
};

}  // namespace varve::index
