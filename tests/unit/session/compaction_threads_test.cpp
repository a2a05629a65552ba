// A compaction that may use a second thread: what comes of it, and who works beside it.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "session/upkeep/compaction.h"
#include "session_disk.h"
#include "session_place.h"
#include "support/build_kind.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

constexpr int kEntries = 400;

std::string id_of(int number) { return "e" + std::to_string(number); }

// A session of which every third entry is deleted, on a disk of its own.
struct Made {
  explicit Made(uint64_t threads) {
    host.context.settings.threads = threads;
    disk.make();
    session = disk.open();
    for (int i = 0; i < kEntries; ++i) {
      const std::string words =
          "tea number" + std::to_string(i) + " of box" + std::to_string(i % 7);
      EXPECT_TRUE(session->add(entry_text(id_of(i), words)).ok());
    }
    for (int i = 0; i < kEntries; i += 3) EXPECT_TRUE(session->remove(id_of(i), "").ok());
  }
  // As after opening: rows, facets and words come from index.bin.
  void reopen() {
    session->close();
    session = disk.open();
  }

  Host host;
  SessionDisk disk{host};
  std::shared_ptr<Session> session;
};

TEST(CompactionThreads, OfTwoMakeWhatOneMakes) {
  for (const bool from_file : {false, true}) {
    Made one(1);
    Made two(2);
    for (Made* made : {&one, &two}) {
      if (from_file) made->reopen();
      const auto report = made->session->compact({});
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(report->get_int64("entries_after"), kEntries - (kEntries + 2) / 3);
    }
    EXPECT_EQ(one.disk.bytes("memory.jsonl"), two.disk.bytes("memory.jsonl"));
    ASSERT_NE(two.disk.bytes("index.bin"), "");
    EXPECT_EQ(one.disk.bytes("index.bin"), two.disk.bytes("index.bin"));
    for (Made* made : {&one, &two}) {
      EXPECT_EQ(made->session->get(id_of(3)).code(), Code::kNotFound);
      for (const char* word : {"number7", "box2", "number3"}) {
        const auto found = made->session->query(R"({"text":")" + std::string(word) + R"("})");
        ASSERT_TRUE(found.ok());
        EXPECT_EQ(found->results.empty(), std::string_view(word) == "number3") << word;
      }
    }
  }
}

TEST(CompactionThreads, ALineThatIsNotWhatItWasIsRefused) {
  Made made(2);
  std::string log = made.disk.bytes("memory.jsonl");
  const size_t at = log.find("number1 ");
  ASSERT_NE(at, std::string::npos);
  log[at] = 'N';
  made.disk.write("memory.jsonl", log);
  EXPECT_EQ(made.session->compact({}).code(), Code::kCorruption);
  EXPECT_EQ(made.disk.bytes("memory.jsonl"), log);
  EXPECT_TRUE(made.session->get(id_of(2)).ok());
}

// Which thread reads the lines that stay, and which does not.
TEST(CompactionThreads, TheSecondCopiesWhereThereMayBeOne) {
  for (const uint64_t threads : {1U, 2U}) {
    Made made(threads);
    made.session->close();
    auto owned = std::make_unique<WatchedStorage>(*made.disk.storage());
    WatchedStorage& storage = *owned;
    const auto session =
        *Session::open(std::string(kSessionId), std::move(owned), made.host.context);
    std::atomic<size_t> own_bytes{0};
    std::atomic<size_t> other_bytes{0};
    const auto caller = std::this_thread::get_id();
    storage.change_read = [&](log::Stream stream, uint64_t, size_t got) -> Result<size_t> {
      const bool is_own = std::this_thread::get_id() == caller;
      if (stream == log::Stream::kEntries) (is_own ? own_bytes : other_bytes) += got;
      return got;
    };
    ASSERT_TRUE(session->compact({}).ok());
    EXPECT_GE(threads == 1 ? own_bytes : other_bytes, made.disk.bytes("memory.jsonl").size());
    EXPECT_EQ(threads == 1 ? other_bytes : own_bytes, 0U);
  }
}

#ifdef __linux__
// A file without a name keeps its space while anybody has it open.
TEST(CompactionThreads, TheSpaceIsGivenBackWhenItIsAnswered) {
  for (const uint64_t threads : {1U, 2U}) {
    Host host;
    host.context.settings.threads = threads;
    Place place(PlaceKind::kPosix, host);
    const auto session = place.open();
    for (int i = 0; i < kEntries; ++i) ASSERT_TRUE(session->add(entry_text(id_of(i))).ok());
    ASSERT_TRUE(session->remove(id_of(0), "").ok());
    ASSERT_TRUE(session->compact({}).ok());
    const std::string folder = std::filesystem::canonical(place.path()).string();
    int open_count = 0;
    for (const auto& item : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string file = std::filesystem::read_symlink(item.path(), gone).string();
      if (!file.starts_with(folder)) continue;
      open_count += 1;
      EXPECT_FALSE(file.ends_with(" (deleted)")) << file;
    }
    EXPECT_GT(open_count, 0);
  }
}
#endif

// Also the race detector's: everything that a compaction shares with readers and with the thread
// beside it.
TEST(CompactionThreads, ReadersSeeEveryEntryMeanwhile) {
  Host host;
  host.context.settings.threads = 2;
  host.context.settings.durability = log::Durability::kOs;
  Place place(PlaceKind::kPosix, host);
  const auto session = place.open();
  for (int i = 0; i < kEntries; ++i) {
    ASSERT_TRUE(session->add(entry_text(id_of(i), "tea of all")).ok());
  }
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  std::atomic<int> reads{0};
  std::thread reader([&] {
    while (!done.load() || reads.load() < 2) {
      if (!session->get(id_of(kEntries - 1)).ok()) wrong += 1;
      const auto found = session->query(R"({"text":"all","limit":1})");
      if (!found.ok() || found->results.size() != 1) wrong += 1;
      reads += 1;
    }
  });
  const int rounds = test::kFastBuild ? 20 : 5;
  for (int round = 0; round < rounds; ++round) {
    if (!session->remove(id_of(round), "").ok()) wrong += 1;
    const auto report = session->compact({});
    if (!report.ok() || !report->get_bool("changed", false)) wrong += 1;
  }
  done = true;
  reader.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(session->stats()->get_int64("entries"), kEntries - rounds);
}

}  // namespace
}  // namespace varve::session
