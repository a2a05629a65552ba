// Queries across sessions, against an order that is made by hand, and what they read.
#include "store/store_query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "log/memory_storage.h"
#include "query/parse.h"
#include "session/metadata/metadata.h"
#include "session/upkeep/compaction.h"
#include "support/environment.h"
#include "support/no_memory/no_memory.h"

namespace varve::store {
namespace {

class Sessions {
 public:
  session::Session& make(const std::string& id) {
    session::CreateOptions options;
    options.session_id = id;
    auto& memory = memories_[id] = std::make_shared<log::MemorySession>();
    memory->documents.emplace("metadata.json",
                              session::Metadata::make(options, clock_.now_ms()).encode());
    auto opened =
        session::Session::open(id, std::make_unique<log::MemoryStorage>(memory, clock_),
                               {&clock_, &random_, &events_, &counters_, {}, nullptr, nullptr});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    sessions_[id] = *std::move(opened);
    ids_.push_back(id);
    return *sessions_[id];
  }

  session::Session& at(const std::string& id) { return *sessions_.at(id); }

  void add(const std::string& session_id, const std::string& id, int importance, int minute) {
    const std::string entry = R"({"type":"finding","content":"fox","id":")" + id +
                              R"(","importance":0.)" + std::to_string(importance) +
                              R"(,"timestamp":")" +
                              format_rfc3339(test::kStartMs + int64_t{minute} * 60'000) + "\"}";
    const auto added = sessions_[session_id]->add(entry);
    EXPECT_TRUE(added.ok()) << added.status().message();
  }

  // A line that was right when it was indexed.
  void damage(const std::string& session_id, const std::string& id) {
    std::string& entries = memories_[session_id]->entries;
    const size_t at = entries.find("\"id\":\"" + id + "\"");
    ASSERT_NE(at, std::string::npos);
    entries[at + 6] ^= 1;
  }

  // Before the session of that id is opened.
  void before(const std::string& id, std::function<void()> action) {
    before_[id] = std::move(action);
  }

  // The session of that id cannot be opened.
  void refuse(const std::string& id, Code code) { refused_[id] = code; }

  // Whose turn it was since the last call, one id behind the other.
  std::string opened() { return std::exchange(opened_, {}); }

  // So many sessions can be held open at once.
  void hold_at_most(long count, int os_errno = EMFILE) {
    held_max_ = count;
    lacking_ = os_errno;
  }

  Result<session::QueryResults> try_to_ask(const std::string& text,
                                           size_t open_files_max = SIZE_MAX) {
    const auto query = query::parse_query(text, query::Scope::kStore);
    EXPECT_TRUE(query.ok()) << query.status().message();
    const OpenSession open = [this](const std::string& id) {
      opened_ += id;
      if (before_.contains(id)) before_[id]();
      if (refused_.contains(id)) {
        return Result<std::shared_ptr<session::Session>>(Status(refused_[id], "refused"));
      }
      if (held_.use_count() > held_max_) {
        Place place;
        place.os_errno = lacking_;
        return Result<std::shared_ptr<session::Session>>(
            Status(Code::kIo, "Too many open files", std::move(place)));
      }
      return Result<std::shared_ptr<session::Session>>(
          {sessions_[id].get(), [held = held_](session::Session*) {}});
    };
    const NoteFailure note = [this](const std::string& id, const Status&) { noted_ += id + " "; };
    return query_sessions(*query, ids_, {1, open_files_max, clock_.now_ms(), open, note});
  }
  session::QueryResults ask(const std::string& text) {
    auto found = try_to_ask(text);
    EXPECT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(noted_, "");
    return found.ok() ? *std::move(found) : session::QueryResults();
  }
  [[nodiscard]] long held() const { return held_.use_count() - 1; }
  [[nodiscard]] const std::string& noted() const { return noted_; }

  std::vector<std::string> ids_found(const std::string& text) {
    std::vector<std::string> ids;
    for (const auto& result : ask(text).results) {
      const bool is_its_line =
          result.line && (*result.line).find("\"" + result.id() + "\"") != std::string_view::npos;
      EXPECT_TRUE(is_its_line) << result.id();
      ids.push_back(result.id());
    }
    return ids;
  }

  [[nodiscard]] uint64_t unreadable_count() const { return counters_.lines_skipped.load(); }

 private:
  test::ManualClock clock_;
  test::SeededRandom random_;
  session::EventLog events_{clock_};
  session::Counters counters_;
  std::map<std::string, std::shared_ptr<log::MemorySession>> memories_;
  std::map<std::string, std::shared_ptr<session::Session>> sessions_;
  std::map<std::string, std::function<void()>> before_;
  std::map<std::string, Code> refused_;
  std::shared_ptr<int> held_ = std::make_shared<int>();  // an owner more for each that is held
  long held_max_ = 1'000'000;
  int lacking_ = EMFILE;
  std::string noted_;   // who was left out
  std::string opened_;  // in this order
  std::vector<std::string> ids_;
};

std::string entry_saying(const std::string& content, const std::string& id) {
  return R"({"type":"finding","id":")" + id + R"(","content":"a )" + content + "\"}";
}

using Ids = std::vector<std::string>;
constexpr auto kByImportance = R"({"sort_by":"importance","limit":2})";

TEST(StoreQuery, PagesAreTheOrderOfAllSessions) {
  std::mt19937 random(11);
  for (const size_t limit : {1u, 2u, 3u, 7u, 40u}) {
    Sessions sessions;
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

TEST(StoreQuery, ReadsOnlyWhatItReturns) {
  Sessions sessions;
  sessions.make("a");
  sessions.make("b");
  for (int i = 0; i < 3; ++i) sessions.add("a", "a" + std::to_string(i), 9 - i, 0);
  sessions.add("b", "b0", 2, 0);
  sessions.damage("b", "b0");
  EXPECT_EQ(sessions.ids_found(kByImportance), (Ids{"a0", "a1"}));
  EXPECT_EQ(sessions.unreadable_count(), 0u);
}

TEST(StoreQuery, WhatCannotBeReadMakesRoomForTheNext) {
  Sessions sessions;
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
  Sessions sessions;
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
  Sessions sessions;
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
  Sessions alone;
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
  Sessions sessions;
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

TEST(StoreQuery, SessionsMadeSinceTheFirstPageAreInNoPage) {
  for (const std::string words : {"", R"("text":"fox",)"}) {
    Sessions sessions;
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
  Sessions sessions;
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
      Sessions sessions;
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
      Sessions sessions;
      sessions.make("a");
      sessions.make("b");
      sessions.refuse("a", code);
      sessions.refuse("b", Code::kInvalidArgument);
      EXPECT_EQ(sessions.try_to_ask(query).code(), code) << "the first is told: " << query;
      EXPECT_EQ(sessions.noted(), "") << query;
    }
  }
}

TEST(StoreQuery, FewDescriptorsLeaveNobodyOut) {
  const std::string queries[] = {R"({"text":"fox"})", R"({"sort_by":"time"})",
                                 R"({"text":"fox","vector":[1,0]})"};
  for (const std::string& query : queries) {
    Sessions sessions;
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

TEST(StoreQuery, WhoIsLeftOutIsToldOnceHoweverOftenItIsAsked) {
  for (const std::string query : {R"({"text":"fox"})", R"({"text":"fox","vector":[1,0]})"}) {
    Sessions sessions;
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
TEST(StoreQuery, WhoHasNoneOfTheWordsIsAskedOnce) {
  Sessions sessions;
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
TEST(StoreQuery, WhoHasNoneOfTheWordsAtTheFirstPageHasNoneOnTheNext) {
  Sessions sessions;
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
TEST(StoreQuery, KeepsThoseOpenThatHaveTheWords) {
  Sessions sessions;
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

TEST(StoreQuery, LeavesTheHostHalfOfTheDescriptors) {
  Sessions sessions;
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

TEST(StoreQuery, ADefectIsAnAnswerAlsoWhenThereIsNoMemoryToTellOfIt) {
  Sessions sessions;
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
  Sessions sessions;
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

TEST(StoreQuery, ARankByAVectorIsAmongAllSessions) {
  Sessions sessions;
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

TEST(StoreQuery, AVectorOfAnotherDimensionIsRefusedWhereverItMeetsOne) {
  const std::vector<float> of_three = {1.0F, 0.0F, 0.0F};
  for (const size_t others : {size_t{1}, size_t{257}}) {
    Sessions sessions;
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

// Sessions s100, s101, ... of two entries each; the later, the longer, and so the less a match.
// Every seventh says it as the one before, at another time.
void make_ever_longer(Sessions& sessions, int count) {
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

TEST(StoreQuery, ByMatchOnlySessionsThatMayHaveTheFirstAreOpenedForThem) {
  Sessions sessions;
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

TEST(StoreQuery, WhereTheFirstCannotBeReadSessionsThatWerePassedOverAreAskedAfterAll) {
  for (const size_t open_files_max : {kNoneKept, SIZE_MAX}) {
    Sessions sessions;
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
TEST(StoreQuery, PagesAreTheSameWhereNoSessionIsKeptOpen) {
  Sessions sessions;
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
