#include "cli/interruption.h"

#include <iterator>
#include <utility>

namespace varve::cli {
namespace {

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t signal_received = 0;

extern "C" void remember_signal(int number) { signal_received = number; }

}  // namespace

Interruption::Interruption() {
  static_assert(std::size(kEndingSignals) == kSignalCount);
  signal_received = 0;
  for (size_t i = 0; i < kSignalCount; ++i) {
    ::sigaction(kEndingSignals[i], nullptr, &old_actions_[i]);
    if (old_actions_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = &remember_signal;
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    ::sigaction(kEndingSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < kSignalCount; ++i) {
    ::sigaction(kEndingSignals[i], &old_actions_[i], nullptr);
  }
  if (signal_received != 0) ::raise(signal_received);
}

bool Interruption::is_asked() { return signal_received != 0; }

ProgressFunction Interruption::receiver(ProgressFunction inner) {
  return [inner = std::move(inner)](std::string_view operation, uint64_t done, uint64_t total) {
    const bool goes_on = !inner || inner(operation, done, total);
    return goes_on && !is_asked();
  };
}

}  // namespace varve::cli
