// The JSON of an answer, against one that is put together number by number.
#include "session/query/query_results.h"

#include <gtest/gtest.h>

#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "json/canonical.h"

namespace varve::session {
namespace {

std::string number(double value) {
  std::string text;
  json::append_double(value, text);
  return text;
}

std::string plain_json(const QueryResults& results) {
  std::string text = "{\"results\":[";
  for (size_t i = 0; i < results.results.size(); ++i) {
    const QueryResult& one = results.results[i];
    text += i == 0 ? "" : ",";
    text += "{\"entry\":" + std::string(*one.line) + ",\"session_id\":\"" +
            results.session_ids[one.session] + "\",\"relevance\":" + number(one.relevance) +
            ",\"decay_factor\":" + number(one.decay_factor) +
            ",\"match_quality\":" + number(one.match_quality);
    if (!one.explanation.empty()) text += ",\"explain\":" + one.explanation;
    text += "}";
  }
  return text + "],\"next\":" + (results.next.empty() ? "null" : "\"" + results.next + "\"") + "}";
}

TEST(QueryResults, NumbersThatComeAgainAreWrittenAsTheFirstTime) {
  constexpr double kNumbers[] = {0, -0.0, 1, 0.1, 0.05700000000000001, 1.0 / 3, 1e-9};
  std::mt19937 random(5);
  const auto pick = [&](size_t count) { return kNumbers[random() % count]; };
  for (int round = 0; round < 300; ++round) {
    QueryResults results;
    results.session_ids = {"a", "b"};
    const size_t different = 1 + random() % std::size(kNumbers);
    const size_t count = random() % 12;
    for (size_t i = 0; i < count; ++i) {
      QueryResult& one = results.results.emplace_back();
      one.line = EntryLine("{\"id\":\"e" + std::to_string(i) + "\"}");
      one.session = random() % 2;
      one.relevance = pick(different);
      one.decay_factor = pick(different);
      one.match_quality = pick(different);
      if (random() % 4 == 0) one.explanation = "{}";
    }
    if (random() % 2 == 0) results.next = "v1.next";
    ASSERT_EQ(results.json(), plain_json(results)) << round;
  }
}

}  // namespace
}  // namespace varve::session
