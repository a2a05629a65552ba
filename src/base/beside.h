// Work beside the caller's own: in another thread if the caller allows one, otherwise when its
// result is asked for.
//
// Threads: the thread has ended when the future has, whether its result was asked for or not.
// Errors: what the work throws is thrown by the future's get().
#pragma once

#include <future>
#include <type_traits>

namespace varve {

// If the system has no thread left, the work is also done when its result is asked for.
template <typename Work>
[[nodiscard]] std::future<std::invoke_result_t<Work>> start_beside(bool in_thread, Work work) {
  constexpr auto kWhenAsked = std::launch::deferred;
  return std::async(in_thread ? std::launch::async | kWhenAsked : kWhenAsked, work);
}

}  // namespace varve
