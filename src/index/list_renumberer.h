// ListRenumberer: a posting list (posting_list.h) without the rows that go, and with the new
// numbers of those that stay.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

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
  // right ends where that shows.
  void add(const PostingRun& list);
  [[nodiscard]] uint32_t count() const { return list_.count() + waiting_count_; }
  // The list that was added, encoded; valid until the next call.
  std::string_view encoded();

 private:
  void flush();

  const Renumbering& rows_;
  const RowLengths& new_length_of_;
  PostingBuffer list_;
  std::array<Posting, kBlockRows> waiting_;  // a block at a time is packed at once
  uint32_t waiting_count_ = 0;
  std::string encoded_;
};

}  // namespace varve::index
