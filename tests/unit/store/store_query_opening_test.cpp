// Which sessions a query across sessions opens, how often, and how many at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "session/upkeep/compaction.h"
#include "store_query_rig.h"

namespace varve::store {
namespace {

using Ids = std::vector<std::string>;

TEST(StoreQueryOpening, FewDescriptorsLeaveNobodyOut) {
  const std::string queries[] = {R"({"text":"fox"})", R"({"sort_by":"time"})",
                                 R"({"text":"fox","vector":[1,0]})"};
  for (const std::string& query : queries) {
    AskedSessions sessions;
    for (const std::string id : {"a", "b", "c", "d", "e", "f", "g"}) {
      sessions.make(id);
      sessions.add(id, id + "0", 5, 0);
    }
    const Ids all = sessions.ids_found(query);
    EXPECT_EQ(all.size(), 7u) << query;
    for (const long held_max : {6, 5, 2, 1}) {
      for (const int os_errno : {EMFILE, ENFILE}) {  // of this process, or of the system
        sessions.hold_at_most(held_max, os_errno);
        EXPECT_EQ(sessions.ids_found(query), all) << query << " with " << held_max;
      }
    }
    sessions.hold_at_most(0);
    const auto none = sessions.try_to_ask(query);
    EXPECT_EQ(none.code(), Code::kIo) << query;
    EXPECT_EQ(none.status().place().os_errno, EMFILE) << query;
    EXPECT_EQ(sessions.noted(), "") << query;
  }
}

TEST(StoreQueryOpening, WhoIsLeftOutIsToldOnceHoweverOftenItIsAsked) {
  for (const std::string query : {R"({"text":"fox"})", R"({"text":"fox","vector":[1,0]})"}) {
    AskedSessions sessions;
    for (const std::string id : {"a", "b", "c", "d"}) {
      sessions.make(id);
      sessions.add(id, id + "0", 5, 0);
    }
    sessions.refuse("a", Code::kIo);
    sessions.hold_at_most(2);
    const auto found = sessions.try_to_ask(query);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->results.size(), 3u) << query;
    EXPECT_EQ(sessions.noted(), "a ") << query;
  }
}

// With no descriptor to spare, each step opens each session that it asks.
TEST(StoreQueryOpening, WhoHasNoneOfTheWordsIsAskedOnce) {
  AskedSessions sessions;
  for (const std::string name : {"a", "b", "c", "d"}) {
    sessions.make(name);
    sessions.add(name, name + "1", 5, 1);
  }
  ASSERT_TRUE(sessions.at("c").add(entry_saying("badger", "c2")).ok());
  const auto ask = [&](const std::string& text, const std::string& more = "") {
    const auto found = sessions.try_to_ask(R"({"text":")" + text + "\"" + more + "}", 0);
    EXPECT_TRUE(found.ok()) << found.status().message();
    std::string ids;
    for (const auto& result : found->results) ids += result.id() + " ";
    return ids + sessions.opened();
  };
  EXPECT_EQ(ask("badger"), "c2 abcdcc");
  EXPECT_EQ(ask("+badger fox"), "c2 abcdcc");
  EXPECT_EQ(ask("\\\"a badger\\\"", R"(,"sort_by":"time")"), "c2 abcdcc");
  EXPECT_EQ(ask("marten"), "abcd");
  EXPECT_EQ(ask("fox", R"(,"limit":1)"), "a1 abcdabcdabcd");
  EXPECT_EQ(ask("-fox"), "c2 abcdabcdabcd") << "who has not the word has what is asked for";
}

// Its entries of later are in no page either, whatever becomes of its rows.
TEST(StoreQueryOpening, WhoHasNoneOfTheWordsAtTheFirstPageHasNoneOnTheNext) {
  AskedSessions sessions;
  for (const std::string name : {"a", "b"}) sessions.make(name);
  sessions.add("a", "a1", 5, 1);
  sessions.add("a", "a2", 5, 2);
  for (const std::string id : {"b1", "b2"}) {
    ASSERT_TRUE(sessions.at("b").add(entry_saying("badger", id)).ok());
  }
  const std::string oldest_first = R"({"text":"fox","sort_by":"time","order":"asc","limit":)";
  const auto first = sessions.ask(oldest_first + "1}");
  ASSERT_TRUE(sessions.at("b").remove("b1", "").ok());
  ASSERT_TRUE(sessions.at("b").compact({}).ok());
  sessions.add("b", "b3", 9, 9);
  const auto next = sessions.ask(oldest_first + R"(9,"after":")" + first.next + "\"}");
  std::string ids;
  for (const auto* page : {&first, &next}) {
    for (const auto& result : page->results) ids += result.id() + " ";
  }
  EXPECT_EQ(ids, "a1 a2 ");
}

// Places that are open go to those who are asked again.
TEST(StoreQueryOpening, KeepsThoseOpenThatHaveTheWords) {
  AskedSessions sessions;
  for (const std::string name : {"a", "b", "c", "d"}) {
    sessions.make(name);
    ASSERT_TRUE(sessions.at(name).add(entry_saying("badger", name + "1")).ok());
  }
  sessions.add("c", "c2", 5, 1);
  sessions.add("d", "d2", 5, 1);
  const size_t of_two = 2 * 2 * kFilesOfSessionMax;
  ASSERT_TRUE(sessions.try_to_ask(R"({"text":"fox"})", of_two).ok());
  EXPECT_EQ(sessions.opened(), "abcd");
}

TEST(StoreQueryOpening, LeavesTheHostHalfOfTheDescriptors) {
  AskedSessions sessions;
  long held_max = 0;
  for (int number = 0; number < 30; ++number) {
    const std::string id = "s" + std::to_string(number);
    sessions.make(id);
    sessions.add(id, id + "a", 5, 1);
    sessions.before(id, [&] { held_max = std::max(held_max, sessions.held()); });
  }
  ASSERT_TRUE(sessions.try_to_ask(R"({"text":"fox"})").ok());
  EXPECT_EQ(held_max, 29);
  held_max = 0;
  ASSERT_TRUE(sessions.try_to_ask(R"({"text":"fox"})", size_t{10} * 2 * kFilesOfSessionMax).ok());
  EXPECT_EQ(held_max, 10);
}

// Sessions s100, s101, ... of two entries each; the later, the longer, and so the less a match.
// Every seventh says it as the one before, at another time.
void make_ever_longer(AskedSessions& sessions, int count) {
  for (int i = 100; i < 100 + count; ++i) {
    session::Session& session = sessions.make("s" + std::to_string(i));
    for (const std::string half : {"a", "b"}) {
      std::string content = "fox";
      for (int word = 0; word < (i % 7 == 0 ? i - 1 : i) - 98; ++word) content += " thing";
      const std::string entry = R"({"type":"finding","id":"e)" + std::to_string(i) + half +
                                R"(","content":")" + content + R"(","timestamp":")" +
                                format_rfc3339(test::kStartMs + int64_t{(i * 37) % 50} * 60'000) +
                                "\"}";
      const auto added = session.add(entry);
      ASSERT_TRUE(added.ok()) << added.status().message();
    }
  }
}

constexpr size_t kNoneKept = 11;  // [files] of which none is for a session between the steps

TEST(StoreQueryOpening, ByMatchOnlySessionsThatMayHaveTheFirstAreOpenedForThem) {
  AskedSessions sessions;
  make_ever_longer(sessions, 200);
  const std::string query = R"({"text":"fox","sort_by":"match","limit":3)";
  const auto whole = sessions.ids_found(R"({"text":"fox","sort_by":"match","limit":1000})");
  ASSERT_EQ(whole.size(), 400u);
  sessions.opened();
  ASSERT_TRUE(sessions.try_to_ask(query + "}", kNoneKept).ok());
  EXPECT_LT(sessions.opened().size() / 4, 2u * 200 + 50) << "and 600 when each is asked";
  Ids paged;
  std::string after;
  for (int page = 0; page < 200; ++page) {
    const auto found = sessions.try_to_ask(query + after + "}", kNoneKept);
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (const auto& result : found->results) paged.push_back(result.id());
    if (found->next.empty()) break;
    after = R"(,"after":")" + found->next + "\"";
  }
  EXPECT_EQ(paged, whole);
}

TEST(StoreQueryOpening, WhereTheFirstCannotBeReadSessionsThatWerePassedOverAreAskedAfterAll) {
  for (const size_t open_files_max : {kNoneKept, SIZE_MAX}) {
    AskedSessions sessions;
    make_ever_longer(sessions, 60);
    for (int i = 100; i < 150; ++i) {
      for (const std::string half : {"a", "b"}) {
        sessions.damage("s" + std::to_string(i), "e" + std::to_string(i) + half);
      }
    }
    const auto found =
        sessions.try_to_ask(R"({"text":"fox","sort_by":"match","limit":3})", open_files_max);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->results.size(), 3u);
    EXPECT_EQ(found->results[0].id(), "e150b");
    EXPECT_FALSE(found->next.empty());
  }
}

// The results of many sessions that are not kept open are not all kept either.
TEST(StoreQueryOpening, PagesAreTheSameWhereNoSessionIsKeptOpen) {
  AskedSessions sessions;
  make_ever_longer(sessions, 80);
  for (const std::string sort : {R"("relevance")", R"("time","order":"asc")", R"("match")"}) {
    const std::string query = R"({"text":"fox","sort_by":)" + sort;
    const auto whole = sessions.ids_found(query + R"(,"limit":1000})");
    ASSERT_EQ(whole.size(), 160u);
    Ids paged;
    std::string after;
    for (int page = 0; page < 60; ++page) {
      const auto found = sessions.try_to_ask(query + R"(,"limit":3)" + after + "}", kNoneKept);
      ASSERT_TRUE(found.ok()) << found.status().message();
      for (const auto& result : found->results) paged.push_back(result.id());
      if (found->next.empty()) break;
      after = R"(,"after":")" + found->next + "\"";
    }
    EXPECT_EQ(paged, whole) << sort;
  }
}

}  // namespace
}  // namespace varve::store
