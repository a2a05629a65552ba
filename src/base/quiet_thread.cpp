#include "base/quiet_thread.h"

#include <csignal>
#include <system_error>

// Older C libraries lack it: there, the thread has the mask of the one that starts it.
#ifdef __GLIBC_PREREQ
#define VARVE_HAS_MASK_ATTRIBUTE __GLIBC_PREREQ(2, 32)
#else
#define VARVE_HAS_MASK_ATTRIBUTE 0
#endif

namespace varve {
namespace {

extern "C" void* run_work(void* given) {
  const std::unique_ptr<std::function<void()>> work(static_cast<std::function<void()>*>(given));
  (*work)();
  return nullptr;
}

// All but those that tell of a fault of the thread itself, which a crash reporter wants to hear of.
[[maybe_unused]] sigset_t signals_of_others() noexcept {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    sigdelset(&signals, fault);
  }
  return signals;
}

// What a call takes of a stack at most, as docs/threading.md says, several times over: a host whose
// own threads have little must not decide for these.
constexpr size_t kStackBytesMin = size_t{512} << 10;

int ensure_stack(pthread_attr_t* attributes) noexcept {
  size_t stack_bytes = 0;
  const int os_errno = ::pthread_attr_getstacksize(attributes, &stack_bytes);
  if (os_errno != 0 || stack_bytes >= kStackBytesMin) return os_errno;
  return ::pthread_attr_setstacksize(attributes, kStackBytesMin);
}

// The thread begins with them blocked, and the mask of the host's thread is left alone.
int start(pthread_t* thread, std::function<void()>* work) noexcept {
  pthread_attr_t attributes;
  int os_errno = ::pthread_attr_init(&attributes);
  if (os_errno != 0) return os_errno;
  os_errno = ensure_stack(&attributes);
#if VARVE_HAS_MASK_ATTRIBUTE
  const sigset_t blocked = signals_of_others();
  if (os_errno == 0) os_errno = ::pthread_attr_setsigmask_np(&attributes, &blocked);
#endif
  if (os_errno == 0) os_errno = ::pthread_create(thread, &attributes, &run_work, work);
  ::pthread_attr_destroy(&attributes);
  return os_errno;
}

}  // namespace

QuietThread::QuietThread(std::function<void()> work) {
  auto kept = std::make_unique<std::function<void()>>(std::move(work));
  const int os_errno = start(&thread_, kept.get());
  if (os_errno != 0) throw std::system_error(os_errno, std::generic_category());
  (void)kept.release();  // the thread frees it
  is_running_ = true;
}

QuietThread& QuietThread::operator=(QuietThread&& other) noexcept {
  if (this != &other) {
    join();
    thread_ = other.thread_;
    is_running_ = std::exchange(other.is_running_, false);
  }
  return *this;
}

void QuietThread::join() noexcept {
  if (std::exchange(is_running_, false)) ::pthread_join(thread_, nullptr);
}

}  // namespace varve
