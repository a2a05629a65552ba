// Work beside the caller's own: in another thread where the caller allows one, otherwise when its
// result is asked for.
//
// Threads: the thread has ended when the future has, whether its result was asked for or not.
// Errors: what the work throws, the future's get() throws.
#pragma once

#include <future>
#include <type_traits>

namespace varve {

// Work for which the system has no thread to give is done when it is asked for, too.
template <typename Work>
[[nodiscard]] std::future<std::invoke_result_t<Work>> start_beside(bool in_thread, Work work) {
  constexpr auto kWhenAsked = std::launch::deferred;
  return std::async(in_thread ? std::launch::async | kWhenAsked : kWhenAsked, work);
}

}  // namespace varve
