// Prints the trace of a seed.   usage: simulate SEED
#include <cstdio>
#include <cstdlib>

#include "simulation.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: simulate SEED\n", stderr);
    return 2;
  }
  const auto run = varve::simulation::simulate(std::strtoull(argv[1], nullptr, 10));
  std::fputs(run.text().c_str(), stdout);
  if (!run.violation.empty()) std::printf("violation: %s\n", run.violation.c_str());
  return run.violation.empty() ? 0 : 1;
}
