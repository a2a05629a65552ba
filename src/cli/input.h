// Reading files and standard input.
#pragma once

#include <cstdint>
#include <string>

#include "cli/failure.h"

namespace varve::cli {

// "-" is standard input.
inline constexpr const char* kStandardInput = "-";

// A file open for reading, closed with the object.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  // Bytes of a regular file; 0 for anything else.
  [[nodiscard]] int64_t size_bytes() const { return size_bytes_; }
  // Appends up to `count` bytes to `out`; false at the end of the file.
  Result<bool> read(std::string& out, size_t count);

 private:
  InputFile(std::string path, int descriptor, int64_t size_bytes);

  std::string path_;
  int descriptor_;
  int64_t size_bytes_;
};

// Whether a file is there and may be read, without opening it: a pipe can be opened only once.
Outcome check_readable(const std::string& path);

// Everything in a file.
Result<std::string> read_file(const std::string& path);

// A file in pieces of whole lines, each of about a megabyte, so that files of any size pass.
class LineChunks {
 public:
  explicit LineChunks(InputFile& file) : file_(file) {}

  // The next piece; empty at the end. A line longer than 64 MiB is a failure.
  Result<std::string> next();

 private:
  InputFile& file_;
  std::string carried_;  // the start of a line
  bool at_end_ = false;
};

}  // namespace varve::cli
