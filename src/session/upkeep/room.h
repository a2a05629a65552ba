// How much a session may still grow, and the automatic compaction that makes room before a write.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/result.h"

namespace varve::session {

class Core;
struct CompactionOptions;

// Whether live entries of little relevance may go to make room.
enum class Evicts : uint8_t { kIfItMust, kNever };

class Room {
 public:
  explicit Room(Core& core) : core_(core) {}

  // Compacts the session when so many bytes more would take it above its threshold. Call it before
  // check(). For the holder of the storage's lock, as the members below are.
  Status make(uint64_t new_bytes, Evicts evicts = Evicts::kIfItMust);
  // kSizeLimit if this would make the session, or all sessions of its user, too large.
  [[nodiscard]] Status check(uint64_t new_bytes) const;
  // Whether so many bytes of new entries would be taken as they are: none refused for want of room,
  // and no compaction before, which may evict. Without the lock.
  [[nodiscard]] bool has(uint64_t new_bytes) const;
  // How many live entries went so far, to make room. Without the lock.
  [[nodiscard]] uint64_t evicted_count() const { return evicted_count_.load(); }

 private:
  [[nodiscard]] bool is_above_threshold(uint64_t size_bytes) const;
  Status compact(uint64_t new_bytes, Evicts evicts);
  Status compact_with(const CompactionOptions& options);
  Result<double> eviction_for(uint64_t new_bytes);
  [[nodiscard]] bool has_outgrown(uint64_t dead_bytes) const;
  [[nodiscard]] bool is_worth_a_try(uint64_t new_bytes, Evicts evicts, int64_t now_ms) const;
  void note_try(uint64_t new_bytes, Evicts evicts, int64_t now_ms);

  // Where compaction does not help, writes must not each cost a pass over the log.
  struct Tried {
    uint64_t again_above_bytes = 0;
    uint64_t deleted_count = 0;
    int64_t again_ms = 0;
  };

  Core& core_;
  Tried tried_evicting_;
  Tried tried_;  // by any write, also one that may evict nothing
  std::atomic<uint64_t> evicted_count_{0};
  uint64_t hopeless_bytes_ = 0;  // of a write that could not fit at the last try; 0: it could
};

}  // namespace varve::session
