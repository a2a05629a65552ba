#include <cstdio>
#include <exception>

#include "cli/failure.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  try {
    return varve::cli::run_program(argc, argv);
  } catch (const std::exception& error) {  // for example of memory that has run out
    std::fprintf(stderr, "varve: %s\n", error.what());
    return varve::cli::kExitInternal;
  }
}
