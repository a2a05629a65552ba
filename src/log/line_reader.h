// LineReader: the lines of a stream, one after the other, in bounded memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/storage.h"

namespace varve::log {

// Longer lines cannot be entries; they are passed over and not kept in memory.
inline constexpr uint64_t kLineBytesMax = uint64_t{256} << 20;

// The bytes [from, to) of one generation of a stream.
struct Stretch {
  uint64_t generation = 0;
  uint64_t from = 0;
  uint64_t to = 0;
};

struct Line {
  std::string_view bytes;   // without '\n'; empty when oversized; valid until the next call
  uint64_t offset = 0;      // of the first byte
  uint64_t length = 0;      // [bytes] including its '\n', if any
  bool terminated = false;  // ends in '\n'
  bool oversized = false;
};

// A line of white space, as people leave behind: it is neither an entry nor damage.
[[nodiscard]] bool is_blank(const Line& line);

class LineReader {
 public:
  LineReader(SessionStorage& storage, Stream stream, const Stretch& stretch)
      : storage_(storage),
        stream_(stream),
        generation_(stretch.generation),
        position_(stretch.from),
        end_(stretch.to) {}

  // False at the end. errors: those of SessionStorage::read.
  Result<bool> next(Line* line);

 private:
  Result<bool> fill();  // buffers more bytes; false at the end
  Result<bool> skip_oversized(Line* line);

  SessionStorage& storage_;
  Stream stream_;
  uint64_t generation_;
  uint64_t position_;  // of the next byte to read from storage
  uint64_t end_;
  std::string buffer_;
  size_t consumed_ = 0;  // bytes of buffer_ already returned as lines
};

}  // namespace varve::log
