// Result<T>: a value, or the Status that says why there is none (std::expected is C++23).
#pragma once

#include <optional>
#include <utility>

#include "base/status.h"

namespace varve {

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                 // NOLINT: implicit on purpose
  Result(Status status) noexcept : status_(std::move(status)) {}  // NOLINT: implicit on purpose

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  [[nodiscard]] Code code() const noexcept { return ok() ? Code::kOk : status_.code(); }
  [[nodiscard]] const Status& status() const& noexcept { return status_; }
  [[nodiscard]] Status&& status() && noexcept { return std::move(status_); }

  // Only after ok().
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

// Leaves the function with the failure, if there is one. Two lines of intent on one.
#define VARVE_TRY(expression)                                            \
  do {                                                                   \
    if (auto varve_try_status = (expression); !varve_try_status.ok()) {  \
      return varve_try_status;                                           \
    }                                                                    \
  } while (false)

#define VARVE_TRY_CONCAT_INNER(a, b) a##b
#define VARVE_TRY_CONCAT(a, b) VARVE_TRY_CONCAT_INNER(a, b)
#define VARVE_TRY_ASSIGN_IMPL(holder, target, expression) \
  auto holder = (expression);                             \
  if (!holder.ok()) return std::move(holder).status();    \
  target = *std::move(holder)

// VARVE_TRY_ASSIGN(auto x, f()): x = the value of f(), or leaves with its failure.
#define VARVE_TRY_ASSIGN(target, expression) \
  VARVE_TRY_ASSIGN_IMPL(VARVE_TRY_CONCAT(varve_try_, __LINE__), target, expression)
