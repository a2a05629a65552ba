// ShortWordTable: from short words to what is known of them, for who looks up many in a row: where
// a word stands can be asked of memory before it is looked up, which takes most of the time of a
// look-up where the table is larger than a processor's cache.
//
// The empty word is none: it cannot be in the table.
//
// Open addressing, one slot behind the other, at most three of four taken; nothing is ever removed.
// Where a word stands depends on a seed, which is secret where others choose the words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "text/short_word.h"

namespace varve::index {

template <typename Value>
class ShortWordTable {
 public:
  explicit ShortWordTable(uint64_t seed) : hash_(seed) {}

  [[nodiscard]] uint64_t hash_of(const text::ShortWord& word) const noexcept { return hash_(word); }

  void prefetch(uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask_]);
  }

  // Null: it is not there. Valid until the next insert().
  [[nodiscard]] const Value* find(const text::ShortWord& word, uint64_t hash) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place_of(word, hash)];
    return is_taken(slot) ? &slot.value : nullptr;
  }
  [[nodiscard]] const Value* find(const text::ShortWord& word) const {
    return find(word, hash_of(word));
  }

  // A word that is not there yet.
  void insert(const text::ShortWord& word, const Value& value) {
    if (4 * (count_ + 1) > 3 * slots_.size()) grow();
    slots_[place_of(word, hash_of(word))] = {word, value};
    count_ += 1;
  }

  [[nodiscard]] uint64_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  static constexpr size_t kSlotsMin = 64;

  struct Slot {
    text::ShortWord word;  // all zeros: not taken; no word begins with a zero byte
    Value value;
  };

  static bool is_taken(const Slot& slot) { return slot.word.low != 0; }

  // Where it is, or belongs.
  [[nodiscard]] size_t place_of(const text::ShortWord& word, uint64_t hash) const {
    size_t place = hash & mask_;
    while (is_taken(slots_[place]) && slots_[place].word != word) place = (place + 1) & mask_;
    return place;
  }

  void grow() {
    const std::vector<Slot> before =
        std::exchange(slots_, std::vector<Slot>(std::max(kSlotsMin, 2 * slots_.size())));
    mask_ = slots_.size() - 1;
    for (const Slot& slot : before) {
      if (is_taken(slot)) slots_[place_of(slot.word, hash_of(slot.word))] = slot;
    }
  }

  text::ShortWordHash hash_;
  std::vector<Slot> slots_;  // a power of two
  size_t mask_ = 0;
  size_t count_ = 0;
};

}  // namespace varve::index
