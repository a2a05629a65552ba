// Export: a session's entries, or those that match a query, as text for use elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "json/tree.h"
#include "log/storage.h"
#include "session/core.h"
#include "session/progress.h"
#include "transfer/format.h"

namespace varve::session {

struct ExportOptions {
  transfer::ExportFormat format = transfer::ExportFormat::kJsonl;
  std::string query;  // conditions as JSON; empty: all entries
  bool overwrite = false;
};

// {"format","query","overwrite"}; empty: defaults. `overwrite` is allowed only with a file.
Result<ExportOptions> parse_export_options(std::string_view json, bool has_file);
// `text` is a format's name, or the options as an object.
Result<ExportOptions> parse_export_format(std::string_view text);

// The entries in the order of the log, as of one moment.
Status export_text(Core& core, const ExportOptions& options, const log::BeginSink& begin,
                   const ProgressReceiver& receiver);

// The same into a file outside the store, whole or not at all. Memory use does not grow with the
// size of the entries. Returns {"entries","bytes","format"}.
Result<json::Tree> export_file(Core& core, std::string_view path, const ExportOptions& options,
                               const ProgressReceiver& receiver);

}  // namespace varve::session
