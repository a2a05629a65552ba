#include "cli/view/live_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <iterator>

namespace varve::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
constexpr char kEndOfInput = 4;  // Ctrl-D

volatile sig_atomic_t end_asked = 0;

extern "C" void note_signal(int number) {
  if (number != SIGWINCH) end_asked = 1;
}

timespec time_of(int64_t duration_ms) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(duration_ms / 1000);
  time.tv_nsec = static_cast<long>(duration_ms % 1000 * 1'000'000);
  return time;
}

}  // namespace

LiveScreen::LiveScreen(Output& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {
  if (!is_terminal_) return;
  // Blocked except while waiting: no signal can arrive between the check for one and the wait.
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int number : kSignals) sigaddset(&blocked, number);
  ::sigprocmask(SIG_BLOCK, &blocked, &old_signals_);
  end_asked = 0;
  struct sigaction action {};
  action.sa_handler = &note_signal;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], &action, &old_actions_[i]);
  }
  if (::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &old_keys_) == 0) {
    termios keys = old_keys_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    has_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
  }
  out_.write("\x1b[?1049h\x1b[?25l");  // alternate screen, no cursor
}

LiveScreen::~LiveScreen() {
  if (!is_terminal_) return;
  out_.write("\x1b[?25h\x1b[?1049l");
  out_.flush();
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &old_keys_);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    ::sigaction(kSignals[i], &old_actions_[i], nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &old_signals_, nullptr);
}

void LiveScreen::begin_frame() {
  if (is_terminal_) out_.write("\x1b[H\x1b[2J");
}

size_t LiveScreen::height() const {
  winsize size{};
  if (!is_terminal_ || ::ioctl(out_.descriptor(), TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_row;
}

LiveScreen::Event LiveScreen::wait(int64_t duration_ms) {
  out_.flush();
  const timespec time = time_of(duration_ms);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int count =
      ::ppoll(&input, has_keys_ ? 1 : 0, &time, is_terminal_ ? &old_signals_ : nullptr);
  if (end_asked != 0) return Event::kQuit;
  if (count > 0) return read_key();
  return count < 0 ? Event::kKey : Event::kTimeOver;
}

LiveScreen::Event LiveScreen::read_key() {
  char key = kEndOfInput;
  const ssize_t count = ::read(STDIN_FILENO, &key, 1);
  const bool is_end = count <= 0 || key == 'q' || key == 'Q' || key == kEndOfInput;
  return is_end ? Event::kQuit : Event::kKey;
}

}  // namespace varve::cli
