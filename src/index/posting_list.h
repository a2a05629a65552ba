// PostingList: the rows of the index that have something (a tag, a word), in rising order, each
// with a frequency.
//
// Compressed in memory as in index.bin. Every kBlockRows postings make a block with a summary, so
// that whoever looks for a row decodes one block, and whoever looks for the best rows can pass over
// blocks that cannot hold one.
//
//   encoded   count, then
//             up to kBlockRows postings:  the block
//             more:                       a BlockSummary for each block, then the blocks
//
// A block of kPackedRowsMin postings or more is packed, a smaller one plain (posting_block.h).
//
// Bytes of a file may be anything: decoding is bounds-checked, and a list that is not right ends
// where that shows and says so (is_damaged()).
//
// source: block summaries for early stopping are those of block-max WAND (Ding and Suel, SIGIR
// 2011).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "index/posting_block.h"

namespace varve::index {

// The answer to a query that met a damaged list.
[[nodiscard]] inline Status damaged_list() {
  return {Code::kCorruption, "index.bin: a list is damaged"};
}

struct BlockSummary {
  uint32_t last_row = 0;
  uint32_t end_bytes = 0;          // of the block's postings, in the body
  uint16_t frequency_at_most = 0;  // of its postings; UINT16_MAX: that or anything above
  uint16_t length_at_least = 0;    // [terms] of its rows, for lists of words; else 0

  static BlockSummary of(uint32_t last_row, size_t end_bytes, uint32_t frequency_max,
                         uint32_t length_min);
  [[nodiscard]] uint32_t frequency_max() const {
    return frequency_at_most == UINT16_MAX ? UINT32_MAX : frequency_at_most;
  }
  [[nodiscard]] uint32_t length_min() const { return length_at_least; }
};

struct Posting {
  uint32_t row = 0;
  uint32_t frequency = 1;
  uint32_t length = 0;  // [terms] of the row
  friend bool operator==(const Posting&, const Posting&) = default;
};

// A list being made, or added to. 56 bytes when empty.
class PostingBuffer {
 public:
  // `row` is above every row before it, `frequency` at least 1, `length` the row's [terms].
  void add(uint32_t row, uint32_t frequency, uint32_t length);
  // The same for many at once, at a fraction of the cost; their rows count from `first_row`.
  void add(std::span<const Posting> postings, uint32_t first_row = 0);
  // Asks for the memory of the object; then, when that is there, for where its bytes end.
  void prefetch() const {
    __builtin_prefetch(this);
    __builtin_prefetch(reinterpret_cast<const char*>(this + 1) - 1);
  }
  void prefetch_end() const { __builtin_prefetch(body_.data() + body_.size()); }

  [[nodiscard]] uint32_t count() const { return count_; }
  [[nodiscard]] uint32_t last_row() const { return last_row_; }
  [[nodiscard]] uint64_t memory_bytes() const;  // beyond the object itself
  void append_encoded_to(std::string* out) const;
  // Becomes the list that append_encoded_to() gave, so that more can be added. False, and empty,
  // for a list of one block, which has no summary, and for a damaged one.
  bool continue_from(std::string_view encoded);
  // Empty again, with the memory it has.
  void clear();

 private:
  friend class PostingRun;
  [[nodiscard]] size_t open_start_bytes() const;
  [[nodiscard]] uint32_t row_before_open() const;
  uint32_t decode_open(DecodedBlock* out) const;
  void add_full_block(std::span<const Posting> postings, uint32_t first_row);
  void close_block_when_full();
  void note_full_block();

  std::string body_;  // full blocks, packed, and the open one, plain
  std::unique_ptr<std::vector<BlockSummary>> blocks_;  // of the full blocks
  uint32_t count_ = 0;
  uint32_t last_row_ = kNoRow;
  uint32_t open_frequency_max_ = 0;  // of the block that is not full yet
  uint32_t open_length_min_ = UINT32_MAX;
};

// One run of a list, borrowed: all of an encoded one, or all of a buffer.
class PostingRun {
 public:
  PostingRun() = default;
  explicit PostingRun(std::string_view encoded);
  // The same without reading a list of one block in advance: its summary bounds nothing, and damage
  // shows when the list is walked. Only when no other run follows it in a PostingList.
  static PostingRun of_rows(std::string_view encoded);
  explicit PostingRun(const PostingBuffer& buffer);

  [[nodiscard]] uint32_t count() const { return count_; }
  [[nodiscard]] uint32_t block_count() const { return block_count_; }
  [[nodiscard]] BlockSummary summary(uint32_t block) const;
  // Rows and frequencies of a block. The number decoded: less than there should be when the bytes
  // are not right.
  uint32_t decode(uint32_t block, DecodedBlock* out) const;
  [[nodiscard]] uint32_t rows_in(uint32_t block) const;
  [[nodiscard]] bool is_damaged() const { return damaged_; }

 private:
  friend class PostingBuffer;
  bool read_header(std::string_view encoded);
  void summarize_short();
  [[nodiscard]] bool is_plain(uint32_t block) const;

  const char* summaries_ = nullptr;  // as they lie in memory, not aligned
  uint32_t summary_count_ = 0;
  uint32_t block_count_ = 0;
  uint32_t count_ = 0;
  std::string_view body_;
  BlockSummary open_;  // of the last block, when it has no summary
  bool is_of_buffer_ = false;
  bool damaged_ = false;
};

// A whole list: what was frozen, then what was added since. Every row of the second is above every
// row of the first.
struct PostingList {
  std::array<PostingRun, 2> runs;

  [[nodiscard]] uint32_t count() const { return runs[0].count() + runs[1].count(); }
  [[nodiscard]] bool is_empty() const { return count() == 0; }
};

// A place in a list. Borrows the list's bytes.
class PostingCursor {
 public:
  explicit PostingCursor(const PostingList& list);

  // The first row not below `row`; kNoRow when there is none. Cheap when rows are asked for in
  // rising or falling order: then each block is decoded once.
  uint32_t seek(uint32_t row);
  // The last row not above `row`; kNoRow when there is none.
  uint32_t seek_back(uint32_t row) {
    // Mostly the one before.
    if (row_ != kNoRow && row < row_ && at_ > 0 && decoded_.rows[at_ - 1] <= row) {
      return row_ = decoded_.rows[--at_];
    }
    return seek_far_back(row);
  }
  [[nodiscard]] bool contains(uint32_t row) { return seek(row) == row; }
  // Of the posting last found.
  [[nodiscard]] uint32_t frequency() const { return decoded_.frequencies[at_]; }
  // The next row; kNoRow at the end.
  uint32_t next() {
    if (row_ != kNoRow && !damaged_ && at_ + 1 < loaded_count_) return row_ = decoded_.rows[++at_];
    return next_block();
  }

  // The posting last found and those behind it in its block, for walks that take many. Only when
  // one was found, and until the cursor moves.
  struct RestOfBlock {
    std::span<const uint32_t> rows;
    std::span<const uint32_t> frequencies;
  };
  [[nodiscard]] RestOfBlock rest_of_block() const {
    const size_t count = loaded_count_ - at_;
    return {{decoded_.rows.data() + at_, count}, {decoded_.frequencies.data() + at_, count}};
  }
  // Past the first `count` postings of rest_of_block(): the next row; kNoRow at the end.
  uint32_t skip(size_t count) {
    if (at_ + count < loaded_count_) {
      at_ += static_cast<uint32_t>(count);
      return row_ = decoded_.rows[at_];
    }
    return next_block();
  }

  [[nodiscard]] uint32_t count() const { return list_.count(); }
  // How many rows are not below `row`. Cost: one block.
  uint32_t count_from(uint32_t row);

  // Without decoding: the summary of the block that would hold `row` or the first row after it.
  // Nothing when there is none.
  const BlockSummary* block_for(uint32_t row);

  [[nodiscard]] bool is_damaged() const { return damaged_; }

 private:
  [[nodiscard]] uint32_t blocks() const {
    return list_.runs[0].block_count() + list_.runs[1].block_count();
  }
  [[nodiscard]] BlockSummary summary_of(uint32_t block) const;
  [[nodiscard]] uint32_t find_block(
      uint32_t row) const;  // the first whose last row is not below `row`
  bool load(uint32_t block);
  uint32_t seek_far_back(uint32_t row);
  uint32_t next_block();
  uint32_t fail();

  PostingList list_;
  DecodedBlock decoded_;
  uint32_t loaded_ = kNoRow;  // block in decoded_
  uint32_t loaded_count_ = 0;
  uint32_t at_ = 0;  // in decoded_
  uint32_t row_ = kNoRow;
  uint32_t summary_block_ = kNoRow;  // block in summary_
  BlockSummary summary_;
  uint32_t summary_first_ = 0;  // rows from here to summary_.last_row are summary_'s
  bool damaged_ = false;
};

}  // namespace varve::index
