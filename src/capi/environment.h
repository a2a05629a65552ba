// What the library runs on outside tests: this system's files, clock and randomness.
#pragma once

#include "io/posix.h"
#include "io/system_clock.h"
#include "store/store.h"

namespace varve::capi {

// Each store has its own, so that nothing here is global. It must outlive the store.
class SystemEnvironment {
 public:
  [[nodiscard]] store::Store::Environment view() noexcept;

 private:
  io::PosixFileSystem file_system_;
  io::SystemClock clock_;
  io::SystemRandom random_;
};

}  // namespace varve::capi
