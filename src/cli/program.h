// The program: reads the command line and runs the command.
#pragma once

namespace varve::cli {

// Returns the exit code.
int run_program(int argc, char** argv);

}  // namespace varve::cli
