#include "query_json.h"

namespace varve::bench {

namespace {

// Of about 1.3 KB in the log: below the 64 MB that rivals with a cache of their own are given.
constexpr int kCachedEntries = 40'000;

}  // namespace

std::string json_of(const TaggedQuery& query) {
  return "{\"types\":[\"" + query.type + "\"],\"tags\":{\"include\":[\"" + query.tag +
         "\"]},\"time\":{\"start\":\"" + timestamp_text(query.start_ms) + "\",\"end\":\"" +
         timestamp_text(query.end_ms) +
         "\"},\"sort_by\":\"time\",\"limit\":" + std::to_string(kAnswersMax) + "}";
}

std::string json_of(const TextQuery& query) {
  std::string text;
  for (const auto& word : query.words) {
    if (!text.empty()) text += ' ';
    if (query.all) text += '+';
    text += word;
  }
  return "{\"text\":\"" + text +
         "\",\"sort_by\":\"match\",\"limit\":" + std::to_string(kAnswersMax) + "}";
}

std::string json_of(const RankedQuery& query) {
  return "{\"sort_by\":\"relevance\",\"limit\":" + std::to_string(kAnswersMax) + ",\"now\":\"" +
         timestamp_text(query.now_ms) + "\"}";
}

std::string json_of(const Question& question) {
  std::string text;
  for (const auto& word : question.words) text += (text.empty() ? "" : " ") + word;
  return R"({"question":")" + text + R"(?","budget":{"max_tokens":)" +
         std::to_string(kContextTokens) + R"(},"now":")" + timestamp_text(question.now_ms) + "\"}";
}

std::string store_config(const char* durability, int threads) {
  return std::string(
             "{\"storage\":{\"max_session_size_mb\":0},\"decay\":{\"half_life_hours\":168,") +
         "\"min_decay_factor\":0.1,\"type_specific\":{\"decision\":{\"half_life_hours\":168}," +
         "\"finding\":{\"half_life_hours\":168}}},\"performance\":{\"cache_size\":" +
         std::to_string(kCachedEntries) + "},\"threads\":" + std::to_string(threads) +
         ",\"durability\":\"" + durability + "\"}";
}

}  // namespace varve::bench
