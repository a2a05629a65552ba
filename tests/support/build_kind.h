// Whether this build is fast enough for exhaustive tests in full size.
#pragma once

namespace varve::test {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VARVE_TEST_IS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VARVE_TEST_IS_SANITIZED 1
#endif

// Neither sanitized nor unoptimised.
#if defined(NDEBUG) && !defined(VARVE_TEST_IS_SANITIZED)
inline constexpr bool kFastBuild = true;
#else
inline constexpr bool kFastBuild = false;
#endif

}  // namespace varve::test
