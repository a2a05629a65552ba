// LiveScreen: a terminal that is drawn anew again and again until a key or a signal ends it.
//
// One at a time. While it lives the terminal is in its alternate screen, keys come without Enter
// and echo, and SIGINT, SIGTERM and SIGHUP end the waiting instead of the program; its end puts
// everything back. Where standard input is no terminal there are no keys, where standard output is
// none nothing is changed: then it only waits.
#pragma once

#include <signal.h>
#include <termios.h>

#include <cstddef>
#include <cstdint>

#include "cli/output.h"

namespace varve::cli {

class LiveScreen {
 public:
  LiveScreen(Output& out, bool is_terminal);
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // Clears what was drawn.
  void begin_frame();
  // Lines that fit; 0 for no limit.
  [[nodiscard]] size_t height() const;

  enum class Event { kTimeOver, kKey, kQuit };
  // kKey: space or Enter, and a terminal of another size: draw now.
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
