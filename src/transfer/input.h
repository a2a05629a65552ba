// The bytes to import, in order, from a text in memory or from a file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "io/file_system.h"

namespace varve::transfer {

class Input {
 public:
  virtual ~Input() = default;
  // Fills some or all of `out`; 0 only at the end.
  virtual Result<size_t> read(std::span<char> out) = 0;
  [[nodiscard]] virtual uint64_t size_bytes() const = 0;
};

// `text` must outlive it.
class TextInput final : public Input {
 public:
  explicit TextInput(std::string_view text) : rest_(text), size_bytes_(text.size()) {}
  Result<size_t> read(std::span<char> out) override;
  [[nodiscard]] uint64_t size_bytes() const override { return size_bytes_; }

 private:
  std::string_view rest_;
  uint64_t size_bytes_;
};

class FileInput final : public Input {
 public:
  // `path` is the user's; see FileSystem::open_file.
  static Result<std::unique_ptr<FileInput>> open(io::FileSystem& files, std::string_view path);
  Result<size_t> read(std::span<char> out) override;
  [[nodiscard]] uint64_t size_bytes() const override { return size_bytes_; }

 private:
  FileInput(std::unique_ptr<io::File> file, uint64_t size_bytes)
      : file_(std::move(file)), size_bytes_(size_bytes) {}

  std::unique_ptr<io::File> file_;
  uint64_t offset_ = 0;
  uint64_t size_bytes_;  // when the file was opened
};

}  // namespace varve::transfer
