// File descriptors: owned, never below 3, opened without leaving their directory.
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/file_system.h"

namespace varve::io {

// Owns one descriptor. Not synchronised: the owner decides which thread closes it.
class Descriptor {
 public:
  Descriptor() noexcept = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] bool is_open() const noexcept { return value_ >= 0; }
  [[nodiscard]] int release() noexcept;
  void close() noexcept;  // safe in a forked child; errno is kept

 private:
  int value_ = -1;
};

// Repeats a call while signals interrupt it. Not for close(): Linux has released the descriptor
// even when close() answers EINTR.
template <typename Call>
auto retry_interrupted(Call call) {
  decltype(call()) answer;
  do {
    answer = call();
  } while (answer < 0 && errno == EINTR);
  return answer;
}

// How long a file is tried to be opened that somebody has a lease on, as a file server whose client
// keeps it in its memory. O_NONBLOCK makes the system answer EAGAIN then, after it has called the
// lease in; the holder gives it back in milliseconds.
class LeasePatience {
 public:
  LeasePatience() noexcept;
  // After `number`, what opening `name` answered: waits a little and says true, if it was kept from
  // a regular file by a lease, and not for too long already. Keeps errno.
  bool goes_on(int number, int directory, const char* name, int at_flags) noexcept;

 private:
  static constexpr int64_t kLeaseWaitMaxUs = 5'000'000;

  int64_t pause_us_;
  int64_t waited_us_ = 0;
};

// The same open file with a number of 3 or above, so that the host's stray writes to stdin, stdout
// or stderr can never reach it. Empty on failure (errno says why).
Descriptor raise_above_standard(Descriptor descriptor) noexcept;

// Opens a directory once more, for reading and with a position of its own. `directory` may be open
// only as a place (O_PATH). Empty on failure (errno says why).
Descriptor open_again(int directory) noexcept;

// Opens the single component `name` of `directory`, following no symbolic link. Adds O_CLOEXEC,
// O_NOFOLLOW and O_NONBLOCK (a FIFO cannot block us) to `flags`; the number is 3 or above. Empty on
// failure (errno says why).
Descriptor open_component(int directory, const std::string& name, int flags,
                          uint32_t permissions = 0) noexcept;

FileKind kind_of_mode(mode_t mode) noexcept;
const char* describe_mode(mode_t mode) noexcept;  // "a regular file", "a FIFO"
FileInfo info_of(const struct stat& status) noexcept;

// fstat.
Result<struct stat> stat_of(int descriptor, std::string_view path);
// fstatat without following a link. Returns 0 or errno: a missing name is no failure to describe.
int stat_of_name(int directory, const char* name, struct stat* status) noexcept;

}  // namespace varve::io
