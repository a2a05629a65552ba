// Migration: a log of an earlier version, rewritten as one of this version.
//
// A log is of version 0 when its first entry that has a seq, or its first entry where none has, is
// without schema_version. It is read as it is, and rewritten by the first write to the session.
// First metadata.json is written so that both logs are right by it (as repair does); then the log
// is replaced in one step.
#pragma once

#include "json/tree.h"
#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

// For the holder of the storage's lock, after catching up: migrates a log of an earlier version.
// Sets *checked_generation to the generation that was found to be of this version, so that the next
// call need not look again.
Status migrate_if_older(Core& core, uint64_t* checked_generation);

// The report that varve_session_migrate describes.
Result<json::Tree> migrate(Core& core, Writer& writer, bool dry_run);

}  // namespace varve::session
