#include "log/line_reader.h"

#include <algorithm>
#include <cstring>

namespace varve::log {

namespace {
constexpr size_t kChunkBytes = size_t{256} << 10;
}

bool is_blank(const Line& line) {
  return !line.oversized && line.bytes.find_first_not_of(" \t\r") == std::string_view::npos;
}

Result<bool> LineReader::fill() {
  if (position_ >= end_) return false;
  buffer_.erase(0, consumed_);
  consumed_ = 0;
  const size_t have = buffer_.size();
  // Doubling keeps the cost of a long line linear. Bytes beyond the longest line are not kept.
  const uint64_t room = kLineBytesMax + kChunkBytes - std::min<uint64_t>(have, kLineBytesMax);
  const uint64_t want = std::min({std::max<uint64_t>(kChunkBytes, have), end_ - position_, room});
  buffer_.resize(have + static_cast<size_t>(want));
  auto got = storage_.read(stream_, generation_, position_,
                           std::span<char>(buffer_.data() + have, static_cast<size_t>(want)));
  if (!got.ok()) {
    buffer_.resize(have);
    return std::move(got).status();
  }
  buffer_.resize(have + *got);
  position_ += *got;
  if (*got < want) end_ = position_;  // shorter than before: a torn tail was cut off
  return *got > 0;
}

Result<bool> LineReader::skip_oversized(Line* line) {
  line->offset = position_ - (buffer_.size() - consumed_);
  line->oversized = true;
  line->bytes = {};
  uint64_t length = 0;
  for (;;) {
    const char* begin = buffer_.data() + consumed_;
    const size_t available = buffer_.size() - consumed_;
    if (const void* newline = std::memchr(begin, '\n', available)) {
      const size_t part = static_cast<size_t>(static_cast<const char*>(newline) - begin) + 1;
      consumed_ += part;
      line->length = length + part;
      line->terminated = true;
      return true;
    }
    length += available;
    consumed_ = buffer_.size();
    VARVE_TRY_ASSIGN(const bool more, fill());
    if (!more) break;
  }
  line->length = length;
  line->terminated = false;
  return true;
}

Result<bool> LineReader::next(Line* line) {
  *line = Line();
  size_t searched = 0;
  for (;;) {
    const char* begin = buffer_.data() + consumed_;
    const size_t available = buffer_.size() - consumed_;
    const void* newline =
        available > searched ? std::memchr(begin + searched, '\n', available - searched) : nullptr;
    if (newline != nullptr) {
      const size_t length = static_cast<size_t>(static_cast<const char*>(newline) - begin);
      line->oversized = length > kLineBytesMax;
      if (!line->oversized) line->bytes = std::string_view(begin, length);
      line->offset = position_ - available;
      line->length = length + 1;
      line->terminated = true;
      consumed_ += length + 1;
      return true;
    }
    if (available > kLineBytesMax) return skip_oversized(line);
    searched = available;
    VARVE_TRY_ASSIGN(const bool more, fill());
    if (!more) break;
  }
  const size_t rest = buffer_.size() - consumed_;
  if (rest == 0) return false;
  line->bytes = std::string_view(buffer_.data() + consumed_, rest);
  line->offset = position_ - rest;
  line->length = rest;
  consumed_ = buffer_.size();
  return true;
}

}  // namespace varve::log
