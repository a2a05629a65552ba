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

// What changes with each posting is in variables of its own: for all a compiler knows the bytes
// that are written may be those of any member, which it would read again each time.
void ListRenumberer::add_postings(Source source) {
  std::array<char, size_t{kBlockRows} * 2 * kVarintBytesMax> written;  // of the open block
  char* end = written.data();
  const std::span<const uint32_t> new_rows = rows_.new_rows();
  const RowLengths new_length_of = new_length_of_;
  BlockSummary open = open_;
  uint32_t open_count = count_ % kBlockRows;
  const auto flush = [&] {
    body_.append(written.data(), end);
    end = written.data();
    count_ += open_count - count_ % kBlockRows;
    open_ = open;
  };
  uint64_t row = UINT64_MAX;  // -1: what the first distance counts from
  for (; source.count > 0; --source.count) {
    uint64_t value = 0;
    uint64_t more = 0;  // frequency beyond 2
    if (!source.take(&value)) break;
    const bool is_frequent = (value & 1) != 0;
    if (is_frequent && (!source.take(&more) || more > UINT32_MAX - 2)) break;
    row += value >> 1;
    if (value <= 1 || row >= new_rows.size()) break;
    const uint32_t new_row = new_rows[row];
    if (new_row == kNoRow) continue;
    // From kNoRow, that is -1, to the first.
    end = write_varint(end, uint64_t{new_row - open.last_row} << 1 | (is_frequent ? 1 : 0));
    if (is_frequent) end = write_varint(end, more);
    open.last_row = new_row;
    const uint32_t frequency = is_frequent ? static_cast<uint32_t>(more) + 2 : 1;
    open.frequency_max = std::max(open.frequency_max, frequency);
    open.length_min = std::min(open.length_min, new_length_of(new_row));
    if (++open_count < kBlockRows) continue;
    flush();
    close_block();
    open = open_;
    open_count = 0;
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
