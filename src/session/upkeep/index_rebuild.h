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

// Makes the rows those of the log, where they are those of index.bin. The words stay if each row
// that has some stands for the line that the log has there; otherwise they are left to whoever asks
// by words. Errors and threads are those of rebuild_index().
Status take_rows_from_log(Core& core);

}  // namespace varve::session
