// Looking after a session: the long operations, each over Core and Writer.
#pragma once

#include <string>
#include <string_view>

#include "json/tree.h"
#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

// Each gives the report document that include/varve/maintenance.h and session.h describe.

Result<json::Tree> verify(Core& core, Writer& writer);
Result<json::Tree> repair(Core& core, Writer& writer, bool dry_run);
Result<json::Tree> stats(Core& core);
Result<json::Tree> list_files(Core& core);
Result<json::Tree> list_index(Core& core);

// "jsonl", "json" or "markdown"; kInvalidArgument for another format.
Result<std::string> export_text(Core& core, std::string_view format);

// Adds the good lines of `lines`.
Result<json::Tree> import_lines(Core& core, Writer& writer, IdGenerator& ids,
                                std::string_view lines);

}  // namespace varve::session
