// Another program appends a line without the lock, at the very moment of an add: what both wrote is
// there, for this process and for others, and stays through a compaction and a purge.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "embedding/vector_format.h"
#include "io/simulated.h"
#include "session/upkeep/compaction.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

constexpr std::string_view kTheirs =
    R"({"id":"theirs","type":"finding","timestamp":"2026-01-10T14:00:00Z","content":"by hand"})"
    "\n";

std::string one_entry(std::string_view id) {
  return R"({"id":")" + std::string(id) + R"(","type":"finding","content":"word"})";
}

class StrangersOfASession : public testing::TestWithParam<std::string_view> {
 protected:
  std::shared_ptr<Store> open(io::FileSystem& files, std::string_view config) {
    auto opened = Store::open("store", config, {&files, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  // Once, between the look at the log and the write.
  void append_theirs() {
    disk_.set_fault_hook(
        [this,
         is_done = false](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          if (is_done || operation.kind != io::OperationKind::kAppend ||
              operation.name != "memory.jsonl") {
            return std::nullopt;
          }
          is_done = true;
          append_by_hand();
          return std::nullopt;
        });
  }
  // Once, as soon as a new log has its name.
  void append_theirs_to_the_new_log() {
    disk_.set_fault_hook(
        [this, step = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          const bool is_rename = operation.kind == io::OperationKind::kRename &&
                                 operation.name.starts_with("memory.jsonl.tmp-");
          if (step == 0 && is_rename) step = 1;
          if (step != 1 || operation.kind != io::OperationKind::kSyncDirectory) return std::nullopt;
          step = 2;
          append_by_hand();
          return std::nullopt;
        });
  }
  // Once, before the operation of that number of ours.
  void append_theirs_at(int moment, bool* came_to_it) {
    *came_to_it = false;
    disk_.set_fault_hook(
        [this, moment, came_to_it,
         count = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          const bool is_ours = operation.process_id != theirs_->process_id();
          if (*came_to_it || !is_ours || count++ != moment) return std::nullopt;
          *came_to_it = true;
          append_by_hand();
          return std::nullopt;
        });
  }
  // Calls `work` for one new session after another; after come_to_the_moment() in it, somebody
  // appends before the next operation of ours, then before the one after that, and so on. The log
  // has a damaged line.
  void at_each_moment(
      const std::function<void(const std::shared_ptr<session::Session>& session)>& work) {
    came_to_it_ = true;
    for (moment_ = 0; came_to_it_ && !HasFailure(); ++moment_) {
      SCOPED_TRACE(moment_);
      const auto store = open(disk_, GetParam());
      const auto session = *store->create_session(R"({"session_id":"s"})");
      ASSERT_TRUE(session->add(one_entry("first")).ok());
      const std::string whole = *disk_.read_file("store/sessions/s/memory.jsonl");
      disk_.write_file("store/sessions/s/memory.jsonl", whole + "{\"damaged\":1}\n");
      for (const auto* id : {"second", "third", "deleted"}) {
        ASSERT_TRUE(session->add(one_entry(id)).ok());
      }
      work(session);
      disk_.set_fault_hook(nullptr);
      if (came_to_it_) expect_all(**open(disk_, GetParam())->open_session("s"));
      ASSERT_TRUE(store->delete_session("s").ok());
    }
    EXPECT_GT(moment_, 20) << "hardly any operations";
  }
  void come_to_the_moment() { append_theirs_at(moment_, &came_to_it_); }
  // The first of three.
  void spoil_a_vector(session::Session& session) {
    for (const auto* id : {"first", "second", "third"}) {
      ASSERT_TRUE(session.put_vector(id, std::vector<float>{1, 2}).ok());
    }
    std::string bytes = *disk_.read_file("store/sessions/s/vectors.bin");
    bytes[embedding::kHeaderBytes + 1] ^= 1;
    disk_.write_file("store/sessions/s/vectors.bin", bytes);
  }
  int64_t quarantined_count() {
    const std::string records = disk_.read_file("store/sessions/s/quarantine.jsonl").value_or("");
    return std::count(records.begin(), records.end(), '\n');
  }

  void append_by_hand(std::string_view bytes = kTheirs) {
    auto folder = *theirs_->open_root("store/sessions/s", false);
    EXPECT_TRUE((*folder->open("memory.jsonl", io::OpenMode::kAppend))->append(bytes).ok());
  }
  static void expect_all(session::Session& session) {
    for (const auto* id : {"first", "second", "third", "theirs"}) {
      const auto got = session.get(id);
      EXPECT_TRUE(got.ok()) << id << ": " << got.status().message();
    }
    const auto report = session.verify();
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->get_int64("damaged"), 0) << report->canonical();
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> theirs_ = disk_.process(4711);
  int moment_ = 0;  // a number of operations
  bool came_to_it_ = false;
};

INSTANTIATE_TEST_SUITE_P(Adds, StrangersOfASession,
                         testing::Values(R"({"durability":"commit"})", R"({"durability":"os"})"),
                         [](const auto& given) {
                           return given.param.find("os") == std::string_view::npos ? "Durable"
                                                                                   : "Buffered";
                         });

TEST_P(StrangersOfASession, CostNobodyAnEntry) {
  const auto store = open(disk_, GetParam());
  const auto session = *store->create_session(R"({"session_id":"s"})");
  ASSERT_TRUE(session->add(one_entry("first")).ok());
  append_theirs();
  const auto added = session->add(one_entry("second"));
  ASSERT_TRUE(added.ok()) << added.status().message();
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(session->get("second").ok());
  ASSERT_TRUE(session->add(one_entry("third")).ok());
  expect_all(*session);
  ASSERT_TRUE(session->add(one_entry("deleted")).ok());
  ASSERT_TRUE(session->remove("deleted", "").ok());
  ASSERT_TRUE(session->compact({}).ok());
  session::CompactionOptions purge;
  purge.cause = session::CompactionCause::kPurge;
  ASSERT_TRUE(session->compact(purge).ok());
  expect_all(*session);
  const auto other = disk_.process(99);
  expect_all(**open(*other, "")->open_session("s"));
}

// A line that is seen before all of it was written looks like the end of a write that was killed.
// The rest of it comes at each moment before the cut.
TEST_P(StrangersOfASession, ALineThatIsBeingWrittenIsNotCutOff) {
  constexpr size_t kSeen = 20;
  bool is_cut = false;
  for (int moment = 0; !is_cut && !HasFailure(); ++moment) {
    SCOPED_TRACE(moment);
    const auto store = open(disk_, GetParam());
    const auto session = *store->create_session(R"({"session_id":"s"})");
    ASSERT_TRUE(session->add(one_entry("first")).ok());
    append_by_hand(kTheirs.substr(0, kSeen));
    bool came_to_it = false;
    disk_.set_fault_hook(
        [&, count = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          const bool is_ours = operation.process_id != theirs_->process_id();
          if (!is_ours || came_to_it || is_cut) return std::nullopt;
          is_cut =
              operation.kind == io::OperationKind::kTruncate && operation.name == "memory.jsonl";
          came_to_it = !is_cut && count++ == moment;
          if (came_to_it) append_by_hand(kTheirs.substr(kSeen));
          return std::nullopt;
        });
    ASSERT_TRUE(session->add(one_entry("second")).ok());
    disk_.set_fault_hook(nullptr);
    if (is_cut) {
      EXPECT_GT(moment, 5) << "hardly any operations";
    }
    ASSERT_TRUE(session->add(one_entry("third")).ok());
    if (!is_cut) expect_all(**open(disk_, GetParam())->open_session("s"));
    ASSERT_TRUE(store->delete_session("s").ok());
  }
}

// At each of its operations, also the one that takes the name away.
TEST_P(StrangersOfASession, DuringACompactionTheyAreNotLeftOut) {
  for (const auto cause : {session::CompactionCause::kAsked, session::CompactionCause::kPurge}) {
    at_each_moment([&](const std::shared_ptr<session::Session>& session) {
      ASSERT_TRUE(session->remove("deleted", "").ok());
      spoil_a_vector(*session);
      session::CompactionOptions options;
      options.cause = cause;
      come_to_the_moment();
      const auto report = session->compact(options);
      EXPECT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(quarantined_count(), cause == session::CompactionCause::kPurge ? 0 : 2)
          << "a line and a vector";
    });
  }
}

TEST_P(StrangersOfASession, DuringARepairTheyAreNotLeftOut) {
  at_each_moment([&](const std::shared_ptr<session::Session>& session) {
    come_to_the_moment();
    const auto report = session->repair(false, false);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->get_int64("quarantined"), 1);
    EXPECT_EQ(quarantined_count(), 1);
  });
}

// Of a log of version 0, in which no entry has a checksum.
TEST_P(StrangersOfASession, DuringAMigrationTheyAreNotLeftOut) {
  at_each_moment([&](const std::shared_ptr<session::Session>& session) {
    session->close();
    std::string old = "{\"damaged\":1}\n";
    for (const std::string id : {"first", "second", "third"}) {
      old += R"({"id":")" + id +
             R"(","timestamp":"2026-01-10T14:00:00Z","type":"finding","content":"word"})" + "\n";
    }
    disk_.write_file("store/sessions/s/memory.jsonl", old);
    disk_.write_file("store/sessions/s/metadata.json", "{}");
    const auto store = open(disk_, GetParam());
    const auto opened = *store->open_session("s");
    come_to_the_moment();
    const auto report = opened->migrate(false);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(report->get_bool("changed"));
    EXPECT_EQ(quarantined_count(), 1);
  });
}

// A compaction makes the index without reading the new log: what is in that and not in the index is
// read by the next call, and does not stop who writes.
TEST_P(StrangersOfASession, BehindACompactionTheyAreSeenAndWrittenBehind) {
  for (const auto cause : {session::CompactionCause::kAsked, session::CompactionCause::kPurge}) {
    disk_.set_fault_hook(nullptr);
    const auto store = open(disk_, GetParam());
    const auto session = *store->create_session(R"({"session_id":"s"})");
    for (const auto* id : {"first", "second", "deleted"}) {
      ASSERT_TRUE(session->add(one_entry(id)).ok());
    }
    ASSERT_TRUE(session->remove("deleted", "").ok());
    append_theirs_to_the_new_log();
    session::CompactionOptions options;
    options.cause = cause;
    ASSERT_TRUE(session->compact(options).ok());
    disk_.set_fault_hook(nullptr);
    const auto theirs = session->get("theirs");
    EXPECT_TRUE(theirs.ok()) << theirs.status().message();
    const auto added = session->add(one_entry("third"));
    EXPECT_TRUE(added.ok()) << added.status().message();
    expect_all(*session);
    const auto other = disk_.process(99);
    expect_all(**open(*other, "")->open_session("s"));
    ASSERT_TRUE(store->delete_session("s").ok());
  }
}

}  // namespace
}  // namespace varve::store
