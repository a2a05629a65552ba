// The questions in varve's query language, as varve_session_query and
// varve_context_build take them.
#pragma once

#include <string>

#include "queries.h"

namespace varve::bench {

std::string json_of(const TaggedQuery& query);
std::string json_of(const TextQuery& query);
std::string json_of(const RankedQuery& query);
std::string json_of(const Question& question);  // for varve_context_build

// Configuration for varve_store_open: the decay of ranked_score for every type of the workload, and
// no limit of a session's size. durability: "commit", "interval" or "os".
std::string store_config(const char* durability, int threads = 1);

}  // namespace varve::bench
