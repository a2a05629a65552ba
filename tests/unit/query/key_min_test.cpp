// The least key wanted: what other sessions have comes before the rest.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "query_fixture.h"

namespace varve::query {
namespace {

struct KeyMinCase {
  const char* members;
  bool times_rise = false;
};

class KeyMin : public ::testing::TestWithParam<KeyMinCase> {
 protected:
  void add_some(int count) {
    for (int i = 0; i < count; ++i) {
      const auto hours = GetParam().times_rise ? count - i : static_cast<int>(random_() % 40);
      std::string text;
      for (auto words = random_() % 6 + 1; words > 0; --words) {
        constexpr const char* kWords[] = {"tea ", "milk ", "honey ", "toast "};
        text += kWords[random_() % 4];
      }
      const double importance = static_cast<double>(random_() % 5) / 4;
      log_.add(entry_of("e" + std::to_string(i), importance, hours,
                        R"("content":{"role":"user","text":")" + text + "\"}", "message"));
    }
  }

  Answer first(uint64_t limit) {
    return log_.answer("{" + std::string(GetParam().members) + R"(,"limit":)" +
                       std::to_string(limit) + "}");
  }

  static std::vector<uint32_t> rows_of(const std::vector<Hit>& hits, double key_min,
                                       uint64_t limit) {
    std::vector<uint32_t> rows;
    for (const Hit& hit : hits) {
      if (rows.size() < limit && hit.place.key >= key_min) rows.push_back(hit.place.row);
    }
    return rows;
  }

  std::mt19937 random_{7};
  QueryLog log_{plain_words()};
};

TEST_P(KeyMin, GivesWhatTheWholeHasOfSuchKeys) {
  add_some(900);
  log_.vectors = {{3, 0.9}, {70, 0.8}, {200, -0.2}, {500, 0.4}, {501, 0.3}};
  const Answer whole = first(100'000);
  ASSERT_GT(whole.hits.size(), 100u);
  log_.best_match = whole.best_match;
  for (int round = 0; round < 150; ++round) {
    const double key = whole.hits[random_() % whole.hits.size()].place.key;
    const bool is_above = random_() % 2 == 0;
    log_.key_min = is_above ? std::nextafter(key, std::numeric_limits<double>::infinity()) : key;
    const uint64_t limit = std::vector<uint64_t>{1, 10, 60, 2000}[random_() % 4];
    const Answer answer = first(limit);
    ASSERT_EQ(rows_of(answer.hits, kAllKeys, limit), rows_of(whole.hits, log_.key_min, limit))
        << "key " << log_.key_min << " limit " << limit;
    for (const Hit& hit : answer.hits) ASSERT_GE(hit.place.key, log_.key_min);
    EXPECT_TRUE(answer.has_more);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Orders, KeyMin,
    ::testing::Values(KeyMinCase{R"("sort_by":"relevance")"}, KeyMinCase{R"("sort_by":"time")"},
                      KeyMinCase{R"("sort_by":"time")", true},
                      KeyMinCase{R"("sort_by":"importance")"},
                      KeyMinCase{R"("sort_by":"relevance","min_relevance":0.2)"},
                      KeyMinCase{R"("text":"tea honey","sort_by":"match")"},
                      KeyMinCase{R"("text":"tea honey","sort_by":"relevance")"},
                      KeyMinCase{R"("text":"tea honey","sort_by":"time")"},
                      KeyMinCase{R"("text":"tea","min_relevance":0.1)"},
                      KeyMinCase{R"("question":"Do I want honey?")"},
                      KeyMinCase{R"("vector":[1,0],"text":"tea")"}));

}  // namespace
}  // namespace varve::query
