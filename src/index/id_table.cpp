#include "index/id_table.h"

#include <algorithm>
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
  for (uint64_t steps = std::min<uint64_t>(slots_.size(), kRunMax); steps > 0; --steps, ++at) {
    if (slots_[at & mask()] != kEmpty) continue;
    slots_.set(at & mask(), number + 1);
    return is_run_short(at);
  }
  return false;
}

// Whether a free slot is near on both sides.
bool IdTable::is_run_short(uint64_t at) const {
  uint64_t count = 1;
  for (uint64_t next = at + 1; slots_[next & mask()] != kEmpty; ++next) {
    if (++count > kRunMax || count > slots_.size()) return false;
  }
  for (uint64_t back = at - 1; slots_[back & mask()] != kEmpty; --back) {
    if (++count > kRunMax || count > slots_.size()) return false;
  }
  return true;
}

bool IdTable::grow(uint64_t slot_count, const Hashes& hashes) {
  slots_ = Slots(slot_count, kEmpty);
  is_checked_ = true;
  for (uint32_t number = 0; number < count_; ++number) {
    if (!place(number, hashes[number])) return false;
  }
  return true;
}

void IdTable::reserve(uint32_t count, const Hashes& hashes, const IdOf& id_of) {
  if (is_crowded() || slots_for(count) <= slots_.size()) return;
  if (!grow(slots_for(count), hashes)) keep_by_id(id_of);
}

void IdTable::insert(uint32_t number, const Hashes& hashes, const IdOf& id_of) {
  if (!is_crowded()) {
    const bool is_full = (uint64_t{count_} + 1) * 10 > slots_.size() * 7;
    bool is_placed = !is_full && place(number, hashes[number]);
    if (is_full || (!is_placed && !is_checked_)) {
      is_placed = grow(slots_.size() == 0 ? kSlotsMin : slots_.size() * 2, hashes) &&
                  place(number, hashes[number]);
    }
    if (!is_placed) keep_by_id(id_of);
  }
  if (is_crowded()) by_id_->try_emplace(id_of(number), number);
  count_ += 1;
}

void IdTable::keep_by_id(const IdOf& id_of) {
  auto by_id = std::make_unique<ById>();
  for (uint32_t number = 0; number < count_; ++number) by_id->try_emplace(id_of(number), number);
  by_id_ = std::move(by_id);
  slots_ = Slots();
  is_checked_ = true;
}

uint64_t IdTable::memory_bytes() const {
  constexpr uint64_t kNodeBytes = 80;  // with the string, about; longer ids take more
  return slots_.memory_bytes() + (is_crowded() ? by_id_->size() * kNodeBytes : 0);
}

bool IdTable::adopt(Slots slots, uint32_t count) {
  const bool is_none = slots.size() == 0 && count == 0;
  if (!is_none && (!std::has_single_bit(slots.size()) || uint64_t{count} * 10 > slots.size() * 7)) {
    return false;
  }
  slots_ = std::move(slots);
  by_id_.reset();
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

bool IdTable::has_short_runs() const {
  uint64_t run = 0;
  for (const uint32_t slot : slots()) {
    run = slot == kEmpty ? 0 : run + 1;
    if (run > kRunMax) return false;
  }
  return true;
}

bool IdTable::finds_all(const Hashes& hashes, const SameId& have_same_id) {
  if (!has_each_once() || !has_short_runs()) return false;
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
