// Recording what happens in a conversation: the entry that a kind and a payload make.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "session/session.h"

namespace varve::context {

// The id of the entry that was added; docs/context.md#recording tells kinds and payloads. A
// tool_result is given a reference to its call: the last one of its call_id, without one the last
// one of its name that has no result yet. errors: kInvalidArgument, and what Session::add gives.
Result<std::string> record(session::Session& session, std::string_view kind,
                           std::string_view payload);

}  // namespace varve::context
