#include "index/facets.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "entry/content_key.h"
#include "hash_seed.h"
#include "json/document.h"
#include "posting_fixture.h"
#include "segment_fixture.h"

namespace varve::index {
namespace {

using Arrows = std::vector<std::pair<std::string, std::string>>;

Arrows arrows_of(const Facets& facets, uint32_t row, std::string_view id = "") {
  Arrows arrows;
  facets.references_of(row, id, [&](const Reference& reference) {
    arrows.emplace_back(reference.relation, reference.target);
  });
  return arrows;
}

std::map<std::string, Rows> tags_of(const Facets& facets) {
  std::map<std::string, Rows> tags;
  facets.for_each_tag([&](std::string_view tag, const PostingList& list) {
    EXPECT_TRUE(tags.emplace(tag, rows_of(list)).second) << tag << " twice";
  });
  return tags;
}

entry::EntryFacts with_tags(std::vector<std::string> tags) {
  entry::EntryFacts facts;
  facts.tags = std::move(tags);
  return facts;
}

entry::EntryFacts with_content(std::string_view content) {
  entry::EntryFacts facts;
  json::Document document;
  EXPECT_TRUE(document.parse(content).ok());
  entry::read_content_keys(document.root(), &facts.content_keys);
  return facts;
}

std::string key_of(std::string_view name, std::string_view value) {
  json::Document document;
  EXPECT_TRUE(document.parse(value).ok());
  return entry::content_key(name, document.root());
}

TEST(Facets, TagsAreAHierarchyOfWholeSegments) {
  Facets facets(kHashSeed);
  facets.add(0, with_tags({"security.authentication"}));
  facets.add(1, with_tags({"securityx"}));
  facets.add(2, with_tags({"security"}));
  facets.add(3, with_tags({"security.authentication.oauth", "x.security"}));
  EXPECT_EQ(rows_of(facets.tag("security")), Rows({0, 2, 3}));
  EXPECT_EQ(rows_of(facets.tag("security.authentication")), Rows({0, 3}));
  EXPECT_EQ(rows_of(facets.tag("security.authentication.oauth")), Rows({3}));
  EXPECT_EQ(rows_of(facets.tag("securityx")), Rows({1}));
  EXPECT_EQ(rows_of(facets.tag("x")), Rows({3}));
  for (const auto none : {"", "secu", "security.", "security.auth", "authentication", "oauth"}) {
    EXPECT_TRUE(facets.tag(none).is_empty()) << none;
  }
}

TEST(Facets, ATagSaidTwiceCountsOnce) {
  Facets facets(kHashSeed);
  facets.add(5, with_tags({"a.b", "a.c", "a", "a.b"}));
  facets.add(6, with_tags({"a.b"}));
  EXPECT_EQ(rows_of(facets.tag("a")), Rows({5, 6}));
  EXPECT_EQ(facets.tag("a").count(), 2u);
  EXPECT_EQ(rows_of(facets.tag("a.b")), Rows({5, 6}));
}

TEST(Facets, TagsOfOddDotsAreTheirWholeAndWhatIsBefore) {
  Facets facets(kHashSeed);
  facets.add(0, with_tags({".a", "b.", "c..d"}));
  const std::map<std::string, Rows> expected = {{".a", {0}}, {"b", {0}},  {"b.", {0}},
                                                {"c", {0}},  {"c.", {0}}, {"c..d", {0}}};
  EXPECT_EQ(tags_of(facets), expected);
}

TEST(Facets, EveryTagIsVisitedWithItsRows) {
  Facets facets(kHashSeed);
  facets.add(0, with_tags({"a.b"}));
  facets.add(2, with_tags({"c"}));
  entry::EntryFacts other = with_content(R"({"tag":"text"})");
  other.trace_id = "tttt";
  facets.add(3, other);
  const std::map<std::string, Rows> expected = {{"a", {0}}, {"a.b", {0}}, {"c", {2}}};
  EXPECT_EQ(tags_of(facets), expected);
}

TEST(Facets, Traces) {
  Facets facets(kHashSeed);
  for (uint32_t row = 0; row < 10; ++row) {
    entry::EntryFacts facts;
    if (row % 2 == 0) facts.trace_id = row % 4 == 0 ? "one" : "two";
    facets.add(row, facts);
  }
  EXPECT_EQ(rows_of(facets.trace("one")), Rows({0, 4, 8}));
  EXPECT_EQ(rows_of(facets.trace("two")), Rows({2, 6}));
  EXPECT_TRUE(facets.trace("").is_empty());
  EXPECT_TRUE(facets.trace("on").is_empty());
  EXPECT_TRUE(facets.tag("one").is_empty()) << "of another field";
}

TEST(Facets, MembersOfContent) {
  Facets facets(kHashSeed);
  const std::string text(100, 'x');
  facets.add(0, with_content(R"({"role":"user","n":1,"ok":true})"));
  facets.add(1, with_content(R"({"role":"User","n":1.0,"ok":false})"));
  facets.add(2, with_content(R"({"role":null,"n":"1","ok":"true"})"));
  facets.add(3, with_content("{\"role\":\"" + text + "\",\"n\":9007199254740993}"));
  facets.add(4, with_content("{\"role\":\"" + text + "y\",\"n\":9007199254740992}"));
  const auto rows = [&](std::string_view name, const std::string& value) {
    return rows_of(facets.content(key_of(name, value)));
  };
  EXPECT_EQ(rows("role", "\"user\""), Rows({0}));
  EXPECT_EQ(rows("role", "\"User\""), Rows({1}));
  EXPECT_EQ(rows("role", "null"), Rows({2}));
  EXPECT_EQ(rows("role", "\"" + text + "\""), Rows({3}));
  EXPECT_EQ(rows("role", "\"" + text + "y\""), Rows({4}));
  EXPECT_EQ(rows("n", "1"), Rows({0, 1}));
  EXPECT_EQ(rows("n", "1.00"), Rows({0, 1}));
  EXPECT_EQ(rows("n", "\"1\""), Rows({2}));
  EXPECT_EQ(rows("n", "9007199254740993"), Rows({3}));
  EXPECT_EQ(rows("n", "9007199254740992"), Rows({4}));
  EXPECT_EQ(rows("ok", "true"), Rows({0}));
  EXPECT_EQ(rows("ok", "false"), Rows({1}));
  EXPECT_EQ(rows("ok", "\"true\""), Rows({2}));
  EXPECT_EQ(rows("rol", "\"user\""), Rows());
  EXPECT_EQ(rows("role", "\"use\""), Rows());
}

// Each once, wherever it is: frozen, added since, or both.
TEST(Facets, RolesAreVisitedUntilToldToStop) {
  Facets facets(kHashSeed);
  const auto roles = [&] {
    std::multiset<std::string> found;
    facets.for_each_role([&](std::string_view role, std::string_view key) {
      found.emplace(role);
      EXPECT_EQ(key, entry::content_string_prefix("role") + std::string(role));
      EXPECT_FALSE(rows_of(facets.content(key)).empty());
      return true;
    });
    return found;
  };
  EXPECT_EQ(roles(), std::multiset<std::string>());
  facets.add(0, with_content(R"({"role":"user","roles":"x"})"));
  facets.add(1, with_content(R"({"role":"tool"})"));
  facets.add(2, with_content(R"({"role":7,"rol":"a"})"));
  facets.add(3, with_content(R"({"role":"user"})"));
  EXPECT_EQ(roles(), (std::multiset<std::string>{"user", "tool"}));
  const std::string encoded = facets.encode();
  facets = Facets(kHashSeed);
  facets.set_frozen(Segment::adopt(encoded), 4);
  EXPECT_EQ(roles(), (std::multiset<std::string>{"user", "tool"}));
  facets.add(4, with_content(R"({"role":"user"})"));
  facets.add(5, with_content(R"({"role":"critic"})"));
  EXPECT_EQ(roles(), (std::multiset<std::string>{"user", "tool", "critic"}));
  for (int most = 1; most <= 3; ++most) {
    int count = 0;
    facets.for_each_role([&](std::string_view, std::string_view) { return ++count < most; });
    EXPECT_EQ(count, most);
  }
}

// What was compressed is not visited twice.
TEST(Facets, RolesAreVisitedOnceAfterACompression) {
  Facets facets(kHashSeed);
  for (uint32_t row = 0; !facets.is_compression_due(); ++row) {
    facets.add(row, with_content(R"({"role":"role)" + std::to_string(row % 5) + R"(","n":)" +
                                 std::to_string(row) + "}"));
  }
  facets.compress();
  ASSERT_FALSE(facets.is_compression_due());
  int count = 0;
  facets.for_each_role([&](std::string_view, std::string_view) { return ++count > 0; });
  EXPECT_EQ(count, 5);
}

// --- references ----------------------------------------------------------------------------------

TEST(Facets, ReferencesGoBothWays) {
  Facets facets(kHashSeed);
  entry::EntryFacts first;
  first.references = {"a", "b"};
  first.relations = {{"supersedes", {"a"}}, {"caused_by", {"c", "a"}}};
  facets.add(3, first);
  entry::EntryFacts second;
  second.relations = {{"supersedes", {"b"}}};
  facets.add(4, second);
  facets.add(5, entry::EntryFacts{});
  EXPECT_EQ(
      arrows_of(facets, 3),
      Arrows({{"", "a"}, {"", "b"}, {"supersedes", "a"}, {"caused_by", "c"}, {"caused_by", "a"}}));
  EXPECT_EQ(arrows_of(facets, 4), Arrows({{"supersedes", "b"}}));
  EXPECT_EQ(arrows_of(facets, 5), Arrows());
  EXPECT_EQ(arrows_of(facets, 99), Arrows());
  EXPECT_EQ(rows_of(facets.referring("a")), Rows({3}));
  EXPECT_EQ(rows_of(facets.referring("b")), Rows({3, 4}));
  EXPECT_EQ(rows_of(facets.referring("c")), Rows({3}));
  EXPECT_EQ(rows_of(facets.referring("b", "supersedes")), Rows({4}));
  EXPECT_EQ(rows_of(facets.referring("a", "caused_by")), Rows({3}));
  EXPECT_TRUE(facets.referring("c", "supersedes").is_empty());
  EXPECT_TRUE(facets.referring("a", "supersede").is_empty());
  EXPECT_TRUE(facets.referring("d").is_empty());
}

TEST(Facets, AReferenceSaidTwiceIsOneRow) {
  Facets facets(kHashSeed);
  entry::EntryFacts facts;
  facts.references = {"a", "a"};
  facets.add(0, facts);
  EXPECT_EQ(rows_of(facets.referring("a")), Rows({0}));
  EXPECT_EQ(arrows_of(facets, 0), Arrows({{"", "a"}, {"", "a"}})) << "as the entry says it";
}

TEST(Facets, LongTargetsAndHighRows) {
  Facets facets(kHashSeed);
  entry::EntryFacts facts;
  facts.references = {std::string(300, 't')};
  for (const uint32_t row : {255u, 256u, 65'536u, 1u << 24, kNoRow - 1}) facets.add(row, facts);
  for (const uint32_t row : {255u, 256u, 65'536u, 1u << 24, kNoRow - 1}) {
    EXPECT_EQ(arrows_of(facets, row), Arrows({{"", std::string(300, 't')}})) << row;
  }
  EXPECT_EQ(facets.referring(std::string(300, 't')).count(), 5u);
}

// --- frozen --------------------------------------------------------------------------------------

entry::EntryFacts facts_of_row(uint32_t row) {
  const std::string number = std::to_string(row);
  entry::EntryFacts facts = with_content("{\"role\":\"r" + std::to_string(row % 3) +
                                         "\",\"n\":" + std::to_string(row % 100) + "}");
  facts.tags = {"all." + std::to_string(row % 7), "own." + number};
  facts.trace_id = "trace" + std::to_string(row / 10);
  facts.references = {"e" + std::to_string(row / 2)};
  if (row % 4 == 0) facts.relations = {{"about", {"e" + std::to_string(row / 5)}}};
  return facts;
}

void expect_same(const Facets& a, const Facets& b, uint32_t row_count) {
  ASSERT_EQ(tags_of(a), tags_of(b));
  for (uint32_t i = 0; i < row_count; i += 13) {
    const std::string id = "e" + std::to_string(i);
    ASSERT_EQ(rows_of(a.trace("trace" + std::to_string(i))),
              rows_of(b.trace("trace" + std::to_string(i))));
    ASSERT_EQ(rows_of(a.referring(id)), rows_of(b.referring(id)));
    ASSERT_EQ(rows_of(a.referring(id, "about")), rows_of(b.referring(id, "about")));
    ASSERT_EQ(arrows_of(a, i), arrows_of(b, i));
  }
  for (const auto value : {"\"r0\"", "\"r2\"", "\"r3\""}) {
    const std::string key = key_of("role", value);
    ASSERT_EQ(rows_of(a.content(key)), rows_of(b.content(key)));
  }
}

Facets facets_of(uint32_t first, uint32_t end) {
  Facets facets(kHashSeed);
  for (uint32_t row = first; row < end; ++row) facets.add(row, facts_of_row(row));
  return facets;
}

TEST(Facets, FrozenAndAddedAnswerAsOne) {
  const Facets whole = facets_of(0, 700);
  for (const uint32_t cut : {0u, 1u, 128u, 500u, 700u}) {
    Facets parts = facets_of(cut, 700);
    auto segment = open_whole(facets_of(0, cut).encode());
    ASSERT_TRUE(segment.ok());
    parts.set_frozen(*std::move(segment), cut);
    expect_same(parts, whole, 700);
    EXPECT_TRUE(parts.encode() == whole.encode()) << cut;
  }
}

TEST(Facets, CompressingKeepsEveryAnswer) {
  constexpr uint32_t kRows = 12'000;  // enough that it pays
  const Facets whole = facets_of(0, kRows);
  Facets compressed = facets_of(0, kRows / 2);
  const uint64_t before = compressed.memory_bytes();
  compressed.compress();
  EXPECT_LT(compressed.memory_bytes(), before);
  for (uint32_t row = kRows / 2; row < kRows; ++row) compressed.add(row, facts_of_row(row));
  expect_same(compressed, whole, kRows);
  compressed.compress();
  expect_same(compressed, whole, kRows);
  EXPECT_TRUE(compressed.encode() == whole.encode());
}

TEST(Facets, AFewRowsAreNotWorthCompressing) {
  Facets facets = facets_of(0, 10);
  const uint64_t before = facets.memory_bytes();
  facets.compress();
  EXPECT_EQ(facets.memory_bytes(), before);
}

// Targets that start as the entry's own id are kept without that start.
TEST(Facets, ReferencesToIdsOfAnyLikeness) {
  Facets facets(kHashSeed);
  entry::EntryFacts facts;
  facts.id = "mem_01J8ZB";
  facts.references = {"mem_01J8ZA", "mem_01J8ZB", "mem_", "mem_01J8ZB-and-more", "other", "m"};
  facts.relations = {{"about", {"mem_01J8Z9", "x"}}};
  facets.add(7, facts);
  Arrows expected;
  for (const auto& target : facts.references) expected.emplace_back("", target);
  for (const auto& target : facts.relations[0].ids) expected.emplace_back("about", target);
  EXPECT_EQ(arrows_of(facets, 7, facts.id), expected);
  for (const auto& target : facts.references) {
    EXPECT_EQ(rows_of(facets.referring(target)), Rows({7})) << target;
  }
}

TEST(Facets, ReferencesOutOfAFileEndWhereTheyAreNotRight) {
  const std::string key("o\0\0\0\0", 5);
  for (const auto& [value, expected] : std::vector<std::pair<std::string, Arrows>>{
           {"", {}},
           {"\x05", {}},
           {"\x01\x01r", {}},
           {std::string("\x01\x01r\x09target", 10), {}},
           {std::string("\x01\x01r\x07target", 10), {}},
           {std::string("\x01\x01r\x06target", 10), {{"r", "target"}}},
           {std::string("\0\x01t", 3), {{"", "t"}}},
           {std::string("\x04\x01t", 3), {{"", "ent"}}},
           {std::string("\x0C\x01t", 3), {{"", "entry1t"}}},
           {std::string("\x0E\x01t", 3), {}},
           {std::string("\0\x01t\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 13), {{"", "t"}}},
           {std::string(20, '\xFF'), {}}}) {
    SegmentBuilder builder;
    builder.add(key, value);
    auto segment = open_whole(builder.encode());
    ASSERT_TRUE(segment.ok());
    Facets facets(kHashSeed);
    facets.set_frozen(*std::move(segment), 3);
    EXPECT_EQ(arrows_of(facets, 0, "entry1"), expected) << value.size();
  }
}

TEST(Facets, ListsOutOfAFileMayBeAnything) {
  for (const std::string& value : {std::string(), std::string("\x05"), std::string(40, '\xFF'),
                                   std::string("\x01\xFE\xFF\xFF\xFF\x1F", 6)}) {
    SegmentBuilder builder;
    builder.add("ta", value);
    auto segment = open_whole(builder.encode());
    ASSERT_TRUE(segment.ok());
    Facets facets(kHashSeed);
    facets.set_frozen(*std::move(segment), 3);
    facets.add(3, with_tags({"a"}));
    PostingCursor cursor(facets.tag("a"));
    while (cursor.next() != kNoRow) {
    }
    EXPECT_TRUE(open_whole(facets.encode()).ok()) << "still a dictionary";
  }
}

}  // namespace
}  // namespace varve::index
