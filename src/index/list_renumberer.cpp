#include "index/list_renumberer.h"

#include <span>

namespace varve::index {

void ListRenumberer::start() {
  list_.clear();
  waiting_count_ = 0;
}

void ListRenumberer::add(const PostingRun& list) {
  const std::span<const uint32_t> new_rows = rows_.new_rows();
  DecodedBlock decoded;
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    const uint32_t count = list.decode(block, &decoded);
    for (uint32_t i = 0; i < count; ++i) {
      if (decoded.rows[i] >= new_rows.size()) return;
      const uint32_t new_row = new_rows[decoded.rows[i]];
      if (new_row == kNoRow) continue;
      waiting_[waiting_count_++] = {new_row, decoded.frequencies[i], new_length_of_(new_row)};
      if (waiting_count_ == kBlockRows) flush();
    }
    if (count < list.rows_in(block)) return;
  }
}

void ListRenumberer::flush() {
  list_.add(std::span(waiting_).first(waiting_count_));
  waiting_count_ = 0;
}

std::string_view ListRenumberer::encoded() {
  flush();
  encoded_.clear();
  list_.append_encoded_to(&encoded_);
  return encoded_;
}

}  // namespace varve::index
