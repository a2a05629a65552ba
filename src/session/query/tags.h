// The tags of a session.
#pragma once

#include "json/tree.h"
#include "session/core.h"

namespace varve::session {

// {"tags":[{"tag","entries"}]}: by name, every tag of live entries and the tags above it.
Result<json::Tree> list_tags(Core& core);

}  // namespace varve::session
