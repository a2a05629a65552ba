#include "index/posting_list.h"

#include <algorithm>
#include <cstring>

#include "index/partition_point.h"
#include "index/varint.h"

namespace varve::index {

namespace {

constexpr uint32_t kStepsMax = 8;  // rows looked at one by one before a binary search

}  // namespace

static_assert(sizeof(BlockSummary) == 12, "written as it lies in memory");

BlockSummary BlockSummary::of(uint32_t last_row, size_t end_bytes, uint32_t frequency_max,
                              uint32_t length_min) {
  constexpr uint32_t kMost = UINT16_MAX;
  return {last_row, static_cast<uint32_t>(end_bytes),
          static_cast<uint16_t>(std::min(frequency_max, kMost)),
          static_cast<uint16_t>(std::min(length_min, kMost))};
}

// --- making --------------------------------------------------------------------------------------

void PostingBuffer::add(uint32_t row, uint32_t frequency, uint32_t length) {
  const Posting posting{row, frequency, length};
  add(std::span(&posting, 1));
}

void PostingBuffer::add(std::span<const Posting> postings, uint32_t first_row) {
  std::array<char, kBlockRows * kPlainPostingBytesMax> written;
  while (!postings.empty()) {
    const size_t room = kBlockRows - count_ % kBlockRows;
    const auto block = postings.first(std::min(postings.size(), room));
    postings = postings.subspan(block.size());
    if (block.size() == kBlockRows) {
      add_full_block(block, first_row);
      continue;
    }
    char* at = written.data();
    for (const Posting& posting : block) {
      const uint32_t row = first_row + posting.row;
      at = write_plain(at, row - last_row_, posting.frequency);  // from kNoRow, that is -1
      last_row_ = row;
      open_frequency_max_ = std::max(open_frequency_max_, posting.frequency);
      open_length_min_ = std::min(open_length_min_, posting.length);
    }
    body_.append(written.data(), at);
    count_ += static_cast<uint32_t>(block.size());
    close_block_when_full();
  }
}

// The same where all of a block comes at once.
void PostingBuffer::add_full_block(std::span<const Posting> postings, uint32_t first_row) {
  DecodedBlock block;
  for (uint32_t i = 0; i < kBlockRows; ++i) {
    block.rows[i] = first_row + postings[i].row;
    block.frequencies[i] = postings[i].frequency;
    open_frequency_max_ = std::max(open_frequency_max_, postings[i].frequency);
    open_length_min_ = std::min(open_length_min_, postings[i].length);
  }
  append_packed(last_row_, block.rows, block.frequencies, &body_);
  last_row_ = block.rows.back();
  count_ += kBlockRows;
  note_full_block();
}

void PostingBuffer::close_block_when_full() {
  if (count_ % kBlockRows != 0) return;
  DecodedBlock block;
  const size_t start_bytes = open_start_bytes();
  decode_plain(std::string_view(body_).substr(start_bytes), row_before_open(), kBlockRows, &block);
  body_.resize(start_bytes);
  append_packed(row_before_open(), block.rows, block.frequencies, &body_);
  note_full_block();
}

void PostingBuffer::note_full_block() {
  if (blocks_ == nullptr) blocks_ = std::make_unique<std::vector<BlockSummary>>();
  blocks_->push_back(
      BlockSummary::of(last_row_, body_.size(), open_frequency_max_, open_length_min_));
  open_frequency_max_ = 0;
  open_length_min_ = UINT32_MAX;
}

size_t PostingBuffer::open_start_bytes() const {
  return blocks_ == nullptr || blocks_->empty() ? 0 : blocks_->back().end_bytes;
}

uint32_t PostingBuffer::row_before_open() const {
  return blocks_ == nullptr || blocks_->empty() ? kNoRow : blocks_->back().last_row;
}

uint32_t PostingBuffer::decode_open(DecodedBlock* out) const {
  return decode_plain(std::string_view(body_).substr(open_start_bytes()), row_before_open(),
                      count_ % kBlockRows, out);
}

void PostingBuffer::clear() {
  body_.clear();
  if (blocks_ != nullptr) blocks_->clear();
  count_ = 0;
  last_row_ = kNoRow;
  open_frequency_max_ = 0;
  open_length_min_ = UINT32_MAX;
}

uint64_t PostingBuffer::memory_bytes() const {
  const uint64_t inside = sizeof(std::string) / 2;  // short bodies lie in the object
  uint64_t bytes = body_.capacity() >= inside ? body_.capacity() + 1 : 0;
  if (blocks_ != nullptr) {
    bytes += sizeof(std::vector<BlockSummary>) + blocks_->capacity() * sizeof(BlockSummary);
  }
  return bytes;
}

void PostingBuffer::append_encoded_to(std::string* out) const {
  append_varint(out, count_);
  std::string_view bytes = body_;
  std::string packed;  // the open block
  const uint32_t open_count = count_ % kBlockRows;
  if (open_count >= kPackedRowsMin) {
    DecodedBlock block;
    decode_open(&block);
    append_packed(row_before_open(), std::span(block.rows).first(open_count),
                  std::span(block.frequencies).first(open_count), &packed);
    bytes = bytes.substr(0, open_start_bytes());
  }
  if (count_ > kBlockRows) {
    out->append(reinterpret_cast<const char*>(blocks_->data()),
                blocks_->size() * sizeof(BlockSummary));
    if (open_count != 0) {
      const auto open = BlockSummary::of(last_row_, bytes.size() + packed.size(),
                                         open_frequency_max_, open_length_min_);
      out->append(reinterpret_cast<const char*>(&open), sizeof(open));
    }
  }
  out->append(bytes).append(packed);
}

bool PostingBuffer::continue_from(std::string_view encoded) {
  clear();
  const PostingRun run = PostingRun::of_rows(encoded);
  const uint32_t block_count = run.block_count();
  if (block_count < 2) return false;
  const BlockSummary last = run.summary(block_count - 1);
  const uint32_t open_count = run.count() % kBlockRows;
  const uint32_t full_count = open_count == 0 ? block_count : block_count - 1;
  DecodedBlock open;
  if (last.end_bytes != run.body_.size()) return false;
  if (open_count > 0 && run.decode(full_count, &open) != open_count) return false;
  blocks_ = std::make_unique<std::vector<BlockSummary>>();
  for (uint32_t i = 0; i < full_count; ++i) blocks_->push_back(run.summary(i));
  body_ = run.body_.substr(0, blocks_->back().end_bytes);
  last_row_ = blocks_->back().last_row;
  count_ = run.count();
  std::array<char, kBlockRows * kPlainPostingBytesMax> written;
  char* at = written.data();
  for (uint32_t i = 0; i < open_count; ++i) {
    at = write_plain(at, open.rows[i] - last_row_, open.frequencies[i]);
    last_row_ = open.rows[i];
  }
  body_.append(written.data(), at);
  if (open_count > 0) {
    open_frequency_max_ = last.frequency_max();
    open_length_min_ = last.length_min();
  }
  return true;
}

// --- a run ---------------------------------------------------------------------------------------

PostingRun::PostingRun(std::string_view encoded) {
  if (read_header(encoded) && summary_count_ == 0) summarize_short();
}

PostingRun PostingRun::of_rows(std::string_view encoded) {
  PostingRun run;
  if (run.read_header(encoded) && run.summary_count_ == 0) {
    run.open_ = BlockSummary::of(kNoRow, run.body_.size(), UINT32_MAX, 0);
  }
  return run;
}

// Whether there are postings to be read.
bool PostingRun::read_header(std::string_view encoded) {
  uint64_t count = 0;
  damaged_ = !take_varint(&encoded, &count) || count >= kNoRow;
  if (damaged_ || count == 0) return false;
  block_count_ = static_cast<uint32_t>((count + kBlockRows - 1) / kBlockRows);
  if (block_count_ > 1) {
    const uint64_t bytes = uint64_t{block_count_} * sizeof(BlockSummary);
    damaged_ = encoded.size() < bytes;
    if (damaged_) {
      block_count_ = 0;
      return false;
    }
    summaries_ = encoded.data();
    summary_count_ = block_count_;
    encoded.remove_prefix(bytes);
  }
  count_ = static_cast<uint32_t>(count);
  body_ = encoded;
  return true;
}

// A short list has no summary: what is in it is known once it is decoded.
void PostingRun::summarize_short() {
  open_ = BlockSummary::of(kNoRow, body_.size(), 0, 0);
  DecodedBlock decoded;
  damaged_ = decode(0, &decoded) != count_;
  if (damaged_) {
    count_ = 0;
    block_count_ = 0;
    return;
  }
  const auto* begin = decoded.frequencies.data();
  open_ = BlockSummary::of(decoded.rows[count_ - 1], body_.size(),
                           *std::max_element(begin, begin + count_), 0);
}

PostingRun::PostingRun(const PostingBuffer& buffer)
    : block_count_((buffer.count_ + kBlockRows - 1) / kBlockRows),
      count_(buffer.count_),
      body_(buffer.body_),
      open_(BlockSummary::of(buffer.last_row_, buffer.body_.size(), buffer.open_frequency_max_,
                             buffer.open_length_min_)),
      is_of_buffer_(true) {
  if (buffer.blocks_ == nullptr) return;
  summaries_ = reinterpret_cast<const char*>(buffer.blocks_->data());
  summary_count_ = static_cast<uint32_t>(buffer.blocks_->size());
}

BlockSummary PostingRun::summary(uint32_t block) const {
  if (block >= summary_count_) return open_;
  BlockSummary summary;
  std::memcpy(&summary, summaries_ + size_t{block} * sizeof(BlockSummary), sizeof(summary));
  return summary;
}

uint32_t PostingRun::rows_in(uint32_t block) const {
  return std::min(kBlockRows, count_ - block * kBlockRows);
}

bool PostingRun::is_plain(uint32_t block) const {
  const uint32_t rows = rows_in(block);
  return rows < (is_of_buffer_ ? kBlockRows : kPackedRowsMin);
}

uint32_t PostingRun::decode(uint32_t block, DecodedBlock* out) const {
  uint32_t row_before = kNoRow;
  size_t begin = 0;
  if (block > 0) {
    const BlockSummary before = summary(block - 1);
    row_before = before.last_row;
    begin = before.end_bytes;
    if (row_before == kNoRow) return 0;
  }
  const size_t end = summary(block).end_bytes;
  if (begin > end || end > body_.size()) return 0;
  const std::string_view bytes = body_.substr(begin, end - begin);
  const uint32_t wanted = rows_in(block);
  const uint32_t got = is_plain(block) ? decode_plain(bytes, row_before, wanted, out)
                                       : decode_packed(bytes, row_before, wanted, out);
  if (got < wanted) return got;
  // The next block counts on from what the summary says: rows would not rise.
  if (block < summary_count_ && out->rows[wanted - 1] != summary(block).last_row) return 0;
  return wanted;
}

// --- a cursor ------------------------------------------------------------------------------------

PostingCursor::PostingCursor(const PostingList& list)
    : list_(list), damaged_(list.runs[0].is_damaged() || list.runs[1].is_damaged()) {}

BlockSummary PostingCursor::summary_of(uint32_t block) const {
  const uint32_t first_run = list_.runs[0].block_count();
  return block < first_run ? list_.runs[0].summary(block)
                           : list_.runs[1].summary(block - first_run);
}

bool PostingCursor::load(uint32_t block) {
  if (loaded_ == block) return true;
  const uint32_t first_run = list_.runs[0].block_count();
  const PostingRun& run = list_.runs[block < first_run ? 0 : 1];
  const uint32_t own = block < first_run ? block : block - first_run;
  loaded_count_ = run.decode(own, &decoded_);
  loaded_ = block;
  if (loaded_count_ == run.rows_in(own)) return true;
  fail();
  return false;
}

uint32_t PostingCursor::fail() {
  damaged_ = true;
  loaded_ = kNoRow;
  loaded_count_ = 0;
  row_ = kNoRow;
  return kNoRow;
}

uint32_t PostingCursor::find_block(uint32_t row) const {
  uint32_t low = 0;
  uint32_t high = blocks();
  // Near the last one most of the time.
  if (loaded_ != kNoRow && loaded_ < high) {
    if (summary_of(loaded_).last_row < row) {
      low = loaded_ + 1;
      uint32_t step = 1;
      while (low < high && low + step < high && summary_of(low + step).last_row < row) {
        low += step + 1;
        step *= 2;
      }
      high = std::min(high, low + step + 1);
    } else {
      high = loaded_ + 1;
      if (loaded_ == 0 || summary_of(loaded_ - 1).last_row < row) return loaded_;
    }
  }
  return partition_point(low, high,
                         [&](uint32_t block) { return summary_of(block).last_row < row; });
}

uint32_t PostingCursor::seek(uint32_t row) {
  if (damaged_ || row == kNoRow) return row_ = kNoRow;
  // Often one of the next few.
  if (row_ != kNoRow && row >= row_ && row <= decoded_.rows[loaded_count_ - 1]) {
    for (uint32_t step = 0; step < kStepsMax; ++step) {
      if (decoded_.rows[at_] >= row) return row_ = decoded_.rows[at_];
      ++at_;
    }
  } else {
    const uint32_t block = find_block(row);
    if (block >= blocks() || !load(block)) return row_ = kNoRow;
    at_ = 0;
  }
  const auto* begin = decoded_.rows.data();
  const auto* end = begin + loaded_count_;
  const auto* found = std::lower_bound(begin + at_, end, row);
  if (found == end) {
    // Behind the last of a list without a summary; else its summary says otherwise.
    return summary_of(loaded_).last_row == kNoRow ? row_ = kNoRow : fail();
  }
  at_ = static_cast<uint32_t>(found - begin);
  return row_ = *found;
}

uint32_t PostingCursor::seek_far_back(uint32_t row) {
  if (damaged_ || blocks() == 0) return row_ = kNoRow;
  // Often one of the few before.
  if (row_ != kNoRow && row <= row_) {
    for (uint32_t step = 0; step < kStepsMax; ++step) {
      if (decoded_.rows[at_] <= row) return row_ = decoded_.rows[at_];
      if (at_ == 0) break;
      --at_;
    }
  }
  const uint32_t block = find_block(row);
  if (block < blocks()) {
    if (!load(block)) return kNoRow;
    const auto* begin = decoded_.rows.data();
    const auto* after = std::upper_bound(begin, begin + loaded_count_, row);
    if (after != begin) {
      at_ = static_cast<uint32_t>(after - begin) - 1;
      return row_ = decoded_.rows[at_];
    }
  }
  if (block == 0) return row_ = kNoRow;
  if (!load(block - 1)) return kNoRow;
  at_ = loaded_count_ - 1;
  return row_ = decoded_.rows[at_];
}

uint32_t PostingCursor::next_block() {
  if (row_ == kNoRow || damaged_) return kNoRow;
  if (loaded_ + 1 >= blocks() || !load(loaded_ + 1)) return row_ = kNoRow;
  at_ = 0;
  return row_ = decoded_.rows[0];
}

uint32_t PostingCursor::count_from(uint32_t row) {
  if (seek(row) == kNoRow) return 0;
  const uint32_t first_run = list_.runs[0].block_count();
  const bool in_first = loaded_ < first_run;
  const uint32_t before =
      in_first ? loaded_ * kBlockRows : list_.runs[0].count() + (loaded_ - first_run) * kBlockRows;
  return count() - before - at_;
}

const BlockSummary* PostingCursor::block_for(uint32_t row) {
  if (damaged_ || row == kNoRow) return nullptr;
  if (summary_block_ != kNoRow && row >= summary_first_ && row <= summary_.last_row) {
    return &summary_;
  }
  // Mostly the next one.
  uint32_t block = summary_block_ + 1;
  const bool is_next = summary_block_ != kNoRow && row == summary_.last_row + 1 &&
                       block < blocks() && summary_of(block).last_row >= row;
  if (!is_next) block = find_block(row);
  if (block >= blocks()) return nullptr;
  summary_first_ = block == 0 ? 0 : summary_of(block - 1).last_row + 1;
  summary_ = summary_of(block);
  summary_block_ = block;
  return damaged_ ? nullptr : &summary_;
}

}  // namespace varve::index
