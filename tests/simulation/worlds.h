// What a small document may say: all the states that it may be in, for who looks at it and through
// a power loss.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

namespace varve::simulation {

// What became of a call.
enum class Outcome : uint8_t {
  kDone,       // answered with success
  kRefused,    // answered with an error: nothing was changed
  kUncertain,  // no answer, or one that says so: it may have been done
};

template <typename State>
class Worlds {
 public:
  explicit Worlds(State first) : now_{first}, durable_{std::move(first)} {}

  // `durable`: what was done survives a power loss.
  template <typename Change>
  void change(Outcome outcome, bool durable, const Change& change) {
    if (outcome == Outcome::kRefused) return;
    std::vector<State> changed;
    for (const State& state : now_) insert(changed, change(state));
    if (outcome == Outcome::kUncertain) {
      for (const State& state : changed) insert(now_, state);
      durable = false;
    } else {
      now_ = std::move(changed);
    }
    if (durable) durable_.clear();
    for (const State& state : now_) insert(durable_, state);
  }

  // Leaves the states that are possible; false, and all of them, when none is.
  template <typename Test>
  [[nodiscard]] bool observe(const Test& is_possible) {
    std::vector<State> possible;
    for (const State& state : now_) {
      if (is_possible(state)) possible.push_back(state);
    }
    if (possible.empty()) return false;
    now_ = std::move(possible);
    return true;
  }

  void lose_power() { now_ = durable_; }
  void make_durable() { durable_ = now_; }
  [[nodiscard]] const std::vector<State>& now() const { return now_; }

 private:
  static void insert(std::vector<State>& states, const State& state) {
    if (std::find(states.begin(), states.end(), state) == states.end()) states.push_back(state);
  }

  std::vector<State> now_;
  std::vector<State> durable_;
};

}  // namespace varve::simulation
