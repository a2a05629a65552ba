// A log with a line longer than any entry, made as it is read.
#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "log/memory_storage.h"
#include "support/environment.h"

namespace varve::log {

// "before\n", then 'x' up to a line end at `end`, then "after\n".
class LongLine final : public MemoryStorage {
 public:
  LongLine(uint64_t end, test::ManualClock& clock)
      : MemoryStorage(std::make_shared<MemorySession>(), clock), end_(end) {}

  Result<size_t> read(Stream, uint64_t, uint64_t offset, std::span<char> out) override {
    largest_read = std::max(largest_read, out.size());
    if (offset >= fails_from) return Status(Code::kIo, "on purpose");
    std::fill(out.begin(), out.end(), 'x');
    for (uint64_t i = 0; i < 7; ++i) {
      put(out, offset, i, "before\n"[i]);
      put(out, offset, end_ + i, "\nafter\n"[i]);
    }
    return out.size();
  }
  [[nodiscard]] uint64_t size() const { return end_ + 7; }

  size_t largest_read = 0;
  uint64_t fails_from = ~uint64_t{0};  // offset of the first read that fails

 private:
  static void put(std::span<char> out, uint64_t offset, uint64_t at, char byte) {
    if (at >= offset && at - offset < out.size()) out[at - offset] = byte;
  }

  uint64_t end_;
};

}  // namespace varve::log
