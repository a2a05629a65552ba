// Counter: how many tokens a text has, by the host's function or by the built-in estimate, and
// what was counted before.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace varve::context {

// Answers 0, with the tokens of `text` in *tokens_out.
using TokenFunction = int32_t (*)(void* user_data, const char* text, size_t len,
                                  uint64_t* tokens_out);

// Counts by key, as many as there are places: a newer one takes the place of an older one. A key
// has the choice between the places of one group, so that few are lost before most are taken.
// Threads: any, without waiting.
class CountCache {
 public:
  CountCache() : groups_(std::make_unique<Group[]>(kGroups)) {}

  [[nodiscard]] std::optional<uint64_t> find(uint64_t key) const;
  void keep(uint64_t key, uint64_t count);

 private:
  // A reader that meets two writers at once sees a mark that is not its key's, and counts anew.
  struct Place {
    [[nodiscard]] std::optional<uint64_t> count_of(uint64_t key) const;

    std::atomic<uint64_t> mark{0};  // key xor count, so that an empty place is nobody's
    std::atomic<uint64_t> count{0};
  };
  static constexpr size_t kPlacesOfGroup = 4;
  struct alignas(64) Group {  // a line of the processor's cache
    std::array<Place, kPlacesOfGroup> places;
  };
  static constexpr size_t kGroups = size_t{1} << 13;

  std::unique_ptr<Group[]> groups_;
};

class Counter {
 public:
  // Null: the built-in estimate. `version` tells one function of a cache from the next.
  Counter(TokenFunction function, void* user_data, uint64_t version, CountCache* cache)
      : function_(function), user_data_(user_data), version_(version), cache_(cache) {}

  // kCallback when the host's function reports failure.
  Result<uint64_t> count(std::string_view text) const;

  // Whether it counts lines as it counts them together (see text/token_estimate.h).
  [[nodiscard]] bool adds_up() const { return function_ == nullptr; }

  // What count_keyed() was told under this key, if it is still known.
  [[nodiscard]] std::optional<uint64_t> known(uint64_t key) const;
  // As count(), remembered. `key` must stand for this text.
  Result<uint64_t> count_keyed(uint64_t key, std::string_view text) const;

 private:
  [[nodiscard]] uint64_t own_key(uint64_t key) const;

  TokenFunction function_;
  void* user_data_;
  uint64_t version_;
  CountCache* cache_;
};

// The sum, or the largest number when it is larger: a counter may answer anything.
[[nodiscard]] inline uint64_t add_tokens(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace varve::context
