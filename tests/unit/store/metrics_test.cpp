// What a store tells to monitoring, with values worked out by hand.
#include "store/metrics.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "io/simulated.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The lines of one metric, without its HELP.
std::vector<std::string> lines_about(const std::string& text, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& line : lines_of(text)) {
    const bool is_sample = line.starts_with(name) && !line.starts_with("#");
    if (is_sample || line.starts_with("# TYPE " + name + " ")) found.push_back(line);
  }
  return found;
}

TEST(MetricsText, TellsGaugesCountersAndHistogramsWithTheirTypes) {
  session::Counters counters;
  counters.bytes_written = 4711;
  counters.group_entries.record(1);
  counters.group_entries.record(3);
  counters.group_entries.record(20'000);
  StoreFigures figures;
  figures.size_bytes = 99;
  const std::string text = metrics_text("./store", figures, counters);
  EXPECT_EQ(lines_about(text, "varve_size_bytes"),
            (std::vector<std::string>{"# TYPE varve_size_bytes gauge",
                                      "varve_size_bytes{store=\"./store\"} 99"}));
  EXPECT_EQ(lines_about(text, "varve_written_bytes_total"),
            (std::vector<std::string>{"# TYPE varve_written_bytes_total counter",
                                      "varve_written_bytes_total{store=\"./store\"} 4711"}));
  EXPECT_EQ(lines_about(text, "varve_group_commit_entries"),
            (std::vector<std::string>{
                "# TYPE varve_group_commit_entries histogram",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"1\"} 1",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"2\"} 1",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"4\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"8\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"16\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"32\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"64\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"128\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"256\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"1024\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"4096\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"16384\"} 2",
                "varve_group_commit_entries_bucket{store=\"./store\",le=\"+Inf\"} 3",
                "varve_group_commit_entries_sum{store=\"./store\"} 20004",
                "varve_group_commit_entries_count{store=\"./store\"} 3"}));
}

TEST(MetricsText, TellsDurationsInSeconds) {
  session::Counters counters;
  counters.query_us.record(1'500'000);
  counters.query_us.record(7);
  const std::string text = metrics_text("s", {}, counters);
  const auto lines = lines_about(text, "varve_query_duration_seconds");
  ASSERT_EQ(lines.size(), 1u + 23 + 2);
  EXPECT_EQ(lines[1], "varve_query_duration_seconds_bucket{store=\"s\",le=\"0.00001\"} 1");
  EXPECT_EQ(lines[3], "varve_query_duration_seconds_bucket{store=\"s\",le=\"0.00005\"} 1");
  EXPECT_EQ(lines[16], "varve_query_duration_seconds_bucket{store=\"s\",le=\"1\"} 1");
  EXPECT_EQ(lines[17], "varve_query_duration_seconds_bucket{store=\"s\",le=\"2.5\"} 2");
  EXPECT_EQ(lines[23], "varve_query_duration_seconds_bucket{store=\"s\",le=\"+Inf\"} 2");
  EXPECT_EQ(lines[24], "varve_query_duration_seconds_sum{store=\"s\"} 1.500007");
}

TEST(MetricsText, EscapesTheNameOfTheStore) {
  const std::string text = metrics_text("a\\b\"c\nd", {}, session::Counters());
  EXPECT_NE(text.find("varve_sessions{store=\"a\\\\b\\\"c\\nd\"} 0\n"), std::string::npos);
}

TEST(MetricsText, KeepsTheRulesOfNames) {
  std::set<std::string> names;
  for (const std::string& line : lines_of(metrics_text("s", {}, session::Counters()))) {
    if (!line.starts_with("# TYPE ")) continue;
    std::istringstream words(line.substr(7));
    std::string name;
    std::string type;
    words >> name >> type;
    EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
    EXPECT_TRUE(name.starts_with("varve_")) << name;
    EXPECT_EQ(name.ends_with("_total"), type == "counter") << name;
    for (const auto unit : {"_ms", "_us", "_milliseconds", "_kb", "_mb"}) {
      EXPECT_EQ(name.find(unit), std::string::npos) << name << ": only base units";
    }
  }
  EXPECT_GE(names.size(), 28u);
}

TEST(MetricsTree, HasTheDottedNamesAndMilliseconds) {
  session::Counters counters;
  counters.lock_waits = 3;
  counters.compactions = 4;
  counters.corruption_errors = 5;
  for (int i = 0; i < 99; ++i) counters.write_us.record(1'200);
  counters.write_us.record(30'000);
  StoreFigures figures;
  figures.sessions_open = 2;
  figures.entries = 10;
  figures.size_bytes = 1234;
  const json::Tree tree = metrics_tree(figures, counters);
  EXPECT_EQ(tree.get_int64("memory.sessions.active"), 2);
  EXPECT_EQ(tree.get_int64("memory.entries.total"), 10);
  EXPECT_EQ(tree.get_int64("memory.size.bytes"), 1234);
  EXPECT_EQ(tree.get_int64("memory.locks.contention.count"), 3);
  EXPECT_EQ(tree.get_int64("memory.compaction.count"), 4);
  EXPECT_EQ(tree.get_int64("memory.errors.corruption.count"), 5);
  ASSERT_NE(tree.get("memory.operations.write.duration_ms"), nullptr);
  // 99 * 1.2 + 30
  EXPECT_EQ(tree.get("memory.operations.write.duration_ms")->canonical(),
            R"({"count":100,"max":30,"p50":2.5,"p99":2.5,"sum":148.8})");
  ASSERT_NE(tree.get("memory.operations.query.duration_ms"), nullptr);
  EXPECT_EQ(tree.get("memory.operations.query.duration_ms")->canonical(),
            R"({"count":0,"max":0,"p50":0,"p99":0,"sum":0})");
}

// --- of a store ----------------------------------------------------------------------------------

class StoreMetrics : public testing::Test {
 protected:
  std::shared_ptr<Store> open(std::string_view config = "") {
    auto opened = Store::open("store", config, {&disk_, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  static json::Tree metrics(Store& store) {
    const auto stats = store.stats();
    EXPECT_TRUE(stats.ok());
    const json::Tree* found = stats.ok() ? stats->get("metrics") : nullptr;
    EXPECT_NE(found, nullptr);
    return found == nullptr ? json::Tree() : *found;
  }
  static int64_t count_of(const json::Tree& metrics, std::string_view name) {
    const json::Tree* found = metrics.get(name);
    return found == nullptr ? -1 : found->get_int64("count", -1);
  }
  static void add(session::Session& session, std::string_view id) {
    ASSERT_TRUE(
        session.add(R"({"id":")" + std::string(id) + R"(","type":"message","content":"tea"})")
            .ok());
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

TEST_F(StoreMetrics, CountWhatWasDone) {
  const auto store = open();
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  for (const auto id : {"a", "b", "c"}) add(*session, id);
  ASSERT_TRUE(session->remove("a", "").ok());
  ASSERT_TRUE(session->get("b").ok());
  ASSERT_FALSE(session->get("a").ok());
  ASSERT_TRUE(session->query(R"({"text":"tea"})").ok());
  ASSERT_TRUE(session->count("{}").ok());
  ASSERT_TRUE(store->query("{}").ok());
  const json::Tree told = metrics(*store);
  EXPECT_EQ(told.get_int64("memory.operations.add.count"), 3);
  EXPECT_EQ(told.get_int64("memory.operations.delete.count"), 1);
  EXPECT_EQ(told.get_int64("memory.operations.get.count"), 2);
  EXPECT_EQ(told.get_int64("memory.commits.count"), 4);
  EXPECT_EQ(count_of(told, "memory.operations.write.duration_ms"), 4);
  EXPECT_EQ(count_of(told, "memory.operations.query.duration_ms"), 3);
  EXPECT_EQ(count_of(told, "memory.operations.sync.duration_ms"), 4);
  EXPECT_EQ(count_of(told, "memory.locks.wait.duration_ms"), 4);
  EXPECT_EQ(count_of(told, "memory.commits.group.entries"), 4);
  EXPECT_EQ(told.get_int64("memory.locks.contention.count"), 0);
  EXPECT_EQ(told.get_int64("memory.errors.corruption.count"), 0);
  EXPECT_EQ(told.get_int64("memory.sessions.active"), 1);
  EXPECT_EQ(told.get_int64("memory.entries.total"), 2);
}

TEST_F(StoreMetrics, OfABatchAreOneCommit) {
  const auto store = open();
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  ASSERT_TRUE(session
                  ->add_batch(R"([{"type":"m","content":1},{"type":"m","content":2},)"
                              R"({"type":"m","content":3}])")
                  .ok());
  const json::Tree told = metrics(*store);
  EXPECT_EQ(told.get("memory.commits.group.entries")->canonical(),
            R"({"count":1,"max":3,"p50":3,"p99":3,"sum":3})");
}

TEST_F(StoreMetrics, TakeTheirDurationsFromTheClock) {
  const auto store = open();
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kSyncData) clock_.advance_ms(3);
    return std::nullopt;
  });
  add(*session, "a");
  disk_.set_fault_hook({});
  const json::Tree told = metrics(*store);
  for (const auto name :
       {"memory.operations.sync.duration_ms", "memory.operations.write.duration_ms"}) {
    EXPECT_EQ(told.get(name)->canonical(), R"({"count":1,"max":3,"p50":3,"p99":3,"sum":3})")
        << name;
  }
}

TEST_F(StoreMetrics, CountSessionsThatAreNotOpenByTheirMetadata) {
  {
    const auto store = open();
    for (const std::string id : {"s1", "s2", "s3"}) {
      const auto session = *store->create_session(R"({"session_id":")" + id + R"("})");
      add(*session, "a");
      add(*session, "b");
    }
  }
  const auto store = open();
  const auto session = *store->open_session("s2");
  add(*session, "c");
  const json::Tree told = metrics(*store);
  EXPECT_EQ(told.get_int64("memory.sessions.total"), 3);
  EXPECT_EQ(told.get_int64("memory.sessions.active"), 1);
  EXPECT_EQ(told.get_int64("memory.entries.total"), 7);
  const auto log_bytes = [&](const std::string& id) {
    return static_cast<int64_t>(disk_.read_file("store/sessions/" + id + "/memory.jsonl")->size());
  };
  EXPECT_GT(told.get_int64("memory.size.bytes"),
            log_bytes("s1") + log_bytes("s2") + log_bytes("s3"));
  EXPECT_EQ(store->stats()->get_int64("entries"), 3) << "of the open ones, as ever";
}

// While what was found by looking at the closed ones is still used.
TEST_F(StoreMetrics, CountEachSessionOnceWhenItIsOpenedAndClosed) {
  const auto store = open();
  auto session = *store->create_session(R"({"session_id":"s1"})");
  add(*session, "a");
  ASSERT_TRUE(store->create_session(R"({"session_id":"s2"})").ok());
  const auto counted = [&] {
    const json::Tree told = metrics(*store);
    return std::vector<int64_t>{told.get_int64("memory.sessions.total"),
                                told.get_int64("memory.sessions.active"),
                                told.get_int64("memory.entries.total")};
  };
  int looks = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (!operation.path.ends_with("metadata.json")) return std::nullopt;
    looks += 1;
    clock_.advance_ms(1000);
    return std::nullopt;
  });
  EXPECT_EQ(counted(), (std::vector<int64_t>{2, 1, 1}));
  session.reset();
  EXPECT_EQ(counted(), (std::vector<int64_t>{2, 0, 1}));
  session = *store->open_session("s1");
  EXPECT_EQ(counted(), (std::vector<int64_t>{2, 1, 1}));
  add(*session, "b");
  session.reset();
  EXPECT_EQ(counted(), (std::vector<int64_t>{2, 0, 2}));
  ASSERT_TRUE(store->create_session(R"({"session_id":"s3"})").ok());
  EXPECT_EQ(counted(), (std::vector<int64_t>{3, 0, 2})) << "opened and closed since";
  ASSERT_TRUE(store->delete_session("s1").ok());
  EXPECT_EQ(counted(), (std::vector<int64_t>{2, 0, 0}));
  EXPECT_GT(looks, 0);
  disk_.set_fault_hook({});
}

// Of the files of both, as metadata.json has it for the one that is not open.
TEST_F(StoreMetrics, AddUpTheSizesOfOpenAndClosedSessions) {
  const auto store = open();
  const auto size_of_all = [&] { return metrics(*store).get_int64("memory.size.bytes"); };
  const auto size_of = [](session::Session& session) {
    return session.metadata()->get_int64("total_size_bytes");
  };
  auto first = *store->create_session(R"({"session_id":"s1"})");
  add(*first, "a");
  EXPECT_EQ(size_of_all(), size_of(*first));
  first.reset();
  const auto saved = json::Tree::parse(*disk_.read_file("store/sessions/s1/metadata.json"));
  ASSERT_TRUE(saved.ok());
  const int64_t closed_bytes = saved->get_int64("total_size_bytes");
  ASSERT_GT(closed_bytes, 0);
  EXPECT_EQ(size_of_all(), closed_bytes);
  const auto second = *store->create_session(R"({"session_id":"s2"})");
  add(*second, "b");
  EXPECT_EQ(size_of_all(), closed_bytes + size_of(*second));
  first = *store->open_session("s1");
  EXPECT_EQ(size_of_all(), size_of(*first) + size_of(*second)) << "each once";
}

// A query has it open already when the host opens it, and a sweep when it compacts it.
TEST_F(StoreMetrics, CountWhatChangedInASessionThatAQueryKeepsOpen) {
  {
    const auto store = open();
    for (const std::string id : {"s1", "s2"}) {
      ASSERT_TRUE(store->create_session(R"({"session_id":")" + id + R"("})").ok());
    }
    const auto session = *store->open_session("s2");
    ASSERT_TRUE(session->add(R"({"type":"message","content":"tea","ttl_seconds":1})").ok());
  }
  const auto store = open();
  ASSERT_TRUE(store->query("{}").ok());
  int looks = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (!operation.path.ends_with("metadata.json")) return std::nullopt;
    looks += 1;
    clock_.advance_ms(1000);
    return std::nullopt;
  });
  const auto entry_count = [&] { return metrics(*store).get_int64("memory.entries.total"); };
  EXPECT_EQ(entry_count(), 1);
  add(**store->open_session("s1"), "a");
  EXPECT_EQ(entry_count(), 2) << "opened by the host, and closed";
  clock_.advance_ms(2000);
  ASSERT_EQ(store->sweep()->get_int64("entries_dropped"), 1);
  EXPECT_EQ(entry_count(), 1) << "swept";
  EXPECT_GT(looks, 0);
  disk_.set_fault_hook({});
}

TEST_F(StoreMetrics, CountExpiredEntriesWhetherOpenOrNot) {
  const auto store = open();
  auto session = *store->create_session(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(R"({"type":"message","content":"tea","ttl_seconds":1})").ok());
  add(*session, "a");
  clock_.advance_ms(2000);
  EXPECT_EQ(metrics(*store).get_int64("memory.entries.total"), 2);
  EXPECT_EQ(store->stats()->get_int64("entries"), 1) << "they are not alive";
  session.reset();
  EXPECT_EQ(metrics(*store).get_int64("memory.entries.total"), 2);
}

TEST_F(StoreMetrics, LookAtClosedSessionsForAHundredthOfTheTimeAtMost) {
  { ASSERT_TRUE(open()->create_session(R"({"session_id":"s1"})").ok()); }
  const auto store = open();
  uint64_t looks = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.path.ends_with("s1/metadata.json") &&
        operation.kind == io::OperationKind::kOpen) {
      looks += 1;
      clock_.advance_ms(5);
    }
    return std::nullopt;
  });
  EXPECT_EQ(metrics(*store).get_int64("memory.sessions.total"), 1);
  clock_.advance_ms(499);
  EXPECT_EQ(metrics(*store).get_int64("memory.sessions.total"), 1);
  EXPECT_EQ(looks, 1u);
  clock_.advance_ms(1);
  EXPECT_EQ(metrics(*store).get_int64("memory.sessions.total"), 1);
  EXPECT_EQ(looks, 2u);
  disk_.set_fault_hook({});
}

TEST_F(StoreMetrics, TellWhatAPowerLossCouldTake) {
  const auto store = open(R"({"durability":"os"})");
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  add(*session, "a");
  add(*session, "b");
  EXPECT_EQ(metrics(*store).get_int64("memory.entries.buffered.count"), 2);
  ASSERT_TRUE(session->sync().ok());
  EXPECT_EQ(metrics(*store).get_int64("memory.entries.buffered.count"), 0);
}

TEST_F(StoreMetrics, CountDamageAndFailuresOfTheDisk) {
  {
    const auto store = open();  // which outlives its sessions
    const auto session = *store->create_session(R"({"session_id":"s1"})");
    add(*session, "a");
    add(*session, "b");
  }
  const std::string path = "store/sessions/s1/memory.jsonl";
  std::string log = *disk_.read_file(path);
  log[log.find("tea")] = 'p';
  disk_.write_file(path, log + log.substr(0, 20));
  disk_.write_file("store/sessions/s1/index.bin", "");  // so that the log is read at opening
  const auto store = open();
  const auto session = *store->open_session("s1");
  EXPECT_EQ(metrics(*store).get_int64("memory.errors.corruption.count"), 1);
  add(*session, "c");
  EXPECT_EQ(metrics(*store).get_int64("memory.errors.torn_tail.count"), 1);
  EXPECT_EQ(metrics(*store).get_int64("memory.errors.io.count"), 0);
  disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend}));
  EXPECT_EQ(session->add(R"({"type":"m","content":1})").code(), Code::kNoSpace);
  EXPECT_EQ(metrics(*store).get_int64("memory.errors.io.count"), 1);
}

TEST_F(StoreMetrics, CountACallThatTheDiskMadeFailOnceWhereverItFailed) {
  const auto store = open();
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  const auto count = [&] { return metrics(*store).get_int64("memory.errors.io.count"); };
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind != io::OperationKind::kAppend) return std::nullopt;
    return io::Fault{ENOSPC};
  });
  const Status added = session->add(R"({"type":"m","content":1})").status();
  EXPECT_TRUE(added.is_told());
  store->note_failed_call(added, "s1");
  EXPECT_EQ(count(), 1);
  const Status created = store->create_session(R"({"session_id":"s2"})").status();
  ASSERT_FALSE(created.ok());
  store->note_failed_call(created, {});
  EXPECT_EQ(count(), 2);
  store->note_failed_call(created, {});  // as if it were what another call answers
  store->note_failed_call(Status(Code::kNotFound, "no such session"), {});
  EXPECT_EQ(count(), 2);
}

}  // namespace
}  // namespace varve::store
