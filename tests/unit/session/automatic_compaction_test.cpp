// A session that compacts itself when it comes near its limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session/upkeep/compaction.h"
#include "session_place.h"

namespace varve::session {
namespace {

class AutomaticCompaction : public testing::Test {
 protected:
  // A new session of at most `bytes` with `options` of its own.
  std::shared_ptr<Session> make(uint64_t bytes, json::Tree config = json::Tree::object()) {
    host_.context.settings.session_bytes_max = bytes;
    CreateOptions options;
    if (!config.members().empty()) options.members.set("compaction_config", std::move(config));
    SessionDisk& disk = disks_.emplace_back(host_);
    disk.make(options);
    return disk.open();
  }
  static std::string text(int number) {
    return entry_text("e" + std::to_string(number), std::string(300, 'x'));
  }
  // How many entries fit.
  static int fill(Session& session, int from = 0) {
    int number = from;
    while (session.add(text(number)).ok()) ++number;
    return number - from;
  }
  // The number of the next one, when the session has at least so many bytes.
  static int fill_to(Session& session, int64_t bytes) {
    int number = 0;
    while (session.stats()->get("size_bytes")->get_int64("total") < bytes) {
      EXPECT_TRUE(session.add(text(number++)).ok());
    }
    return number;
  }
  size_t compactions(Session& session) {
    const json::Tree metadata = *session.metadata();
    const json::Tree* history = metadata.get("compactions");
    return history == nullptr ? 0 : history->items().size();
  }

  Host host_;
  std::deque<SessionDisk> disks_;  // of each session made
};

std::string hardly_matters(size_t text_bytes) {
  return R"({"id":"old","type":"finding","importance":0.1,"content":")" +
         std::string(text_bytes, 'x') + R"(","timestamp":"2001-01-01T00:00:00Z"})";
}

TEST_F(AutomaticCompaction, MakesRoomWhenTheSessionNearsItsLimit) {
  const auto session = make(20'000);
  const int fitted = fill(*session);
  EXPECT_GT(fitted, 20);
  for (int i = 0; i < fitted; i += 2) {
    ASSERT_TRUE(session->remove("e" + std::to_string(i), "").ok());
  }
  EXPECT_EQ(compactions(*session), 0u) << "deleting alone does not";
  ASSERT_TRUE(session->add(text(1000)).ok());
  EXPECT_EQ(compactions(*session), 1u);
  const json::Tree metadata = *session->metadata();
  EXPECT_EQ(metadata.get("compactions")->items()[0].get_string("cause"), "automatic");
  EXPECT_GT(fill(*session, 2000), 3);
}

TEST_F(AutomaticCompaction, WhenItDoesNotHelpTheAddIsRefusedWithTheSizes) {
  const auto session = make(20'000);
  fill(*session);
  const auto refused = session->add(text(1000));
  ASSERT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.status().place().limit, 20'000u);
  EXPECT_GT(*refused.status().place().size, 20'000u);
  EXPECT_TRUE(refused.status().message().ends_with(
      " bytes; its limit is 20000 (storage.max_session_size_mb): delete what is not needed and "
      "compact, or raise the limit"))
      << refused.status().message();
  EXPECT_TRUE(session->get("e0").ok());
}

TEST_F(AutomaticCompaction, EvictsWhatHardlyMattersAnyMoreAndSaysSo) {
  std::vector<std::string> warnings;
  host_.keep_lines(Level::kWarn, &warnings);
  const auto session = make(20'000);
  ASSERT_TRUE(session->add(hardly_matters(3000)).ok());
  fill(*session);
  EXPECT_EQ(session->get("old").code(), Code::kNotFound);
  const json::Tree metadata = *session->metadata();
  EXPECT_EQ(metadata.get("compactions")->items()[0].get("dropped")->get_int64("evicted"), 1);
  host_.events.deliver();
  const auto is_of_eviction = [](const std::string& line) {
    return line.find("evicted to stay within the size limit") != std::string::npos &&
           line.find(R"("evicted":1,"limit_bytes":20000)") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(warnings.begin(), warnings.end(), is_of_eviction), 1);
}

TEST_F(AutomaticCompaction, OfAnImportTellsInTheReportHowManyWent) {
  std::string lines;
  for (int i = 0; i < 1200; ++i) {
    lines += R"({"id":"e)" + std::to_string(i) +
             R"(","type":"finding","importance":0.1,"content":"x",)"
             R"("timestamp":"2001-01-01T00:00:00Z"})"
             "\n";
  }
  for (const uint64_t bytes : {200'000u, 2'000'000u}) {
    SCOPED_TRACE(bytes);
    const auto session = make(bytes);
    const auto report = session->import_text(lines);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->get_int64("added"), 1200);
    EXPECT_EQ(report->get("evicted") == nullptr, bytes == 2'000'000u);
    EXPECT_EQ(report->get_int64("evicted"), 1200 - session->stats()->get_int64("entries"));
  }
}

TEST_F(AutomaticCompaction, DropsNoLiveEntryWhereWhatWasDeletedIsEnough) {
  const auto session = make(20'000);
  ASSERT_TRUE(session->add(hardly_matters(300)).ok());
  int number = fill_to(*session, 17'000);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(session->remove("e" + std::to_string(i), "").ok());
  }
  ASSERT_EQ(compactions(*session), 0u);
  while (compactions(*session) == 0) ASSERT_TRUE(session->add(text(number++)).ok());
  EXPECT_TRUE(session->get("old").ok());
  const json::Tree metadata = *session->metadata();
  const json::Tree& dropped = *metadata.get("compactions")->items()[0].get("dropped");
  EXPECT_EQ(dropped.get_int64("deleted"), 10);
  EXPECT_EQ(dropped.get_int64("evicted"), 0);
}

// What was deleted would be enough, if index.bin were not written for the first time.
TEST_F(AutomaticCompaction, DropsLiveEntriesAfterAllWhereTheNewIndexIsLarger) {
  const auto session = make(20'000);
  ASSERT_TRUE(session->add(hardly_matters(300)).ok());
  int number = fill_to(*session, 17'000);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session->remove("e" + std::to_string(i), "").ok());
  while (compactions(*session) == 0) ASSERT_TRUE(session->add(text(number++)).ok());
  EXPECT_EQ(session->get("old").code(), Code::kNotFound);
  const json::Tree metadata = *session->metadata();
  const auto& history = metadata.get("compactions")->items();
  ASSERT_EQ(history.size(), 2U);
  EXPECT_EQ(history[0].get("dropped")->get_int64("deleted"), 3);
  EXPECT_EQ(history[0].get("dropped")->get_int64("evicted"), 0);
  EXPECT_EQ(history[1].get("dropped")->get_int64("evicted"), 1);
}

TEST_F(AutomaticCompaction, DropsNoLiveEntryWhereVectorsThatWerePutAnewAreEnough) {
  const auto session = make(20'000);
  ASSERT_TRUE(session->add(hardly_matters(300)).ok());
  ASSERT_TRUE(session->add(text(0)).ok());
  for (int i = 0; i < 20; ++i) {  // 1.2 KB each: more than the limit together
    ASSERT_TRUE(session->put_vector("e0", std::vector<float>(300, 1)).ok()) << i;
  }
  EXPECT_TRUE(session->get("old").ok());
  fill(*session, 1);
  EXPECT_EQ(session->get("old").code(), Code::kNotFound) << "of entries alone it must go";
}

TEST_F(AutomaticCompaction, DropsNoLiveEntryOfASessionThatGrewUnderAnotherLimit) {
  const int64_t count = [this] {
    const auto filled = make(0);
    EXPECT_TRUE(filled->add(hardly_matters(3000)).ok());
    return fill_to(*filled, 21'000);
  }();
  host_.context.settings.session_bytes_max = 20'000;
  const auto session = disks_.back().open();
  const auto refused = session->add(text(1000));
  ASSERT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_TRUE(refused.status().message().ends_with(
      "(storage.max_session_size_mb): raise it in config.json to that of the program which let it "
      "grow so far, or delete what is not needed and compact"))
      << refused.status().message();
  EXPECT_EQ(session->stats()->get_int64("entries"), count + 1);
  // Once it is within the limit, the limit is kept as ever.
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(session->remove("e" + std::to_string(i), "").ok());
  EXPECT_TRUE(session->add(text(1000)).ok());
  EXPECT_TRUE(session->get("old").ok());
  fill(*session, 1001);
  EXPECT_EQ(session->get("old").code(), Code::kNotFound);
}

TEST_F(AutomaticCompaction, DropsNoLiveEntryForAWriteThatCannotFit) {
  const auto session = make(20'000);
  ASSERT_TRUE(session->add(hardly_matters(4000)).ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(session->add(text(i)).ok());
  EXPECT_EQ(session->add(entry_text("large", std::string(19'000, 'x'))).code(), Code::kSizeLimit);
  EXPECT_TRUE(session->get("old").ok());
  const auto fitting = session->add(entry_text("fits", std::string(12'000, 'x')));
  ASSERT_TRUE(fitting.ok()) << fitting.status().message();
  EXPECT_EQ(session->get("old").code(), Code::kNotFound) << "without it this one fits";
}

// It may be the entry that the vector was made of.
TEST_F(AutomaticCompaction, DropsNoLiveEntryForAVector) {
  const auto session = make(20'000);
  ASSERT_TRUE(session->add(hardly_matters(4000)).ok());
  const int count = fill_to(*session, 14'000);
  Status put;
  for (int i = 0; i < count && put.ok(); ++i) {
    put = session->put_vector("e" + std::to_string(i), std::vector<float>(300, 1));
  }
  EXPECT_EQ(put.code(), Code::kSizeLimit);
  EXPECT_TRUE(session->get("old").ok());
  ASSERT_TRUE(session->add(entry_text("more", std::string(3'000, 'x'))).ok());
  EXPECT_EQ(session->get("old").code(), Code::kNotFound) << "for an entry it goes at once";
}

TEST_F(AutomaticCompaction, CanBeSwitchedOffByTheStoreAndByTheSession) {
  host_.context.settings.compaction.automatic = false;
  {
    const auto session = make(20'000);
    const int fitted = fill(*session);
    ASSERT_TRUE(session->remove("e0", "").ok());
    EXPECT_EQ(session->add(text(1000)).code(), Code::kSizeLimit);
    EXPECT_EQ(compactions(*session), 0u);
    EXPECT_GT(fitted, 20);
  }
  const auto session = make(20'000, *json::Tree::parse(R"({"auto_compact":true})"));
  fill(*session, 500);
  ASSERT_TRUE(session->remove("e500", "").ok());
  EXPECT_TRUE(session->add(text(1000)).ok());
  EXPECT_EQ(compactions(*session), 1u);
}

TEST_F(AutomaticCompaction, StartsAtTheThreshold) {
  const auto session = make(100'000, *json::Tree::parse(R"({"threshold":0.1})"));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(session->add(text(i)).ok());
  ASSERT_TRUE(session->remove("e0", "").ok());
  int number = 10;
  while (compactions(*session) == 0 && number < 100) ASSERT_TRUE(session->add(text(number++)).ok());
  EXPECT_LT(number, 30);
}

TEST_F(AutomaticCompaction, IsNotTriedAgainWithEachAdd) {
  const auto session = make(1'000'000, *json::Tree::parse(R"({"threshold":0.01})"));
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(session->add(text(i)).ok());
  EXPECT_LT(host_.counters.compactions.load(), 8u);
}

TEST_F(AutomaticCompaction, ASessionExactlyAtItsLimitTakesWhatStillFits) {
  const auto probe = make(0);
  ASSERT_TRUE(probe->add(text(1)).ok());
  const uint64_t line_bytes = disks_.back().bytes("memory.jsonl").size();
  const auto session = make(line_bytes);
  ASSERT_TRUE(session->add(text(1)).ok()) << "to the last byte";
  EXPECT_EQ(session->add(R"({"type":"message","content":1})").code(), Code::kSizeLimit);
  EXPECT_EQ(disks_.back().bytes("memory.jsonl").size(), line_bytes);
}

// Checksums, numbers and places in the batch are more than half of such lines.
TEST_F(AutomaticCompaction, ABatchCountsWithAllThatItsLinesHave) {
  std::string batch;
  for (int i = 0; i < 200; ++i) {
    batch += R"({"type":"message","content":1,"id":"e)" + std::to_string(i) + "\"}\n";
  }
  const auto probe = make(0);
  ASSERT_TRUE(probe->add_batch(batch).ok());
  const uint64_t bytes = disks_.back().bytes("memory.jsonl").size();
  const auto small = make(bytes - 1);
  const auto refused = small->add_batch(batch);
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.status().place().size, bytes);
  EXPECT_EQ(disks_.back().bytes("memory.jsonl").size(), 0u);
  const auto session = make(bytes);
  EXPECT_TRUE(session->add_batch(batch).ok()) << "to the last byte";
}

// Which removes index.bin and, of an empty log, makes no new one.
TEST_F(AutomaticCompaction, AfterAPurgeOfEverythingNothingCounts) {
  const auto session = make(20'000);
  fill(*session);
  ASSERT_TRUE(session->sync().ok());
  ASSERT_TRUE(session->remove_where("{}", "").ok());
  CompactionOptions purge;
  purge.cause = CompactionCause::kPurge;
  ASSERT_TRUE(session->compact(purge).ok());
  EXPECT_EQ(disks_.back().bytes("memory.jsonl").size(), 0u);
  EXPECT_EQ(session->size_bytes(), disks_.back().bytes("tombstones.jsonl").size());
}

// A program that keeps a full session open must not be refused for good.
TEST_F(AutomaticCompaction, OfAFullSessionIsTriedAgainWhenEntriesMayHaveExpired) {
  const auto session = make(20'000);
  ASSERT_TRUE(session
                  ->add(R"({"type":"message","ttl_seconds":5000,"content":")" +
                        std::string(3000, 'x') + "\"}")
                  .ok());
  const int fitted = fill(*session);
  host_.clock.advance_ms(3'500'000);
  EXPECT_EQ(session->add(text(fitted)).code(), Code::kSizeLimit);
  host_.clock.advance_ms(1'600'000);  // it has expired
  EXPECT_TRUE(session->add(text(fitted)).ok());
  EXPECT_EQ(compactions(*session), 1u);
}

TEST_F(AutomaticCompaction, ALargeAddThatIsRefusedDelaysNoOther) {
  const auto session = make(100'000, *json::Tree::parse(R"({"threshold":0.5})"));
  ASSERT_TRUE(session->add(R"({"type":"message","ttl_seconds":60,"content":"x"})").ok());
  EXPECT_EQ(session->add(entry_text("large", std::string(120'000, 'x'))).code(), Code::kSizeLimit);
  host_.clock.advance_ms(61'000);
  int number = 0;
  while (compactions(*session) == 0 && number < 150) ASSERT_TRUE(session->add(text(number++)).ok());
  EXPECT_LT(number, 120) << "at the threshold";
}

// Of these files the log tells nothing, so whoever writes looks at them after others wrote.
TEST_F(AutomaticCompaction, WhatOthersWroteBesideTheLogCounts) {
  const auto write = [](Session& other, int kind) -> Status {
    const std::string large(15'000, 'v');
    if (kind == 0) return other.kv_set("key", large);
    if (kind == 1) return other.transcript_append("user", large);
    VARVE_TRY(other.add(text(0)));
    return other.put_vector("e0", std::vector<float>(3'750, 0.5F));
  };
  for (int kind = 0; kind < 3; ++kind) {
    SCOPED_TRACE(kind);
    const auto session = make(20'000);
    ASSERT_TRUE(session->add(text(1000)).ok());
    const auto other = disks_.back().open();
    ASSERT_TRUE(write(*other, kind).ok());
    EXPECT_LT(fill(*session, 2000), 12);
    EXPECT_LE(session->size_bytes(), 20'000u);
  }
}

// As it was last saved, by whom ever.
TEST_F(AutomaticCompaction, TheIndexThatAnotherSavedCounts) {
  const auto session = make(20'000);
  const auto other = disks_.back().open();
  for (int number = 1000; number < 1006; number += 2) {
    ASSERT_TRUE(other->add(text(number)).ok());
    ASSERT_TRUE(other->rebuild_index().ok());
    ASSERT_TRUE(session->add(text(number + 1)).ok());
    EXPECT_EQ(session->size_bytes(),
              disks_.back().bytes("memory.jsonl").size() + disks_.back().bytes("index.bin").size());
  }
}

TEST_F(AutomaticCompaction, MakesRoomForKeysTurnsAndVectorsToo) {
  const std::string text(12'000, 'x');
  const std::function<Status(Session&)> writes[] = {
      [&](Session& session) { return session.kv_set("key", text); },
      [&](Session& session) { return session.transcript_append("user", text); },
      [](Session& session) { return session.put_vector("e1", std::vector<float>(3000, 1)); }};
  for (const auto& write : writes) {
    const auto session = make(20'000);
    const int fitted = fill(*session);
    for (int i = 2; i < fitted; ++i) {
      ASSERT_TRUE(session->remove("e" + std::to_string(i), "").ok());
    }
    const Status written = write(*session);
    EXPECT_TRUE(written.ok()) << written.message();
    EXPECT_EQ(compactions(*session), 1u);
    EXPECT_TRUE(session->get("e1").ok());
  }
}

}  // namespace
}  // namespace varve::session
