// Error objects: what varve_error_t stands for.
#pragma once

#include <string>

#include "base/status.h"
#include "capi/handle_table.h"
#include "varve/error.h"

namespace varve::capi {

class ErrorRecord final : public Record {
 public:
  static constexpr HandleType kType = HandleType::kError;

  explicit ErrorRecord(const Status& failure);

  [[nodiscard]] varve_status_t status() const noexcept { return status_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& details() const noexcept { return details_; }

 private:
  varve_status_t status_;
  std::string message_;  // one line, well-formed UTF-8
  std::string details_;  // a JSON object
};

// The code in terms of the ABI: outcomes of the storage become what a caller can act on.
varve_status_t public_status(Code code) noexcept;

// {"path","member","offset","line","size","limit","errno"}: those that are known.
std::string details_of(const Place& place);

// A handle for the failure, or the reserved error of its code if there is no memory for one.
Token make_error(const Status& failure) noexcept;

// There is a reserved error for every code. It always exists: it needs no memory and no freeing.
Token reserved_error(varve_status_t status) noexcept;
// Whether the token is a reserved error; sets *status to its code.
bool read_reserved_error(Token token, varve_status_t* status) noexcept;
const char* reserved_message(varve_status_t status) noexcept;

}  // namespace varve::capi
