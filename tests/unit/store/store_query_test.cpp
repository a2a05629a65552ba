// Queries across sessions, against an order that is made by hand, and what they read.
#include "store/store_query.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "base/time.h"
#include "log/memory_storage.h"
#include "query/parse.h"
#include "session/compaction.h"
#include "session/metadata.h"
#include "support/environment.h"

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

  session::QueryResults ask(const std::string& text) {
    const auto query = query::parse_query(text, query::Scope::kStore);
    EXPECT_TRUE(query.ok()) << query.status().message();
    const OpenSession open = [this](const std::string& id) {
      if (before_.contains(id)) before_[id]();
      return Result<std::shared_ptr<session::Session>>(sessions_[id]);
    };
    const NoteFailure note = [](const std::string& id, const Status& failure) {
      ADD_FAILURE() << id << ": " << failure.message();
    };
    auto found = query_sessions(*query, ids_, 1, clock_.now_ms(), open, note);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? *std::move(found) : session::QueryResults();
  }

  std::vector<std::string> ids_found(const std::string& text) {
    std::vector<std::string> ids;
    for (const auto& result : ask(text).results) {
      const bool is_its_line =
          result.line != nullptr && result.line->find("\"" + result.id + "\"") != std::string::npos;
      EXPECT_TRUE(is_its_line) << result.id;
      ids.push_back(result.id);
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
  std::vector<std::string> ids_;
};

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
      for (const auto& result : page.results) got.push_back(result.id);
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

}  // namespace
}  // namespace varve::store
