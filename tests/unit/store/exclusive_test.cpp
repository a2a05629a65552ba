// concurrency.exclusive: sessions that this store opened for its host are nobody else's to write.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "io/simulated.h"
#include "session/upkeep/compaction.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

constexpr std::string_view kExclusive = R"({"concurrency":{"exclusive":true,"lock_timeout_ms":0}})";
constexpr std::string_view kShared = R"({"concurrency":{"lock_timeout_ms":0}})";
constexpr std::string_view kLog = "store/sessions/s/memory.jsonl";

std::string entry_text(std::string_view id) {
  return R"({"id":")" + std::string(id) + R"(","type":"finding","tags":["t"],"content":"word"})";
}

class Exclusive : public testing::Test {
 protected:
  void SetUp() override {
    owner_ = open(disk_, kExclusive);
    other_ = open(*other_process_, kShared);
    ASSERT_TRUE(owner_ && other_);
    session_ = *owner_->create_session(R"({"session_id":"s"})");
    add("first");
  }
  std::shared_ptr<Store> open(io::FileSystem& files, std::string_view config) {
    auto opened = Store::open("store", config, {&files, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  void add(std::string_view id) {
    const auto added = session_->add(entry_text(id));
    EXPECT_TRUE(added.ok()) << added.status().message();
  }
  static uint64_t count_in(session::Session& session) {
    const auto count = session.count("{}");
    EXPECT_TRUE(count.ok()) << count.status().message();
    return count.ok() ? *count : 0;
  }
  std::shared_ptr<session::Session> others() {
    auto opened = other_->open_session("s");
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return *opened;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> other_process_ = disk_.process(4711);
  std::shared_ptr<Store> owner_;
  std::shared_ptr<Store> other_;
  std::shared_ptr<session::Session> session_;
};

TEST_F(Exclusive, OthersReadAndDoNotWrite) {
  const auto reader = others();
  EXPECT_EQ(count_in(*reader), 1u);
  add("second");
  EXPECT_EQ(count_in(*reader), 2u);
  const Status refused = reader->add(entry_text("theirs")).status();
  EXPECT_EQ(refused.code(), Code::kBusy);
  EXPECT_NE(refused.message().find("exclusive use"), std::string::npos) << refused.message();
  EXPECT_EQ(other_->delete_session("s").code(), Code::kBusy);
  EXPECT_EQ(count_in(*session_), 2u);
}

TEST_F(Exclusive, ItIsEverybodysAgainWhenItIsClosed) {
  session_.reset();
  EXPECT_TRUE(others()->add(entry_text("theirs")).ok());
  session_ = *owner_->open_session("s");
  EXPECT_EQ(count_in(*session_), 2u);
  EXPECT_EQ(others()->add(entry_text("again")).code(), Code::kBusy);
}

TEST_F(Exclusive, WhatSomebodyElseHasInHandIsNotOpened) {
  const auto theirs = open(*other_process_, kExclusive);
  EXPECT_EQ(theirs->open_session("s").code(), Code::kBusy);
  session_.reset();
  EXPECT_TRUE(theirs->open_session("s").ok());
}

// The files are not asked while nobody may change them; an append that the lock did not keep out is
// found by the next write, and nothing is lost.
TEST_F(Exclusive, WhatIsAppendedWithoutTheLockIsSeenByTheNextWrite) {
  const auto elsewhere = *other_->create_session(R"({"session_id":"elsewhere"})");
  ASSERT_TRUE(elsewhere->add(entry_text("a")).ok());
  const std::string before = *disk_.read_file("store/sessions/elsewhere/memory.jsonl");
  ASSERT_TRUE(elsewhere->add(entry_text("theirs")).ok());
  const std::string after = *disk_.read_file("store/sessions/elsewhere/memory.jsonl");
  disk_.write_file(kLog, *disk_.read_file(kLog) + after.substr(before.size()));
  EXPECT_EQ(count_in(*session_), 1u);
  EXPECT_EQ(session_->get("theirs").code(), Code::kNotFound);
  add("second");
  EXPECT_EQ(count_in(*session_), 3u);
  EXPECT_TRUE(session_->get("theirs").ok());
  add("third");
  EXPECT_EQ(count_in(*session_), 4u);
  EXPECT_EQ(count_in(*others()), 4u);
}

TEST_F(Exclusive, EverythingThatChangesFilesIsSeenAtOnce) {
  const auto reader = others();
  for (int i = 0; i < 20; ++i) add("e" + std::to_string(i));
  ASSERT_TRUE(session_->remove("first", "").ok());
  EXPECT_EQ(count_in(*session_), 20u);
  ASSERT_TRUE(session_->compact({}).ok());
  EXPECT_EQ(count_in(*session_), 20u);
  add("compacted");
  ASSERT_TRUE(session_->remove("e0", "").ok());
  session::CompactionOptions purge;
  purge.cause = session::CompactionCause::kPurge;
  ASSERT_TRUE(session_->compact(purge).ok());
  add("purged");
  ASSERT_TRUE(session_->kv_set("key", "value").ok());
  EXPECT_EQ(count_in(*session_), 21u);
  EXPECT_EQ(count_in(*reader), 21u);
  const auto report = session_->verify();
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
}

TEST_F(Exclusive, AnAddThatFailsLeavesItAsItWas) {
  disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend}).after_bytes(5));
  EXPECT_EQ(session_->add(entry_text("lost")).code(), Code::kNoSpace);
  disk_.set_fault_hook({});
  EXPECT_EQ(count_in(*session_), 1u);
  add("second");
  EXPECT_EQ(count_in(*session_), 2u);
  EXPECT_EQ(count_in(*others()), 2u);
}

TEST_F(Exclusive, ItsOwnerMayDeleteIt) {
  EXPECT_TRUE(owner_->delete_session("s").ok());
  EXPECT_EQ(session_->get("first").code(), Code::kNotFound);
}

TEST_F(Exclusive, ItsOwnerMayRestoreOverIt) {
  ASSERT_TRUE(owner_->back_up("backup", "").ok());
  add("second");
  const auto restored = owner_->restore("backup", R"({"overwrite":true})");
  ASSERT_TRUE(restored.ok()) << restored.status().message();
  EXPECT_EQ(session_->get("second").code(), Code::kNotFound) << "it is of the one before";
  session_ = *owner_->open_session("s");
  EXPECT_EQ(count_in(*session_), 1u);
  add("third");
  EXPECT_EQ(others()->add(entry_text("theirs")).code(), Code::kBusy) << "it is the owner's again";
}

TEST_F(Exclusive, WhatTheStoreOpensForItselfIsNotKept) {
  session_.reset();
  const auto found = owner_->query(R"({"tags":{"include":["t"]}})");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(others()->add(entry_text("theirs")).ok());
}

TEST_F(Exclusive, AQueryFindsWhatSomebodyElseHasInHand) {
  session_.reset();
  const auto theirs = open(*other_process_, kExclusive);
  const auto held = *theirs->open_session("s");
  const auto found = owner_->query(R"({"tags":{"include":["t"]}})");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->results.size(), 1u);
  EXPECT_TRUE(found->left_out.ok()) << found->left_out.message();
  const auto used = owner_->usage("");
  ASSERT_TRUE(used.ok()) << used.status().message();
  EXPECT_EQ(used->get("problems")->canonical(), "[]") << used->canonical();
}

TEST_F(Exclusive, ConfigJsonDoesNotSayIt) {
  session_.reset();
  disk_.write_file("store/config.json", kExclusive);
  const auto store = open(disk_, {});
  const auto session = *store->open_session("s");
  EXPECT_TRUE(others()->add(entry_text("theirs")).ok());
}

}  // namespace
}  // namespace varve::store
