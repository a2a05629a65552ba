#include "index/list_renumberer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "posting_fixture.h"

namespace varve::index {
namespace {

// Which rows stay, by chance, and what a list of theirs should be then: the plain way.
struct Case {
  std::vector<uint32_t> kept;
  std::vector<uint32_t> lengths;  // by new rows

  Case(uint32_t row_count, uint32_t stays_of_ten, uint64_t seed) {
    std::mt19937_64 generator(seed);
    for (uint32_t row = 0; row < row_count; ++row) {
      if (generator() % 10 >= stays_of_ten) continue;
      kept.push_back(row);
      lengths.push_back(static_cast<uint32_t>(generator() % 500) + 3);
    }
  }

  [[nodiscard]] Postings renumbered(const Postings& postings, uint32_t row_count) const {
    const Renumbering rows(kept, row_count);
    Postings staying;
    for (const Posting& posting : postings) {
      const uint32_t row = rows.new_row(posting.row);
      if (row != kNoRow) staying.push_back({row, posting.frequency, lengths[row]});
    }
    return staying;
  }
};

TEST(ListRenumberer, GivesTheListThatTheRowsThatStayWouldMake) {
  for (const uint32_t count : {0u, 1u, 2u, 127u, 128u, 129u, 256u, 300u, 5000u}) {
    for (const uint32_t gap_max : {1u, 3u, 200u}) {
      const Postings postings = random_postings(count, gap_max, kNoRow, count + gap_max);
      const uint32_t row_count = count == 0 ? 5 : postings.back().row + 3;
      for (const uint32_t stays : {0u, 1u, 5u, 9u, 10u}) {
        const Case one(row_count, stays, count * 31 + stays);
        const Renumbering rows(one.kept, row_count);
        const RowLengths lengths{one.lengths};
        ListRenumberer list(rows, lengths);
        const Postings expected = one.renumbered(postings, row_count);
        for (const size_t first : {size_t{0}, postings.size() / 3, postings.size()}) {
          const auto middle = postings.begin() + static_cast<std::ptrdiff_t>(first);
          list.start();
          const std::string frozen = encoded(Postings(postings.begin(), middle));
          const PostingBuffer added = buffer_of(Postings(middle, postings.end()));
          list.add(PostingRun::of_rows(frozen));
          list.add(PostingRun(added));
          ASSERT_EQ(list.count(), expected.size());
          ASSERT_EQ(list.encoded(), encoded(expected)) << count << " by " << gap_max;
        }
      }
    }
  }
}

// Whatever the bytes are: no harm, rows that stay only, and what was right at the start.
TEST(ListRenumberer, AListThatIsNotRightEnds) {
  constexpr uint32_t kRows = 400;
  const Case one(kRows, 7, 3);
  const Renumbering rows(one.kept, kRows);
  const RowLengths lengths{one.lengths};
  ListRenumberer list(rows, lengths);
  std::mt19937_64 generator(8);
  for (int round = 0; round < 20'000; ++round) {
    const auto count = static_cast<uint32_t>(generator() % 300);
    std::string bytes = encoded(random_postings(count, 2, kNoRow, generator()));
    if (generator() % 2 == 0) bytes.resize(generator() % (bytes.size() + 1));
    for (size_t n = generator() % 4; n > 0 && !bytes.empty(); --n) {
      bytes[generator() % bytes.size()] = static_cast<char>(generator());
    }
    list.start();
    list.add(PostingRun::of_rows(bytes));
    PostingList found;
    const std::string made(list.encoded());
    found.runs[0] = PostingRun(made);
    uint32_t walked = 0;
    for (const uint32_t row : rows_of(found)) {
      ASSERT_LT(row, one.kept.size());
      walked += 1;
    }
    ASSERT_EQ(walked, list.count());
  }
}

}  // namespace
}  // namespace varve::index
