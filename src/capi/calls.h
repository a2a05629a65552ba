// The shape of every call with a store, session or memory handle: look up the handle, do the work,
// let go of the handle, deliver log lines to the host.
//
// The lines are delivered without the pin, because a log function may close the handle that its
// line is about.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "capi/guard.h"
#include "capi/handle_table.h"
#include "capi/records.h"
#include "varve/error.h"
#include "varve/memory.h"
#include "varve/session.h"
#include "varve/store.h"

namespace varve::capi {

// The end of every call with a handle of something in a store. Keeps the store only when there are
// log lines: the two counts of a shared pointer are a part of what a get takes.
template <typename Child>
void let_go(Pin<Child>& pin) {
  const std::shared_ptr<StoreRecord> store = pin->owner()->has_events() ? pin->owner() : nullptr;
  pin.release();
  if (store != nullptr) store->deliver_events();
}

// `body` is called with a shared pointer to the store's record, and returns a Status.
template <typename Body>
varve_status_t with_store(varve_store_t* handle, varve_error_t** error_out, Body&& body) noexcept {
  return guard(error_out, [&]() -> Status {
    VARVE_TRY_ASSIGN(auto pin, HandleTable::of_process().pin<StoreRecord>(to_token(handle)));
    const std::shared_ptr<StoreRecord> store = pin.share();
    store->tick();
    Status status = std::forward<Body>(body)(store);
    store->note(status);
    pin.release();
    store->deliver_events();
    return status;
  });
}

// `body` is called with the session and, if it takes one, the receiver of its progress or the
// store's record. It returns a Status.
template <typename Body>
varve_status_t with_session(varve_session_t* handle, varve_error_t** error_out,
                            Body&& body) noexcept {
  return guard(error_out, [&]() -> Status {
    VARVE_TRY_ASSIGN(auto pin, HandleTable::of_process().pin<SessionRecord>(to_token(handle)));
    StoreRecord& store = *pin->owner();
    store.tick();
    Status status;
    if constexpr (std::is_invocable_v<Body, session::Session&, const session::ProgressReceiver&>) {
      status = std::forward<Body>(body)(pin->session(), pin->progress());
    } else if constexpr (std::is_invocable_v<Body, session::Session&, StoreRecord&>) {
      status = std::forward<Body>(body)(pin->session(), store);
    } else {
      status = std::forward<Body>(body)(pin->session());
    }
    store.note(status, pin->session().id());
    let_go(pin);
    return status;
  });
}

// `body` is called with the memory, and returns a Status.
template <typename Body>
varve_status_t with_memory(varve_memory_t* handle, varve_error_t** error_out,
                           Body&& body) noexcept {
  return guard(error_out, [&]() -> Status {
    VARVE_TRY_ASSIGN(auto pin, HandleTable::of_process().pin<MemoryRecord>(to_token(handle)));
    StoreRecord& store = *pin->owner();
    store.tick();
    Status status = std::forward<Body>(body)(pin->memory());
    store.note(status);
    let_go(pin);
    return status;
  });
}

}  // namespace varve::capi
