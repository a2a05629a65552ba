// The index as a document for people. It is made from the log, as only that tells the numbers of
// lines.
//
// memory: the text, and about 120 bytes of each entry with its tags while it is made.
#pragma once

#include <string>

#include "session/core.h"

namespace varve::session {

// The report that include/varve/maintenance.h describes, indented.
Result<std::string> list_index(Core& core);

}  // namespace varve::session
