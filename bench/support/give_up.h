#pragma once

#include <string>

namespace varve::bench {

// Ends the program with a message: a benchmark has no use for a failure.
[[noreturn]] void give_up(const std::string& message);

}  // namespace varve::bench
