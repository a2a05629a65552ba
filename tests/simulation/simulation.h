// Deterministic simulation: several processes on one disk with a virtual clock, and every answer
// compared with a model. A seed decides everything, so that the same seed gives the same trace.
//
//   const Run run = simulate(42);
//   EXPECT_EQ(run.violation, "") << run.text();
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sabotage.h"

namespace varve::simulation {

struct Run {
  uint64_t seed = 0;
  std::string violation;           // empty: there is none
  std::vector<std::string> trace;  // what happened, in order; a line for each step
  [[nodiscard]] std::string text(size_t steps_max = SIZE_MAX) const;  // the last ones
  [[nodiscard]] std::string failure() const;  // violation, end of the trace, how to run it again
};

// `defect`: between the library and the disk, in every process.
Run simulate(uint64_t seed, crash::Sabotage defect = crash::Sabotage::kNone);

}  // namespace varve::simulation
