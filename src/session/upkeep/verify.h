// Verify: finds everything that is wrong with a session's files.
#pragma once

#include <functional>
#include <string>

#include "json/tree.h"
#include "session/core.h"
#include "session/progress.h"
#include "session/writer.h"

namespace varve::session {

// The report that varve_session_verify describes. `deep`: with compare_postings().
Result<json::Tree> verify(Core& core, Writer& writer, bool deep, const ProgressReceiver& receiver);
// kCorruption with file, offset and line of the first problem that verify() would find. Changes
// nothing and takes no lock.
Status check_strictly(Core& core);
// Compares facets and words with those that the log gives. Calls `differs` for each wrong list, and
// `step` with the bytes of the log that were read.
Status compare_postings(Core& core, const std::function<void(const std::string& reason)>& differs,
                        const Step& step);

}  // namespace varve::session
