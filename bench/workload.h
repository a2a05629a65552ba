// The entries every benchmark works on: the same for varve and for its rivals, made from a fixed
// seed. Realistic in what costs: about 1 KB of Zipf-distributed words, 2 to 4 tags, six types,
// importance, references to earlier entries, one entry a minute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace varve::bench {

struct WorkloadEntry {
  std::string id;
  std::string type;
  std::string json;  // the entry, as given to varve_session_add
  std::vector<std::string> tags;
  int64_t timestamp_ms = 0;
  double importance = 0;
};

// `body_bytes`: the length of each entry's message. Cost: a few microseconds an entry.
std::vector<WorkloadEntry> make_workload(size_t entry_count, size_t body_bytes, uint64_t seed = 1);

}  // namespace varve::bench
