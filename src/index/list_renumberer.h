// ListRenumberer: a posting list (posting_list.h) without the rows that go, and with the new
// numbers of those that stay.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "index/posting_list.h"
#include "index/renumber.h"
#include "index/row_lengths.h"

namespace varve::index {

class ListRenumberer {
 public:
  // Both outlive it; `new_length_of` takes new rows.
  ListRenumberer(const Renumbering& rows, const RowLengths& new_length_of)
      : rows_(rows), new_length_of_(new_length_of) {}

  // Forgets the list before.
  void start();
  // Adds what stays of a list, whose rows all come after those added before. A list that is not
  // right ends where that shows: then the answer is false.
  bool add(const PostingRun& list);
  [[nodiscard]] uint32_t count() const { return count_; }
  // The list that was added, encoded; valid until the next call, which is start().
  std::string_view encoded();

 private:
  void close_block();

  const Renumbering& rows_;
  const RowLengths& new_length_of_;
  uint32_t count_ = 0;
  std::string body_;
  std::vector<BlockSummary> blocks_;
  // The block that is not in the body yet.
  DecodedBlock open_;
  uint32_t open_count_ = 0;
  uint32_t frequency_max_ = 0;
  uint32_t length_min_ = 0;
  uint32_t row_before_ = kNoRow;
  std::string encoded_;
};

}  // namespace varve::index
