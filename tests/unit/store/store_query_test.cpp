// Queries across sessions, against an order that is made by hand, and what they read.
#include "store/store_query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "session/upkeep/compaction.h"
#include "store_query_rig.h"
#include "support/environment.h"
#include "support/no_memory/no_memory.h"

namespace varve::store {
namespace {

using Ids = std::vector<std::string>;
constexpr auto kByImportance = R"({"sort_by":"importance","limit":2})";

TEST(StoreQuery, PagesAreTheOrderOfAllSessions) {
  std::mt19937 random(11);
  for (const size_t limit : {1u, 2u, 3u, 7u, 40u}) {
    AskedSessions sessions;
    std::vector<std::tuple<int, int, std::string, int, std::string>> all;
    for (const std::string name : {"a", "b", "c", "d"}) {
      sessions.make(name);
      for (int i = 0; i < 9; ++i) {
        const auto importance = static_cast<int>(random() % 3);
        const auto minute = static_cast<int>(random() % 3);
        const std::string id = name + std::to_string(i);
        sessions.add(name, id, importance, minute);
        all.emplace_back(-importance, -minute, name, -i, id);
      }
    }
    std::sort(all.begin(), all.end());
    Ids wanted;
    for (const auto& one : all) wanted.push_back(std::get<4>(one));
    Ids got;
    const std::string head = R"({"sort_by":"importance","limit":)" + std::to_string(limit);
    for (std::string after = "}"; !after.empty();) {
      const auto page = sessions.ask(head + after);
      ASSERT_LE(page.results.size(), limit);
      ASSERT_TRUE(page.next.empty() || page.results.size() == limit);
      for (const auto& result : page.results) got.push_back(result.id());
      after = page.next.empty() ? "" : ",\"after\":\"" + page.next + "\"}";
    }
    EXPECT_EQ(got, wanted) << limit;
  }
}

// By `best`, matches beyond those that it ranks: here as good as the best match, all of them.
TEST(StoreQuery, EqualMatchesBeyondThoseThatBestRanksAreOnSomePage) {
  AskedSessions sessions;
  int minute = 0;
  for (const std::string name : {"a", "b", "c"}) {  // the newest is asked last
    sessions.make(name);
    for (int i = 0; i < 350; ++i) sessions.add(name, name + std::to_string(i), 5, minute++);
  }
  const Ids all = sessions.ids_found(R"({"text":"fox","limit":2000})");
  ASSERT_EQ(all.size(), 1050u);
  Ids got;
  for (std::string after = "}"; !after.empty();) {
    const auto page = sessions.ask(R"({"text":"fox","limit":650)" + after);
    for (const auto& result : page.results) got.push_back(result.id());
    after = page.next.empty() ? "" : ",\"after\":\"" + page.next + "\"}";
  }
  EXPECT_EQ(got, all);
  EXPECT_LT(sessions.ask(R"({"text":"fox","limit":2000})").results.back().key, 0);
}

TEST(StoreQuery, ReadsOnlyWhatItReturns) {
  AskedSessions sessions;
  sessions.make("a");
  sessions.make("b");
  for (int i = 0; i < 3; ++i) sessions.add("a", "a" + std::to_string(i), 9 - i, 0);
  sessions.add("b", "b0", 2, 0);
  sessions.damage("b", "b0");
  EXPECT_EQ(sessions.ids_found(kByImportance), (Ids{"a0", "a1"}));
  EXPECT_EQ(sessions.unreadable_count(), 0u);
}

// Once a page is found, sessions tell of nothing that comes behind it: unless some of the page
// cannot be read.
TEST(StoreQuery, WhatWasPassedOverIsAskedForWhenOthersCannotBeRead) {
  AskedSessions sessions;
  for (const char* id : {"a", "b", "c", "d"}) sessions.make(id);
  sessions.add("a", "a9", 9, 0);
  sessions.add("a", "a8", 8, 0);
  sessions.add("b", "b2", 2, 0);
  sessions.add("b", "b1", 1, 0);
  sessions.add("c", "c7", 7, 0);
  sessions.add("d", "d6", 6, 0);
  sessions.add("d", "d5", 5, 0);
  sessions.damage("a", "a9");
  sessions.damage("a", "a8");
  const auto page = sessions.ask(kByImportance);
  ASSERT_EQ(page.results.size(), 2u);
  EXPECT_EQ(page.results[0].id(), "c7");
  EXPECT_EQ(page.results[1].id(), "d6");
  EXPECT_EQ(sessions.unreadable_count(), 2u) << "each told once";
  EXPECT_FALSE(page.next.empty());
  const std::string after = R"({"sort_by":"importance","limit":)";
  EXPECT_EQ(sessions.ids_found(after + R"(3,"after":")" + page.next + R"("})"),
            (Ids{"d5", "b2", "b1"}));
}

// By match, sessions are passed over that cannot have a better one; here they are all alike, and
// the latest comes first.
TEST(StoreQuery, SessionsThatWerePassedOverAreAskedWhenOthersCannotBeRead) {
  AskedSessions sessions;
  for (int i = 10; i < 45; ++i) {
    const std::string name = "s" + std::to_string(i);
    sessions.make(name);
    if (i < 42) {  // as many as are asked at once
      sessions.add(name, name + "early", 5, i);
      sessions.add(name, name + "late", 5, 1000 + i);
    } else {
      sessions.add(name, name + "middle", 5, 500 + i);
    }
  }
  sessions.ask(R"({"text":"fox","sort_by":"match","limit":0})");  // now the words are indexed
  for (int i = 10; i < 42; ++i) {
    sessions.damage("s" + std::to_string(i), "s" + std::to_string(i) + "late");
  }
  EXPECT_EQ(sessions.ids_found(R"({"text":"fox","sort_by":"match","limit":2})"),
            (Ids{"s44middle", "s43middle"}));
}

TEST(StoreQuery, TheSmallestKeysComeFirstWhereTheOrderSaysSo) {
  AskedSessions sessions;
  for (const char* id : {"a", "b", "c"}) sessions.make(id);
  for (int i = 1; i < 4; ++i) {
    sessions.add("a", "a" + std::to_string(3 * i), 3 * i, 0);
    sessions.add("b", "b" + std::to_string(3 * i - 1), 3 * i - 1, 0);
    sessions.add("c", "c" + std::to_string(3 * i - 2), 3 * i - 2, 0);
  }
  EXPECT_EQ(sessions.ids_found(R"({"sort_by":"importance","order":"asc","limit":3})"),
            (Ids{"c1", "b2", "a3"}));
}

TEST(StoreQuery, WhatCannotBeReadMakesRoomForTheNext) {
  AskedSessions sessions;
  sessions.make("a");
  sessions.make("b");
  sessions.add("a", "a0", 9, 0);
  sessions.add("a", "a1", 5, 0);
  sessions.add("b", "b0", 7, 0);
  sessions.damage("a", "a0");
  EXPECT_EQ(sessions.ids_found(kByImportance), (Ids{"b0", "a1"}));
  EXPECT_EQ(sessions.unreadable_count(), 1u);
  EXPECT_TRUE(sessions.ask(kByImportance).next.empty());
}

TEST(StoreQuery, AsksASessionAgainWhoseLogWasReplacedMeanwhile) {
  AskedSessions sessions;
  session::Session& first = sessions.make("a");
  sessions.make("b");
  sessions.add("a", "a0", 9, 0);
  sessions.add("a", "a1", 8, 0);
  sessions.add("a", "a2", 3, 0);
  sessions.add("b", "b0", 5, 0);
  int compacted_count = 0;
  sessions.before("b", [&] {
    if (compacted_count++ > 0) return;
    EXPECT_TRUE(first.remove("a0", "").ok());
    EXPECT_TRUE(first.compact({}).ok());
  });
  EXPECT_EQ(sessions.ids_found(kByImportance), (Ids{"a1", "b0"}));
  EXPECT_EQ(compacted_count, 1);
  EXPECT_FALSE(sessions.ask(kByImportance).next.empty());  // a2
}

TEST(StoreQuery, APageOfWhichNothingCanBeReadIsNotTheLast) {
  AskedSessions sessions;
  sessions.make("a");
  sessions.make("b");
  sessions.add("a", "a0", 9, 0);
  sessions.add("a", "a1", 5, 0);
  sessions.add("b", "b0", 7, 0);
  sessions.damage("a", "a0");
  const std::string head = R"({"sort_by":"importance","limit":1)";
  Ids found;
  int pages = 0;
  for (std::string after = "}"; !after.empty() && pages < 9; ++pages) {
    const auto page = sessions.ask(head + after);
    for (const auto& result : page.results) found.push_back(result.id());
    after = page.next.empty() ? "" : ",\"after\":\"" + page.next + "\"}";
  }
  EXPECT_EQ(found, (Ids{"b0", "a1"}));
  AskedSessions alone;
  alone.make("a");
  alone.add("a", "a0", 9, 0);
  alone.add("a", "a1", 5, 0);
  alone.damage("a", "a0");
  const auto first = alone.ask(head + "}");
  EXPECT_TRUE(first.results.empty());
  ASSERT_FALSE(first.next.empty());
  const auto second = alone.ask(head + ",\"after\":\"" + first.next + "\"}");
  ASSERT_EQ(second.results.size(), 1u);
  EXPECT_EQ(second.results[0].id(), "a1");
  EXPECT_TRUE(alone.ask(R"({"limit":0})").next.empty()) << "nothing was asked for";
}

// What was found to be unreadable is not read again when another session is asked anew.
TEST(StoreQuery, AnUnreadableEntryIsCountedOnceThoughALogIsReplaced) {
  AskedSessions sessions;
  sessions.make("a");
  session::Session& second = sessions.make("b");
  sessions.make("c");
  sessions.add("a", "a0", 9, 0);
  sessions.add("b", "b0", 7, 0);
  sessions.add("b", "b1", 6, 0);
  sessions.add("c", "c0", 5, 0);
  sessions.damage("a", "a0");
  bool is_first = true;
  sessions.before("c", [&] {
    if (!std::exchange(is_first, false)) return;
    EXPECT_TRUE(second.remove("b0", "").ok());
    EXPECT_TRUE(second.compact({}).ok());
  });
  EXPECT_EQ(sessions.ids_found(kByImportance), (Ids{"b1", "c0"}));
  EXPECT_EQ(sessions.unreadable_count(), 1u);
}

// Of equal keys and times, those behind an entry that is nowhere any more.
TEST(StoreQuery, APageBeginsBehindAnEntryThatWasCompactedAway) {
  for (const std::string order : {"desc", "asc"}) {
    for (const size_t open_files_max : {SIZE_MAX, size_t{0}}) {
      AskedSessions sessions;
      for (const std::string id : {"a", "b"}) {
        sessions.make(id);
        for (int i = 0; i < 4; ++i) sessions.add(id, id + std::to_string(i), 5, 0);
      }
      const std::string query = R"({"sort_by":"importance","order":")" + order + "\"";
      Ids all = sessions.ids_found(query + "}");
      ASSERT_EQ(all.size(), 8u);
      Ids found;
      std::string after;
      for (int page = 0; page < 8; ++page) {
        const auto results =
            sessions.try_to_ask(query + ",\"limit\":1" + after + "}", open_files_max);
        ASSERT_TRUE(results.ok()) << results.status().message();
        ASSERT_EQ(results->results.size(), 1u) << order << " " << page;
        const std::string id = results->results[0].id();
        found.push_back(id);
        after = ",\"after\":\"" + results->next + "\"";
        session::Session& session = sessions.at(id.substr(0, 1));
        ASSERT_TRUE(session.remove(id, "").ok());
        ASSERT_TRUE(session.compact({}).ok());
      }
      EXPECT_EQ(found, all) << order;
    }
  }
}

TEST(StoreQuery, SessionsMadeSinceTheFirstPageAreInNoPage) {
  for (const std::string words : {"", R"("text":"fox",)"}) {
    AskedSessions sessions;
    sessions.make("a");
    sessions.add("a", "a0", 9, 0);
    sessions.add("a", "a1", 5, 0);
    const std::string head = "{" + words + R"("sort_by":"importance","limit":1)";
    const auto first = sessions.ask(head + "}");
    sessions.make("b");
    sessions.add("b", "b0", 7, 0);
    const auto second = sessions.ask(head + ",\"after\":\"" + first.next + "\"}");
    ASSERT_EQ(second.results.size(), 1u) << words;
    EXPECT_EQ(second.results[0].id(), "a1") << words;
    EXPECT_TRUE(second.next.empty()) << words;
  }
}

// What was the best match when the first page was asked for, which may be gone by now.
TEST(StoreQuery, EveryPageIsMeasuredByTheBestMatchOfTheFirst) {
  AskedSessions sessions;
  const auto add = [&](const std::string& session, const std::string& id, double importance,
                       int other_words) {
    std::string content = "fox";
    for (int i = 0; i < other_words; ++i) content += " w" + std::to_string(i);
    const auto added = sessions.at(session).add(
        R"({"type":"finding","id":")" + id + R"(","importance":)" + std::to_string(importance) +
        R"(,"timestamp":")" + format_rfc3339(test::kStartMs) + R"(","content":")" + content +
        "\"}");
    ASSERT_TRUE(added.ok()) << added.status().message();
  };
  for (const std::string id : {"a", "b"}) sessions.make(id);
  add("a", "best", 0.6, 0);
  add("b", "second", 0.8, 60);
  add("b", "third", 0.7, 60);
  const std::string head = R"({"text":"fox","sort_by":"relevance","limit":1)";
  std::string next;
  Ids found;
  for (int page = 0; page < 3; ++page) {
    const auto results = sessions.ask(head + (page == 0 ? "}" : ",\"after\":\"" + next + "\"}"));
    ASSERT_EQ(results.results.size(), 1u) << page;
    found.emplace_back(results.results[0].id());
    next = results.next;
    if (page > 0) continue;
    ASSERT_TRUE(sessions.at("a").remove("best", "").ok());
  }
  EXPECT_EQ(found, (Ids{"best", "second", "third"}));
}

TEST(StoreQuery, WhoCannotBeReadIsLeftOutAndAFailureOfTheQueryItselfEndsIt) {
  const std::string queries[] = {R"({"text":"fox"})", R"({"sort_by":"time"})",
                                 R"({"text":"fox","vector":[1,0]})"};
  for (const std::string& query : queries) {
    for (const Code code : {Code::kIo, Code::kCorruption, Code::kBusy, Code::kFormatVersion}) {
      AskedSessions sessions;
      for (const std::string id : {"a", "b"}) {
        sessions.make(id);
        sessions.add(id, id + "0", 5, 0);
      }
      sessions.refuse("a", code);
      const auto found = sessions.try_to_ask(query);
      ASSERT_TRUE(found.ok()) << query;
      ASSERT_EQ(found->results.size(), 1u) << query;
      EXPECT_EQ(found->results[0].id(), "b0") << query;
      EXPECT_TRUE(sessions.noted().starts_with("a ")) << query;
      EXPECT_EQ(sessions.noted().find('b'), std::string::npos) << query;
    }
    for (const Code code : {Code::kInvalidArgument, Code::kNoMemory}) {
      AskedSessions sessions;
      sessions.make("a");
      sessions.make("b");
      sessions.refuse("a", code);
      sessions.refuse("b", Code::kInvalidArgument);
      EXPECT_EQ(sessions.try_to_ask(query).code(), code) << "the first is told: " << query;
      EXPECT_EQ(sessions.noted(), "") << query;
    }
  }
}

TEST(StoreQuery, ADefectIsAnAnswerAlsoWhenThereIsNoMemoryToTellOfIt) {
  AskedSessions sessions;
  sessions.make("a");
  const std::runtime_error defect("a text that is too long to stand in a string without memory");
  sessions.before("a", [&] { throw defect; });
  EXPECT_EQ(sessions.try_to_ask("{}").code(), Code::kInternal);
  std::optional<varve_test::NoMemory> limit;
  sessions.before("a", [&] {
    limit.emplace();
    throw defect;
  });
  const Code code = sessions.try_to_ask("{}").code();
  limit.reset();
  EXPECT_EQ(code, Code::kNoMemory);
}

// Also of a session that is not kept open between the steps.
// Where nobody in a session has a word, its entries do not match as if none had been asked for.
TEST(StoreQuery, EntriesAreMeasuredByWordsThatOnlyAnotherSessionHas) {
  AskedSessions sessions;
  const auto say = [&](const std::string& session, const std::string& id, const char* content) {
    const auto added = sessions.make(session).add(R"({"type":"finding","id":")" + id +
                                                  R"(","content":")" + content + "\"}");
    EXPECT_TRUE(added.ok()) << added.status().message();
  };
  say("a", "kettle", "the kettle");
  say("b", "tower", "the tower");
  say("c", "kettles", "the kettle, and all that is said of kettles");
  for (const std::string sort_by : {"best", "match", "relevance"}) {
    const auto found = sessions.ask(R"({"text":"+the kettle","sort_by":")" + sort_by + "\"}");
    ASSERT_EQ(found.results.size(), 3u);
    EXPECT_EQ(found.results[2].id(), "tower") << sort_by;
    EXPECT_EQ(found.results[2].match_quality, 0) << sort_by;
    EXPECT_EQ(found.results[0].match_quality, 1) << sort_by;
  }
}

// A session that has the hash whole as well counts its beginning as often as another does.
TEST(StoreQuery, AHashIsMeasuredAlikeInOneSessionAndInSeveral) {
  const auto matches_in = [](const std::vector<std::string>& names) {
    AskedSessions sessions;
    for (const std::string& name : names) sessions.make(name);
    for (const auto& [name, id, text] :
         {std::tuple(names.front(), "twice", "9fceb02 before 9fceb02"),
          std::tuple(names.front(), "once", "9fceb02 before all others"),
          std::tuple(names.back(), "whole", "9fceb02d0ae598e95dc970b74767f19372d61af8 is it")}) {
      EXPECT_TRUE(sessions.at(name).add(entry_saying(text, id)).ok());
    }
    std::map<std::string, double> matches;
    for (const auto& result : sessions.ask(R"({"text":"9fceb02","sort_by":"match"})").results) {
      matches[result.id()] = result.match_quality;
    }
    return matches;
  };
  const auto of_one = matches_in({"a"});
  EXPECT_EQ(of_one.size(), 3u);
  EXPECT_GT(of_one.at("twice"), of_one.at("once"));
  EXPECT_EQ(of_one, matches_in({"a", "b"}));
}

TEST(StoreQuery, ARankByAVectorIsAmongAllSessions) {
  AskedSessions sessions;
  const auto put = [&](const std::string& session, const std::vector<float>& vector) {
    session::Session& made = sessions.make(session);
    sessions.add(session, "of-" + session, 5, 0);
    EXPECT_TRUE(made.put_vector("of-" + session, vector).ok());
  };
  put("a", {1.0F, 1.0F});
  put("b", {1.0F, 0.0F});
  put("c", {0.0F, 1.0F});
  const auto found = sessions.ask(R"({"vector":[1,0],"explain":true})");
  ASSERT_EQ(found.results.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::string rank = "\"rank\":" + std::to_string(i + 1) + ",";
    EXPECT_NE(found.results[i].explanation.find(rank), std::string::npos)
        << found.results[i].explanation;
  }
}

TEST(StoreQuery, ExplainsHowManyWereAskedAndInWhatOrder) {
  AskedSessions sessions;
  for (const std::string id : {"a", "b"}) sessions.make(id);
  sessions.add("a", "e1", 5, 0);
  const auto found = sessions.ask(R"({"explain":true,"sort_by":"importance"})");
  EXPECT_EQ(found.explanation, R"({"sessions":2,"sort_by":"importance"})");
}

TEST(StoreQuery, AVectorOfAnotherDimensionIsRefusedWhereverItMeetsOne) {
  const std::vector<float> of_three = {1.0F, 0.0F, 0.0F};
  for (const size_t others : {size_t{1}, size_t{257}}) {
    AskedSessions sessions;
    for (size_t i = 0; i < others; ++i) sessions.make("s" + std::to_string(i));
    session::Session& last = sessions.make("z");
    sessions.add("z", "z0", 5, 0);
    ASSERT_TRUE(last.put_vector("z0", of_three).ok());
    EXPECT_EQ(sessions.try_to_ask(R"({"vector":[1,0]})").code(), Code::kInvalidArgument);
    EXPECT_EQ(sessions.try_to_ask(R"({"vector":[1,0],"text":"fox"})").code(),
              Code::kInvalidArgument);
    EXPECT_EQ(sessions.ask(R"({"vector":[1,0,0],"text":"fox"})").results.size(), 1u);
  }
}

}  // namespace
}  // namespace varve::store
