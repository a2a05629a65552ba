// The conformance suite of Engine, over directories and memory.
#include "log/storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "io/posix.h"
#include "io/simulated.h"
#include "json/tree.h"
#include "log/directory_engine.h"
#include "log/memory_engine.h"
#include "support/environment.h"
#include "unit/io/temporary_directory.h"

namespace varve::log {
namespace {

enum class Backend { kPosix, kSimulated, kMemory };

std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param == Backend::kPosix       ? "Posix"
         : info.param == Backend::kSimulated ? "Simulated"
                                             : "Memory";
}

class Engines : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (GetParam() == Backend::kMemory) {
      engine_ = std::make_unique<MemoryEngine>(clock_);
      return;
    }
    const bool posix = GetParam() == Backend::kPosix;
    io::FileSystem& system = posix ? static_cast<io::FileSystem&>(posix_) : disk_;
    auto opened = DirectoryEngine::open(posix ? directory_.path_of("store") : "store",
                                        {&system, &clock_, &random_}, 100);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    engine_ = *std::move(opened);
  }

  Status create(const std::string& id, const std::string& user = "u") {
    const int64_t now_ms = clock_.now_ms();
    clock_.advance_ms(1000);
    return engine_->create({id, user, "agent", now_ms}, "{\"session_id\":\"" + id + "\"}").status();
  }
  Status drop(const std::string& id) { return engine_->drop(id, {}); }
  // The ids of all rows, page by page.
  std::vector<std::string> listed(size_t limit) {
    std::vector<std::string> ids;
    std::string after;
    for (int pages = 0; pages < 1000; ++pages) {
      const auto page = engine_->list(after, limit);
      EXPECT_TRUE(page.ok()) << page.status().message();
      if (!page.ok()) break;
      EXPECT_LE(page->rows.size(), limit);
      EXPECT_EQ(page->rows.size(), page->cursors.size());
      for (const auto& row : page->rows) ids.push_back(row.session_id);
      if (page->at_end) break;
      EXPECT_FALSE(page->rows.empty());
      after = page->cursors.back();
    }
    return ids;
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::PosixFileSystem posix_;
  io::SimulatedFileSystem disk_;
  io::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

INSTANTIATE_TEST_SUITE_P(Over, Engines,
                         testing::Values(Backend::kPosix, Backend::kSimulated, Backend::kMemory),
                         backend_name);

TEST_P(Engines, ACreatedSessionIsThereWithItsMetadata) {
  ASSERT_TRUE(create("s1").ok());
  EXPECT_EQ(*engine_->session_document("s1", "metadata.json"), "{\"session_id\":\"s1\"}");
  const auto storage = engine_->open("s1");
  ASSERT_TRUE(storage.ok()) << storage.status().message();
  EXPECT_EQ((*storage)->tail()->entries_bytes, 0u);
}

TEST_P(Engines, CreatingAgainIsRefusedAndChangesNothing) {
  ASSERT_TRUE(create("s1").ok());
  const Status refused = engine_->create({"s1", "other", "", 0}, "{\"other\":1}").status();
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_EQ(*engine_->session_document("s1", "metadata.json"), "{\"session_id\":\"s1\"}");
  EXPECT_EQ(listed(10).size(), 1u);
}

TEST_P(Engines, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(engine_->open("nobody").code(), Code::kNotFound);
  EXPECT_EQ(drop("nobody").code(), Code::kNotFound);
  EXPECT_EQ(engine_->session_document("nobody", "metadata.json").code(), Code::kNotFound);
  EXPECT_EQ(engine_->store_document("config.json").code(), Code::kNotFound);
  ASSERT_TRUE(create("s1").ok());
  EXPECT_EQ(engine_->session_document("s1", "nothing.json").code(), Code::kNotFound);
}

TEST_P(Engines, ADroppedSessionIsGoneForWhoeverHasItOpen) {
  ASSERT_TRUE(create("s1").ok());
  const auto open = engine_->open("s1");
  ASSERT_TRUE(drop("s1").ok());
  EXPECT_EQ((*open)->tail().code(), Code::kNotFound);
  EXPECT_EQ((*open)->lock(clock_.monotonic_us(), "test", nullptr).code(), Code::kNotFound);
  EXPECT_EQ(engine_->open("s1").code(), Code::kNotFound);
  EXPECT_EQ(drop("s1").code(), Code::kNotFound);
}

TEST_P(Engines, ADroppedIdMayBeUsedAgainForAnEmptySession) {
  ASSERT_TRUE(create("s1").ok());
  {
    const auto storage = engine_->open("s1");
    ASSERT_TRUE((*storage)->lock(clock_.monotonic_us(), "test", nullptr).ok());
    ASSERT_TRUE((*storage)->append(Stream::kEntries, 0, "old\n", true, 1).ok());
    (*storage)->unlock();
  }
  ASSERT_TRUE(drop("s1").ok());
  ASSERT_TRUE(create("s1").ok());
  EXPECT_EQ((*engine_->open("s1"))->tail()->entries_bytes, 0u);
}

TEST_P(Engines, DroppingWaitsForTheWriterUntilTheDeadline) {
  ASSERT_TRUE(create("s1").ok());
  const auto writer = engine_->open("s1");
  ASSERT_TRUE((*writer)->lock(clock_.monotonic_us(), "test", nullptr).ok());
  EXPECT_EQ(drop("s1").code(), Code::kBusy);
  EXPECT_TRUE(engine_->open("s1").ok());
  (*writer)->unlock();
  EXPECT_TRUE(drop("s1").ok());
}

TEST_P(Engines, ListsNewestFirstInPagesOfAnySize) {
  std::vector<std::string> expected;
  for (int i = 0; i < 25; ++i) {
    const std::string id = "s" + std::to_string(i);
    ASSERT_TRUE(create(id).ok());
    expected.insert(expected.begin(), id);
  }
  for (const size_t limit : {1u, 2u, 7u, 24u, 25u, 26u, 1000u}) EXPECT_EQ(listed(limit), expected);
}

TEST_P(Engines, RowsSayWhoseSessionItIs) {
  ASSERT_TRUE(create("s1", "user \"quoted\" \xc3\xa9").ok());
  const auto page = engine_->list("", 10);
  ASSERT_EQ(page->rows.size(), 1u);
  EXPECT_EQ(page->rows[0].user_id, "user \"quoted\" \xc3\xa9");
  EXPECT_EQ(page->rows[0].agent_id, "agent");
  EXPECT_EQ(page->rows[0].created_at_ms, test::kStartMs);
  EXPECT_TRUE(page->at_end);
}

TEST_P(Engines, APageThatWasAskedForStaysValidWhileSessionsAreCreated) {
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(create("s" + std::to_string(i)).ok());
  const auto first = engine_->list("", 2);
  ASSERT_TRUE(create("newer").ok());
  const auto second = engine_->list(first->cursors.back(), 2);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(second->rows[0].session_id, "s3");
  EXPECT_EQ(second->rows[1].session_id, "s2");
}

TEST_P(Engines, CursorsOfOthersAndGarbageAreRefused) {
  ASSERT_TRUE(create("s1").ok());
  for (const std::string cursor : {"x", "-1", "1:2:3", ":", "12:", ":12", "99999999999999999999999",
                                   "7:99999999", "99", " 1", "0x1", "1e3", "\xff\xfe"}) {
    EXPECT_EQ(engine_->list(cursor, 10).code(), Code::kInvalidArgument) << cursor;
  }
  EXPECT_EQ(engine_->list(std::string(100'000, '9'), 10).code(), Code::kInvalidArgument);
}

TEST_P(Engines, ACursorWithMoreBehindItOrOfAPlaceThatIsNoneIsRefused) {
  for (const std::string id : {"a", "b", "c"}) ASSERT_TRUE(create(id).ok());
  const std::string cursor = engine_->list("", 1)->cursors.back();
  ASSERT_EQ(engine_->list(cursor, 10)->rows.size(), 2u);
  const std::string start = cursor.substr(0, cursor.find(':') + 1);
  for (const std::string& refused :
       {cursor + "x", cursor + " ", cursor + ":1", start + "4", start + "999999:1"}) {
    EXPECT_EQ(engine_->list(refused, 10).code(), Code::kInvalidArgument) << refused;
  }
}

TEST_P(Engines, RowsOfDroppedSessionsCanBeTakenOut) {
  for (const std::string id : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(create(id).ok());
  for (const std::string id : {"b", "d", "e"}) ASSERT_TRUE(drop(id).ok());
  ASSERT_TRUE(create("b", "another").ok());
  ASSERT_TRUE(create("f").ok());
  using Ids = std::vector<std::string>;
  EXPECT_EQ(listed(2), (Ids{"f", "b", "e", "d", "c", "b", "a"}));
  const auto before = engine_->list("", 5);
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(listed(2), (Ids{"f", "b", "c", "a"})) << "in their order, one for each";
  EXPECT_EQ(engine_->list("", 2)->rows[1].user_id, "another");
  EXPECT_EQ(engine_->list(before->cursors.back(), 2).code(), Code::kInvalidArgument)
      << "its place is another row's now";
  ASSERT_TRUE(create("g").ok());
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(listed(9), (Ids{"g", "f", "b", "c", "a"}));
  for (const std::string id : {"a", "b", "c", "f", "g"}) ASSERT_TRUE(drop(id).ok());
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  EXPECT_EQ(listed(9), Ids());
}

// As a restore from an older backup does, when the id was used again since.
TEST_P(Engines, TheRowOfASessionThatCameBackIsNotTakenOutForALaterOneOfItsId) {
  const auto metadata = [](int64_t made_ms) {
    return R"({"session_id":"s","created_at":")" + format_rfc3339(made_ms) + "\"}";
  };
  for (const int64_t made_ms : {test::kStartMs, test::kStartMs + 1}) {
    ASSERT_TRUE(engine_->create({"s", "u", "", made_ms}, metadata(made_ms)).ok());
    ASSERT_TRUE(drop("s").ok());
  }
  SessionRow first{"s", "u", "", test::kStartMs};
  first.listed_at = engine_->list("", 2)->cursors.back();
  first.was_dropped = true;
  const auto nothing = [](Sink&) { return Status(); };
  const auto described = [&](Sink& sink) { return sink.append(metadata(test::kStartMs)); };
  const SessionContents contents{nothing, {}, described, nothing};
  ASSERT_TRUE(engine_->install(first, contents, Existing::kRefuse).ok());
  ASSERT_TRUE(engine_->remove_dead_rows().ok());
  const auto page = engine_->list("", 9);
  ASSERT_EQ(page->rows.size(), 1U);
  EXPECT_EQ(page->rows.front().created_at_ms, test::kStartMs);
  const auto lives = engine_->lives([](const std::string&) { return true; });
  ASSERT_EQ(lives->undropped.size(), 1U);
  EXPECT_EQ(lives->undropped.front().created_at_ms, test::kStartMs);
}

TEST_P(Engines, AnEmptyStoreListsNothing) {
  const auto page = engine_->list("", 10);
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(page->rows.empty());
  EXPECT_TRUE(page->at_end);
  EXPECT_TRUE(engine_->rescan().ok());
  EXPECT_TRUE(engine_->remove_dead_rows().ok());
}

}  // namespace
}  // namespace varve::log
