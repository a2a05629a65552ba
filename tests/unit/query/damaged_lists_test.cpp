// Lists of an index.bin under right hashes that cannot be read: no query answers as if they had no
// rows.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/section_bytes.h"
#include "index/segment.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

constexpr uint32_t kRowCount = 40;

// Every second entry is rotten, has the tag `bad` and refers to `hub`: lists with the same bytes.
class DamagedLists : public ::testing::TestWithParam<const char*> {
 protected:
  DamagedLists() : log_(plain_words()) {
    for (uint32_t row = 0; row < kRowCount; ++row) {
      const bool is_rotten = row % 2 == 0;
      log_.add(R"({"type":"finding","content":")" + std::string(is_rotten ? "rotten" : "fine") +
               " apple\"" + (is_rotten ? R"(,"tags":["bad"],"references":["hub"])" : "") + "}");
      if (is_rotten) rotten_.add(row, 1, 2);
    }
  }

  // Opens what was indexed as from a file in which byte `at` of these lists is another.
  void damage(size_t at) {
    index::Index& index = log_.index();
    auto terms = opened(damaged(index.text().encode_terms(), at));
    index::TextIndex text(plain_words(), 0);
    text.set_frozen(std::move(terms), index.text().lengths());
    index.text_to_extend() = std::move(text);
    auto lists = opened(damaged(index.facets().encode(), at));
    index::Facets facets(0);
    facets.set_frozen(std::move(lists), kRowCount);
    index.take_facets(std::move(facets));
  }

  static index::Segment opened(std::string bytes) {
    auto segment = index::Segment::open(std::make_shared<index::SectionBytes>(std::move(bytes)));
    EXPECT_TRUE(segment.ok());
    return *std::move(segment);
  }
  [[nodiscard]] std::string damaged(std::string bytes, size_t at) const {
    std::string list;
    rotten_.append_encoded_to(&list);
    size_t count = 0;
    for (size_t found = bytes.find(list); found != std::string::npos; found = bytes.find(list)) {
      bytes[found + at] = static_cast<char>(0xFF);
      count += 1;
    }
    EXPECT_GT(count, 0u);
    return bytes;
  }

  // Whether the caller is told to read the log instead, within the answer or behind it.
  bool is_noticed() {
    const auto query = parse_query(GetParam(), Scope::kSession);
    EXPECT_TRUE(query.ok()) << query.status().message();
    const auto rows = log_.all_rows(*query);
    return rows.code() == Code::kCorruption || log_.index().is_damaged();
  }

  QueryLog log_;
  index::PostingBuffer rotten_;
};

TEST_P(DamagedLists, AreNoticedByTheirCount) {
  EXPECT_FALSE(is_noticed());
  damage(0);
  EXPECT_TRUE(is_noticed());
}

TEST_P(DamagedLists, AreNoticedByTheirRows) {
  damage(1);
  EXPECT_TRUE(is_noticed());
}

INSTANTIATE_TEST_SUITE_P(
    Queries, DamagedLists,
    ::testing::Values(R"({"text":"rotten"})", R"({"text":"apple +rotten"})",
                      R"({"text":"apple -rotten"})", R"({"text":"apple -\"rotten apple\""})",
                      R"({"text":"+\"rotten apple\""})", R"({"text":"apple \"rotten apple\""})",
                      R"({"text":"apple rott*"})", R"({"tags":{"include":["bad"]}})",
                      R"({"tags":{"exclude":["bad"]}})", R"({"references":["hub"]})",
                      R"({"references":["hub"],"relation":"references"})"));

// What several sessions hold together is told by each of them before any answers.
TEST(DamagedListsOfOneSession, AreNoticedByWhatItTellsTheOthers) {
  QueryLog log(plain_words());
  const auto query = parse_query(R"({"text":"apple","sort_by":"match"})", Scope::kStore);
  ASSERT_TRUE(query.ok());
  for (uint32_t row = 0; row < kRowCount; ++row) log.add(R"({"type":"finding","content":"apple"})");
  index::Index& index = log.index();
  std::string bytes = index.text().encode_terms();
  index::PostingBuffer all;
  for (uint32_t row = 0; row < kRowCount; ++row) all.add(row, 1, 1);
  std::string list;
  all.append_encoded_to(&list);
  bytes[bytes.find(list) + 1] = static_cast<char>(0xFF);
  index::TextIndex text(plain_words(), 0);
  auto segment = index::Segment::open(std::make_shared<index::SectionBytes>(std::move(bytes)));
  ASSERT_TRUE(segment.ok());
  text.set_frozen(*std::move(segment), index.text().lengths());
  index.text_to_extend() = std::move(text);
  auto search = log.search(*query);
  ASSERT_TRUE(search.ok());
  EXPECT_TRUE(search->check_lists().ok()) << "none was read";
  EXPECT_EQ(search->best_match().match, 0);
  EXPECT_EQ(search->check_lists().code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::query
