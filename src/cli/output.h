// A buffered file descriptor that remembers why writing stopped.
#pragma once

#include <string>
#include <string_view>

namespace varve::cli {

// Needs SIGPIPE to be ignored: a reader that went away is error EPIPE here. After an error
// everything written is dropped.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { flush(); }

  void write(std::string_view text);
  void flush();

  // errno of the first failed write; 0 when there was none.
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  void write_through(std::string_view text);

  int descriptor_;
  int error_ = 0;
  std::string buffer_;
};

}  // namespace varve::cli
