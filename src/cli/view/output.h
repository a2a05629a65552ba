// A buffered file descriptor that remembers why writing stopped.
#pragma once

#include <string>
#include <string_view>

namespace varve::cli {

// After a read() or write() that failed with this error: whether it may be tried again. A pipe or
// terminal that we share with a program that made it not block is waited for first.
// `event`: POLLIN or POLLOUT.
bool is_worth_another_try(int error, int descriptor, short event);

// SIGPIPE must be ignored: a reader that is gone is then the error EPIPE. After an error everything
// that is written is dropped. On a terminal, what it would act upon is written as JSON escapes it.
class Output {
 public:
  explicit Output(int descriptor);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { flush(); }

  void write(std::string_view text);
  void flush();

  // errno of the first failed write; 0 if none failed.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  void append(std::string_view text);
  void write_through(std::string_view text);

  int descriptor_;
  bool is_terminal_;
  int error_ = 0;
  std::string buffer_;
};

}  // namespace varve::cli
