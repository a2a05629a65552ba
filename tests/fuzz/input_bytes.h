// Takes an input apart into numbers and texts. Behind its end there are zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace varve::fuzz {

class InputBytes {
 public:
  InputBytes(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  uint8_t below(size_t limit) { return static_cast<uint8_t>(byte() % limit); }
  uint64_t number() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  // As many bytes as the next byte says.
  std::string_view text() {
    const size_t wanted = byte();
    const std::string_view text = rest_.substr(0, wanted);
    rest_.remove_prefix(text.size());
    return text;
  }

 private:
  std::string_view rest_;
};

}  // namespace varve::fuzz
