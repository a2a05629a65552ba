#include "cli/program.h"

int main(int argc, char** argv) { return varve::cli::run_program(argc, argv); }
