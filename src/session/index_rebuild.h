// Rebuilds a session's index from its log, with the words, beside the one in use. Meanwhile readers
// and writers go on and use the old one.
//
// Threads: where the settings allow more than one, a second thread counts the words. It has ended
// when the call returns.
// memory: two indexes until the new one replaces the old.
#pragma once

#include "session/core.h"

namespace varve::session {

// Cost: every line of the log is read once, checked, and split into its words.
// errors: those of reading the log; kBusy while it is replaced over and over.
Status rebuild_index(Core& core);

}  // namespace varve::session
