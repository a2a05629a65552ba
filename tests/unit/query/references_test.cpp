#include "query/references.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "query_fixture.h"

namespace varve::query {
namespace {

//   a -> b -> c -> a     a circle
//   c -caused_by-> d     d -> nowhere     e -> e     x (alone)
class References : public ::testing::Test {
 protected:
  References() {
    add("a", R"("references":["b"])");
    add("b", R"("references":["c"])");
    add("c", R"("references":["a"],"relations":{"caused_by":["d"]})");
    add("d", R"("references":["nowhere"])");
    add("e", R"("references":["e"])");
    add("x", R"("references":[])");
  }

  void add(const std::string& id, const std::string& members) {
    log_.add(R"({"type":"finding","content":"-","id":")" + id + R"(",)" + members + "}");
  }

  // Ids found, by name.
  std::string walk(const std::vector<std::string>& ids, uint32_t depth_max,
                   std::string_view relation = {}, uint32_t row_end = 100,
                   int64_t now_ms = kNowMs) {
    const index::Index& index = log_.index();
    std::vector<std::string> found;
    bool is_damaged = false;
    for (const uint32_t row :
         walk_references(index, ids, relation, depth_max, std::min(row_end, index.size()), now_ms,
                         &is_damaged)) {
      found.emplace_back(index.id(row));
    }
    EXPECT_FALSE(is_damaged);
    std::sort(found.begin(), found.end());
    std::string all;
    for (const auto& id : found) all += id;
    return all;
  }

  QueryLog log_;
};

TEST_F(References, LeadOutwardsAndInwards) {
  EXPECT_EQ(walk({"a"}, 1), "bc") << "a names b, c names a";
  EXPECT_EQ(walk({"d"}, 1), "c");
  EXPECT_EQ(walk({"x"}, 5), "");
}

TEST_F(References, EndWithTheRows) {
  EXPECT_EQ(walk({"b"}, 1, {}, 2), "a") << "c, which b names, comes later";
  EXPECT_EQ(walk({"c"}, 1, {}, 2), "b") << "so does what c names";
  EXPECT_EQ(walk({"c"}, 1, {}, 3), "ab");
}

TEST_F(References, GoAsDeepAsAskedAndCirclesEnd) {
  EXPECT_EQ(walk({"d"}, 2), "abc") << "c, then what c names and what names c";
  EXPECT_EQ(walk({"a"}, 2), "bcd");
  EXPECT_EQ(walk({"a"}, 64), "bcd");
  EXPECT_EQ(walk({"e"}, 64), "") << "an entry that names itself";
}

TEST_F(References, FollowOneRelation) {
  EXPECT_EQ(walk({"c"}, 64, "caused_by"), "d");
  EXPECT_EQ(walk({"d"}, 64, "caused_by"), "c");
  EXPECT_EQ(walk({"a"}, 64, "caused_by"), "");
  EXPECT_EQ(walk({"c"}, 64, "references"), "ab");
  EXPECT_EQ(walk({"c"}, 64, "unknown"), "");
}

// What names an entry by a relation is not among those that name it plainly, and the other way
// round; a relation may be called as the plain member is.
TEST_F(References, OfOneKindAreNotThoseOfAnother) {
  add("p", R"("references":["x"])");
  add("q", R"("relations":{"about":["x"]})");
  add("r", R"("references":["a"],"relations":{"about":["x"],"references":["e"]})");
  add("s", R"("references":["x"],"relations":{"about":["x"]})");
  EXPECT_EQ(walk({"x"}, 1), "pqrs");
  EXPECT_EQ(walk({"x"}, 1, "references"), "ps");
  EXPECT_EQ(walk({"x"}, 1, "about"), "qrs");
  EXPECT_EQ(walk({"e"}, 1, "references"), "r");
  EXPECT_EQ(walk({"r"}, 1, "references"), "ae");
}

TEST_F(References, ToNothingAndFromNothing) {
  EXPECT_EQ(walk({"nowhere"}, 1), "d") << "what names it is found";
  EXPECT_EQ(walk({"nobody_knows"}, 64), "");
  EXPECT_EQ(walk({}, 64), "");
}

TEST_F(References, FromSeveralDoNotFindWhereTheyBegan) {
  EXPECT_EQ(walk({"a", "d", "a"}, 1), "bc");
  EXPECT_EQ(walk({"a", "b", "c", "d"}, 3), "");
}

TEST_F(References, DeletedAndExpiredEntriesLeadNowhere) {
  log_.index().add_tombstone("c");
  EXPECT_EQ(walk({"a"}, 64), "b");
  EXPECT_EQ(walk({"a"}, 64, "references"), "b") << "of what names it plainly, too";
  EXPECT_EQ(walk({"c"}, 1), "b") << "of a deleted start only what names it is known";
  add("f", R"("references":["x"],"expires_at":"2026-01-01T00:00:00Z")");
  EXPECT_EQ(walk({"x"}, 1), "");
  EXPECT_EQ(walk({"x"}, 1, "", 100, 0), "f") << "before it expired";
}

TEST_F(References, OnlyTheFirstRowsOfAPageCount) {
  EXPECT_EQ(walk({"a"}, 64, "", 2), "b");
  EXPECT_EQ(walk({"a"}, 64, "", 3), "bc");
}

TEST_F(References, AQueryCombinesThemWithItsOtherConditions) {
  EXPECT_EQ(log_.all_ids(R"({"references":["d"],"max_depth":2})"), "a b c");
  EXPECT_EQ(log_.all_ids(R"({"references":["d"],"max_depth":2,"ids":["b","x"]})"), "b");
  EXPECT_EQ(log_.all_ids(R"({"references":["d"],"relation":"caused_by"})"), "c");
}

// To ask the hub about each of them anew read its references 50,000 times.
TEST_F(References, OfOneEntryToVeryManyAreReadOnce) {
  constexpr uint32_t kCount = 50'000;
  std::vector<std::string> ids;
  for (uint32_t i = 0; i < kCount; ++i) ids.push_back("many" + std::to_string(i));
  entry::EntryFacts facts;
  facts.type = "finding";
  for (const auto& id : ids) {
    facts.id = id;
    log_.add_facts(facts);
  }
  facts.id = "hub";
  facts.relations.push_back({"caused_by", ids});
  log_.add_facts(facts);
  facts.id = "plain_hub";
  facts.relations.clear();
  facts.references = ids;
  const uint32_t plain_hub = log_.add_facts(facts);
  bool is_damaged = false;
  EXPECT_EQ(
      walk_references(log_.index(), ids, "references", 2, log_.index().size(), kNowMs, &is_damaged),
      std::vector<uint32_t>{plain_hub});
}

}  // namespace
}  // namespace varve::query
