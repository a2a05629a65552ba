// Reading files and standard input.
#pragma once

#include <functional>
#include <string>

#include "cli/failure.h"

namespace varve::cli {

// Stands for standard input.
inline constexpr const char* kStandardInput = "-";

// A failure of reading, as system_failure() tells it: without permission to read, an error of the
// system, and not of a place where nothing may be written.
[[nodiscard]] Failure reading_failure(const std::string& what, int error_number);

// Whether a file exists and may be read. Does not open it: a pipe can be opened only once.
Outcome check_readable(const std::string& path);

// The whole content of a file.
Result<std::string> read_file(const std::string& path);

// What a file of a store says, of which the library tells what is wrong with it: empty where it is
// no regular file, cannot be read, or is larger than any that the library reads.
std::string read_store_file(const std::string& path);

// A path by which the library can read what is at another: that path itself for a regular file; for
// standard input, pipes and devices, that of a nameless copy that lasts as long as this object.
class ReadablePath {
 public:
  // `copied` is called with the number of bytes of each piece copied.
  static Result<ReadablePath> of(const std::string& path,
                                 const std::function<void(size_t)>& copied);
  ReadablePath(ReadablePath&& other) noexcept;
  ReadablePath& operator=(ReadablePath&&) = delete;
  ~ReadablePath();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_copy() const { return descriptor_ >= 0; }

 private:
  ReadablePath(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;  // of the copy; -1 when there is none
};

}  // namespace varve::cli
