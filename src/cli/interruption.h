// Ending at Ctrl-C without leaving half a file behind.
//
// While an object of this class lives, the first SIGINT, SIGTERM or SIGHUP only asks to stop: the
// library is told so at the next progress, removes what it has begun, and the object's end lets the
// signal do what it would have done. The second signal does it at once. One that the program was
// started to ignore stays ignored.
//
// One object at a time, in a program of one thread.
#pragma once

#include <csignal>
#include <cstddef>

#include "cli/view/progress.h"

namespace varve::cli {

class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();  // the process may end here

  [[nodiscard]] static bool is_asked();
  // Tells `inner`, if there is one, and stops the operation when that is asked.
  [[nodiscard]] static ProgressFunction receiver(ProgressFunction inner = {});

 private:
  static constexpr size_t kSignalCount = 3;
  struct sigaction old_actions_[kSignalCount] = {};
};

}  // namespace varve::cli
