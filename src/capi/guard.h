// guard(): the only way into the library and out of it.
//
// Everything that is thrown ends here, becomes a status, and reaches the caller as an error object.
// It is noexcept because the frames of a C caller must not be unwound. That includes the forced
// unwinding of pthread_cancel(): catch (...) would have to rethrow it, which noexcept forbids, so a
// thread that is cancelled inside a call ends the program. abi::__forced_unwind therefore has no
// clause of its own; docs/errors.md tells hosts not to cancel threads inside the library.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/result.h"
#include "capi/error_object.h"
#include "capi/handle_table.h"
#include "capi/handles.h"
#include "varve/base.h"
#include "varve/error.h"

namespace varve::capi {

inline varve_status_t report(const Status& status, varve_error_t** error_out) noexcept {
  if (error_out != nullptr) {
    *error_out = status.ok() ? nullptr : to_handle<varve_error_t>(make_error(status));
  }
  return public_status(status.code());
}

inline varve_status_t report_without_memory(varve_status_t status,
                                            varve_error_t** error_out) noexcept {
  if (error_out != nullptr) *error_out = to_handle<varve_error_t>(reserved_error(status));
  return status;
}

// Reports a defect; `what` is the exception's own text.
varve_status_t report_defect(const char* what, varve_error_t** error_out) noexcept;

// Runs `body`, which returns a Status.
template <typename Body>
varve_status_t guard(varve_error_t** error_out, Body&& body) noexcept {
  try {
    const Status status = std::forward<Body>(body)();
    return report(status, error_out);
  } catch (const std::bad_alloc&) {
    return report_without_memory(VARVE_NO_MEMORY, error_out);
  } catch (const std::exception& defect) {
    return report_defect(defect.what(), error_out);
  } catch (...) {
    return report_defect("an exception of unknown type", error_out);
  }
}

// Runs `body`, which returns a Status, with what the handle stands for, a T.
template <typename T, typename Handle, typename Body>
varve_status_t with_handle(const Handle* handle, varve_error_t** error_out, Body&& body) noexcept {
  return guard(error_out, [&]() -> Status {
    VARVE_TRY_ASSIGN(const auto pin, HandleTable::of_process().pin<T>(to_token(handle)));
    return std::forward<Body>(body)(*pin);
  });
}

}  // namespace varve::capi
