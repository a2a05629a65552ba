// Closing on one thread while others call, and calling from many threads at once.
#include <gtest/gtest.h>
#include <signal.h>
#include <varve/varve.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

constexpr size_t kNul = VARVE_NUL_TERMINATED;

class Threads {
 public:
  explicit Threads(int count, void (*body)(int, void*), void* argument) {
    for (int i = 0; i < count; ++i) threads_.emplace_back(body, i, argument);
  }
  ~Threads() {
    for (auto& thread : threads_) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
};

struct Race {
  std::atomic<varve_store_t*> store{nullptr};
  std::atomic<varve_session_t*> session{nullptr};
  std::atomic<int> started{0};
  std::atomic<int> unexpected{0};
  std::atomic<int> added{0};
};

// Adds until the handle is closed under it.
void add_until_closed(int, void* argument) {
  auto& race = *static_cast<Race*>(argument);
  ++race.started;
  for (;;) {
    const auto status = varve_session_add(race.session, R"({"type":"finding","content":1})", kNul,
                                          nullptr, nullptr, nullptr);
    if (status == VARVE_OK) ++race.added;
    if (status == VARVE_BAD_HANDLE) return;
    if (status != VARVE_OK) ++race.unexpected;
  }
}

TEST(ThreadsOfTheHost, ClosingASessionLetsCallsInFlightFinish) {
  for (int round = 0; round < 20; ++round) {
    const Store store("memory:");
    Session session(store, R"({"session_id":"s"})");
    const Session observer = Session::open(store, "s");
    Race race;
    race.session = session.get();
    {
      const Threads threads(3, add_until_closed, &race);
      while (race.started < 3 || race.added < 3) std::this_thread::yield();
      session.close();
    }
    EXPECT_EQ(race.unexpected, 0);
    EXPECT_EQ(observer.stats().object().at("entries"), race.added.load());
  }
}

TEST(ThreadsOfTheHost, ClosingAStoreLetsCallsInFlightFinish) {
  const TempDirectory directory;
  for (int round = 0; round < 5; ++round) {
    const std::string id = "s" + std::to_string(round);
    Race race;
    {
      Store store(directory.path(), R"({"durability":"os"})");
      const Session session(store, R"({"session_id":")" + id + R"("})");
      race.session = session.get();
      const Threads threads(3, add_until_closed, &race);
      while (race.started < 3 || race.added < 3) std::this_thread::yield();
      store.close();
    }
    EXPECT_EQ(race.unexpected, 0);
    const Store store(directory.path());
    EXPECT_EQ(Session::open(store, id).stats().object().at("entries"), race.added.load());
  }
}

// Opens and closes sessions until the store is closed under it.
void open_until_closed(int, void* argument) {
  auto& race = *static_cast<Race*>(argument);
  ++race.started;
  for (;;) {
    varve_session_t* session = nullptr;
    const auto status = varve_session_open(race.store, "s", 1, &session, nullptr);
    if (status == VARVE_BAD_HANDLE) return;
    if (status != VARVE_OK) ++race.unexpected;
    const auto added = varve_session_add(session, R"({"type":"finding","content":1})", kNul,
                                         nullptr, nullptr, nullptr);
    if (added == VARVE_OK) ++race.added;
    if (added != VARVE_OK && added != VARVE_BAD_HANDLE) ++race.unexpected;
    varve_session_close(session);
  }
}

TEST(ThreadsOfTheHost, SessionsMayBeOpenedAndClosedWhileTheStoreCloses) {
  for (int round = 0; round < 20; ++round) {
    Store store;
    const Session session(store, R"({"session_id":"s"})");
    Race race;
    race.store = store.get();
    const Threads threads(3, open_until_closed, &race);
    while (race.started < 3 || race.added < 5) std::this_thread::yield();
    store.close();
    EXPECT_EQ(race.unexpected, 0);
  }
}

TEST(ThreadsOfTheHost, ManyMayCloseTheSameStore) {
  for (int round = 0; round < 20; ++round) {
    const Store store;
    const Session session(store);
    Race race;
    race.store = store.get();
    const Threads threads(
        4, [](int, void* argument) { varve_store_close(static_cast<Race*>(argument)->store); },
        &race);
  }
  SUCCEED();
}

TEST(ThreadsOfTheHost, EachThreadSeesItsOwnError) {
  const Store store;
  const Session session(store);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 200; ++j) {
        const std::string id = "t" + std::to_string(i) + "_" + std::to_string(j);
        ErrorOut error;
        const Outcome outcome = error.outcome(
            varve_session_get(session.get(), id.data(), id.size(), nullptr, nullptr, error.out()));
        if (outcome.message.find(id) == std::string::npos) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadsOfTheHost, AddAtOnceAndEveryEntryIsThereOnce) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store);
  std::vector<std::vector<std::string>> ids(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ids.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 25; ++j) ids[i].push_back(session.add(entry("")).text);
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& some : ids) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), 100U);
  for (const auto& id : all) EXPECT_TRUE(session.get(id).ok()) << id;
  EXPECT_EQ(session.stats().object().at("entries"), 100);
}

// The threads of this process, and which signals each blocks, as the system tells them.
std::map<std::string, uint64_t> blocked_signals() {
  std::map<std::string, uint64_t> blocked;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string word;
    while (status >> word && word != "SigBlk:") {
    }
    status >> std::hex >> blocked[task.path().filename()];
  }
  return blocked;
}

// One that took a signal would run the host's handler, or end the host, while the host's own thread
// blocks it, so as to wait for it.
TEST(ThreadsOfTheLibrary, TakeNoSignalOfTheHost) {
  const TempDirectory directory;
  const auto of_host = blocked_signals();
  const Store store(directory.path(),
                    R"({"durability":"interval","performance":{"batch_write_interval_ms":1}})");
  const Session session(store);
  EXPECT_TRUE(session.add(entry("a")).ok());
  while (session.stats().object().at("durable_seq") != 1) {  // until the thread is at work
  }
  size_t count = 0;
  for (const auto& [thread, blocked] : blocked_signals()) {
    if (of_host.contains(thread)) continue;
    ++count;
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1}) {
      EXPECT_EQ(blocked >> (signal - 1) & 1, 1U) << signal;
    }
  }
  EXPECT_EQ(count, 1U);
}

}  // namespace
}  // namespace varve_test
