// The list of a store's sessions, a page at a time.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "json/tree.h"
#include "log/storage.h"
#include "store/list_filter.h"
#include "store/open_session.h"

namespace varve::store {

// The answer of varve_store_sessions. Cost: reads two files for each session on the page, and the
// rows that the filter leaves out.
Result<json::Tree> list_sessions(log::Engine& engine, const ListFilter& filter, int64_t now_ms,
                                 const FindOpen& find_open);

}  // namespace varve::store
