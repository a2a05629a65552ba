#include "index/id_table.h"

#include <bit>
#include <utility>

namespace varve::index {

namespace {

constexpr uint64_t kSlotsMin = 16;

uint64_t slots_for(uint64_t count) { return std::bit_ceil(count * 10 / 7 + kSlotsMin); }

}  // namespace

void IdTable::place(uint32_t number, uint64_t hash) {
  uint64_t at = hash & mask();
  while (slots_[at] != kEmpty) at = (at + 1) & mask();
  slots_[at] = number + 1;
}

void IdTable::grow(uint64_t slot_count, std::span<const uint64_t> hashes) {
  slots_.assign(slot_count, kEmpty);
  for (uint32_t number = 0; number < count_; ++number) place(number, hashes[number]);
}

void IdTable::reserve(uint32_t count, std::span<const uint64_t> hashes) {
  if (slots_for(count) > slots_.size()) grow(slots_for(count), hashes);
}

void IdTable::insert(uint32_t number, std::span<const uint64_t> hashes) {
  if ((uint64_t{count_} + 1) * 10 > slots_.size() * 7) {
    grow(slots_.empty() ? kSlotsMin : slots_.size() * 2, hashes);
  }
  place(number, hashes[number]);
  count_ += 1;
}

bool IdTable::adopt(std::vector<uint32_t> slots, uint32_t count) {
  if (slots.empty() && count == 0) {
    slots_.clear();
    count_ = 0;
    return true;
  }
  if (!std::has_single_bit(slots.size()) || uint64_t{count} * 10 > slots.size() * 7) return false;
  std::vector<bool> there(count, false);
  uint32_t found = 0;
  for (const uint32_t slot : slots) {
    if (slot == kEmpty) continue;
    if (slot > count || there[slot - 1]) return false;
    there[slot - 1] = true;
    found += 1;
  }
  if (found != count) return false;
  slots_ = std::move(slots);
  count_ = count;
  return true;
}

bool IdTable::finds_all(std::span<const uint64_t> hashes) const {
  // At 70 % full a number is found in about 2 steps.
  uint64_t steps_left = uint64_t{count_} * 32 + 1024;
  for (uint32_t number = 0; number < count_; ++number) {
    for (uint64_t at = hashes[number] & mask();; at = (at + 1) & mask()) {
      if (slots_[at] == number + 1) break;
      if (slots_[at] == kEmpty || hashes[slots_[at] - 1] == hashes[number] || --steps_left == 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace varve::index
