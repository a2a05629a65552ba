#include "give_up.h"

#include <cstdio>
#include <cstdlib>

namespace varve::bench {

void give_up(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

}  // namespace varve::bench
