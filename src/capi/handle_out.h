// An out parameter for a handle. It is cleared on construction, so that every return has written
// it. The only kind of out that may not be NULL: a handle that nobody holds cannot be closed.
#pragma once

#include <string_view>
#include <utility>

#include "base/result.h"
#include "capi/handles.h"
#include "capi/text.h"

namespace varve::capi {

template <typename Handle>
class HandleOut {
 public:
  HandleOut(Handle** out, std::string_view name) noexcept : out_(out), name_(name) {
    if (out_ != nullptr) *out_ = nullptr;
  }
  HandleOut(const HandleOut&) = delete;
  HandleOut& operator=(const HandleOut&) = delete;

  [[nodiscard]] Status check() const {
    if (out_ != nullptr) return {};
    return bad_argument(name_, "is NULL: there is nowhere to put the handle");
  }
  // Call it after check().
  Status set(Result<Token> token) {
    if (!token.ok()) return std::move(token).status();
    *out_ = to_handle<Handle>(*token);
    return {};
  }

 private:
  Handle** out_;
  std::string_view name_;
};

}  // namespace varve::capi
