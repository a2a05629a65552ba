#include "io/system_clock.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/sha256.h"
#include "base/time.h"
#include "io/posix_descriptor.h"

namespace varve::io {
namespace {

constexpr int64_t kNanosecondsPerSecond = 1'000'000'000;

int64_t nanoseconds(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * kNanosecondsPerSecond + int64_t{time.tv_nsec};
}

// All three fill `bytes` from the front and return how many bytes they filled.
size_t fill_by_getrandom(std::span<uint8_t> bytes) noexcept {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        retry_interrupted([&] { return ::getrandom(bytes.data() + done, bytes.size() - done, 0); });
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

size_t fill_by_device(std::span<uint8_t> bytes) noexcept {
  const Descriptor device(
      retry_interrupted([] { return ::open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOFOLLOW); }));
  size_t done = 0;
  while (device.is_open() && done < bytes.size()) {
    const ssize_t count = retry_interrupted(
        [&] { return ::read(device.get(), bytes.data() + done, bytes.size() - done); });
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

// For a sandbox that denies both: hashes the 16 secret bytes that the kernel gives each program at
// its start with what makes this call unlike any other.
size_t fill_by_program_secret(std::span<uint8_t> bytes) {
  const auto* secret = reinterpret_cast<const char*>(::getauxval(AT_RANDOM));
  const std::string key = secret == nullptr ? std::string() : std::string(secret, 16);
  size_t done = 0;
  while (done < bytes.size()) {
    const int64_t parts[] = {nanoseconds(CLOCK_REALTIME), nanoseconds(CLOCK_MONOTONIC),
                             int64_t{::getpid()}, static_cast<int64_t>(done),
                             static_cast<int64_t>(reinterpret_cast<intptr_t>(&done))};
    std::string call(sizeof(parts), '\0');
    std::memcpy(call.data(), parts, sizeof(parts));
    const Sha256Digest digest = sha256(key, call);
    const size_t count = std::min(digest.size(), bytes.size() - done);
    std::memcpy(bytes.data() + done, digest.data(), count);
    done += count;
  }
  return done;
}

}  // namespace

// Rounds down, also before 1970: tv_nsec counts forward from tv_sec.
int64_t milliseconds(const timespec& time) noexcept {
  const int64_t second = std::clamp<int64_t>(time.tv_sec, kFirstMs / 1000, kLastMs / 1000);
  return second * 1000 + int64_t{time.tv_nsec} / 1'000'000;
}

// In milliseconds at once: of nanoseconds, 64 bits hold no more than those up to the year 2262.
int64_t SystemClock::now_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return milliseconds(time);
}

int64_t SystemClock::monotonic_us() { return nanoseconds(CLOCK_MONOTONIC) / 1'000; }

void SystemClock::sleep_us(int64_t duration_us) {
  if (duration_us <= 0) return;
  timespec left{};
  left.tv_sec = static_cast<time_t>(duration_us / 1'000'000);
  left.tv_nsec = static_cast<long>(duration_us % 1'000'000 * 1'000);
  // clock_nanosleep returns the error itself, not through errno.
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
  }
}

void SystemRandom::fill(std::span<uint8_t> bytes) {
  size_t done = fill_by_getrandom(bytes);
  if (done < bytes.size()) done += fill_by_device(bytes.subspan(done));
  if (done < bytes.size()) fill_by_program_secret(bytes.subspan(done));
}

}  // namespace varve::io
