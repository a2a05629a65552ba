// IdTable: from an id's hash to the numbers of the entries that have it.
//
// Open addressing with linear probing over 4-byte slots, at most 70 % full; nothing is ever taken
// out. A hash is the lower half of hash64(): equal ones are told apart by the ids. The table holds
// numbers only: the hashes and the ids themselves live in the columns, so a lookup probes, compares
// hashes, and lets the caller compare ids. Slots adopted from a file may hold anything: every
// search of them ends.
//
// The hash has no secret, so anybody can make ids that fill one stretch of the slots, and whoever
// comes there looks at all of them. When an insertion meets such a stretch, the numbers are kept by
// their ids instead, in order (is_crowded()): that takes more memory, and no file has it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "index/row_column.h"

namespace varve::index {

inline uint32_t id_hash(std::string_view id) { return static_cast<uint32_t>(hash64(id)); }

// At 70 % full a free slot is a few steps away; a table of ours never has a run like this.
inline constexpr uint32_t kProbesMax = 4096;

// Taken slots behind one another, at most. By chance, a third of them are a run among a hundred
// million ids.
inline constexpr uint32_t kRunMax = 1024;

class IdTable {
 public:
  using Hashes = RowColumn<uint32_t>;
  using Slots = RowColumn<uint32_t>;

  using IdOf = std::function<std::string(uint32_t number)>;

  // `hashes[n]` is the hash of entry n, for all n inserted so far, and id_of(n) its id.
  void insert(uint32_t number, const Hashes& hashes, const IdOf& id_of);

  // The first inserted number of the id: is_same(number) tells whether it is the number's.
  template <typename IsSame>
  [[nodiscard]] std::optional<uint32_t> find(std::string_view id, const Hashes& hashes,
                                             IsSame is_same) const {
    if (by_id_ != nullptr) [[unlikely]] {
      const auto known = by_id_->find(id);
      const bool is_known = known != by_id_->end() && is_same(known->second);
      return is_known ? std::optional(known->second) : std::nullopt;
    }
    return find(id_hash(id), hashes, is_same);
  }
  // The same by its hash, while there are slots.
  template <typename IsSame>
  [[nodiscard]] std::optional<uint32_t> find(uint32_t hash, const Hashes& hashes,
                                             IsSame is_same) const {
    uint64_t at = hash;
    for (uint64_t steps = steps_max();; --steps, ++at) {
      if (steps == 0) {
        if (slots_.size() > 0) slots_.set_damaged();  // else there is no number
        break;
      }
      const uint32_t slot = slots_[at & mask()];
      if (slot == kEmpty) break;
      if (hashes[slot - 1] == hash && is_same(slot - 1)) return slot - 1;
    }
    return std::nullopt;
  }

  void reserve(uint32_t count, const Hashes& hashes, const IdOf& id_of);
  // Whether there are no slots to be written.
  [[nodiscard]] bool is_crowded() const { return by_id_ != nullptr; }
  [[nodiscard]] uint64_t memory_bytes() const;

  // All of them; after load().
  [[nodiscard]] std::span<const uint32_t> slots() const { return slots_.values(); }
  // Takes slots from a snapshot, none of which is more than `count`. False, and unchanged, unless
  // they can be a table of `count` numbers: a power of two of slots (or none for no numbers), not
  // over-full.
  [[nodiscard]] bool adopt(Slots slots, uint32_t count);
  // Reads what was not read yet of slots that were adopted.
  Status load() { return slots_.load(); }
  // After load(): whether each number is there once, and is found under its hash, and no other one
  // with its id. Gives up, with false, on a table that is much slower than one of ours may be.
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
  // False when that makes a run longer than any of ours may be.
  bool place(uint32_t number, uint32_t hash);
  [[nodiscard]] bool is_run_short(uint64_t at) const;
  bool has_short_runs() const;
  bool grow(uint64_t slot_count, const Hashes& hashes);
  void keep_by_id(const IdOf& id_of);

  Slots slots_;  // number + 1; kEmpty where free
  using ById = std::map<std::string, uint32_t, std::less<>>;
  std::unique_ptr<ById> by_id_;  // instead of slots
  uint32_t count_ = 0;
  bool is_checked_ = true;  // made here, or found right by finds_all()
};

}  // namespace varve::index
