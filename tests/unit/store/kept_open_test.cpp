// Sessions that a query across sessions leaves open for the next: they are in nobody's way, and
// nothing that it answers is older than without them.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/posix.h"
#include "io/simulated.h"
#include "json/tree.h"
#include "session/upkeep/compaction.h"
#include "store/store.h"
#include "store/store_query.h"
#include "support/environment.h"
#include "unit/io/temporary_directory.h"

namespace varve::store {
namespace {

constexpr std::string_view kNoneKept = R"({"performance":{"max_kept_sessions":0}})";
constexpr std::string_view kFox = R"({"text":"fox","sort_by":"time"})";

std::shared_ptr<Store> open_at(io::FileSystem& files, test::ManualClock* clock,
                               test::SeededRandom* random, std::string_view path,
                               std::string_view config = {},
                               uint64_t bytes_max = kKeptSessionsBytesMax) {
  Store::Environment environment{&files, clock, random};
  environment.kept_sessions_bytes_max = bytes_max;
  auto opened = Store::open(path, config, environment);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return opened.ok() ? *opened : nullptr;
}

// The ids of what is found, one behind the other.
std::string found_by(Store& store, std::string_view query = kFox) {
  const auto found = store.query(query);
  EXPECT_TRUE(found.ok()) << found.status().message();
  std::string ids;
  if (!found.ok()) return ids;
  EXPECT_TRUE(found->left_out.ok()) << found->left_out.message();
  for (const auto& result : found->results) ids += result.id();
  return ids;
}

class KeptOpen : public testing::Test {
 protected:
  std::shared_ptr<Store> open(std::string_view config = {},
                              uint64_t bytes_max = kKeptSessionsBytesMax) {
    return open_at(disk_, &clock_, &random_, "store", config, bytes_max);
  }
  // Each call a moment later, so that what is found has one order: the latest first.
  void add(Store& store, const std::string& session, const std::string& id) {
    clock_.advance_ms(1);
    auto opened = store.create_session(R"({"if_exists":"open","session_id":")" + session + "\"}");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    const auto added = (*opened)->add(R"({"type":"finding","content":"fox","id":")" + id + "\"}");
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  void make(Store& store) {
    add(store, "s", "1");
    add(store, "t", "2");
    add(store, "u", "3");
  }
  // How many session directories are opened meanwhile.
  template <typename Act>
  int opened_by(Act&& act) {
    int count = 0;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool is_session =
          operation.name == "s" || operation.name == "t" || operation.name == "u";
      count += operation.kind == io::OperationKind::kOpenDirectory && is_session ? 1 : 0;
      return {};
    });
    act();
    disk_.set_fault_hook({});
    return count;
  }
  int opened_by_query(Store& store) {
    return opened_by([&] { EXPECT_EQ(found_by(store).size(), 3u); });
  }
  static uint64_t figure(Store& store, std::string_view name) {
    const auto stats = store.stats();
    EXPECT_TRUE(stats.ok()) << stats.status().message();
    return stats->get("metrics")->get_count(name);
  }

  static uint64_t open_count(Store& store) { return store.stats()->get_count("sessions_open"); }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> other_disk_ = disk_.process(4711);
};

TEST_F(KeptOpen, TheNextQueryOpensNone) {
  make(*open());
  const auto store = open();
  EXPECT_EQ(opened_by_query(*store), 3);
  EXPECT_EQ(opened_by_query(*store), 0);
  EXPECT_EQ(opened_by([&] { EXPECT_TRUE(store->open_session("t").ok()); }), 0);
}

TEST_F(KeptOpen, AsManyAsTheConfigurationSays) {
  make(*open());
  const auto none = open(kNoneKept);
  EXPECT_EQ(opened_by_query(*none), 3);
  EXPECT_EQ(opened_by_query(*none), 3);
  const auto two = open(R"({"performance":{"max_kept_sessions":2}})");
  EXPECT_EQ(opened_by_query(*two), 3);
  EXPECT_EQ(opened_by_query(*two), 1);
}

TEST_F(KeptOpen, AsManyAsTheMemoryForThemTakes) {
  make(*open());
  const auto store = open({}, 0);
  EXPECT_EQ(opened_by_query(*store), 3);
  EXPECT_EQ(opened_by_query(*store), 3);
}

TEST_F(KeptOpen, WhatOthersDoMeanwhileIsSeen) {
  make(*open());
  const auto store = open();
  const auto other = open_at(*other_disk_, &clock_, &random_, "store");
  EXPECT_EQ(found_by(*store), "321");
  add(*other, "s", "4");
  EXPECT_EQ(found_by(*store), "4321");
  ASSERT_TRUE((*other->open_session("t"))->remove("2", "").ok());
  EXPECT_EQ(found_by(*store), "431");
  ASSERT_TRUE((*other->open_session("t"))->compact({}).ok());
  EXPECT_EQ(found_by(*store), "431");
  ASSERT_TRUE(other->delete_session("u").ok());
  EXPECT_EQ(found_by(*store), "41");
  add(*other, "u", "5");
  EXPECT_EQ(found_by(*store), "541") << "a new session of the same id";
}

constexpr std::string_view kFoxOfAnn = R"({"text":"fox","user_id":"ann","sort_by":"time"})";

// Whose a kept session is, is known from when its metadata.json was read: no query reads it again
// unless it is another. (The second query notes which one it is.)
TEST_F(KeptOpen, WhoseItIsIsNotReadAgain) {
  const auto other = open_at(*other_disk_, &clock_, &random_, "store");
  ASSERT_TRUE(other->create_session(R"({"session_id":"s","user_id":"ann"})").ok());
  add(*other, "s", "1");
  const auto store = open();
  const auto reads_by_query = [&] {
    int count = 0;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool opens = operation.kind == io::OperationKind::kOpen;
      count += opens && operation.path.ends_with("/s/metadata.json") ? 1 : 0;
      return {};
    });
    EXPECT_EQ(found_by(*store, kFoxOfAnn), "1");
    disk_.set_fault_hook({});
    return count;
  };
  EXPECT_GT(reads_by_query(), 0);
  EXPECT_LE(reads_by_query(), 1);
  EXPECT_EQ(reads_by_query(), 0);
}

TEST_F(KeptOpen, WhoseItBecomesMeanwhileIsSeen) {
  const auto store = open();
  const auto other = open_at(*other_disk_, &clock_, &random_, "store");
  for (const char* id : {"s", "t"}) {
    const std::string options = std::string(R"({"user_id":"ann","session_id":")") + id + "\"}";
    ASSERT_TRUE(other->create_session(options).ok());
  }
  add(*other, "s", "1");
  add(*other, "t", "2");
  EXPECT_EQ(found_by(*store, kFoxOfAnn), "21");
  ASSERT_TRUE(other->delete_session("s").ok());
  ASSERT_TRUE(other->create_session(R"({"session_id":"s","user_id":"bob"})").ok());
  add(*other, "s", "3");
  EXPECT_EQ(found_by(*store, kFoxOfAnn), "2");
  const std::string path = "store/sessions/t/metadata.json";
  std::string text = *other_disk_->read_file(path);
  const size_t user = text.find("\"ann\"");
  ASSERT_NE(user, std::string::npos);
  other_disk_->write_file(path, text.replace(user, 5, "\"bobby\""));  // by hand
  EXPECT_EQ(found_by(*store, kFoxOfAnn), "");
}

// A session that the host opened has its lock until it is gone. Kept by a query that runs while the
// host closes it, it would have the lock for as long as that.
TEST_F(KeptOpen, AnExclusiveStoreKeepsNone) {
  make(*open());
  const auto store = open(R"({"concurrency":{"exclusive":true}})");
  EXPECT_EQ(opened_by_query(*store), 3);
  EXPECT_EQ(opened_by_query(*store), 3);
}

TEST_F(KeptOpen, TheFiguresAreThoseOfTheSessionsThatTheHostOpened) {
  make(*open());
  const auto store = open();
  const auto other = open_at(*other_disk_, &clock_, &random_, "store");
  EXPECT_EQ(open_count(*store), 0u);
  EXPECT_EQ(figure(*store, "memory.index.memory_bytes"), 0u);
  found_by(*store);
  EXPECT_EQ(open_count(*store), 0u);
  EXPECT_GT(figure(*store, "memory.index.memory_bytes"), 0u) << "whoever opened them";
  uint64_t bytes = 0;
  std::vector<std::shared_ptr<session::Session>> opened;
  for (const std::string_view id : {"s", "t", "u"}) {
    opened.push_back(*store->open_session(id));
    bytes += opened.back()->stats()->get_count("memory_bytes");
  }
  EXPECT_EQ(open_count(*store), 3u);
  EXPECT_EQ(figure(*store, "memory.index.memory_bytes"), bytes) << "none is counted twice";
  opened.clear();
  found_by(*store);
  add(*other, "t", "4");
  EXPECT_EQ(store->sessions("{}")->get("sessions")->items().at(1).get_int64("total_entries"), 2)
      << "and not as many as the query saw";
}

TEST_F(KeptOpen, AUsersSizeIsNotThatOfTheLastQuery) {
  const auto other = open_at(*other_disk_, &clock_, &random_, "store");
  const auto theirs = *other->create_session(R"({"session_id":"s","user_id":"ann"})");
  ASSERT_TRUE(theirs->add(R"({"type":"finding","content":"fox","id":"1"})").ok());
  const auto store = open(R"({"storage":{"max_user_size_mb":0.01}})");
  EXPECT_EQ(found_by(*store), "1");
  const std::string text(20'000, 'x');
  ASSERT_TRUE(theirs->add(R"({"type":"finding","content":")" + text + "\"}").ok());
  ASSERT_TRUE(theirs->sync().ok());
  const auto mine = *store->create_session(R"({"session_id":"t","user_id":"ann"})");
  const auto added = mine->add(R"({"type":"finding","content":"fox","id":"2"})");
  EXPECT_EQ(added.code(), Code::kSizeLimit) << added.status().message();
}

// The n-th opening of a session fails for want of descriptors, as for a host that has many.
TEST_F(KeptOpen, WhoNeedsADescriptorHasThemBack) {
  make(*open());
  const auto lacking = [&](int count, auto&& act) {
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind != io::OperationKind::kOpenDirectory || count-- <= 0) return {};
      return io::Fault{EMFILE};
    });
    act();
    disk_.set_fault_hook({});
  };
  const auto store = open();
  lacking(1, [&] { EXPECT_FALSE(store->open_session("s").ok()) << "nothing is kept"; });
  const auto keep_two = [&] {
    EXPECT_EQ(found_by(*store, R"({"sort_by":"time","session_ids":["t","u"]})"), "32");
  };
  keep_two();
  lacking(1, [&] { EXPECT_TRUE(store->open_session("s").ok()); });
  EXPECT_EQ(opened_by_query(*store), 3) << "they were closed";
  ASSERT_TRUE(store->delete_session("s").ok());
  lacking(1, [&] {
    const auto made = store->create_session(R"({"session_id":"s"})");
    EXPECT_TRUE(made.ok()) << made.status().message();
  });
  EXPECT_EQ(opened_by([&] { found_by(*store); }), 3) << "they were closed";
}

// A build that looks for races says whether they meet.
TEST_F(KeptOpen, QueriesMeetWhoOpensClosesAndDeletes) {
  constexpr int kRounds = 40;
  const auto store = open(R"({"performance":{"max_kept_sessions":2}})");
  make(*store);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const auto found = store->query(kFox);
        EXPECT_TRUE(found.ok()) << found.status().message();
        EXPECT_GE(found->results.size(), 2u) << "s and t are always there";
      }
    });
  }
  threads.emplace_back([&] {
    for (int round = 0; round < kRounds; ++round) EXPECT_TRUE(store->open_session("s").ok());
  });
  threads.emplace_back([&] {
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_TRUE(store->delete_session("u").ok());
      const auto made = store->create_session(R"({"session_id":"u"})");
      EXPECT_TRUE(made.ok()) << made.status().message();
    }
  });
  threads.emplace_back([&] {
    for (int round = 0; round < kRounds; ++round) EXPECT_TRUE(store->stats().ok());
  });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(found_by(*store), "21");
}

// --- files of this process -----------------------------------------------------------------------

// How many files this process may open, and how many of them others have open.
class Descriptors {
 public:
  explicit Descriptors(rlim_t max) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit fewer = before_;
    fewer.rlim_cur = max;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &fewer), 0);
  }
  ~Descriptors() {
    leave_all();
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0);
  }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  void leave(size_t count) {
    for (int taken = ::dup(0); taken >= 0; taken = ::dup(0)) taken_.push_back(taken);
    for (; count > 0; --count, taken_.pop_back()) ::close(taken_.back());
  }
  void leave_all() {
    for (; !taken_.empty(); taken_.pop_back()) ::close(taken_.back());
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

class KeptFiles : public testing::Test {
 protected:
  void SetUp() override {
    store_ = open();
    for (const std::string id : {"s", "t"}) make(id);
    ASSERT_EQ(open_files(), 0);
    found_by(*store_);
    ASSERT_GT(open_files("s"), 0) << "or nothing is tested";
    ASSERT_GT(open_files("t"), 0);
  }
  std::shared_ptr<Store> open(std::string_view config = {}) {
    return open_at(files_, &clock_, &random_, directory_.path(), config);
  }
  void make(const std::string& id) {
    const auto session = *store_->create_session(R"({"session_id":")" + id + "\"}");
    ASSERT_TRUE(session->add(R"({"type":"finding","content":"fox","id":"of)" + id + "\"}").ok());
    const float vector[] = {1, 0};
    ASSERT_TRUE(session->put_vector("of" + id, vector).ok());
  }
  // Of a session; or of all, and of deleted ones.
  [[nodiscard]] int open_files(const std::string& session = {}) const {
    const std::string place = directory_.path() + "/";
    const std::string place_of_session = place + "sessions/" + session + "/";
    int count = 0;
    for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;  // the descriptor of this very listing
      const auto target = std::filesystem::read_symlink(descriptor, gone).string();
      const bool is_of = session.empty() ? target.starts_with(place) &&
                                               target.find("/memory.jsonl") != std::string::npos
                                         : target.starts_with(place_of_session);
      count += is_of ? 1 : 0;
    }
    return count;
  }

  io::TemporaryDirectory directory_;
  io::PosixFileSystem files_;
  test::ManualClock clock_;
  test::SeededRandom random_;
  std::shared_ptr<Store> store_;
};

TEST_F(KeptFiles, TheHostClosesWhatItOpened) {
  auto session = *store_->open_session("s");
  EXPECT_GT(open_files("s"), 0);
  session.reset();
  EXPECT_EQ(open_files("s"), 0);
  EXPECT_GT(open_files("t"), 0);
}

TEST_F(KeptFiles, WhatIsDeletedIsClosed) {
  EXPECT_EQ(open_files(), 2);
  ASSERT_TRUE(store_->delete_session("s").ok());
  EXPECT_EQ(open_files(), 1);
  ASSERT_TRUE(store_->delete_session("t").ok());
  EXPECT_EQ(open_files(), 0);
}

TEST_F(KeptFiles, WhatAnotherDeletedIsClosedByTheNextQuery) {
  const auto other = open_at(files_, &clock_, &random_, directory_.path());
  ASSERT_TRUE(other->delete_session("s").ok());
  EXPECT_EQ(found_by(*store_), "oft");
  const auto session = store_->open_session("s");
  EXPECT_EQ(session.code(), Code::kNotFound);
  EXPECT_EQ(open_files(), 1);
  ASSERT_TRUE(store_->delete_session("t").ok());
  EXPECT_EQ(open_files(), 0);
}

// Open files keep the blocks of what was removed, for as long as the process runs.
TEST_F(KeptFiles, WhatAnotherDeletedOrPurgedIsClosedByAQueryOfOtherSessions) {
  make("u");
  EXPECT_EQ(found_by(*store_).size(), 9u);
  EXPECT_EQ(open_files(), 3);
  const auto other = open_at(files_, &clock_, &random_, directory_.path());
  ASSERT_TRUE(other->delete_session("s").ok());
  ASSERT_TRUE((*other->open_session("u"))->compact({session::CompactionCause::kPurge}).ok());
  const std::string query_of_t = R"({"text":"fox","session_ids":["t"]})";
  EXPECT_EQ(found_by(*store_, query_of_t), "oft");
  EXPECT_EQ(open_files(), 3) << "not each query looks";
  clock_.advance_ms(1000);
  EXPECT_EQ(found_by(*store_, query_of_t), "oft");
  EXPECT_EQ(open_files(), 1);
  EXPECT_GT(open_files("t"), 0);
  EXPECT_EQ(found_by(*store_).size(), 6u);
}

TEST_F(KeptFiles, TheHostHasMostOfItsDescriptors) {
  make("u");
  store_ = open();
  const Descriptors descriptors(2 * 4 * kFilesOfSessionMax);
  EXPECT_EQ(found_by(*store_).size(), 9u);
  int count = 0;
  for (const char* id : {"s", "t", "u"}) count += open_files(id) > 0 ? 1 : 0;
  EXPECT_EQ(count, 2);
}

// However few are left: what can be answered without kept sessions is answered with them.
TEST_F(KeptFiles, NoQueryFailsForThem) {
  for (int i = 0; i < 10; ++i) make("more" + std::to_string(i));
  const auto without = open(kNoneKept);
  constexpr size_t kFreeMax = 90;
  size_t answered = 0;
  for (size_t count = 0; count < kFreeMax; ++count) {
    Descriptors descriptors(1024);
    store_ = open();  // which has none open
    descriptors.leave(count);
    const bool can_be = without->query(R"({"vector":[1,0],"limit":99})").ok();
    const auto found = store_->query(R"({"vector":[1,0],"limit":99})");
    descriptors.leave_all();
    EXPECT_EQ(found.ok(), can_be) << count << ": " << found.status().message();
    answered += can_be ? 1 : 0;
  }
  EXPECT_GT(answered, kFreeMax / 2);
  EXPECT_LT(answered, kFreeMax);
}

TEST_F(KeptFiles, AClosedStoreHasNone) {
  store_->close();
  EXPECT_EQ(open_files(), 0);
}

}  // namespace
}  // namespace varve::store
