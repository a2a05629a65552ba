// What the sweeps ask after a call of the ABI, whatever failed within it.
#pragma once

#include "abi_ground.h"

namespace varve::crash {

// Of what a call changes; unknown: it may be there or not.
enum class Outcome : uint8_t { kDone, kRefused, kUnknown };

// Of the text, number and results in it.
std::string answer_of(const Outs& outs);

// Nothing is in it but the error, which has that status.
void check_refused(const Outs& outs, varve_status_t status);

// Whether it says that this handle writes no more until it is closed and opened.
bool says_stopped(varve_status_t status, const varve_error_t* error);

// What was answered before is in the store, with what the call changed or without it, for whoever
// has it open, who then writes to it: the entry "after". With `may_stop` writing may have stopped.
// Whether it was written.
bool check_open(Ground& ground, const SweptCall& call, Outcome outcome, bool may_stop);
// The same opened anew, which finds no damage.
void check_anew(Ground& ground, const SweptCall& call, Outcome outcome, bool has_after);

// "VarveSessionAddBehindATornTail"
std::string test_name(const SweptCall& call);

// Of all calls that are swept, and of those that need nothing; each function is one of them.
void expect_every_function_of_the_headers();

}  // namespace varve::crash
