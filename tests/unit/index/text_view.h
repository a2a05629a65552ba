// Bytes as an open document, which counts what is read of it and may become shorter.
#pragma once

#include <algorithm>
#include <string_view>

#include "log/storage.h"

namespace varve::index {

class TextView final : public log::DocumentView {
 public:
  // `read_bytes` counts, when given.
  explicit TextView(std::string_view text, uint64_t* read_bytes = nullptr)
      : text_(text), size_bytes_(text.size()), read_bytes_(read_bytes) {}
  // A document that says it is longer than what can be read.
  TextView(std::string_view text, uint64_t size_bytes, uint64_t* read_bytes)
      : text_(text), size_bytes_(size_bytes), read_bytes_(read_bytes) {}

  [[nodiscard]] uint64_t size_bytes() const override { return size_bytes_; }
  Result<size_t> read(uint64_t offset, std::span<char> out) override {
    if (offset >= text_.size()) return size_t{0};
    const size_t got = text_.copy(out.data(), out.size(), offset);
    if (read_bytes_ != nullptr) *read_bytes_ += got;
    return got;
  }
  [[nodiscard]] uint64_t identity() const override { return 0; }

 private:
  std::string_view text_;
  uint64_t size_bytes_;
  uint64_t* read_bytes_;
};

}  // namespace varve::index
