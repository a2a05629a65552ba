// CurrentMetadata: metadata.json as this process last read or wrote it, with what calls often ask
// of it worked out once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "decay/decay.h"
#include "json/tree.h"
#include "session/metadata/expiry.h"
#include "session/metadata/metadata.h"
#include "session/settings.h"

namespace varve::session {

// Hold the index lock for all but the last three: shared to read, exclusively for set().
class CurrentMetadata {
 public:
  // What is worked out from a Metadata.
  struct Facts {
    std::shared_ptr<const decay::Rules> decay_rules;
    uint64_t compacted_through_seq = 0;
    Renewal renewal;
    int64_t expiry_ms = kNeverDue;
    bool may_have_stray_vectors = false;
  };

  // `settings`: the store's, used where the session says nothing. They outlive this object.
  explicit CurrentMetadata(const Settings& settings) : settings_(settings) {}

  void set(Metadata fresh);
  // The same in two steps, for a caller that writes `fresh` into the file in between: the second
  // step cannot fail. facts_of() needs no lock.
  [[nodiscard]] Facts facts_of(const Metadata& fresh) const;
  void set(Metadata fresh, Facts facts) noexcept;
  // The file could not be read, and why; until the next set().
  void note_damage(std::string why) noexcept { damage_ = std::move(why); }
  [[nodiscard]] const std::string& damage() const { return damage_; }  // empty: it was read

  [[nodiscard]] const Metadata& value() const { return value_; }
  [[nodiscard]] const json::Tree& tree() const { return value_.tree(); }
  [[nodiscard]] uint64_t durable_seq() const { return value_.durable_seq(); }
  [[nodiscard]] uint64_t generation() const { return value_.generation(); }
  [[nodiscard]] uint64_t compacted_through_seq() const { return compacted_through_seq_; }
  // How entries decay: the session's own rules, else the store's.
  [[nodiscard]] std::shared_ptr<const decay::Rules> decay_rules() const { return decay_rules_; }
  // When the session is compacted automatically: the session's own rules, else the store's.
  [[nodiscard]] CompactionPolicy compaction_policy() const;

  // When the session expires, and from when on a write renews it (expiry.h).
  [[nodiscard]] int64_t expiry_ms() const noexcept {
    return expiry_ms_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] Renewal renewal() const noexcept { return {renews_below_ms_, renews_from_ms_}; }
  // Whether entries may be added only after drop_stray_vectors() (vector_check.h).
  [[nodiscard]] bool may_have_stray_vectors() const noexcept {
    return may_have_stray_vectors_.load();
  }

 private:
  const Settings& settings_;
  Metadata value_;
  std::string damage_;
  std::shared_ptr<const decay::Rules> decay_rules_;
  uint64_t compacted_through_seq_ = 0;
  std::atomic<int64_t> expiry_ms_{kNeverDue};
  std::atomic<int64_t> renews_below_ms_{Renewal().below_ms};
  std::atomic<int64_t> renews_from_ms_{kNeverDue};
  std::atomic<bool> may_have_stray_vectors_{false};
};

}  // namespace varve::session
