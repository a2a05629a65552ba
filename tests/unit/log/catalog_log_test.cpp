// The log of the store's own, which is no session.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "io/simulated.h"
#include "json/tree.h"
#include "log/directory_engine.h"
#include "log/memory_engine.h"
#include "support/environment.h"

namespace varve::log {
namespace {

class CatalogLog : public testing::Test {
 protected:
  std::unique_ptr<DirectoryEngine> open(io::SimulatedFileSystem& files) {
    auto opened = DirectoryEngine::open("store", {&files, &clock_, &random_}, 1);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  static Status add(SessionStorage& storage) {
    VARVE_TRY(storage.lock(0, "write", nullptr));
    Status added = storage.append(Stream::kEntries, 0, "line\n", true, 1);
    storage.unlock();
    return added;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
};

TEST_F(CatalogLog, IsMadeOnceAndIsNoSession) {
  const auto engine = open(disk_);
  EXPECT_EQ(engine->open_catalog().code(), Code::kNotFound);
  const auto made = engine->create_catalog("{\"first\":1}");
  ASSERT_TRUE(made.ok()) << made.status().message();
  const auto again = open(disk_)->create_catalog("{\"second\":1}");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*(*again)->get_document("metadata.json"), "{\"first\":1}");
  EXPECT_TRUE(engine->session_ids()->empty());
  EXPECT_TRUE(engine->list("", 10)->rows.empty());
}

TEST_F(CatalogLog, WhatItAnsweredSurvivesALossOfPower) {
  const auto engine = open(disk_);
  ASSERT_TRUE(add(**engine->create_catalog("{}")).ok());
  EXPECT_EQ(disk_.crash()->read_file("store/indices/catalog/memory.jsonl"), "line\n");
  // Gone for good, with all that somebody who has it open may still write.
  const auto held = *engine->open_catalog();
  ASSERT_TRUE(engine->drop_catalog().ok());
  EXPECT_FALSE(disk_.crash()->exists("store/indices/catalog/"));
  EXPECT_EQ(add(*held).code(), Code::kNotFound);
  ASSERT_TRUE(engine->drop_catalog().ok()) << "there is none";
  EXPECT_EQ(engine->open_catalog().code(), Code::kNotFound);
  ASSERT_TRUE(add(**engine->create_catalog("{}")).ok()) << "a new one";
}

// A loss of power may bring its name back as long as the drop is not durable.
TEST_F(CatalogLog, IsWholeUntilItIsGoneForGood) {
  const auto are_lines_there = [this] {
    const auto paths = disk_.list_all();
    return std::any_of(paths.begin(), paths.end(), [](const std::string& path) {
      return path.ends_with("/memory.jsonl") && path.find("/tmp/") != std::string::npos;
    });
  };
  auto engine = open(disk_);
  ASSERT_TRUE(add(**engine->create_catalog("{}")).ok());
  disk_.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kSyncDirectory}).on_file("indices"));
  EXPECT_EQ(engine->drop_catalog().code(), Code::kIo);
  engine.reset();
  disk_.release_locks();
  engine = open(disk_);
  EXPECT_TRUE(are_lines_there()) << "swept before its drop was durable";
  disk_.set_fault_hook({});
  engine = open(disk_);
  EXPECT_FALSE(are_lines_there());
  EXPECT_FALSE(disk_.crash()->exists("store/indices/catalog/"));
}

TEST_F(CatalogLog, IsNotDroppedUnderAWriter) {
  const auto engine = open(disk_);
  const auto held = *engine->create_catalog("{}");
  ASSERT_TRUE(held->lock(0, "write", nullptr).ok());
  EXPECT_EQ(open(disk_)->drop_catalog().code(), Code::kBusy);
  EXPECT_TRUE(disk_.exists("store/indices/catalog/"));
  held->unlock();
}

// Nor one that is made while others drop and make some.
TEST_F(CatalogLog, IsNotTakenForWhatIsNoCatalog) {
  const auto engine = open(disk_);
  const auto process = disk_.process(2002);
  const auto other = open(*process);
  std::unique_ptr<SessionStorage> held;
  uint64_t looks = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_ours = operation.process_id != process->process_id();
    if (!is_ours || operation.name != "catalog" || ++looks > 4) return {};
    if (looks % 2 == 1) {
      EXPECT_TRUE(other->drop_catalog().ok());
      return {};
    }
    held = *other->create_catalog("{}");
    const bool is_locked = looks < 4 || held->lock(0, "write", nullptr).ok();
    EXPECT_TRUE(is_locked);
    return {};
  });
  EXPECT_EQ(engine->drop_catalog().code(), Code::kBusy);
  disk_.set_fault_hook({});
  ASSERT_TRUE(held);
  EXPECT_TRUE(disk_.exists("store/indices/catalog/"));
  held->unlock();
}

TEST_F(CatalogLog, ThatOthersReplaceOverAndOverIsNotDropped) {
  const auto engine = open(disk_);
  ASSERT_TRUE(engine->create_catalog("{\"first\":1}").ok());
  const auto process = disk_.process(2002);
  const auto other = open(*process);
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_ours = operation.process_id != process->process_id();
    const bool is_lock = operation.kind == io::OperationKind::kLock;
    if (!is_ours || !is_lock || !operation.path.ends_with("catalog/lock")) return std::nullopt;
    EXPECT_TRUE(other->drop_catalog().ok());
    EXPECT_TRUE(other->create_catalog("{\"theirs\":1}").ok());
    return std::nullopt;
  });
  const Status busy = engine->drop_catalog();
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(busy.code(), Code::kBusy);
  EXPECT_NE(busy.message().find("over and over"), std::string::npos) << busy.message();
  const auto there = engine->open_catalog();
  ASSERT_TRUE(there.ok()) << there.status().message();
  EXPECT_EQ(*(*there)->get_document("metadata.json"), "{\"theirs\":1}");
  EXPECT_TRUE(engine->drop_catalog().ok());
}

TEST_F(CatalogLog, OfAStoreInMemoryThereIsNone) {
  MemoryEngine engine(clock_);
  EXPECT_EQ(engine.open_catalog().code(), Code::kNotFound);
  EXPECT_EQ(engine.create_catalog("{}").code(), Code::kUnsupported);
  EXPECT_TRUE(engine.drop_catalog().ok());
}

TEST_F(CatalogLog, WithoutPermissionToWriteThereIsTheOneThatWasMade) {
  ASSERT_TRUE(open(disk_)->create_catalog("{}").ok());
  disk_.set_read_only(true);
  const auto engine = open(disk_);
  EXPECT_TRUE(engine->open_catalog().ok());
  EXPECT_TRUE(engine->create_catalog("{}").ok());
  EXPECT_EQ(engine->drop_catalog().code(), Code::kReadOnly);
  EXPECT_TRUE(disk_.exists("store/indices/catalog/"));
}

// Folders that are missing there tell that nothing may be written.
TEST_F(CatalogLog, OfAStoreForReadingNoneIsMadeOrDropped) {
  disk_.write_file("store/sessions/note", "");
  disk_.write_file("other/sessions/note", "");
  disk_.write_file("other/indices/catalog/metadata.json", "{}");
  disk_.set_read_only(true);
  const auto engine = open(disk_);
  EXPECT_EQ(engine->open_catalog().code(), Code::kNotFound);
  EXPECT_EQ(engine->create_catalog("{}").code(), Code::kReadOnly);
  EXPECT_TRUE(engine->drop_catalog().ok()) << "there is none";
  const auto other = *DirectoryEngine::open("other", {&disk_, &clock_, &random_}, 1);
  EXPECT_EQ(other->drop_catalog().code(), Code::kReadOnly);
  EXPECT_TRUE(disk_.exists("other/indices/catalog/"));
}

TEST_F(CatalogLog, TheOneOfWhoIsFasterCounts) {
  const auto engine = open(disk_);
  const auto other = open(disk_);
  bool was_made = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_named = operation.kind == io::OperationKind::kMove &&
                          operation.path.find("/tmp/") != std::string::npos;
    if (is_named && !std::exchange(was_made, true)) {
      EXPECT_TRUE(other->create_catalog("{\"first\":1}").ok());
    }
    return std::nullopt;
  });
  const auto made = engine->create_catalog("{\"second\":1}");
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(was_made);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(*(*made)->get_document("metadata.json"), "{\"first\":1}");
}

}  // namespace
}  // namespace varve::log
