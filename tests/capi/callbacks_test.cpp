// The host's log function and clock.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <varve/varve.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client.h"
#include "memory_client.h"

namespace varve_test {
namespace {

// Collects lines; `act`, when set, runs for each of them inside the log function.
class LogBook {
 public:
  struct Line {
    int32_t level;
    std::string text;
    std::thread::id thread;
  };

  static void log(void* self, int32_t level, const char* line, size_t len) {
    static_cast<LogBook*>(self)->take(level, std::string(line, len));
  }
  [[nodiscard]] std::vector<Line> lines() const {
    const std::lock_guard<std::mutex> guard(mutex_);
    return lines_;
  }

  std::function<void()> act;

 private:
  void take(int32_t level, std::string text) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      lines_.push_back({level, std::move(text), std::this_thread::get_id()});
    }
    if (act) act();
  }
  mutable std::mutex mutex_;
  std::vector<Line> lines_;
};

TEST(LogFunction, IsToldOnceOfACallThatTheDiskMadeFail) {
  LogBook book;
  const TempDirectory directory;
  const Store store(directory.path() + "/store");
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(store.set_log(VARVE_LOG_WARN, &LogBook::log, &book).ok());
  ASSERT_EQ(session.export_file(directory.path()).outcome.status,
            VARVE_IO);  // a directory, not a file, and no file of the store
  EXPECT_EQ(book.lines().size(), 0U);
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit no_files{0, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &no_files), 0);
  const varve_status_t created = store.try_create(R"({"session_id":"t"})").status;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  ASSERT_EQ(created, VARVE_IO);
  ASSERT_EQ(book.lines().size(), 1U);
  const std::string text = book.lines()[0].text;
  EXPECT_EQ(book.lines()[0].level, VARVE_LOG_ERROR);
  EXPECT_NE(text.find(R"("message":"a call failed")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("file":")" + directory.path() + "/store/"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("reason":)"), std::string::npos) << text;
  EXPECT_NE(store.metrics().text.find("varve_io_errors_total{store=\"" + directory.path() +
                                      "/store\"} 1\n"),
            std::string::npos);
}

TEST(LogFunction, GetsJsonLinesOnTheCallingThread) {
  LogBook book;
  const TempDirectory directory;
  const Store store(directory.path());
  ASSERT_TRUE(store.set_log(VARVE_LOG_DEBUG, &LogBook::log, &book).ok());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  const auto lines = book.lines();
  ASSERT_FALSE(lines.empty());
  bool tells_of_the_session = false;
  for (const auto& line : lines) {
    SCOPED_TRACE(line.text);
    EXPECT_EQ(line.thread, std::this_thread::get_id());
    EXPECT_EQ(line.text.find('\n'), std::string::npos);
    const json::value parsed = json::parse(line.text);
    ASSERT_TRUE(parsed.is_object());
    EXPECT_EQ(missing_members(parsed.get_object(), {"timestamp", "level", "component", "session_id",
                                                    "message", "metadata"}),
              std::vector<std::string>());
    const std::vector<std::string> names = {"DEBUG", "INFO", "WARN", "ERROR"};
    ASSERT_GE(line.level, VARVE_LOG_DEBUG);
    ASSERT_LE(line.level, VARVE_LOG_ERROR);
    EXPECT_EQ(parsed.at("level").as_string(), names[static_cast<size_t>(line.level)]);
    EXPECT_TRUE(parsed.at("metadata").is_object());
    EXPECT_FALSE(parsed.at("message").as_string().empty());
    tells_of_the_session = tells_of_the_session || parsed.at("session_id").as_string() == "s";
  }
  EXPECT_TRUE(tells_of_the_session);
}

TEST(LogFunction, GetsItsLevelAndAboveOnly) {
  LogBook book;
  const Store store;
  ASSERT_TRUE(store.set_log(VARVE_LOG_ERROR, &LogBook::log, &book).ok());
  const Session quiet(store);
  EXPECT_TRUE(book.lines().empty());
  ASSERT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &book).ok());
  const Session told(store);
  const size_t count = book.lines().size();
  EXPECT_GT(count, 0U);
  for (const auto& line : book.lines()) EXPECT_GE(line.level, VARVE_LOG_INFO);
  ASSERT_TRUE(store.set_log(VARVE_LOG_OFF, &LogBook::log, &book).ok());
  const Session off(store);
  ASSERT_TRUE(store.set_log(VARVE_LOG_DEBUG, nullptr, nullptr).ok());
  const Session none(store);
  EXPECT_EQ(book.lines().size(), count);
}

TEST(LogFunction, LevelsOutsideTheListAreRefused) {
  LogBook book;
  const Store store;
  for (const int32_t level : {-1, 5, 1000, INT32_MIN}) {
    const Outcome outcome = store.set_log(level, &LogBook::log, &book);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << level;
    EXPECT_EQ(outcome.detail("member"), "level");
  }
}

TEST(LogFunction, IsToldWhatClosingASessionMet) {
  LogBook book;
  const TempDirectory directory;
  const Store store(directory.path(), R"({"concurrency":{"lock_timeout_ms":20}})");
  Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(store.set_log(VARVE_LOG_WARN, &LogBook::log, &book).ok());
  const HeldLock lock(directory.path() + "/sessions/s");
  session.close();  // cannot save its index
  EXPECT_FALSE(book.lines().empty());
}

// What closing a handle did is told by the call that closed it, not by the next one.
TEST(LogFunction, IsToldOfASessionThatEndsWithAMemoryOrWithItsStore) {
  for (const bool is_by_store : {false, true}) {
    LogBook book;
    Store store;
    Memory memory(store);
    ASSERT_TRUE(memory.say("s", "user", "hello").ok());
    ASSERT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &book).ok());
    if (is_by_store) {
      store.close();
    } else {
      memory.close();
    }
    const auto lines = book.lines();
    ASSERT_EQ(lines.size(), 1U) << is_by_store;
    EXPECT_NE(lines[0].text.find("session closed"), std::string::npos) << lines[0].text;
  }
}

TEST(LogFunction, MayCallTheLibrary) {
  LogBook book;
  std::atomic<int> depth{0};  // closing tells something, too
  std::atomic<int> unexpected{0};
  const Store store;
  const Session session(store, R"({"session_id":"s"})");
  book.act = [&] {
    if (++depth == 1) {
      if (!session.stats().ok() || !store.stats().ok() || !store.sessions().ok()) ++unexpected;
      if (!session.metadata().ok()) ++unexpected;
    }
    --depth;
  };
  ASSERT_TRUE(store.set_log(VARVE_LOG_DEBUG, &LogBook::log, &book).ok());
  ASSERT_TRUE(store.try_create(R"({"session_id":"t"})").ok());
  ASSERT_TRUE(session.add(entry("a")).ok());
  EXPECT_FALSE(book.lines().empty());
  EXPECT_EQ(unexpected, 0);
}

TEST(LogFunction, MayCloseTheHandlesItIsToldAbout) {
  LogBook book;
  Store store;
  Session session(store, R"({"session_id":"s"})");
  book.act = [&] {
    session.close();
    store.close();
  };
  ASSERT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &book).ok());
  varve_session_t* made = nullptr;
  EXPECT_EQ(varve_session_create(store.get(), nullptr, 0, &made, nullptr), VARVE_OK);
  EXPECT_FALSE(book.lines().empty());
  EXPECT_EQ(varve_session_sync(made, nullptr), VARVE_BAD_HANDLE);
}

// A call with the handle of a session tells what it did before it returns, as one of a store does.
TEST(LogFunction, IsToldByACallOfASession) {
  LogBook book;
  const Store store;
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &book).ok());
  ASSERT_EQ(varve_session_compact(session.get(), nullptr, 0, nullptr, nullptr, nullptr), VARVE_OK);
  EXPECT_FALSE(book.lines().empty());
}

// Not held by the call any more, which would wait for itself.
TEST(LogFunction, MayCloseTheSessionWhoseCallTellsIt) {
  LogBook book;
  Store store;
  Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  book.act = [&] {
    session.close();
    store.close();
  };
  ASSERT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &book).ok());
  varve_session_t* const handle = session.get();
  EXPECT_EQ(varve_session_compact(handle, nullptr, 0, nullptr, nullptr, nullptr), VARVE_OK);
  EXPECT_FALSE(book.lines().empty());
  EXPECT_EQ(varve_session_sync(handle, nullptr), VARVE_BAD_HANDLE);
}

TEST(LogFunction, IsToldByACallOfAMemory) {
  LogBook book;
  const Store store;
  varve_memory_t* memory = nullptr;
  ASSERT_EQ(varve_memory_open(store.get(), nullptr, 0, &memory, nullptr), VARVE_OK);
  ASSERT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &book).ok());
  const std::string_view message = R"({"role":"user","content":"tea"})";
  ASSERT_EQ(varve_memory_record(memory, "s", VARVE_NUL_TERMINATED, message.data(), message.size(),
                                nullptr, nullptr, nullptr),
            VARVE_OK);
  EXPECT_FALSE(book.lines().empty()) << "a session was made";
  varve_memory_close(memory);
}

TEST(LogFunction, MayReplaceItself) {
  LogBook first;
  LogBook second;
  const Store store;
  first.act = [&] { EXPECT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &second).ok()); };
  ASSERT_TRUE(store.set_log(VARVE_LOG_INFO, &LogBook::log, &first).ok());
  const Session one(store);
  const size_t count = first.lines().size();
  EXPECT_GT(count, 0U);
  const Session two(store);
  EXPECT_EQ(first.lines().size(), count);
  EXPECT_GT(second.lines().size(), 0U);
}

TEST(LogFunction, IsLeftWhenTheStoreIsClosed) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> closed{false};
    std::atomic<int> late{0};
    LogBook book;
    book.act = [&] {
      if (closed) ++late;
    };
    Store store;
    ASSERT_TRUE(store.set_log(VARVE_LOG_DEBUG, &LogBook::log, &book).ok());
    varve_store_t* const handle = store.get();
    std::thread busy([handle] {
      for (;;) {
        varve_session_t* session = nullptr;
        if (varve_session_create(handle, nullptr, 0, &session, nullptr) != VARVE_OK) return;
        varve_session_close(session);
      }
    });
    while (book.lines().empty()) std::this_thread::yield();
    store.close();
    closed = true;
    busy.join();
    EXPECT_EQ(late, 0);
  }
}

struct HandClock {
  std::atomic<int64_t> now_ms{0};
  std::atomic<int> asked{0};
  static int64_t tell(void* self) {
    auto& clock = *static_cast<HandClock*>(self);
    ++clock.asked;
    return clock.now_ms;
  }
};

constexpr int64_t kJanuary10 = 1768055025678;  // 2026-01-10T14:23:45.678Z

std::string timestamp_of(const Session& session, std::string_view id) {
  return std::string(session.get(id).object().at("timestamp").as_string());
}

TEST(ClockFunction, TellsTheTimeOfEntriesAndSessions) {
  HandClock clock;
  clock.now_ms = kJanuary10;
  const Store store;
  ASSERT_TRUE(store.set_clock(&HandClock::tell, &clock).ok());
  const Session session(store);
  const std::string id = session.add(entry("")).text;
  EXPECT_EQ(timestamp_of(session, id), "2026-01-10T14:23:45.678Z");
  EXPECT_EQ(session.metadata().object().at("created_at").as_string(), "2026-01-10T14:23:45.678Z");
  EXPECT_GT(clock.asked, 0);
}

TEST(ClockFunction, IsAskedOnTheCallingThreadBeforeTheWork) {
  struct Witness {
    std::thread::id thread;
    int asked = 0;
    static int64_t tell(void* self) {
      auto& witness = *static_cast<Witness*>(self);
      witness.thread = std::this_thread::get_id();
      ++witness.asked;
      return kJanuary10;
    }
  } witness;
  const Store store;
  const Session session(store);
  ASSERT_TRUE(store.set_clock(&Witness::tell, &witness).ok());
  const int asked = witness.asked;
  std::thread caller([&] {
    ASSERT_TRUE(session.add(entry("")).ok());
    EXPECT_EQ(witness.thread, std::this_thread::get_id());
  });
  caller.join();
  EXPECT_EQ(witness.asked, asked + 1);
}

TEST(ClockFunction, TellsWhatIsExpired) {
  HandClock clock;
  clock.now_ms = kJanuary10;
  const Store store;
  ASSERT_TRUE(store.set_clock(&HandClock::tell, &clock).ok());
  const Session session(store);
  ASSERT_TRUE(session
                  .add(R"({"id":"a","type":"finding","content":1,)"
                       R"("expires_at":"2026-01-10T15:00:00Z"})")
                  .ok());
  EXPECT_TRUE(session.get("a").ok());
  clock.now_ms = kJanuary10 + 3600 * 1000;
  EXPECT_EQ(session.get("a").outcome.status, VARVE_NOT_FOUND);
}

// Who only reads hears of it by these metadata, and so the answer is that of every later call.
TEST(ClockFunction, TellsThatMetadataJustReadAreOfAnExpiredSession) {
  HandClock clock;
  clock.now_ms = kJanuary10;
  const TempDirectory directory;
  const Store store(directory.path());
  const Store other(directory.path());
  ASSERT_TRUE(store.set_clock(&HandClock::tell, &clock).ok());
  ASSERT_TRUE(other.set_clock(&HandClock::tell, &clock).ok());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(Session::open(other, "s").update(R"({"ttl_hours":1})").ok());
  clock.now_ms = kJanuary10 + 2 * 3600 * 1000;
  EXPECT_EQ(session.metadata().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.count().outcome.status, VARVE_NOT_FOUND);
}

TEST(ClockFunction, MayGoBack) {
  HandClock clock;
  clock.now_ms = kJanuary10;
  const Store store;
  ASSERT_TRUE(store.set_clock(&HandClock::tell, &clock).ok());
  const Session session(store);
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) {
    ids.push_back(session.add(entry("")).text);
    clock.now_ms = clock.now_ms - 60 * 1000;
  }
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));  // ids keep their order all the same
  for (const auto& id : ids) EXPECT_TRUE(session.get(id).ok()) << id;
  EXPECT_EQ(session.verify().object().at("ok"), true);
}

TEST(ClockFunction, MayTellAnyTimeAtAll) {
  HandClock clock;
  const Store store;
  ASSERT_TRUE(store.set_clock(&HandClock::tell, &clock).ok());
  const Session session(store);
  for (const int64_t now : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    clock.now_ms = now;
    const Answer id = session.add(entry(""));
    EXPECT_TRUE(id.ok()) << now << id.outcome;
    EXPECT_TRUE(session.get(id.text).ok()) << now;
    EXPECT_TRUE(session.stats().ok()) << now;
    EXPECT_GT(session.query(R"({"time":{"last":"1d"}})").count(), 0U) << now;
  }
}

TEST(ClockFunction, NullReturnsToTheSystems) {
  HandClock clock;
  clock.now_ms = kJanuary10;
  const Store store;
  ASSERT_TRUE(store.set_clock(&HandClock::tell, &clock).ok());
  ASSERT_TRUE(store.set_clock(nullptr, nullptr).ok());
  const int asked = clock.asked;
  const Session session(store);
  const std::string id = session.add(entry("")).text;
  EXPECT_NE(timestamp_of(session, id), "2026-01-10T14:23:45.678Z");
  EXPECT_EQ(clock.asked, asked);
}

}  // namespace
}  // namespace varve_test
