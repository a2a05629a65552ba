// Making a session's index anew from its log, words and all, beside the one in use: who reads or
// writes meanwhile goes on, and finds by the old one.
//
// Threads: where the settings allow more than one, a second one counts the words. It has ended when
// the call has.
// memory: two indexes until the new one is taken.
#pragma once

#include "session/core.h"

namespace varve::session {

// Cost: every line of the log is read once, checked, and split into its words.
// errors: those of reading the log; kBusy while it is replaced over and over.
Status rebuild_index(Core& core);

}  // namespace varve::session
