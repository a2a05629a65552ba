// Tokens as the pointers that the ABI shows.
#pragma once

#include <cstdint>

#include "capi/handle_table.h"

namespace varve::capi {

static_assert(sizeof(void*) == sizeof(Token), "handles need pointers of 64 bits");

template <typename Handle>
Token to_token(const Handle* handle) noexcept {
  return static_cast<Token>(reinterpret_cast<uintptr_t>(handle));
}

// Not an address: nobody ever follows it.
template <typename Handle>
Handle* to_handle(Token token) noexcept {
  return reinterpret_cast<Handle*>(static_cast<uintptr_t>(token));  // NOLINT
}

}  // namespace varve::capi
