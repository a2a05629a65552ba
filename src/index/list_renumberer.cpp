#include "index/list_renumberer.h"

#include <algorithm>
#include <span>

#include "index/varint.h"

namespace varve::index {

void ListRenumberer::start() {
  count_ = 0;
  body_.clear();
  blocks_.clear();
  open_count_ = 0;
  frequency_max_ = 0;
  length_min_ = UINT32_MAX;
  row_before_ = kNoRow;
}

bool ListRenumberer::add(const PostingRun& list) {
  const std::span<const uint32_t> new_rows = rows_.new_rows();
  DecodedBlock decoded;
  for (uint32_t block = 0; block < list.block_count(); ++block) {
    const uint32_t count = list.decode(block, &decoded);
    for (uint32_t i = 0; i < count; ++i) {
      if (decoded.rows[i] >= new_rows.size()) return false;
      const uint32_t new_row = new_rows[decoded.rows[i]];
      if (new_row == kNoRow) continue;
      open_.rows[open_count_] = new_row;
      open_.frequencies[open_count_] = decoded.frequencies[i];
      frequency_max_ = std::max(frequency_max_, decoded.frequencies[i]);
      length_min_ = std::min(length_min_, new_length_of_(new_row));
      count_ += 1;
      if (++open_count_ == kBlockRows) close_block();
    }
    if (count < list.rows_in(block)) return false;
  }
  return !list.is_damaged();
}

void ListRenumberer::close_block() {
  append_block(row_before_, std::span(open_.rows).first(open_count_),
               std::span(open_.frequencies).first(open_count_), &body_);
  row_before_ = open_.rows[open_count_ - 1];
  blocks_.push_back(BlockSummary::of(row_before_, body_.size(), frequency_max_, length_min_));
  open_count_ = 0;
  frequency_max_ = 0;
  length_min_ = UINT32_MAX;
}

std::string_view ListRenumberer::encoded() {
  if (open_count_ > 0) close_block();
  encoded_.clear();
  append_varint(&encoded_, count_);
  if (count_ > kBlockRows) {
    encoded_.append(reinterpret_cast<const char*>(blocks_.data()),
                    blocks_.size() * sizeof(BlockSummary));
  }
  return encoded_.append(body_);
}

}  // namespace varve::index
