// Result<T>: a value, or the Status that says why there is none (std::expected is C++23).
#pragma once

#include <optional>
#include <utility>

#include "base/status.h"

namespace varve {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                   // NOLINT: implicit on purpose
  Result(Status status) noexcept : status_(std::move(status)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  [[nodiscard]] Code code() const noexcept { return ok() ? Code::kOk : status_.code(); }
  [[nodiscard]] const Status& status() const& noexcept { return status_; }
  [[nodiscard]] Status&& status() && noexcept { return std::move(status_); }

  // Only when ok().
  T& operator*() & noexcept { return *value_; }
  const T& operator*() const& noexcept { return *value_; }
  T&& operator*() && noexcept { return *std::move(value_); }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace varve

namespace varve {

inline Status&& take_status(Status&& status) noexcept { return std::move(status); }
template <typename T>
Status&& take_status(Result<T>&& result) noexcept {
  return std::move(result).status();
}

}  // namespace varve

// The names inside must differ, because one VARVE_TRY may stand in a lambda that is an argument of
// another.
#define VARVE_TRY_CONCAT_INNER(a, b) a##b
#define VARVE_TRY_CONCAT(a, b) VARVE_TRY_CONCAT_INNER(a, b)
#define VARVE_TRY_NAME VARVE_TRY_CONCAT(varve_try_, __COUNTER__)

#define VARVE_TRY_IMPL(outcome, expression)            \
  do {                                                 \
    if (auto outcome = (expression); !outcome.ok()) {  \
      return ::varve::take_status(std::move(outcome)); \
    }                                                  \
  } while (false)

// VARVE_TRY(f()): returns f's failure from the function, if there is one; ignores f's value.
#define VARVE_TRY(expression) VARVE_TRY_IMPL(VARVE_TRY_NAME, expression)

#define VARVE_TRY_ASSIGN_IMPL(holder, target, expression) \
  auto holder = (expression);                             \
  if (!holder.ok()) return std::move(holder).status();    \
  target = *std::move(holder)

// VARVE_TRY_ASSIGN(auto x, f()): x = the value of f(), or returns f's failure from the function.
#define VARVE_TRY_ASSIGN(target, expression) \
  VARVE_TRY_ASSIGN_IMPL(VARVE_TRY_NAME, target, expression)
