#include <cstdio>
#include <exception>
#include <new>

#include "cli/failure.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  try {
    return varve::cli::run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("varve: memory ran out\n", stderr);
    return varve::cli::kExitIo;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "varve: %s\n", error.what());
    return varve::cli::kExitInternal;
  }
}
