// What the tests of compaction ask for.
#pragma once

#include "session/upkeep/compaction.h"

namespace varve::session {

inline CompactionOptions asked(double evict_below = 0) {
  CompactionOptions options;
  options.evict_below = evict_below;
  return options;
}

inline CompactionOptions purge() {
  CompactionOptions options;
  options.cause = CompactionCause::kPurge;
  return options;
}

}  // namespace varve::session
