// Maintenance of a session: the long operations, each a function over Core and Writer.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "json/tree.h"
#include "session/core.h"
#include "session/progress.h"
#include "session/writer.h"

namespace varve::session {

// Each returns the report that include/varve/maintenance.h and session.h describe.

Result<json::Tree> verify(Core& core, Writer& writer, bool deep, const ProgressReceiver& receiver);
struct RepairOptions {
  bool dry_run = false;
  bool accept_edits = false;  // give edited lines a new checksum
};
Result<json::Tree> repair(Core& core, Writer& writer, const RepairOptions& options);
// kCorruption with file, offset and line of the first problem that verify() would find. Changes
// nothing and takes no lock.
Status check_strictly(Core& core);
// Compares facets and words with those that the log gives. Calls `differs` for each wrong list, and
// `step` with the bytes of the log that were read.
Status compare_postings(Core& core, const std::function<void(const std::string& reason)>& differs,
                        const Step& step);
Result<json::Tree> stats(Core& core);
Result<json::Tree> list_files(Core& core);
Result<json::Tree> list_index(Core& core);

}  // namespace varve::session
