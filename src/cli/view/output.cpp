#include "cli/view/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kBufferBytes = 64 * 1024;

}  // namespace

bool is_worth_another_try(int error, int descriptor, short event) {
  if (error != EAGAIN) return error == EINTR;
  pollfd awaited{descriptor, event, 0};
  return ::poll(&awaited, 1, -1) >= 0 || errno == EINTR;
}

Output::Output(int descriptor) : descriptor_(descriptor), is_terminal_(::isatty(descriptor) == 1) {}

void Output::write(std::string_view text) {
  if (error_ != 0) return;
  // What is for people is printable already: here it is JSON, which escapes no others itself.
  is_terminal_ ? append(escaped_beyond_ascii(text)) : append(text);
}

void Output::append(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  if (text.size() > kBufferBytes) {
    write_through(text);
  } else {
    buffer_.append(text);
  }
}

void Output::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void Output::write_through(std::string_view text) {
  while (!text.empty() && error_ == 0) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (const int error = errno; !is_worth_another_try(error, descriptor_, POLLOUT)) {
      error_ = error;
    }
  }
}

}  // namespace varve::cli
