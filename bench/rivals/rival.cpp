#include "rival.h"

namespace varve::bench {

std::string indexed_text(const WorkloadEntry& entry) {
  std::string text(entry.message());
  for (const auto& tag : entry.tags) text += " " + tag;
  return text;
}

}  // namespace varve::bench
