// A compaction that may use a second thread: what comes of it, and who works beside it.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "io/posix.h"
#include "io/system_clock.h"
#include "session/compaction.h"
#include "session_disk.h"
#include "support/build_kind.h"
#include "unit/io/temporary_directory.h"

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

// Also the race detector's: everything that a compaction shares with readers and with the thread
// beside it.
TEST(CompactionThreads, ReadersSeeEveryEntryMeanwhile) {
  io::TemporaryDirectory directory;
  io::put_file(directory.path_of("memory.jsonl"), "");
  CreateOptions options;
  options.session_id = kSessionId;
  io::put_file(directory.path_of("metadata.json"),
               Metadata::make(options, test::kStartMs).encode());
  io::PosixFileSystem posix;
  io::SystemClock clock;
  io::SystemRandom random;
  EventLog events(clock);
  Counters counters;
  Session::Context context{&clock, &random, &events, &counters, {}};
  context.settings.threads = 2;
  context.settings.durability = log::Durability::kOs;
  const auto session =
      *Session::open(std::string(kSessionId),
                     *log::DirectoryStorage::open(*posix.open_root(directory.path(), false),
                                                  {&posix, &clock, &random}),
                     context);
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
