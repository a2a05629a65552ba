// Sessions in memory, asked together: a rig that says who is opened, how many at once, and whose
// lines cannot be read.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "log/memory_storage.h"
#include "query/parse.h"
#include "session/metadata/metadata.h"
#include "store/store_query.h"
#include "support/environment.h"

namespace varve::store {

class AskedSessions {
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

inline std::string entry_saying(const std::string& content, const std::string& id) {
  return R"({"type":"finding","id":")" + id + R"(","content":"a )" + content + "\"}";
}

}  // namespace varve::store
