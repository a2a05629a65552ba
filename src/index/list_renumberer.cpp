#include "index/list_renumberer.h"

#include <algorithm>
#include <array>

#include "index/varint.h"

namespace varve::index {

struct ListRenumberer::Source {
  const char* at;
  const char* end;
  uint64_t count;

  // Most are bytes of their own.
  bool take(uint64_t* value) {
    if (at != end && static_cast<uint8_t>(*at) < 0x80) {
      *value = static_cast<uint8_t>(*at++);
      return true;
    }
    std::string_view rest(at, static_cast<size_t>(end - at));
    if (!take_varint(&rest, value)) return false;
    at = rest.data();
    return true;
  }
};

void ListRenumberer::start() {
  body_.clear();
  blocks_.clear();
  open_ = {kNoRow, 0, 0, UINT32_MAX};
  count_ = 0;
}

void ListRenumberer::add(std::string_view encoded) {
  uint64_t count = 0;
  if (!take_varint(&encoded, &count) || count >= kNoRow) return;
  if (count > kBlockRows) {  // the summaries are made anew
    const uint64_t bytes = (count + kBlockRows - 1) / kBlockRows * sizeof(BlockSummary);
    if (bytes > encoded.size()) return;
    encoded.remove_prefix(bytes);
  }
  add_postings({encoded.data(), encoded.data() + encoded.size(), count});
}

void ListRenumberer::add_postings(Source source) {
  std::array<char, size_t{kBlockRows} * 2 * kVarintBytesMax> written;  // of the open block
  char* end = written.data();
  const auto flush = [&] {
    body_.append(written.data(), end);
    end = written.data();
  };
  uint64_t row = UINT64_MAX;  // -1: what the first distance counts from
  for (; source.count > 0; --source.count) {
    uint64_t value = 0;
    uint64_t more = 0;  // frequency beyond 2
    if (!source.take(&value)) break;
    const bool is_frequent = (value & 1) != 0;
    if (is_frequent && (!source.take(&more) || more > UINT32_MAX - 2)) break;
    row += value >> 1;
    if (value <= 1 || row >= kNoRow) break;
    const uint32_t new_row = rows_.new_row(static_cast<uint32_t>(row));
    if (new_row == kNoRow) continue;
    const uint64_t distance = new_row - open_.last_row;  // from kNoRow, that is -1, to the first
    end = write_varint(end, distance << 1 | (is_frequent ? 1 : 0));
    if (is_frequent) end = write_varint(end, more);
    open_.last_row = new_row;
    open_.frequency_max =
        std::max(open_.frequency_max, is_frequent ? static_cast<uint32_t>(more) + 2 : 1);
    open_.length_min = std::min(open_.length_min, new_length_of_(new_row));
    if (++count_ % kBlockRows != 0) continue;
    flush();
    close_block();
  }
  flush();
}

void ListRenumberer::close_block() {
  open_.end_bytes = static_cast<uint32_t>(body_.size());
  blocks_.push_back(open_);
  open_.frequency_max = 0;
  open_.length_min = UINT32_MAX;
}

std::string_view ListRenumberer::encoded() {
  encoded_.clear();
  append_varint(&encoded_, count_);
  if (count_ > kBlockRows) {
    if (count_ % kBlockRows != 0) close_block();
    encoded_.append(reinterpret_cast<const char*>(blocks_.data()),
                    blocks_.size() * sizeof(BlockSummary));
  }
  encoded_.append(body_);
  return encoded_;
}

}  // namespace varve::index
