// How much an exhaustive test tries: a part of it with every change, all of it in campaigns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "support/build_kind.h"

namespace varve::test {

// VARVE_CRASH_SCALE in percent; when not set, what a fast build or another one can bear.
inline size_t scaled(size_t whole, size_t fast_percent, size_t slow_percent) {
  const char* text = std::getenv("VARVE_CRASH_SCALE");
  const size_t percent = text != nullptr ? std::strtoul(text, nullptr, 10)
                         : kFastBuild    ? fast_percent
                                         : slow_percent;
  return std::max<size_t>(1, whole * percent / 100);
}

}  // namespace varve::test
