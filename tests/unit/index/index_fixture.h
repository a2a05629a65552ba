// Indexes of made-up logs.
#pragma once

#include <string>
#include <string_view>

#include "index/index.h"

namespace varve::index {

inline entry::EntryFacts facts_of(std::string_view id, uint64_t seq) {
  entry::EntryFacts facts;
  facts.id = id;
  facts.type = "message";
  facts.seq = seq;
  facts.sealed = true;
  return facts;
}

// `count` lines of 100 bytes with their line ends, ids e0, e1, ...
inline Index index_of(uint32_t count) {
  Index index;
  for (uint32_t i = 0; i < count; ++i) {
    entry::EntryFacts facts = facts_of("e" + std::to_string(i), i + 1);
    facts.timestamp_ms = int64_t{i} * 1000;
    facts.importance = (i % 11) / 10.0;
    facts.type = i % 3 == 0 ? "decision" : "message";
    if (i % 5 == 0) facts.expires_at_ms = int64_t{i} * 2000;
    index.add(facts, {uint64_t{i} * 100, 99, uint64_t{i} * 7919}, 0);
    index.coverage.entries_bytes = (uint64_t{i} + 1) * 100;
  }
  return index;
}

}  // namespace varve::index
