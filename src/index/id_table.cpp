#include "index/id_table.h"

#include <bit>
#include <utility>
#include <vector>

namespace varve::index {

namespace {

constexpr uint64_t kSlotsMin = 16;

uint64_t slots_for(uint64_t count) { return std::bit_ceil(count * 10 / 7 + kSlotsMin); }

}  // namespace

bool IdTable::place(uint32_t number, uint32_t hash) {
  uint64_t at = hash;
  for (uint64_t steps = steps_max(); steps > 0; --steps, ++at) {
    if (slots_[at & mask()] != kEmpty) continue;
    slots_.set(at & mask(), number + 1);
    return true;
  }
  return false;
}

void IdTable::grow(uint64_t slot_count, const Hashes& hashes) {
  slots_ = Slots(slot_count, kEmpty);
  is_checked_ = true;
  for (uint32_t number = 0; number < count_; ++number) place(number, hashes[number]);
}

void IdTable::reserve(uint32_t count, const Hashes& hashes) {
  if (slots_for(count) > slots_.size()) grow(slots_for(count), hashes);
}

void IdTable::insert(uint32_t number, const Hashes& hashes) {
  const bool is_full = (uint64_t{count_} + 1) * 10 > slots_.size() * 7;
  if (is_full || !place(number, hashes[number])) {
    grow(slots_.size() == 0 ? kSlotsMin : slots_.size() * 2, hashes);
    place(number, hashes[number]);
  }
  count_ += 1;
}

bool IdTable::adopt(Slots slots, uint32_t count) {
  const bool is_none = slots.size() == 0 && count == 0;
  if (!is_none && (!std::has_single_bit(slots.size()) || uint64_t{count} * 10 > slots.size() * 7)) {
    return false;
  }
  slots_ = std::move(slots);
  count_ = count;
  is_checked_ = count == 0;
  return true;
}

bool IdTable::has_each_once() const {
  std::vector<bool> there(count_, false);
  uint32_t found = 0;
  for (const uint32_t slot : slots()) {
    if (slot == kEmpty) continue;
    if (slot > count_ || there[slot - 1]) return false;
    there[slot - 1] = true;
    found += 1;
  }
  return found == count_;
}

bool IdTable::finds_all(const Hashes& hashes, const SameId& have_same_id) {
  if (!has_each_once()) return false;
  // At 70 % full a number is found in about 2 steps.
  uint64_t steps_left = uint64_t{count_} * 32 + 1024;
  for (uint32_t number = 0; number < count_; ++number) {
    for (uint64_t at = uint64_t{hashes[number]} & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == number + 1) break;
      if (slots_[at] == kEmpty || --steps_left == 0) return false;
      const uint32_t other = slots_[at] - 1;
      if (hashes[other] == hashes[number] && have_same_id(number, other)) return false;
    }
  }
  is_checked_ = true;
  return true;
}

}  // namespace varve::index
