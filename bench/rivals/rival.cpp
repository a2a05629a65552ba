#include "rival.h"

#include <cstdio>
#include <cstdlib>

namespace varve::bench {

std::string indexed_text(const WorkloadEntry& entry) {
  std::string text(entry.message());
  for (const auto& tag : entry.tags) text += " " + tag;
  return text;
}

void give_up(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

}  // namespace varve::bench
