// Repair: moves damage to quarantine, and keeps what is whole byte for byte.
#pragma once

#include "json/tree.h"
#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

struct RepairOptions {
  bool dry_run = false;
  bool accept_edits = false;  // give edited lines a new checksum
};

// The report that varve_session_repair describes.
Result<json::Tree> repair(Core& core, Writer& writer, const RepairOptions& options);

}  // namespace varve::session
