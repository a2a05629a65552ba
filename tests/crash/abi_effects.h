// What a call of the ABI is to change, and whether it did.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "abi_ground.h"

namespace varve::crash {

// Ids of entries in "s" that the call adds, or removes.
Effect adds(std::set<std::string> ids);
Effect removes(std::set<std::string> ids);
// Anything else, which can be asked of a fresh look at the store.
Effect does(std::function<bool(Ground&)> is_done);
// It is there as long as the handle is open.
Effect in_memory(Effect effect);
// Some of it may be there when the call failed.
Effect partly(Effect effect);
// When a call on files fails it is whole or not there, and its maker is not told which.
Effect either(Effect effect);

// What a call answered; empty when it failed.
std::string text_of(varve_status_t status, Outs& outs);
// The value of a key of "s".
std::string key_of(Ground& ground, const char* key);
// Whether the transcript of "s" has a turn that says this.
bool has_turn(Ground& ground, std::string_view content);
bool is_in(varve_session_t* session, const char* id);
// Whether there is such a session, which then has the entry: all of it, or none.
bool has_session(Ground& ground, const char* id, const char* entry);
bool is_in_another(Ground& ground, const char* session_id, const char* id);
// Whether a search of the user's memory finds what has that in its line.
bool remembers(Ground& ground, std::string_view text);
// Whether a copy of the store is a store with what was in it.
bool is_copied(const std::string& path);
// Whether the entry that was deleted before is in no file of "s".
bool has_no_trace(Ground& ground);

}  // namespace varve::crash
