// IdTable: from an id's hash to the numbers of the entries that have it.
//
// Open addressing with linear probing over 4-byte slots, at most 70 % full; nothing is ever taken
// out. The table holds numbers only: the hashes and the ids themselves live in the columns, so a
// lookup probes, compares hashes, and lets the caller compare ids.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace varve::index {

class IdTable {
 public:
  // `hashes[n]` is the hash of entry n, for all n inserted so far; it may have moved since.
  void insert(uint32_t number, std::span<const uint64_t> hashes);

  // The first inserted number whose hash is `hash` and for which is_same(number) holds.
  template <typename IsSame>
  [[nodiscard]] std::optional<uint32_t> find(uint64_t hash, std::span<const uint64_t> hashes,
                                             IsSame is_same) const {
    if (slots_.empty()) return std::nullopt;
    for (uint64_t at = hash & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == kEmpty) return std::nullopt;
      const uint32_t number = slots_[at] - 1;
      if (hashes[number] == hash && is_same(number)) return number;
    }
  }

  void reserve(uint32_t count, std::span<const uint64_t> hashes);
  [[nodiscard]] uint64_t memory_bytes() const { return slots_.capacity() * sizeof(uint32_t); }

  [[nodiscard]] std::span<const uint32_t> slots() const { return slots_; }
  // Takes slots from a snapshot. False, and unchanged, unless they are a table of exactly `count`
  // numbers: a power of two of slots (or none for no numbers), not over-full, every
  // number below `count` and there once.
  [[nodiscard]] bool adopt(std::vector<uint32_t> slots, uint32_t count);
  // Whether each number is found under its hash, and no other one with it. Gives up, with false,
  // on a table that is much slower than one of ours.
  [[nodiscard]] bool finds_all(std::span<const uint64_t> hashes) const;

 private:
  static constexpr uint32_t kEmpty = 0;

  [[nodiscard]] uint64_t mask() const { return slots_.size() - 1; }
  void place(uint32_t number, uint64_t hash);
  void grow(uint64_t slot_count, std::span<const uint64_t> hashes);

  std::vector<uint32_t> slots_;  // number + 1; kEmpty where free
  uint32_t count_ = 0;
};

}  // namespace varve::index
