#include "capi/handle_table.h"

#include <pthread.h>

#include <bit>
#include <optional>
#include <string>

namespace varve::capi {
namespace {

constexpr uint64_t kMark = 0x56;
constexpr uint64_t kGenerationMax = (uint64_t{1} << 28) - 1;
constexpr uint64_t kSlotMask = (uint64_t{1} << 24) - 1;
constexpr uint64_t kOpen = uint64_t{1} << 32;
constexpr uint64_t kPins = kOpen - 1;

struct TokenParts {
  uint64_t generation;  // mixed with the table's own bits
  uint32_t slot;
  uint8_t type;
};

constexpr Token make_token(const TokenParts& parts) noexcept {
  return kMark << 56 | parts.generation << 28 | uint64_t{parts.slot} << 4 |
         uint64_t{parts.type} << 1 | 1;
}

constexpr std::optional<TokenParts> read_token(Token token) noexcept {
  if (token >> 56 != kMark || (token & 1) == 0) return std::nullopt;
  return TokenParts{.generation = token >> 28 & kGenerationMax,
                    .slot = static_cast<uint32_t>(token >> 4 & kSlotMask),
                    .type = static_cast<uint8_t>(token >> 1 & 7)};
}

constexpr uint64_t open_state(uint64_t generation, HandleType type) noexcept {
  return generation << 36 | uint64_t{static_cast<uint8_t>(type)} << 33 | kOpen;
}

// The state, apart from pins, that `token` needs its slot to have in the table with these bits; 0,
// which no slot ever has, if it cannot be a handle of `type`.
constexpr uint64_t wanted_state(HandleType type, Token token, uint64_t own_bits) noexcept {
  const auto parts = read_token(token);
  if (!parts || parts->type != static_cast<uint8_t>(type)) return 0;
  return open_state(parts->generation ^ own_bits, type);
}

constexpr uint64_t generation_of(uint64_t state) noexcept { return state >> 36; }

const char* name_of(HandleType type) noexcept {
  switch (type) {
    case HandleType::kStore: return "store";
    case HandleType::kSession: return "session";
    case HandleType::kError: return "error";
    case HandleType::kResults: return "results";
    case HandleType::kWindow: return "window";
    case HandleType::kMemory: return "memory";
  }
  return "handle";
}

Status bad_handle(HandleType type, Token token) {
  const std::string wanted = name_of(type);
  if (token == 0) return Status(Code::kBadHandle, "the " + wanted + " handle is NULL");
  const auto parts = read_token(token);
  if (parts && parts->type != static_cast<uint8_t>(type) && parts->type >= 1 &&
      parts->type <= static_cast<uint8_t>(HandleType::kLast)) {
    return Status(Code::kBadHandle, "this is a handle of type " +
                                        std::string(name_of(static_cast<HandleType>(parts->type))) +
                                        "; a " + wanted + " is needed");
  }
  return Status(Code::kBadHandle,
                "the " + wanted +
                    " handle is not open: it was closed, or this library never gave "
                    "it out");
}

constinit HandleTable process_table;

}  // namespace

HandleTable& HandleTable::of_process() noexcept { return process_table; }

// Of the table's address, of which each bit changes most of these: generations are small numbers,
// and no generation of one table is to look like one of another.
uint64_t HandleTable::own_bits() const noexcept {
  constexpr uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // of 2^64, odd
  return reinterpret_cast<uintptr_t>(this) * kGoldenRatio >> 36;
}

HandleTable::Slot* HandleTable::made_slot(uint32_t index) const noexcept {
  const uint32_t position = index + kFirstChunkSlots;
  const auto chunk =
      static_cast<uint32_t>(std::bit_width(position) - std::bit_width(kFirstChunkSlots));
  Slot* const slots = chunks_[chunk].load(std::memory_order_acquire);
  return slots == nullptr ? nullptr : &slots[position - (kFirstChunkSlots << chunk)];
}

HandleTable::Slot* HandleTable::find_slot(Token token) const noexcept {
  const auto parts = read_token(token);
  return parts && parts->slot < kSlotCountMax ? made_slot(parts->slot) : nullptr;
}

Result<Token> HandleTable::open(HandleType type, std::shared_ptr<Record> record) {
  uint32_t index = kNoSlot;
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    register_fork_hooks();
    index = take_free_slot();
  }
  if (index == kNoSlot) {
    return Status(Code::kNoMemory, "too many handles are open; close sessions, free errors");
  }
  Slot& slot = slot_at(index);
  slot.fork_count = fork_count_.load(std::memory_order_relaxed);
  slot.record = std::move(record);
  const uint64_t generation = generation_of(slot.state.load(std::memory_order_relaxed)) + 1;
  slot.state.store(open_state(generation, type), std::memory_order_release);
  return make_token(
      {.generation = generation ^ own_bits(), .slot = index, .type = static_cast<uint8_t>(type)});
}

Result<HandleTable::Slot*> HandleTable::pin_slot(HandleType type, Token token) {
  const uint64_t wanted = wanted_state(type, token, own_bits());
  Slot* const slot = wanted == 0 ? nullptr : find_slot(token);
  if (slot == nullptr) return bad_handle(type, token);
  uint64_t state = slot->state.load(std::memory_order_relaxed);
  do {
    if ((state & ~kPins) != wanted) return bad_handle(type, token);
  } while (!slot->state.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                              std::memory_order_relaxed));
  if (slot->fork_count != fork_count_.load(std::memory_order_relaxed)) {
    unpin(*slot);
    return Status(Code::kForked, "the " + std::string(name_of(type)) +
                                     " handle was made before fork(), by the parent process; open "
                                     "the store anew in the child");
  }
  return slot;
}

void HandleTable::unpin(Slot& slot) noexcept {
  // After this the slot must not be looked at: a closing thread may have reused it.
  const uint64_t before = slot.state.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & kOpen) == 0 && (before & kPins) == 1) {
    unpinned_signal_.fetch_add(1, std::memory_order_release);
    unpinned_signal_.notify_all();
  }
}

std::shared_ptr<Record> HandleTable::close(HandleType type, Token token) noexcept {
  const uint64_t wanted = wanted_state(type, token, own_bits());
  Slot* const slot = wanted == 0 ? nullptr : find_slot(token);
  if (slot == nullptr) return nullptr;
  uint64_t state = slot->state.load(std::memory_order_relaxed);
  do {
    if ((state & ~kPins) != wanted) return nullptr;
  } while (!slot->state.compare_exchange_weak(state, state & ~kOpen, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
  // From here on the slot belongs to this thread. A parent's slot stays as it is, with its record:
  // its pins may be those of threads that exist only in the parent.
  if (slot->fork_count != fork_count_.load(std::memory_order_relaxed)) return nullptr;
  wait_until_unpinned(*slot);
  std::shared_ptr<Record> record = std::move(slot->record);
  give_back(read_token(token)->slot);
  return record;
}

void HandleTable::wait_until_unpinned(const Slot& slot) const noexcept {
  for (;;) {
    const uint32_t signal = unpinned_signal_.load(std::memory_order_acquire);
    if ((slot.state.load(std::memory_order_acquire) & kPins) == 0) return;
    unpinned_signal_.wait(signal, std::memory_order_acquire);
  }
}

uint32_t HandleTable::take_free_slot() {
  if (first_free_ == kNoSlot && slot_count_ < kSlotCountMax) add_chunk();
  const uint32_t index = first_free_;
  if (index == kNoSlot) return kNoSlot;
  first_free_ = slot_at(index).next_free;
  if (first_free_ == kNoSlot) last_free_ = kNoSlot;
  return index;
}

void HandleTable::add_chunk() {
  const uint32_t size = slot_count_ + kFirstChunkSlots;
  const auto chunk = static_cast<uint32_t>(std::bit_width(size) - std::bit_width(kFirstChunkSlots));
  chunks_[chunk].store(new Slot[size], std::memory_order_release);  // never freed
  const uint32_t end = slot_count_ + size;
  while (slot_count_ < end) append_free(slot_count_++);
}

void HandleTable::append_free(uint32_t index) noexcept {
  slot_at(index).next_free = kNoSlot;
  if (last_free_ == kNoSlot) {
    first_free_ = index;
  } else {
    slot_at(last_free_).next_free = index;
  }
  last_free_ = index;
}

void HandleTable::give_back(uint32_t index) noexcept {
  const uint64_t state = slot_at(index).state.load(std::memory_order_relaxed);
  if (generation_of(state) == kGenerationMax) return;  // a used-up slot is never used again
  const std::lock_guard<std::mutex> guard(mutex_);
  append_free(index);
}

void HandleTable::register_fork_hooks() {
  if (fork_hooks_registered_ || this != &process_table) return;
  fork_hooks_registered_ =
      ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child) == 0;
}

// The child starts with the table's lock free and its queue whole.
void HandleTable::before_fork() noexcept { process_table.mutex_.lock(); }

void HandleTable::after_fork_in_parent() noexcept { process_table.mutex_.unlock(); }

void HandleTable::after_fork_in_child() noexcept {
  process_table.fork_count_.fetch_add(1, std::memory_order_relaxed);
  process_table.mutex_.unlock();
}

}  // namespace varve::capi
