#include "index/posting_list.h"

#include <algorithm>
#include <cstring>

#include "index/varint.h"

namespace varve::index {

namespace {

constexpr uint32_t kStepsMax = 8;  // rows looked at one by one before a binary search

}  // namespace

static_assert(sizeof(BlockSummary) == 16, "written as it lies in memory");

// --- making --------------------------------------------------------------------------------------

void PostingBuffer::add(uint32_t row, uint32_t frequency, uint32_t length) {
  const uint64_t distance = row - last_row_;  // from kNoRow, that is -1, to the first row
  append_varint(&body_, distance << 1 | (frequency > 1 ? 1 : 0));
  if (frequency > 1) append_varint(&body_, frequency - 2);
  last_row_ = row;
  count_ += 1;
  open_frequency_max_ = std::max(open_frequency_max_, frequency);
  open_length_min_ = std::min(open_length_min_, length);
  close_block_when_full();
}

void PostingBuffer::add(std::span<const Posting> postings, uint32_t first_row) {
  std::array<char, size_t{kBlockRows} * 2 * kVarintBytesMax> written;
  while (!postings.empty()) {
    const size_t room = kBlockRows - count_ % kBlockRows;
    const auto block = postings.first(std::min(postings.size(), room));
    char* at = written.data();
    for (const Posting& posting : block) {
      const uint32_t row = first_row + posting.row;
      const uint64_t distance = row - last_row_;
      at = write_varint(at, distance << 1 | (posting.frequency > 1 ? 1 : 0));
      if (posting.frequency > 1) at = write_varint(at, posting.frequency - 2);
      last_row_ = row;
      open_frequency_max_ = std::max(open_frequency_max_, posting.frequency);
      open_length_min_ = std::min(open_length_min_, posting.length);
    }
    body_.append(written.data(), at);
    count_ += static_cast<uint32_t>(block.size());
    close_block_when_full();
    postings = postings.subspan(block.size());
  }
}

void PostingBuffer::close_block_when_full() {
  if (count_ % kBlockRows != 0) return;
  if (blocks_ == nullptr) blocks_ = std::make_unique<std::vector<BlockSummary>>();
  blocks_->push_back(
      {last_row_, static_cast<uint32_t>(body_.size()), open_frequency_max_, open_length_min_});
  open_frequency_max_ = 0;
  open_length_min_ = UINT32_MAX;
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
  if (count_ > kBlockRows) {
    out->append(reinterpret_cast<const char*>(blocks_->data()),
                blocks_->size() * sizeof(BlockSummary));
    if (count_ % kBlockRows != 0) {
      const BlockSummary open{last_row_, static_cast<uint32_t>(body_.size()), open_frequency_max_,
                              open_length_min_};
      out->append(reinterpret_cast<const char*>(&open), sizeof(open));
    }
  }
  out->append(body_);
}

bool PostingBuffer::continue_from(std::string_view encoded) {
  clear();
  uint64_t count = 0;
  if (!take_varint(&encoded, &count) || count <= kBlockRows || count >= kNoRow) return false;
  const uint64_t block_count = (count + kBlockRows - 1) / kBlockRows;
  const uint64_t summaries_bytes = block_count * sizeof(BlockSummary);
  if (encoded.size() < summaries_bytes) return false;
  std::vector<BlockSummary> blocks(block_count);
  std::memcpy(blocks.data(), encoded.data(), summaries_bytes);
  encoded.remove_prefix(summaries_bytes);
  if (blocks.back().end_bytes != encoded.size()) return false;
  last_row_ = blocks.back().last_row;
  if (count % kBlockRows != 0) {
    open_frequency_max_ = blocks.back().frequency_max;
    open_length_min_ = blocks.back().length_min;
    blocks.pop_back();
  }
  count_ = static_cast<uint32_t>(count);
  body_ = encoded;
  blocks_ = std::make_unique<std::vector<BlockSummary>>(std::move(blocks));
  return true;
}

// --- a run ---------------------------------------------------------------------------------------

PostingRun::PostingRun(std::string_view encoded) {
  if (read_header(encoded) && summary_count_ == 0) summarize_short();
}

PostingRun PostingRun::of_rows(std::string_view encoded) {
  PostingRun run;
  if (run.read_header(encoded) && run.summary_count_ == 0) {
    run.open_ = {kNoRow, static_cast<uint32_t>(run.body_.size()), UINT32_MAX, 0};
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
  open_ = {kNoRow, static_cast<uint32_t>(body_.size()), 0, 0};
  Decoded decoded;
  damaged_ = decode(0, &decoded) != count_;
  if (damaged_) {
    count_ = 0;
    block_count_ = 0;
    return;
  }
  const auto* begin = decoded.frequencies.data();
  open_.last_row = decoded.rows[count_ - 1];
  const bool has_frequencies = body_.size() != count_;  // or long distances
  open_.frequency_max = has_frequencies ? *std::max_element(begin, begin + count_) : 1;
}

PostingRun::PostingRun(const PostingBuffer& buffer)
    : block_count_((buffer.count_ + kBlockRows - 1) / kBlockRows),
      count_(buffer.count_),
      body_(buffer.body_),
      open_{buffer.last_row_, static_cast<uint32_t>(buffer.body_.size()),
            buffer.open_frequency_max_, buffer.open_length_min_} {
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

namespace {

// One posting of any length; false when the bytes are not right.
bool decode_one(const char** at, const char* end, uint64_t* row, uint32_t* frequency) {
  std::string_view rest(*at, static_cast<size_t>(end - *at));
  uint64_t value = 0;
  if (!take_varint(&rest, &value)) return false;
  *row += value >> 1;
  if (value <= 1 || *row >= kNoRow) return false;
  uint64_t more = 0;  // frequency beyond 2
  const bool has_frequency = (value & 1) != 0;
  if (has_frequency && (!take_varint(&rest, &more) || more > UINT32_MAX - 2)) return false;
  *frequency = has_frequency ? static_cast<uint32_t>(more) + 2 : 1;
  *at = rest.data();
  return true;
}

constexpr uint32_t kPlainRun = 4;  // postings looked at together

// Whether each of four bytes is a posting by itself: a distance, and no frequency.
bool are_plain(const uint8_t* bytes) {
  constexpr uint32_t kLongOrFrequent = 0x81818181;
  constexpr uint32_t kHighs = 0x80808080;
  uint32_t four = 0;
  std::memcpy(&four, bytes, sizeof(four));
  return (four & kLongOrFrequent) == 0 && ((four + ~kHighs) & kHighs) == kHighs;  // none is 0
}

constexpr ptrdiff_t kShortBytes = 8;  // of postings that are taken from one number

// The next four postings of eight bytes, where none of these is part of a longer number: then four
// take at most eight. How many bytes they took; 0 when a distance is not right, and nothing was
// read.
uint32_t decode_four(const uint8_t* bytes, uint32_t i, uint64_t* row, PostingRun::Decoded* out) {
  constexpr uint64_t kLong = 0x8080808080808080;
  uint64_t left = 0;
  std::memcpy(&left, bytes, sizeof(left));
  if ((left & kLong) != 0) return 0;
  uint64_t at_row = *row;
  uint64_t least = UINT64_MAX;
  uint32_t taken_bytes = kPlainRun;
  for (uint32_t k = 0; k < kPlainRun; ++k) {
    const uint64_t distance = (left & 0xFF) >> 1;
    const uint64_t has_frequency = left & 1;
    const uint64_t more = left >> 8 & 0xFF & (0 - has_frequency);
    at_row += distance;
    least = std::min(least, distance);
    out->rows[i + k] = static_cast<uint32_t>(at_row);
    out->frequencies[i + k] = static_cast<uint32_t>(1 + has_frequency + more);
    taken_bytes += static_cast<uint32_t>(has_frequency);
    left = left >> 8 >> 8 * has_frequency;
  }
  if (least == 0) return 0;
  *row = at_row;
  return taken_bytes;
}

constexpr ptrdiff_t kPairBytes = 8;  // that two postings are taken from

// The next two postings of eight bytes, where the distance takes one or two bytes and the frequency
// none or one. Without branches, which nothing could foretell. How many bytes they took; 0 when one
// is longer, or not right, and nothing was read.
uint32_t decode_pair(const uint8_t* bytes, uint32_t i, uint64_t* row, PostingRun::Decoded* out) {
  uint64_t left = 0;
  std::memcpy(&left, bytes, sizeof(left));
  uint64_t at_row = *row;
  uint64_t least = UINT64_MAX;
  uint64_t longer = 0;
  uint64_t taken_bits = 0;
  for (uint32_t k = 0; k < 2; ++k) {
    const uint64_t has_frequency = left & 1;
    const uint64_t is_long = left >> 7 & 1;
    const uint64_t value = (left & 0x7F) | (left >> 1 & 0x3F80 & (0 - is_long));
    const uint64_t more = left >> (8 + 8 * is_long) & 0xFF & (0 - has_frequency);
    longer |= (left >> 8 & (0 - is_long)) | more;
    const uint64_t distance = value >> 1;
    least = std::min(least, distance);
    at_row += distance;
    out->rows[i + k] = static_cast<uint32_t>(at_row);
    out->frequencies[i + k] = static_cast<uint32_t>(1 + has_frequency + more);
    const uint64_t bits = 8 + 8 * (has_frequency + is_long);
    left >>= bits;
    taken_bits += bits;
  }
  if (least == 0 || (longer & 0x80) != 0) return 0;
  *row = at_row;
  return static_cast<uint32_t>(taken_bits / 8);
}

// Postings whose distance takes one or two bytes, and their frequency none or one, as nearly all
// are: until one is longer, or not right, or the end is near. How many. Rows may come out above
// kNoRow: they rise, so it is enough to look at the last.
uint32_t decode_short(const char** at, const char* end, uint32_t first, uint32_t wanted,
                      uint64_t* row, PostingRun::Decoded* out) {
  constexpr uint32_t kBytesMax = 3;  // of one
  const auto* byte = reinterpret_cast<const uint8_t*>(*at);
  const auto* const past = reinterpret_cast<const uint8_t*>(end);
  uint64_t at_row = *row;
  uint32_t i = first;
  // Taken one by one before the next look for a run: more and more in lists that have none.
  uint32_t patience = kPlainRun;
  while (i < wanted) {
    if (wanted - i >= kPlainRun && past - byte >= kPlainRun && are_plain(byte)) {
      for (uint32_t k = 0; k < kPlainRun; ++k) {
        at_row += byte[k] >> 1;
        out->rows[i + k] = static_cast<uint32_t>(at_row);
        out->frequencies[i + k] = 1;
      }
      byte += kPlainRun;
      i += kPlainRun;
      patience = kPlainRun;
      continue;
    }
    if (wanted - i >= kPlainRun && past - byte >= kShortBytes) {
      const uint32_t taken_bytes = decode_four(byte, i, &at_row, out);
      if (taken_bytes > 0) {
        byte += taken_bytes;
        i += kPlainRun;
        patience = kPlainRun;
        continue;
      }
    }
    if (wanted - i >= 2 && past - byte >= kPairBytes) {
      const uint32_t taken_bytes = decode_pair(byte, i, &at_row, out);
      if (taken_bytes > 0) {
        byte += taken_bytes;
        i += 2;
        continue;
      }
    }
    const auto there = static_cast<uint32_t>(past - byte) / kBytesMax;  // at least
    const uint32_t stop = i + std::min({wanted - i, patience, there});
    if (stop == i) break;
    patience *= 2;
    for (; i < stop; ++i) {
      uint32_t value = byte[0];
      const uint8_t* after = byte + 1;
      if (value - 2 >= 0x80 - 2) {  // 0 and 1 too, which no distance gives
        if (value < 0x80 || byte[1] >= 0x80) break;
        value = (value & 0x7F) | uint32_t{byte[1]} << 7;
        if (value < 2) break;
        after = byte + 2;
      }
      const uint32_t has_frequency = value & 1;
      const uint32_t more = *after & (0 - has_frequency);
      if (more >= 0x80) break;
      at_row += value >> 1;
      out->rows[i] = static_cast<uint32_t>(at_row);
      out->frequencies[i] = 1 + has_frequency + more;
      byte = after + has_frequency;
    }
    if (i < stop) break;
  }
  *at = reinterpret_cast<const char*>(byte);
  *row = at_row;
  return i;
}

}  // namespace

uint32_t PostingRun::decode(uint32_t block, Decoded* out) const {
  uint64_t row = UINT64_MAX;  // -1: what the first distance counts from
  size_t begin = 0;
  if (block > 0) {
    const BlockSummary before = summary(block - 1);
    row = before.last_row;
    begin = before.end_bytes;
    if (row == kNoRow) return 0;
  }
  const size_t end_bytes = summary(block).end_bytes;
  if (begin > end_bytes || end_bytes > body_.size()) return 0;
  const char* at = body_.data() + begin;
  const char* const end = body_.data() + end_bytes;
  const uint32_t wanted = rows_in(block);
  for (uint32_t i = 0; i < wanted; ++i) {
    const uint32_t first_long = decode_short(&at, end, i, wanted, &row, out);
    if (first_long > i && row >= kNoRow) return i;
    i = first_long;
    if (i == wanted) break;
    if (!decode_one(&at, end, &row, &out->frequencies[i])) return i;
    out->rows[i] = static_cast<uint32_t>(row);
  }
  // The next block counts on from what the summary says: rows would not rise.
  if (block < summary_count_ && row != summary(block).last_row) return 0;
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
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (summary_of(middle).last_row < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
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
