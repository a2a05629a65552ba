// What a session tells of itself in numbers: its figures, and its files.
#pragma once

#include "json/tree.h"
#include "session/core.h"

namespace varve::session {

// The reports that include/varve/session.h describes.
Result<json::Tree> stats(Core& core);
Result<json::Tree> list_files(Core& core);

}  // namespace varve::session
