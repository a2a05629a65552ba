#include "query/parse_plain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace varve::query {
namespace {

// Everything that the short way may set.
void expect_equal(const Query& plain, const Query& any, const std::string& text) {
  EXPECT_EQ(plain.text, any.text) << text;
  EXPECT_EQ(plain.types, any.types) << text;
  EXPECT_EQ(plain.tags_include, any.tags_include) << text;
  EXPECT_EQ(plain.tags_exclude, any.tags_exclude) << text;
  EXPECT_EQ(plain.tags_match_all, any.tags_match_all) << text;
  EXPECT_EQ(plain.start_ms, any.start_ms) << text;
  EXPECT_EQ(plain.end_ms, any.end_ms) << text;
  EXPECT_EQ(plain.last_ms, any.last_ms) << text;
  EXPECT_EQ(plain.now_ms, any.now_ms) << text;
  EXPECT_EQ(plain.sort_by, any.sort_by) << text;
  EXPECT_EQ(plain.ascending, any.ascending) << text;
  EXPECT_EQ(plain.limit, any.limit) << text;
  EXPECT_EQ(plain.hash, any.hash) << text;
}

// And what it leaves alone.
void expect_nothing_else(const Query& any, const std::string& text) {
  EXPECT_TRUE(any.vector.empty() && any.references.empty() && any.ids.empty()) << text;
  EXPECT_TRUE(any.content_keys.empty() && any.trace_id.empty() && any.relation.empty()) << text;
  EXPECT_TRUE(any.user_id.empty() && any.agent_id.empty() && any.session_ids.empty()) << text;
  EXPECT_TRUE(any.importance_min == 0 && any.relevance_min == 0 && any.depth_max == 1) << text;
  EXPECT_FALSE(any.after || any.explain) << text;
}

// Whether the short way was taken.
bool is_read_alike(const std::string& text, Scope scope) {
  Query plain;
  if (!parse_plain(text, scope, &plain)) return false;
  const auto any = parse_any(text, scope);
  EXPECT_TRUE(any.ok()) << text << ": " << any.status().message();
  if (!any.ok()) return true;
  expect_equal(plain, *any, text);
  expect_nothing_else(*any, text);
  return true;
}

TEST(ParsePlain, TakesWhatProgramsWrite) {
  for (const std::string text :
       {R"({})", R"({"text":"red fox -snow"})", R"({"text":""})",
        R"({"types":["finding"],"tags":{"include":["a.b"]},"sort_by":"time","limit":10})",
        R"({"time": {"start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00.5+01:00"}})",
        R"( { "time" : { "last" : "7d" } , "now" : "2026-01-03T00:00:00Z" } )",
        R"({"tags":{},"time":{},"types":[],"limit":0})",
        R"({"tags":{"match":"all","include":["x","y"],"exclude":[]},"order":"asc"})"}) {
    EXPECT_TRUE(is_read_alike(text, Scope::kSession)) << text;
    EXPECT_TRUE(is_read_alike(text, Scope::kStore)) << text;
  }
  EXPECT_TRUE(is_read_alike(R"({"text":"fox","types":["finding"]})", Scope::kSet));
  EXPECT_TRUE(is_read_alike(R"({"text":"fox","types":["finding"]})", Scope::kCount));
}

TEST(ParsePlain, LeavesTheRestToTheLongWay) {
  for (const std::string text :
       {R"()",
        R"([])",
        R"({"text":"a","text":"b"})",
        R"({"types":["a"],"types":[]})",
        R"({"limit":01})",
        R"({"limit":-1})",
        R"({"limit":1.5})",
        R"({"limit":1e2})",
        R"({"limit":1234567890})",
        R"({"text":"caf\u00e9"})",
        "{\"text\":\"caf\xc3\xa9\"}",
        R"({"text":"a\\b"})",
        "{\"text\":\"a\nb\"}",
        R"({"types":["Finding"]})",
        R"({"types":[1]})",
        R"({"sort_by":"size"})",
        R"({"order":"up"})",
        R"({"limit":"3"})",
        R"({"time":{"start":"yesterday"}})",
        R"({"time":{"last":"7y"}})",
        R"({"now":""})",
        R"({"time":{"start":"2026-01-02T00:00:00Z","end":"2026-01-01T00:00:00Z"}})",
        R"({"tags":{"match":"some"}})",
        R"({"tags":{},"tags":{}})",
        R"({"time":{},"time":{}})",
        R"({"tags":["a"]})",
        R"({"colour":"red"})",
        R"({"text":"a"} x)",
        R"({"text":"a",})",
        R"({"types":["a",]})",
        R"({"text":"a")"}) {
    EXPECT_FALSE(is_read_alike(text, Scope::kSession)) << text;
  }
  EXPECT_FALSE(is_read_alike(R"({"limit":3})", Scope::kSet));
  EXPECT_FALSE(is_read_alike(R"({"sort_by":"time"})", Scope::kCount));
  EXPECT_FALSE(is_read_alike("{\"text\":\"" + std::string(1024, 'a') + "\"}", Scope::kSession));
}

// Queries put together by chance: right ones, and some that a changed byte made something else.
class Queries {
 public:
  std::string next() {
    std::string text =
        object({"text", "types", "tags", "time", "sort_by", "order", "limit", "now"});
    if (chance(4)) text[random_() % text.size()] = pick({"\"", "}", ",", "a", "[", " "}).front();
    return text;
  }

 private:
  bool chance(unsigned in) { return random_() % in == 0; }
  std::string pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  std::string space() { return chance(6) ? pick({" ", "\n", "\t ", "\r\n"}) : ""; }

  std::string object(std::vector<std::string> names) {
    std::shuffle(names.begin(), names.end(), random_);
    if (chance(40)) names.push_back(names.front());
    std::string text = "{";
    for (const auto& name : names) {
      if (chance(2)) continue;
      if (text.size() > 1) text += "," + space();
      text.append(1, '"').append(name).append("\"" + space() + ":" + space() + value_of(name));
    }
    return text + space() + "}";
  }

  std::string strings(const std::vector<std::string>& from) {
    std::string text = "[" + space();
    for (size_t i = random_() % 4; i > 0; --i) {
      text += pick(from) + space() + (i > 1 ? "," : "") + space();
    }
    return text + "]";
  }

  std::string value_of(const std::string& name) {
    const std::vector<std::string> words = {R"("fox")", R"("red.fox")", R"("")", R"("a b")"};
    const std::vector<std::string> times = {R"("2026-01-01T00:00:00Z")",
                                            R"("2026-05-01T10:00:00.25+02:00")",
                                            R"("2026-02-30T00:00Z")", R"("2025-12-31 23:59:60Z")"};
    if (name == "tags") return object({"include", "exclude", "match"});
    if (name == "time") return object({"start", "end", "last"});
    if (name == "types") return strings({R"("finding")", R"("decision")", R"("tool_call")"});
    if (name == "include" || name == "exclude") return strings(words);
    if (name == "match") return pick({R"("any")", R"("all")", R"("any")", "1"});
    if (name == "last") return pick({R"("7d")", R"("2w")", R"("0s")", R"("12h")"});
    if (name == "start" || name == "end" || name == "now") return pick(times);
    if (name == "sort_by") return pick({R"("time")", R"("best")", R"("match")", R"("worst")"});
    if (name == "order") return pick({R"("asc")", R"("desc")", R"("desc")", "null"});
    if (name == "limit") return pick({"0", "10", "999999999", "1000000000", "-1", "1.0"});
    return pick(words);
  }

  std::mt19937_64 random_{20260110};
};

TEST(ParsePlain, MeansWhatTheLongWayReads) {
  Queries queries;
  size_t plain_count = 0;
  constexpr size_t kCount = 20'000;
  for (size_t i = 0; i < kCount; ++i) {
    const std::string text = queries.next();
    for (const Scope scope : {Scope::kSession, Scope::kStore, Scope::kSet, Scope::kCount}) {
      if (is_read_alike(text, scope)) plain_count += 1;
    }
  }
  EXPECT_GT(plain_count, kCount / 4);
}

}  // namespace
}  // namespace varve::query
