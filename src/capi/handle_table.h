// HandleTable: what each opaque handle of the ABI stands for.
//
// A handle is a token of 64 bits and not an address: a fixed mark, the slot in this table, how
// often that slot was used before, and the type of the object. Every call looks its token up. So a
// closed, foreign, mistyped or invented handle is always noticed, and no pair of slot and
// generation is given out twice. The generation is mixed with a number of this table's own: another
// copy of the library in the process, which has slots and generations like these, knows none of
// its handles.
//
//   63    56 55            28 27            4 3    1 0
//   [ mark  |   generation   |     slot     | type |1]
//
// On all 64-bit systems we run on, the mark makes the value no address of a user's memory: a
// garbage collector that meets it does not take it for a pointer, and nobody can follow it.
//
// A call holds a Pin while it uses the object. close() lets no new call begin, and returns when the
// calls in flight are done; so a thread that holds a pin of the same handle must not call it.
//
// fork(): in the child, handles made before it are kForked. Closing them there forgets them without
// touching the object, whose locks and files belong to the parent.
//
// The process's table is one of the library's two process-wide objects (the other is the list of
// lock descriptors in io/). It is never destroyed, so that calls from the host's destructors and
// exit handlers still work while the program exits.
//
// Threads: any. Cost: a pin and its release are one atomic operation each, on the slot.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/result.h"

namespace varve::capi {

enum class HandleType : uint8_t {
  kStore = 1,
  kSession = 2,
  kError = 3,
  kResults = 4,
  kWindow = 5,
  kMemory = 6,
  kLast = kMemory
};

// What a handle stands for. A type T that derives from it names its kind of handle in T::kType.
class Record {
 public:
  Record() = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  virtual ~Record() = default;
};

using Token = uint64_t;

template <typename T>
class Pin;

class HandleTable {
 public:
  constexpr HandleTable() = default;
  static HandleTable& of_process() noexcept;

  // Never 0. errors: kNoMemory when there are 16 million handles; throws std::bad_alloc.
  template <typename T>
  Result<Token> open(std::shared_ptr<T> record) {
    return open(T::kType, std::move(record));
  }

  // errors: kBadHandle; kForked.
  template <typename T>
  Result<Pin<T>> pin(Token token);

  // Returns the record, for the caller to destroy; null when the token is no open handle or one of
  // the parent's. If several threads close one handle, only one gets the record.
  template <typename T>
  std::shared_ptr<T> close(Token token) noexcept {
    return std::static_pointer_cast<T>(close(T::kType, token));
  }

 private:
  template <typename T>
  friend class Pin;

  struct Slot {
    // [63..36] generation, [35..33] type, [32] open, [31..0] pins.
    std::atomic<uint64_t> state{0};
    uint32_t fork_count = 0;  // fork_count_ when the handle was made
    uint32_t next_free = 0;
    std::shared_ptr<Record> record;  // written only by open() and, without pins left, by close()
  };

  static constexpr uint32_t kFirstChunkSlots =
      64;  // each chunk is twice as large as the one before
  static constexpr size_t kChunkCount = 18;
  static constexpr uint32_t kSlotCountMax = kFirstChunkSlots * ((1U << kChunkCount) - 1);
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  uint64_t own_bits() const noexcept;  // as many as a generation has
  Result<Token> open(HandleType type, std::shared_ptr<Record> record);
  std::shared_ptr<Record> close(HandleType type, Token token) noexcept;
  Result<Slot*> pin_slot(HandleType type, Token token);
  void unpin(Slot& slot) noexcept;

  Slot* find_slot(Token token) const noexcept;     // null: no handle of this table has it
  Slot* made_slot(uint32_t index) const noexcept;  // null: there are not so many yet
  uint32_t take_free_slot();                       // under mutex_; kNoSlot when the table is full
  void add_chunk();                                // under mutex_
  void give_back(uint32_t index) noexcept;         // takes mutex_
  void append_free(uint32_t index) noexcept;       // under mutex_
  Slot& slot_at(uint32_t index) const noexcept { return *made_slot(index); }
  void wait_until_unpinned(const Slot& slot) const noexcept;
  void register_fork_hooks();  // under mutex_
  static void before_fork() noexcept;
  static void after_fork_in_parent() noexcept;
  static void after_fork_in_child() noexcept;

  std::array<std::atomic<Slot*>, kChunkCount> chunks_{};
  std::mutex mutex_;  // guards the next members down to fork_hooks_registered_
  uint32_t slot_count_ = 0;
  uint32_t first_free_ = kNoSlot;  // a queue, so that a slot rests before it is reused
  uint32_t last_free_ = kNoSlot;
  bool fork_hooks_registered_ = false;
  std::atomic<uint32_t> fork_count_{0};
  std::atomic<uint32_t> unpinned_signal_{0};  // changes when a closing handle loses its last pin
};

// Keeps a handle's record alive and its close() waiting. Not for several threads.
template <typename T>
class [[nodiscard]] Pin {
 public:
  Pin(Pin&& other) noexcept : table_(other.table_), slot_(std::exchange(other.slot_, nullptr)) {}
  Pin& operator=(Pin&&) = delete;
  ~Pin() { release(); }

  T& operator*() const noexcept { return *get(); }
  T* operator->() const noexcept { return get(); }
  // For use after release().
  [[nodiscard]] std::shared_ptr<T> share() const {
    return std::static_pointer_cast<T>(slot_->record);
  }
  void release() noexcept {
    if (slot_ != nullptr) table_->unpin(*std::exchange(slot_, nullptr));
  }

 private:
  friend class HandleTable;
  Pin(HandleTable& table, HandleTable::Slot& slot) noexcept : table_(&table), slot_(&slot) {}
  [[nodiscard]] T* get() const noexcept { return static_cast<T*>(slot_->record.get()); }

  HandleTable* table_;
  HandleTable::Slot* slot_;
};

template <typename T>
Result<Pin<T>> HandleTable::pin(Token token) {
  VARVE_TRY_ASSIGN(Slot* const slot, pin_slot(T::kType, token));
  return Pin<T>(*this, *slot);
}

}  // namespace varve::capi
