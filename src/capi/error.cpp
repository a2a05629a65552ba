#include "varve/error.h"

#include <utility>

#include "capi/error_object.h"
#include "capi/guard.h"
#include "capi/handles.h"

using varve::Status;
using varve::capi::ErrorRecord;
using varve::capi::HandleTable;
using varve::capi::read_reserved_error;
using varve::capi::reserved_message;
using varve::capi::to_token;
using varve::capi::with_handle;

namespace {

// Calls `read` with the error's record if the handle is one.
template <typename Read>
varve_status_t with_error(const varve_error_t* error, Read&& read) noexcept {
  return with_handle<ErrorRecord>(error, nullptr, [&](const ErrorRecord& record) {
    std::forward<Read>(read)(record);
    return Status();
  });
}

}  // namespace

extern "C" {

varve_status_t varve_error_status(const varve_error_t* error) {
  varve_status_t status = VARVE_OK;
  if (error == nullptr || read_reserved_error(to_token(error), &status)) return status;
  const varve_status_t found =
      with_error(error, [&](const ErrorRecord& record) { status = record.status(); });
  return found == VARVE_OK ? status : found;
}

const char* varve_error_message(const varve_error_t* error) {
  varve_status_t status = VARVE_OK;
  if (read_reserved_error(to_token(error), &status)) return reserved_message(status);
  const char* message = "";
  with_error(error, [&](const ErrorRecord& record) { message = record.message().c_str(); });
  return message;
}

const char* varve_error_details(const varve_error_t* error) {
  const char* details = "{}";
  with_error(error, [&](const ErrorRecord& record) { details = record.details().c_str(); });
  return details;
}

void varve_error_free(varve_error_t* error) {
  HandleTable::of_process().close<ErrorRecord>(to_token(error)).reset();
}

}  // extern "C"
