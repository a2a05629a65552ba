// ListRenumberer: an encoded posting list (posting_list.h) without the rows that go, and with the
// new numbers of those that stay, straight from bytes to bytes.
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
  // Adds what stays of an encoded list, whose rows all come after those added before. A list that
  // is not right ends where that shows.
  void add(std::string_view encoded);
  [[nodiscard]] uint32_t count() const { return count_; }
  // The list that was added, encoded; valid until the next call.
  std::string_view encoded();

 private:
  struct Source;
  void add_postings(Source source);
  void close_block();

  const Renumbering& rows_;
  const RowLengths& new_length_of_;
  std::string body_;
  std::vector<BlockSummary> blocks_;  // of the full ones
  BlockSummary open_;                 // of the last one
  uint32_t count_ = 0;
  std::string encoded_;
};

}  // namespace varve::index
