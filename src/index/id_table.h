// IdTable: from an id's hash to the numbers of the entries that have it.
//
// Open addressing with linear probing over 4-byte slots, at most 70 % full; nothing is ever taken
// out. A hash is the lower half of hash64(): equal ones are told apart by the ids. The table holds
// numbers only: the hashes and the ids themselves live in the columns, so a lookup probes, compares
// hashes, and lets the caller compare ids. Slots adopted from a file may hold anything: every
// search of them ends.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "index/row_column.h"

namespace varve::index {

inline uint32_t id_hash(std::string_view id) { return static_cast<uint32_t>(hash64(id)); }

// At 70 % full a free slot is a few steps away; a table of ours never has a run like this.
inline constexpr uint32_t kProbesMax = 4096;

class IdTable {
 public:
  using Hashes = RowColumn<uint32_t>;
  using Slots = RowColumn<uint32_t>;

  // `hashes[n]` is the hash of entry n, for all n inserted so far.
  void insert(uint32_t number, const Hashes& hashes);

  // The first inserted number whose hash is `hash` and for which is_same(number) holds.
  template <typename IsSame>
  [[nodiscard]] std::optional<uint32_t> find(uint32_t hash, const Hashes& hashes,
                                             IsSame is_same) const {
    uint64_t at = hash;
    for (uint64_t steps = steps_max();; --steps, ++at) {
      if (steps == 0) {
        slots_.set_damaged();
        break;
      }
      const uint32_t slot = slots_[at & mask()];
      if (slot == kEmpty) break;
      if (hashes[slot - 1] == hash && is_same(slot - 1)) return slot - 1;
    }
    return std::nullopt;
  }

  void reserve(uint32_t count, const Hashes& hashes);
  [[nodiscard]] uint64_t memory_bytes() const { return slots_.memory_bytes(); }

  // All of them; after load().
  [[nodiscard]] std::span<const uint32_t> slots() const { return slots_.values(); }
  // Takes slots from a snapshot, none of which is more than `count`. False, and unchanged, unless
  // they can be a table of `count` numbers: a power of two of slots (or none for no numbers), not
  // over-full.
  [[nodiscard]] bool adopt(Slots slots, uint32_t count);
  // Reads what was not read yet of slots that were adopted.
  Status load() { return slots_.load(); }
  // After load(): whether each number is there once, and is found under its hash, and no other one
  // with its id. Gives up, with false, on a table that is much slower than one of ours.
  using SameId = std::function<bool(uint32_t number, uint32_t other)>;
  [[nodiscard]] bool finds_all(const Hashes& hashes, const SameId& have_same_id);

 private:
  static constexpr uint32_t kEmpty = 0;

  [[nodiscard]] uint64_t mask() const { return slots_.size() - 1; }
  // After so many slots a search gives up.
  [[nodiscard]] uint64_t steps_max() const {
    return is_checked_ ? slots_.size() : std::min<uint64_t>(slots_.size(), kProbesMax);
  }
  [[nodiscard]] bool has_each_once() const;
  // False when no slot is free, which a table of ours never is.
  bool place(uint32_t number, uint32_t hash);
  void grow(uint64_t slot_count, const Hashes& hashes);

  Slots slots_;  // number + 1; kEmpty where free
  uint32_t count_ = 0;
  bool is_checked_ = true;  // made here, or found right by finds_all()
};

}  // namespace varve::index
