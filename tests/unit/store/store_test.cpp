#include "store/store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "io/simulated.h"
#include "support/build_kind.h"
#include "support/environment.h"
#include "support/exported_text.h"

namespace varve::store {
namespace {

constexpr std::string_view kEntry = R"({"id":"a","type":"message","content":"hello"})";

const json::Tree& member(const json::Tree& tree, std::string_view name) {
  static const json::Tree kNull;
  const json::Tree* found = tree.get(name);
  EXPECT_NE(found, nullptr) << "no member " << name << " in " << tree.canonical();
  return found == nullptr ? kNull : *found;
}

class StoreFixture : public testing::Test {
 protected:
  Result<std::shared_ptr<Store>> try_open(std::string_view uri, std::string_view config = "") {
    return Store::open(uri, config, {&disk_, &clock_, &random_});
  }
  std::shared_ptr<Store> open(std::string_view uri = "store", std::string_view config = "") {
    auto opened = try_open(uri, config);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  // The ids listed, page by page.
  static std::vector<std::string> listed(Store& store, const std::string& filter = "",
                                         size_t limit = 1000) {
    std::vector<std::string> ids;
    std::string after = "null";
    while (true) {
      const auto answer =
          store.sessions("{\"limit\":" + std::to_string(limit) + ",\"after\":" + after +
                         (filter.empty() ? "" : "," + filter) + "}");
      EXPECT_TRUE(answer.ok()) << answer.status().message();
      if (!answer.ok()) return ids;
      EXPECT_LE(member(*answer, "sessions").items().size(), limit);
      for (const auto& row : member(*answer, "sessions").items()) {
        ids.push_back(row.get_string("session_id"));
      }
      if (member(*answer, "next").is_null()) return ids;
      after = member(*answer, "next").canonical();
    }
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

TEST_F(StoreFixture, TheConfigurationThatIsStoredSaysHowLongALockIsWaitedFor) {
  disk_.write_file("store/config.json", R"({"concurrency":{"lock_timeout_ms":10}})");
  const auto store = open();
  const auto root = *disk_.open_root("store", false);
  const auto indices = *root->open_directory("indices");
  const auto lock = *indices->open("lock", io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  const int64_t before_us = clock_.monotonic_us();
  EXPECT_EQ(store->create_session(R"({"session_id":"s"})").code(), Code::kBusy);
  EXPECT_GE(clock_.monotonic_us() - before_us, 10'000);
  EXPECT_LT(clock_.monotonic_us() - before_us, 1'000'000) << "it is 5 s where nothing is said";
}

// --- what both kinds of store answer alike
// -----------------------------------------------------------

class Stores : public StoreFixture, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    store_ = open(GetParam());
    ASSERT_NE(store_, nullptr);
  }
  std::shared_ptr<session::Session> create(const std::string& options = "") {
    auto created = store_->create_session(options);
    EXPECT_TRUE(created.ok()) << created.status().message();
    clock_.advance_ms(1);
    return created.ok() ? *created : nullptr;
  }

  std::shared_ptr<Store> store_;
};

INSTANTIATE_TEST_SUITE_P(Over, Stores, testing::Values("store", "memory:"),
                         [](const testing::TestParamInfo<std::string>& parameter) {
                           return parameter.param == "store" ? "Directory" : "Memory";
                         });

TEST_P(Stores, ASessionIsCreatedOpenedAndDeleted) {
  const auto created = create(R"({"session_id":"s1","user_id":"u","agent_id":"a","title":"t"})");
  EXPECT_EQ(created->id(), "s1");
  ASSERT_TRUE(created->add(kEntry).ok());
  const auto opened = store_->open_session("s1");
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->get(), created.get()) << "one object for everybody in a store";
  EXPECT_EQ((*opened)->metadata()->get_string("title"), "t");
  ASSERT_TRUE(store_->delete_session("s1").ok());
  EXPECT_EQ(store_->open_session("s1").code(), Code::kNotFound);
  EXPECT_EQ(store_->delete_session("s1").code(), Code::kNotFound);
}

TEST_P(Stores, UnknownOptionsAreRefusedWithTheirPlace) {
  const auto refused = store_->create_session(R"({"session_id":"s1","mine":1})");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.status().place().member, "mine");
  EXPECT_EQ(store_->open_session("s1").code(), Code::kNotFound);
}

TEST_P(Stores, EntriesOutliveTheSessionObject) {
  auto session = create(R"({"session_id":"s1","user_id":"u"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  const std::string line = *session->get("a");
  session.reset();
  const auto again = store_->open_session("s1");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*(*again)->get("a"), line);
  EXPECT_EQ((*again)->metadata()->get_string("user_id"), "u");
  EXPECT_EQ((*again)->metadata()->get_int64("total_entries"), 1);
}

TEST_P(Stores, IdsAreMadeAndSortByTime) {
  std::string last;
  for (int i = 0; i < 5; ++i) {
    const auto session = create();
    EXPECT_TRUE(session->id().starts_with("sess_"));
    EXPECT_EQ(session->id().size(), 31u);
    EXPECT_LT(last, session->id());
    last = session->id();
  }
  EXPECT_EQ(listed(*store_).size(), 5u);
}

TEST_P(Stores, AnIdThatIsTakenOrMalformedIsRefused) {
  create(R"({"session_id":"s1"})");
  EXPECT_EQ(store_->create_session(R"({"session_id":"s1"})").code(), Code::kAlreadyExists);
  for (const std::string id :
       {"../s1", "..", ".", "a/b", "-a", "", "a b", "s1/../s1", "a\\u0000b"}) {
    EXPECT_EQ(store_->create_session("{\"session_id\":\"" + id + "\"}").code(),
              Code::kInvalidArgument)
        << id;
    EXPECT_EQ(store_->open_session(id).code(), Code::kInvalidArgument) << id;
    EXPECT_EQ(store_->delete_session(id).code(), Code::kInvalidArgument) << id;
  }
  EXPECT_EQ(store_->open_session(std::string(129, 'a')).code(), Code::kInvalidArgument);
  EXPECT_EQ(listed(*store_), std::vector<std::string>{"s1"});
}

TEST_P(Stores, ASessionDeletedWhileItIsOpenIsNotFound) {
  const auto session = create(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  ASSERT_TRUE(store_->delete_session("s1").ok());
  EXPECT_EQ(session->get("a").code(), Code::kNotFound);
  EXPECT_EQ(session->add(R"({"type":"message","content":1})").code(), Code::kNotFound);
  EXPECT_EQ(session->remove("a", "").code(), Code::kNotFound);
  EXPECT_EQ(session->update("{}").code(), Code::kNotFound);
  EXPECT_EQ(session->metadata().code(), Code::kNotFound);
  EXPECT_EQ(exported_text(*session, "jsonl").code(), Code::kNotFound);
  EXPECT_EQ(session->verify().code(), Code::kNotFound);
  session->close();
  EXPECT_TRUE(listed(*store_).empty());
}

TEST_P(Stores, AnIdMadeAnewIsAnotherSession) {
  const auto old = create(R"({"session_id":"s1"})");
  ASSERT_TRUE(old->add(kEntry).ok());
  ASSERT_TRUE(store_->delete_session("s1").ok());
  const auto fresh = create(R"({"session_id":"s1"})");
  EXPECT_EQ(fresh->get("a").code(), Code::kNotFound);
  ASSERT_TRUE(fresh->add(kEntry).ok());
  EXPECT_EQ(old->get("a").code(), Code::kNotFound) << "the old handle stays with the old one";
  EXPECT_EQ(store_->open_session("s1")->get(), fresh.get());
  EXPECT_EQ(listed(*store_), std::vector<std::string>{"s1"});
}

TEST_P(Stores, AnIdMadeAnewInTheSameMillisecondIsListedOnce) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store_->create_session(R"({"session_id":"s1"})").ok());
    if (i < 2) {
      ASSERT_TRUE(store_->delete_session("s1").ok());
    }
  }
  EXPECT_EQ(listed(*store_), std::vector<std::string>{"s1"});
}

TEST_P(Stores, TheListTellsWhatIsKnownWithoutOpening) {
  auto session = create(R"({"session_id":"s1","user_id":"u","agent_id":"a","title":"t"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  for (const bool open : {true, false}) {
    const auto answer = store_->sessions("");
    ASSERT_EQ(member(*answer, "sessions").items().size(), 1u);
    const json::Tree& row = member(*answer, "sessions").items()[0];
    EXPECT_EQ(row.get_string("session_id"), "s1");
    EXPECT_EQ(row.get_string("user_id"), "u");
    EXPECT_EQ(row.get_string("agent_id"), "a");
    EXPECT_EQ(row.get_string("title"), "t");
    EXPECT_EQ(row.get_string("created_at"), format_rfc3339(test::kStartMs));
    EXPECT_TRUE(parse_rfc3339(row.get_string("last_accessed")).has_value());
    EXPECT_EQ(row.get_int64("total_entries"), 1) << (open ? "open" : "closed");
    EXPECT_TRUE(member(*answer, "next").is_null());
    session.reset();
  }
}

TEST_P(Stores, AThousandSessionsArePagedNewestFirst) {
  const size_t count = test::kFastBuild ? 1050 : 150;
  std::vector<std::string> expected;
  for (size_t i = 0; i < count; ++i) {
    const std::string id = "s" + std::to_string(i);
    ASSERT_TRUE(store_
                    ->create_session("{\"session_id\":\"" + id + "\",\"user_id\":\"u" +
                                     std::to_string(i % 3) + "\",\"agent_id\":\"a" +
                                     std::to_string(i % 2) + "\"}")
                    .ok());
    expected.insert(expected.begin(), id);
  }
  EXPECT_TRUE(listed(*store_, "", 1000) == expected);
  EXPECT_TRUE(listed(*store_, "", 99) == expected);
  const auto filtered = listed(*store_, R"("user_id":"u1","agent_id":"a0")", 40);
  std::vector<std::string> of_user;
  for (const auto& id : expected) {
    const int number = std::stoi(id.substr(1));
    if (number % 3 == 1 && number % 2 == 0) of_user.push_back(id);
  }
  EXPECT_TRUE(filtered == of_user);
  EXPECT_TRUE(listed(*store_, R"("user_id":"nobody")").empty());
  // Deleted ones are passed over, and pages stay full.
  for (size_t i = 0; i < count; i += 10) {
    ASSERT_TRUE(store_->delete_session("s" + std::to_string(i)).ok());
  }
  const auto answer = store_->sessions(R"({"limit":20})");
  EXPECT_EQ(member(*answer, "sessions").items().size(), 20u);
  EXPECT_EQ(listed(*store_, "", 90).size(), count - count / 10);
}

TEST_P(Stores, WrongFiltersAreRefusedWithTheirPlaces) {
  struct Case {
    std::string filter;
    std::string member;
  };
  for (const Case& wrong : {Case{R"({"limit":0})", "limit"}, Case{R"({"limit":10001})", "limit"},
                            Case{R"({"limit":"x"})", "limit"}, Case{R"({"after":7})", "after"},
                            Case{R"({"user":"x"})", "user"}, Case{R"({"rescan":1})", "rescan"},
                            Case{R"({"user_id":""})", "user_id"},
                            Case{R"({"user_id":"u","agent_id":""})", "agent_id"}}) {
    const auto refused = store_->sessions(wrong.filter);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << wrong.filter;
    EXPECT_EQ(refused.status().place().member, wrong.member) << wrong.filter;
  }
  EXPECT_EQ(store_->sessions("[]").code(), Code::kInvalidArgument);
  EXPECT_EQ(store_->sessions(R"({"after":"garbage"})").code(), Code::kInvalidArgument);
}

TEST_P(Stores, StatsCountWhatThisStoreDid) {
  const auto session = create(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  const auto stats = store_->stats();
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->get_string("uri"), GetParam());
  EXPECT_EQ(stats->get_int64("sessions_open"), 1);
  EXPECT_EQ(stats->get_int64("entries_added"), 1);
  EXPECT_EQ(stats->get_int64("entries_deleted"), 1);
  EXPECT_EQ(stats->get_int64("commits"), 2);
  EXPECT_EQ(stats->get_int64("syncs"), 2);
  EXPECT_GT(stats->get_int64("bytes_written"), 0);
  for (const auto name : {"lock_waits", "lock_timeouts", "index_rebuilds", "lines_skipped"}) {
    EXPECT_NE(stats->get(name), nullptr) << name;
  }
}

TEST_P(Stores, TheHostsClockIsTaken) {
  int64_t now_ms = 1'000'000'000'000;
  store_->set_clock([](void* data) { return *static_cast<int64_t*>(data); }, &now_ms);
  const auto session = *store_->create_session(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  EXPECT_NE(session->get("a")->find("2001-09-09T01:46:40.000Z"), std::string::npos);
  now_ms += 60'000;
  store_->tick();
  ASSERT_TRUE(session->add(R"({"id":"b","type":"message","content":1})").ok());
  EXPECT_NE(session->get("b")->find("2001-09-09T01:47:40.000Z"), std::string::npos);
  store_->set_clock(nullptr, nullptr);
  ASSERT_TRUE(session->add(R"({"id":"c","type":"message","content":1})").ok());
  EXPECT_NE(session->get("c")->find("2026-01-10T"), std::string::npos);
}

TEST_P(Stores, LogLinesAreDeliveredWhenAskedFor) {
  std::vector<std::string> lines;
  store_->set_log(
      session::Level::kInfo,
      [](void* data, int32_t, const char* line, size_t length) {
        static_cast<std::vector<std::string>*>(data)->emplace_back(line, length);
      },
      &lines);
  create(R"({"session_id":"s1"})");
  ASSERT_TRUE(store_->delete_session("s1").ok());
  EXPECT_TRUE(lines.empty());
  store_->deliver_events();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_NE(lines.front().find("session created"), std::string::npos);
  EXPECT_NE(lines.back().find("session deleted"), std::string::npos);
}

TEST_P(Stores, ClosingIsDoneOnceAndSavesOpenSessions) {
  const auto session = create(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  store_->close();
  store_->close();
  EXPECT_TRUE(session->get("a").ok()) << "an object that is held stays usable";
  if (GetParam() == "store") {
    EXPECT_TRUE(disk_.exists("store/sessions/s1/index.bin"));
  }
}

// --- directories
// -----------------------------------------------------------------------------------

using DirectoryStore = StoreFixture;

TEST_F(DirectoryStore, AStoreIsThereForTheNextOne) {
  ASSERT_TRUE((*open()->create_session(R"({"session_id":"s1"})"))->add(kEntry).ok());
  const auto store = open("file:store");
  const auto session = store->open_session("s1");
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE((*session)->get("a").ok());
}

TEST_F(DirectoryStore, TwoStoresOnOneDirectoryShareSessions) {
  const auto one = open();
  const auto two = open();
  const auto writer = *one->create_session(R"({"session_id":"s1"})");
  const auto reader = *two->open_session("s1");
  EXPECT_NE(writer.get(), reader.get());
  ASSERT_TRUE(writer->add(kEntry).ok());
  EXPECT_EQ(*reader->get("a"), *writer->get("a"));
  EXPECT_EQ(listed(*two), std::vector<std::string>{"s1"});
  ASSERT_TRUE(two->delete_session("s1").ok());
  EXPECT_EQ(writer->get("a").code(), Code::kNotFound);
  EXPECT_EQ(one->open_session("s1").code(), Code::kNotFound);
  ASSERT_TRUE(two->create_session(R"({"session_id":"s1"})").ok());
  const auto fresh = one->open_session("s1");
  ASSERT_TRUE(fresh.ok());
  EXPECT_EQ((*fresh)->get("a").code(), Code::kNotFound);
  EXPECT_TRUE((*fresh)->add(kEntry).ok());
}

TEST_F(DirectoryStore, MemoryLeavesNothingOnDisk) {
  const auto store = open("memory:");
  ASSERT_TRUE((*store->create_session(""))->add(kEntry).ok());
  store->close();
  EXPECT_TRUE(disk_.list_all().empty()) << disk_.list_all().front();
  EXPECT_EQ(disk_.operation_count(), 0u);
  EXPECT_TRUE(listed(*open("memory:")).empty()) << "another store, another memory";
}

TEST_F(DirectoryStore, UnknownSchemesAreUnsupportedAndBadPathsRefused) {
  for (const std::string uri :
       {"sqlite:x", "http://host/x", "s3://bucket", "memory:more", ":memory:"}) {
    EXPECT_EQ(try_open(uri).code(), Code::kUnsupported) << uri;
  }
  EXPECT_EQ(try_open("").code(), Code::kInvalidArgument);
  EXPECT_EQ(try_open("file:").code(), Code::kInvalidArgument);
  EXPECT_EQ(try_open(std::string("a\0b", 3)).code(), Code::kInvalidArgument);
  EXPECT_TRUE(disk_.list_all().empty());
  EXPECT_TRUE(try_open("./with:colon").ok());
}

TEST_F(DirectoryStore, GivenConfigurationGoesOverTheFile) {
  disk_.write_file("store/config.json",
                   R"({"durability":"os","concurrency":{"lock_timeout_ms":1},"of_a_later":1})");
  const auto durability = [&](std::string_view config) {
    const auto store = open("store", config);
    return (*store->create_session(""))->stats()->get_string("durability");
  };
  EXPECT_EQ(durability(""), "os");
  EXPECT_EQ(durability(R"({"durability":"commit"})"), "commit");
  EXPECT_EQ(durability(R"({"storage":{"max_entry_size_bytes":100}})"), "os");
}

TEST_F(DirectoryStore, AWrongConfigurationCreatesNothing) {
  const auto refused = try_open("store", R"({"durability":"commit","unknown":7})");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.status().place().member, "unknown");
  EXPECT_EQ(refused.status().place().offset, 33u);
  EXPECT_TRUE(disk_.list_all().empty());
}

TEST_F(DirectoryStore, AWrongOrNewerConfigFileIsNamed) {
  disk_.write_file("store/config.json", R"({"durability":"sometimes"})");
  const auto wrong = try_open("store");
  EXPECT_EQ(wrong.code(), Code::kInvalidArgument);
  EXPECT_TRUE(wrong.status().place().path.ends_with("config.json")) << wrong.status().place().path;
  EXPECT_EQ(wrong.status().place().member, "durability");
  EXPECT_TRUE(wrong.status().message().starts_with("store/config.json: "));
  const std::string newer = R"({"version":"2.0","durability":"quantum"})";
  disk_.write_file("store/config.json", newer);
  EXPECT_EQ(try_open("store").code(), Code::kFormatVersion);
  EXPECT_EQ(disk_.read_file("store/config.json"), newer);
}

// Left-overs, too, which a store that opens may remove.
TEST_F(DirectoryStore, ARefusedConfigFileLeavesTheDirectoryAsItIs) {
  disk_.write_file("store/tmp/new-0123456789abcdef/lock", "");
  for (const char* refused :
       {R"({"version":"2.0"})", R"({"version":true})", R"({"threads":0})", "{"}) {
    disk_.write_file("store/config.json", refused);
    const auto before = disk_.list_all();
    EXPECT_FALSE(try_open("store").ok()) << refused;
    EXPECT_EQ(disk_.list_all(), before) << refused;
  }
}

TEST_F(DirectoryStore, ADamagedSessionIsListedAndTheOthersToo) {
  const auto store = open();
  for (const std::string id : {"s1", "s2", "s3"}) {
    ASSERT_TRUE(store->create_session("{\"session_id\":\"" + id + "\"}").ok());
    clock_.advance_ms(1);
  }
  disk_.write_file("store/sessions/s2/metadata.json", "{\"torn");
  ASSERT_TRUE((*disk_.open_root("store/sessions/s1", false))->remove("metadata.json").ok());
  EXPECT_EQ(listed(*store), (std::vector<std::string>{"s3", "s2", "s1"}));
}

TEST_F(DirectoryStore, RescanFindsWhatWasCopiedIn) {
  const auto store = open();
  ASSERT_TRUE((*store->create_session(R"({"session_id":"s1"})"))->add(kEntry).ok());
  for (const auto* const name : {"metadata.json", "memory.jsonl"}) {
    std::string text = *disk_.read_file(std::string("store/sessions/s1/") + name);
    for (size_t at = text.find("\"s1\""); at != std::string::npos; at = text.find("\"s1\"")) {
      text.replace(at, 4, "\"s2\"");
    }
    disk_.write_file(std::string("store/sessions/s2/") + name, text);
  }
  EXPECT_EQ(listed(*store), std::vector<std::string>{"s1"});
  EXPECT_EQ(listed(*store, "\"rescan\":true").size(), 2u);
  EXPECT_TRUE(store->open_session("s2").ok());
}

TEST_F(DirectoryStore, AHundredThousandSessionsAreListedWithoutOpeningOne) {
  const size_t count = test::kFastBuild ? 100'000 : 2'000;
  std::string rows;
  for (size_t i = 0; i < count; ++i) {
    const std::string id = "s" + std::to_string(i);
    const std::string created_at = format_rfc3339(test::kStartMs + static_cast<int64_t>(i));
    rows += R"({"agent_id":"","created_at":")" + created_at + R"(","session_id":")" + id +
            R"(","user_id":"u)" + std::to_string(i % 1000) + "\"}\n";
    disk_.write_file("store/sessions/" + id + "/metadata.json",
                     R"({"created_at":")" + created_at + R"(","session_id":")" + id + "\"}");
  }
  disk_.write_file("store/indices/sessions.jsonl", rows);
  const auto store = open();
  disk_.clear_trace();
  const auto page = store->sessions(R"({"limit":100})");
  ASSERT_EQ(member(*page, "sessions").items().size(), 100u);
  EXPECT_EQ(member(*page, "sessions").items()[0].get_string("session_id"),
            "s" + std::to_string(count - 1));
  EXPECT_LT(disk_.trace().size(), 1000u) << "a page costs the page";
  const auto all = listed(*store, "", 10'000);
  EXPECT_EQ(all.size(), count);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), count);
  EXPECT_EQ(all.back(), "s0");
  EXPECT_EQ(listed(*store, R"("user_id":"u7")", 10).size(), count / 1000);
  for (const auto& line : disk_.trace()) {
    ASSERT_EQ(line.find("memory.jsonl"), std::string::npos) << line;
    ASSERT_EQ(line.find("index.bin"), std::string::npos) << line;
  }
}

// --- durability
// ------------------------------------------------------------------------------------

TEST_F(DirectoryStore, IntervalIsDurableAfterSyncAndAfterClose) {
  const auto store = open("store", R"({"durability":"interval",
                                       "performance":{"batch_write_interval_ms":3600000}})");
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  const auto durable_entries = [&] {
    const auto after = disk_.crash();
    return after->read_file("store/sessions/s1/memory.jsonl").value_or("");
  };
  ASSERT_TRUE(session->add(kEntry).ok());
  EXPECT_EQ(durable_entries(), "");
  ASSERT_TRUE(store->sync().ok());
  EXPECT_NE(durable_entries().find("\"id\":\"a\""), std::string::npos);
  ASSERT_TRUE(session->add(R"({"id":"b","type":"message","content":1})").ok());
  EXPECT_EQ(durable_entries().find("\"id\":\"b\""), std::string::npos);
  store->close();
  EXPECT_NE(durable_entries().find("\"id\":\"b\""), std::string::npos);
}

TEST_F(DirectoryStore, IntervalThatIsAskedForWhileASessionIsOpenHasItsFlusher) {
  const auto store = open("store", R"({"durability":"os",
                                       "performance":{"batch_write_interval_ms":1}})");
  const auto session = *store->create_session("");
  ASSERT_TRUE(session->update(R"({"durability":"interval"})").ok());
  ASSERT_TRUE(session->add(kEntry).ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (session->stats()->get_int64("durable_seq") < 1) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nobody makes it durable";
    std::this_thread::yield();
  }
}

TEST_F(DirectoryStore, CommitAskedForWhileASessionIsOpenSurvivesAPowerLoss) {
  const auto store = open("store", R"({"durability":"os"})");
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  ASSERT_TRUE(session->update(R"({"durability":"commit"})").ok());
  ASSERT_TRUE((*store->open_session("s1"))->add(R"({"id":"b","type":"x","content":1})").ok());
  const auto after = disk_.crash();
  const auto again = *Store::open("store", "", {after.get(), &clock_, &random_});
  const auto reopened = *again->open_session("s1");
  EXPECT_TRUE(reopened->get("a").ok());
  EXPECT_TRUE(reopened->get("b").ok());
}

TEST_F(DirectoryStore, CommitIsDurableWithTheAnswer) {
  const auto store = open();
  const auto session = *store->create_session(R"({"session_id":"s1"})");
  ASSERT_TRUE(session->add(kEntry).ok());
  ASSERT_TRUE(session->add(R"({"id":"b","type":"message","content":1})").ok());
  ASSERT_TRUE(session->remove("a", "").ok());
  const auto after = disk_.crash();
  auto again = Store::open("store", "", {after.get(), &clock_, &random_});
  ASSERT_TRUE(again.ok());
  const auto reopened = (*again)->open_session("s1");
  ASSERT_TRUE(reopened.ok());
  EXPECT_EQ((*reopened)->get("a").code(), Code::kNotFound);
  EXPECT_TRUE((*reopened)->get("b").ok());
}

TEST_F(DirectoryStore, SyncingManySessionsSyncsThoseThatChanged) {
  const auto store = open("store", R"({"durability":"os"})");
  std::vector<std::shared_ptr<session::Session>> sessions;
  for (int i = 0; i < 4; ++i) sessions.push_back(*store->create_session(""));
  ASSERT_TRUE(sessions[1]->add(kEntry).ok());
  ASSERT_TRUE(sessions[3]->add(kEntry).ok());
  ASSERT_TRUE(store->sync().ok());
  EXPECT_EQ(store->stats()->get_int64("syncs"), 2);
}

TEST_F(DirectoryStore, SyncingGoesOnBehindASessionThatWasDeletedOrFails) {
  const auto store = open("store", R"({"durability":"os"})");
  std::vector<std::shared_ptr<session::Session>> sessions;
  for (const std::string id : {"s1", "s2", "s3"}) {
    sessions.push_back(*store->create_session(R"({"session_id":")" + id + "\"}"));
    ASSERT_TRUE(sessions.back()->add(kEntry).ok());
  }
  ASSERT_TRUE(open()->delete_session("s1").ok());
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool fails = operation.kind == io::OperationKind::kSyncData &&
                       operation.path.find("/s2/") != std::string::npos;
    return fails ? std::optional(io::Fault{EIO, std::nullopt}) : std::nullopt;
  });
  EXPECT_EQ(store->sync().code(), Code::kIo);
  disk_.set_fault_hook({});
  const auto after = disk_.crash();
  const std::string durable = after->read_file("store/sessions/s3/memory.jsonl").value_or("");
  EXPECT_NE(durable.find("\"id\":\"a\""), std::string::npos) << "s2 kept it from the disk";
  sessions[1].reset();
  EXPECT_TRUE(store->sync().ok()) << "of what was deleted nothing is to be made durable";
}

TEST_F(DirectoryStore, WithoutPermissionToWriteItIsForReading) {
  ASSERT_TRUE((*open()->create_session(R"({"session_id":"s1"})"))->add(kEntry).ok());
  disk_.set_read_only(true);
  const auto store = open();
  ASSERT_NE(store, nullptr);
  const auto session = store->open_session("s1");
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_TRUE((*session)->get("a").ok());
  EXPECT_TRUE((*session)->stats()->get_bool("read_only"));
  EXPECT_TRUE((*session)->verify()->get_bool("ok"));
  EXPECT_EQ((*session)->add(R"({"type":"message","content":1})").code(), Code::kReadOnly);
  EXPECT_EQ(store->create_session("").code(), Code::kReadOnly);
  EXPECT_EQ(store->delete_session("s1").code(), Code::kReadOnly);
  EXPECT_EQ(listed(*store), std::vector<std::string>{"s1"});
}

}  // namespace
}  // namespace varve::store
