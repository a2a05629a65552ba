// Figures of a session in words, from the answer of varve_session_stats.
#pragma once

#include <string>

#include "cli/json_text.h"

namespace varve::cli {

// "skipped 2, torn tails 1"; empty when nothing is damaged.
[[nodiscard]] std::string damage_figure(const json::object& stats);
// "process 4711, write"; empty when nobody holds the lock.
[[nodiscard]] std::string lock_figure(const json::object& stats);
// "34 %" of its size limit; empty without one.
[[nodiscard]] std::string limit_figure(const json::object& stats);

}  // namespace varve::cli
