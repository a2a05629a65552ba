// Which calls of tools that a session has are those whose results a message brings.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/tree.h"
#include "session/session.h"

namespace varve::session {

// How many calls are looked at, the latest: a result follows its call closely.
constexpr int kOpenCallsMax = 100;

// The ids of the calls' entries, as transfer::ChatCalls tells them. `message`: an entry whose
// content is a message of a chat, or a result with a "call_id". Reads the latest calls, until each
// result has its own.
Result<std::vector<std::string>> calls_answered_by(Session& session, const json::Tree& message);

// Gives an entry with results these ids as its references, unless it has some: a context keeps a
// call and its results together by them.
Status refer_to_calls(Session& session, json::Tree* entry);

}  // namespace varve::session
