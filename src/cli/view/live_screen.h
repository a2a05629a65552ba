// LiveScreen: a terminal that is redrawn again and again until a key or a signal ends it.
//
// Only one at a time. While it lives, the terminal shows its alternate screen, keys arrive without
// Enter and echo, and SIGINT, SIGTERM and SIGHUP end the waiting instead of the program; its
// destructor puts everything back. If standard input is no terminal, there are no keys; if standard
// output is none, nothing is changed and it only waits.
#pragma once

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <cstdint>

#include "cli/view/output.h"

namespace varve::cli {

class LiveScreen {
 public:
  LiveScreen(Output& out, bool is_terminal);
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // Clears what was drawn.
  void begin_frame();
  // How many lines fit; 0: no limit.
  [[nodiscard]] size_t height() const;

  enum class Event { kTimeOver, kKey, kQuit };
  // kKey: space, Enter or a terminal of another size: draw now.
  Event wait(int64_t duration_ms);

 private:
  Event read_key();

  Output& out_;
  bool is_terminal_;
  bool has_keys_ = false;
  termios old_keys_{};
  sigset_t old_signals_{};
  struct sigaction old_actions_[4] = {};
};

}  // namespace varve::cli
