// Building a context: retrieve, rank, fit, format.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "context/counter.h"
#include "session/session.h"
#include "store/store.h"

namespace varve::context {

// {"text","items":[{"id","tokens","rank","source"}],"token_count","dropped","truncated"} of a
// request's JSON text (request.h). The counter is called under no lock. `store` is the session's,
// for a request across sessions; without one that is kUnsupported.
// errors: kInvalidArgument, kCallback, kBusy, kNotFound (the session was deleted).
Result<std::string> build(session::Session& session, store::Store* store, std::string_view request,
                          const Counter& counter);

}  // namespace varve::context
