// How a wrapped call learns whether it fails.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/failing_calls/failing_calls.h"

namespace varve_test {

struct Call {
  CallKind kind = CallKind::kOther;
  const char* function = "";
  int descriptor = -1;
  const char* name = nullptr;
  size_t bytes = 0;
};

struct Verdict {
  int os_errno = 0;         // 0: it does not fail
  size_t bytes = SIZE_MAX;  // no more than so many are read or written
};

// errno is as it was.
Verdict verdict_of(const Call& call);

}  // namespace varve_test
