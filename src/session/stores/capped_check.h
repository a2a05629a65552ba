// Verify and repair of kv.json and transcript.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/stores/capped_stores.h"

namespace varve::session {

struct StoreDamage {
  CappedStore store;
  uint64_t offset = 0;
  uint64_t length = 0;
  std::string reason;
  bool is_readable = true;  // else people have to move it away
  bool is_torn = false;     // at the end: it may be an append that is in progress
};
// What is wrong with a file's text; empty when nothing is, or only its end is torn.
std::string damage_in(CappedStore store, std::string_view text);
// Reads both files.
Result<std::vector<StoreDamage>> find_store_damage(Core& core);

// Rewrites the files that have damage to remove or hold more than their caps. The caller holds the
// storage's lock.
Status tidy_stores(Core& core, Remains remains);

}  // namespace varve::session
