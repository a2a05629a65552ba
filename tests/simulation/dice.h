// Choices that a seed makes: the same everywhere, whatever the standard library's distributions do.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace varve::simulation {

class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}

  uint64_t seed() { return engine_(); }  // for something further
  size_t below(size_t count) { return static_cast<size_t>(engine_() % count); }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(engine_() % static_cast<uint64_t>(most - least + 1));
  }
  bool one_in(size_t count) { return below(count) == 0; }

  template <typename Value>
  const Value& pick(const std::vector<Value>& values) {
    return values[below(values.size())];
  }
  template <typename Value>
  Value& pick_from(std::vector<Value>& values) {
    return values[below(values.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace varve::simulation
