// Import: reads entries from texts and files in several formats. Every good entry is added, whether
// or not others are refused.
#pragma once

#include <string_view>

#include "base/ids.h"
#include "json/tree.h"
#include "session/core.h"
#include "session/progress.h"
#include "session/writer.h"
#include "transfer/format.h"
#include "transfer/input.h"

namespace varve::session {

struct ImportOptions {
  transfer::ImportFormat format = transfer::ImportFormat::kAuto;
  bool dry_run = false;  // report what would happen, and write nothing
};

// {"format","dry_run"}; empty: defaults.
Result<ImportOptions> parse_import_options(std::string_view json);

// The report that include/varve/maintenance.h describes. What was added before a failure stays.
Result<json::Tree> import_entries(Core& core, Writer& writer, IdGenerator& ids,
                                  transfer::Input& input, const ImportOptions& options,
                                  const ProgressReceiver& receiver);

}  // namespace varve::session
