// The index as a document for people. It is made from the log, as only that tells the numbers of
// lines.
#pragma once

#include "json/tree.h"
#include "session/core.h"

namespace varve::session {

// The report that include/varve/maintenance.h describes.
Result<json::Tree> list_index(Core& core);

}  // namespace varve::session
