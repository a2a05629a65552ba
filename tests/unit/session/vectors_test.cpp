// Vectors of one session, over every storage alike.
#include "session/vectors/vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/time.h"
#include "session/query/query_results.h"
#include "session/upkeep/compaction.h"
#include "session_place.h"

namespace varve::session {
namespace {

using Values = std::vector<float>;

std::string bytes_of(const Values& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// Three numbers that no other file holds by chance.
Values canary(float seed) { return {seed * 1.2345678F, seed + 0.7654321F, -seed * 3.1415927F}; }

class VectorsSuite : public OverPlaces {
 protected:
  void add(const std::string& id, const std::string& more = {}) {
    const auto added = session_->add(R"({"id":")" + id + R"(","type":"finding","content":"word )" +
                                     id + "\"" + more + "}");
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  void put(const std::string& id, const Values& values) {
    const Status status = session_->put_vector(id, values);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void add_with(const std::string& id, const Values& values) {
    add(id);
    put(id, values);
  }
  static std::string ids(Session& session, const std::string& query = R"({"vector":[1,0,0]})") {
    const auto found = session.query(query);
    EXPECT_TRUE(found.ok()) << found.status().message();
    std::string ids;
    if (!found.ok()) return "failed";
    for (const auto& result : found->results) ids += (ids.empty() ? "" : " ") + result.id();
    return ids;
  }
  std::string ids(const std::string& query = R"({"vector":[1,0,0]})") {
    return ids(*session_, query);
  }
  void compact(CompactionCause cause = CompactionCause::kAsked) {
    CompactionOptions options;
    options.cause = cause;
    const auto report = session_->compact(options);
    ASSERT_TRUE(report.ok()) << report.status().message();
  }
  json::Tree verify() {
    auto report = session_->verify();
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree();
  }
  // As quarantine.jsonl has "torn", which was there.
  static std::string torn_end_at(size_t offset) {
    return R"({"bytes":"dG9ybg==","file":"vectors.bin","offset":)" + std::to_string(offset) +
           R"(,"reason":"torn tail: a record is not whole")";
  }
  [[nodiscard]] size_t record_count() const {
    const size_t bytes = place_.vectors().size();
    return bytes == 0 ? 0 : (bytes - embedding::kHeaderBytes) / embedding::record_bytes(3);
  }
};

INSTANTIATE_TEST_SUITE_P(Over, VectorsSuite, kEveryPlace, place_name);

TEST_P(VectorsSuite, RankEntriesByTheirCosine) {
  add_with("far", {-1, 0, 0});
  add_with("near", {9, 1, 0});
  add_with("same", {0.5F, 0, 0});
  add("none");
  EXPECT_EQ(ids(), "same near far");
  EXPECT_EQ(ids(R"({"vector":[0,1,0],"limit":1})"), "near");
  const auto found = session_->query(R"({"vector":[1,0,0],"explain":true})");
  ASSERT_TRUE(found.ok());
  EXPECT_DOUBLE_EQ(found->results[0].match_quality, 1);
  EXPECT_NEAR(found->results[1].match_quality, 9 / std::sqrt(82), 1e-12);
  EXPECT_NE(found->results[2].explanation.find(R"("vector":{"rank":3,"similarity":-1})"),
            std::string::npos)
      << found->results[2].explanation;
}

TEST_P(VectorsSuite, AreCaughtUpWithAtEachQuery) {
  EXPECT_EQ(ids(), "");
  add_with("a", {1, 0, 0});
  EXPECT_EQ(ids(), "a");
  add_with("b", {1, 1, 0});
  EXPECT_EQ(ids(), "a b");
}

TEST_P(VectorsSuite, TheLastOneOfAnEntryCounts) {
  add_with("a", {1, 0, 0});
  add_with("b", {1, 1, 0});
  EXPECT_EQ(ids(), "a b");
  put("a", {0, 1, 0});
  EXPECT_EQ(ids(), "b a");
  reopen();
  EXPECT_EQ(ids(), "b a");
  EXPECT_EQ(record_count(), 3U);
  compact();
  EXPECT_EQ(record_count(), 2U) << "the one that was replaced goes";
  EXPECT_EQ(ids(), "b a");
}

TEST_P(VectorsSuite, WhatIsRefusedChangesNothing) {
  add_with("a", {1, 0, 0});
  add("b");
  const std::string before = place_.vectors();
  const auto refusal = [&](const std::string& id, const Values& values) {
    const Status status = session_->put_vector(id, values);
    EXPECT_EQ(place_.vectors(), before) << status.message();
    return std::string(code_name(status.code())) + " " + status.message();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(session_->put_vector("b", Values{1, 0}).code(), Code::kInvalidArgument);
  EXPECT_NE(refusal("b", {1, 0}).find("dimension 2; all vectors of this session have dimension 3"),
            std::string::npos);
  EXPECT_NE(refusal("b", {1, nan, 0}).find("at index 1"), std::string::npos);
  EXPECT_NE(refusal("b", {0, 0, 0}).find("all zeros"), std::string::npos);
  EXPECT_NE(refusal("b", {}).find("1 to 16384"), std::string::npos);
  EXPECT_NE(refusal("b", Values(16385, 1)).find("1 to 16384"), std::string::npos);
  EXPECT_EQ(session_->put_vector("none", Values{1, 0, 0}).code(), Code::kNotFound);
  EXPECT_NE(refusal("none", {1, 0, 0}).find("does not exist"), std::string::npos);
  EXPECT_EQ(session_->put_vector("-", Values{1, 0, 0}).code(), Code::kInvalidArgument);
  EXPECT_EQ(session_->query(R"({"vector":[1,0]})").code(), Code::kInvalidArgument);
  EXPECT_EQ(session_->query(R"({"vector":[1,0]})").status().place().member, "vector");
  EXPECT_EQ(ids(), "a");
}

TEST_P(VectorsSuite, DeletedExpiredAndUnknownEntriesHaveNone) {
  add_with("a", {1, 0, 0});
  add_with("gone", {1, 0.1F, 0});
  add("brief", R"(,"expires_at":")" + format_rfc3339(host_.clock.now_ms() + 1000) + "\"");
  put("brief", {1, 0.2F, 0});
  EXPECT_EQ(ids(), "a gone brief");
  ASSERT_TRUE(session_->remove("gone", "").ok());
  EXPECT_EQ(ids(), "a brief");
  EXPECT_EQ(session_->put_vector("gone", Values{1, 0, 0}).code(), Code::kNotFound);
  host_.clock.advance_ms(2000);
  EXPECT_EQ(ids(), "a");
  EXPECT_EQ(session_->put_vector("brief", Values{1, 0, 0}).code(), Code::kNotFound);
  // A record of an entry that never was.
  place_.put_vectors(place_.vectors() + embedding::encode_record("ghost", Values{1, 0, 0}));
  reopen();
  EXPECT_EQ(ids(), "a");
  compact();
  EXPECT_EQ(record_count(), 1U);
  EXPECT_EQ(ids(), "a");
}

TEST_P(VectorsSuite, SurviveACompactionWithTheirEntries) {
  for (int i = 0; i < 40; ++i) {
    add_with("e" + std::to_string(i), {1, static_cast<float>(i), 0});
  }
  EXPECT_EQ(session_->query(R"({"vector":[1,0,0]})")->results.size(), 40U);
  for (int i = 0; i < 40; i += 2) {
    ASSERT_TRUE(session_->remove("e" + std::to_string(i), "").ok());
  }
  const std::string before = ids();
  const std::shared_ptr<Session> other = place_.open();
  EXPECT_EQ(ids(*other), before);
  compact();
  EXPECT_EQ(record_count(), 20U);
  EXPECT_EQ(ids(), before);
  EXPECT_EQ(ids(*other), before) << "who had the old file open";
  add_with("late", {1, 0, 0});
  EXPECT_EQ(ids(*other), "late " + before);
  reopen();
  EXPECT_EQ(ids(), "late " + before);
}

TEST_P(VectorsSuite, APurgeLeavesNoByteOfThem) {
  add_with("kept", canary(2));
  add_with("gone", canary(3));
  add_with("changed", canary(5));
  put("changed", canary(7));
  ASSERT_EQ(ids(), ids());
  ASSERT_NE(place_.vectors().find(bytes_of(canary(3))), std::string::npos);
  ASSERT_TRUE(session_->remove("gone", "").ok());
  compact(CompactionCause::kPurge);
  for (const std::string& file : {place_.vectors(), place_.quarantine(), place_.entries()}) {
    EXPECT_EQ(file.find(bytes_of(canary(3))), std::string::npos);
    EXPECT_EQ(file.find(bytes_of(canary(5))), std::string::npos) << "the one that was replaced";
  }
  EXPECT_NE(place_.vectors().find(bytes_of(canary(2))), std::string::npos);
  EXPECT_NE(place_.vectors().find(bytes_of(canary(7))), std::string::npos);
  EXPECT_EQ(session_->query(R"({"vector":[1,0,0]})")->results.size(), 2U);
  for (const auto id : {"kept", "changed"}) ASSERT_TRUE(session_->remove(id, "").ok());
  compact(CompactionCause::kPurge);
  EXPECT_EQ(place_.vectors(), "") << "absent when there is none";
  add_with("new", {1, 2});
  EXPECT_EQ(ids(R"({"vector":[1,2]})"), "new") << "of another dimension";
}

TEST_P(VectorsSuite, ATornEndIsIgnoredAndCutByTheNextOne) {
  add_with("a", {1, 0, 0});
  add_with("b", {1, 1, 0});
  add("c");
  const std::string whole = place_.vectors();
  const std::string record = embedding::encode_record("c", Values{0, 1, 0});
  for (const size_t cut : {size_t{1}, size_t{100}, record.size() - 1, record.size()}) {
    session_.reset();
    std::string torn = record.substr(0, cut);
    torn.back() = static_cast<char>(torn.back() ^ 1);  // of full length, and not whole either
    place_.put_vectors(whole + torn);
    reopen();
    EXPECT_EQ(ids(), "a b");
    const json::Tree report = verify();
    ASSERT_EQ(report.get("problems")->items().size(), 1U);
    EXPECT_TRUE(report.get("problems")->items()[0].get_string("reason").starts_with("torn tail"));
    EXPECT_EQ(report.get("problems")->items()[0].get_int64("offset"),
              static_cast<int64_t>(whole.size()));
    put("c", {0, 0, 1});
    EXPECT_EQ(place_.vectors(), whole + embedding::encode_record("c", Values{0, 0, 1}));
    EXPECT_TRUE(verify().get_bool("ok"));
    EXPECT_EQ(ids(), "a b c");
  }
  EXPECT_NE(place_.quarantine().find("vectors.bin"), std::string::npos);
}

TEST_P(VectorsSuite, DamageInTheMiddleCostsThatVectorOnly) {
  for (const auto id : {"a", "b", "c"}) add_with(id, {1, id[0] - 96.0F, 0});
  std::string damaged = place_.vectors();
  const uint64_t second = embedding::kHeaderBytes + embedding::record_bytes(3);
  damaged[second + 150] = static_cast<char>(damaged[second + 150] ^ 0x10);
  session_.reset();
  place_.put_vectors(damaged);
  reopen();
  EXPECT_EQ(ids(), "a c");
  const json::Tree report = verify();
  EXPECT_FALSE(report.get_bool("ok", true));
  EXPECT_EQ(report.get_int64("damaged"), 1);
  EXPECT_EQ(report.get("problems")->items()[0].get_string("file"), "vectors.bin");
  EXPECT_EQ(report.get("problems")->items()[0].get_int64("offset"), static_cast<int64_t>(second));
  EXPECT_EQ(report.get("vectors")->get_int64("entries"), 2);
  ASSERT_TRUE(session_->repair(true).ok());
  EXPECT_EQ(place_.vectors(), damaged) << "a dry run";
  const auto repaired = session_->repair(false);
  ASSERT_TRUE(repaired.ok());
  EXPECT_TRUE(repaired->get_bool("changed"));
  EXPECT_TRUE(verify().get_bool("ok"));
  EXPECT_EQ(ids(), "a c");
  EXPECT_NE(place_.quarantine().find("a damaged vector"), std::string::npos);
}

TEST_P(VectorsSuite, RepairTellsAndMovesWhatIsDamagedOrTorn) {
  for (const auto id : {"a", "b"}) add_with(id, {1, id[0] - 96.0F, 0});
  const std::string whole = place_.vectors();
  std::string damaged = whole + "torn";
  damaged[embedding::kHeaderBytes + 150] ^= 0x10;
  session_.reset();
  place_.put_vectors(damaged);
  reopen();
  for (const bool dry_run : {true, false}) {
    const auto report = session_->repair(dry_run);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->get_int64("quarantined"), 2);
    EXPECT_EQ(report->get_bool("changed"), !dry_run);
  }
  EXPECT_TRUE(verify().get_bool("ok"));
  EXPECT_EQ(ids(), "b");
  EXPECT_NE(place_.quarantine().find(torn_end_at(whole.size())), std::string::npos);
  const auto again = session_->repair(false);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->get_int64("quarantined"), 0);
}

TEST_P(VectorsSuite, ACompactionMovesATornEndToQuarantine) {
  add_with("a", {1, 0, 0});
  const std::string whole = place_.vectors();
  session_.reset();
  place_.put_vectors(whole + "torn");
  reopen();
  compact();
  EXPECT_EQ(place_.vectors(), whole);
  EXPECT_NE(place_.quarantine().find(torn_end_at(whole.size())), std::string::npos);
}

TEST_P(VectorsSuite, ADamagedHeaderIsToldAndRepairSetsTheFileAside) {
  add_with("a", {1, 0, 0});
  std::string damaged = place_.vectors();
  damaged[13] = 'x';
  session_.reset();
  place_.put_vectors(damaged);
  reopen();
  EXPECT_TRUE(session_->get("a").ok());
  EXPECT_EQ(ids(R"({"text":"word"})"), "a");
  const auto asked = session_->query(R"({"vector":[1,0,0]})");
  EXPECT_EQ(asked.code(), Code::kCorruption);
  EXPECT_NE(asked.status().place().path.find("vectors.bin"), std::string::npos);
  EXPECT_EQ(session_->put_vector("a", Values{1, 0, 0}).code(), Code::kCorruption);
  EXPECT_FALSE(verify().get_bool("ok", true));
  compact();
  EXPECT_EQ(place_.vectors(), damaged) << "nothing is thrown away unasked";
  for (const bool dry_run : {true, false}) {
    const auto report = session_->repair(dry_run);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->get_int64("quarantined"), 1);
  }
  EXPECT_EQ(place_.vectors(), "");
  EXPECT_TRUE(verify().get_bool("ok"));
  put("a", {1, 0, 0});
  EXPECT_EQ(ids(), "a");
}

TEST_P(VectorsSuite, APurgeRemovesAFileThatCannotBeRead) {
  add_with("a", canary(3));
  std::string damaged = place_.vectors();
  damaged[13] = 'x';
  session_.reset();
  place_.put_vectors(damaged);
  reopen();
  ASSERT_TRUE(session_->remove("a", "").ok());
  compact(CompactionCause::kPurge);
  EXPECT_EQ(place_.vectors(), "");
}

TEST_P(VectorsSuite, CountTowardsTheSizeOfASessionAndItsLimitHolds) {
  constexpr uint64_t kLimit = 20'000;
  host_.context.settings.session_bytes_max = kLimit;
  reopen();
  const Values large(1000, 0.5F);
  uint64_t count = 0;
  Status refused;
  for (; refused.ok() && count < 10; ++count) {
    const std::string id = "e" + std::to_string(count);
    add(id);
    const uint64_t commits = host_.counters.commits;
    refused = session_->put_vector(id, large);
    EXPECT_EQ(host_.counters.commits - commits, refused.ok() ? 1U : 0U);
  }
  EXPECT_EQ(count, 5U);
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.place().limit, kLimit);
  EXPECT_LE(session_->size_bytes(), kLimit);
  EXPECT_EQ(place_.vectors().size(), embedding::kHeaderBytes + 4 * embedding::record_bytes(1000));
  const Status none = session_->put_vector("e0", Values());
  EXPECT_EQ(none.code(), Code::kInvalidArgument);
  EXPECT_EQ(none.place().limit, embedding::kDimensionMax);
}

TEST_P(VectorsSuite, AFileOfANewerVersionIsRefusedAndUntouched) {
  add_with("a", {1, 0, 0});
  std::string newer = place_.vectors();
  newer[8] = 2;
  const uint64_t hash = hash64(std::string_view(newer).substr(0, 24));
  std::memcpy(newer.data() + 24, &hash, sizeof hash);
  session_.reset();
  place_.put_vectors(newer);
  reopen();
  EXPECT_EQ(session_->query(R"({"vector":[1,0,0]})").code(), Code::kFormatVersion);
  EXPECT_EQ(session_->put_vector("a", Values{1, 0, 0}).code(), Code::kFormatVersion);
  compact();
  CompactionOptions purge;
  purge.cause = CompactionCause::kPurge;
  EXPECT_EQ(session_->compact(purge).code(), Code::kFormatVersion);
  EXPECT_TRUE(session_->repair(false).ok());
  EXPECT_EQ(place_.vectors(), newer);
}

TEST_P(VectorsSuite, AnotherProcessSeesThemAndAddsItsOwn) {
  add_with("a", {1, 0, 0});
  const std::shared_ptr<Session> other = place_.open();
  EXPECT_EQ(ids(*other), "a");
  add("b");
  ASSERT_TRUE(other->put_vector("b", Values{1, 1, 0}).ok());
  EXPECT_EQ(ids(), "a b");
  put("b", {2, 0, 0});
  ASSERT_TRUE(other->put_vector("a", Values{0, 1, 0}).ok());
  EXPECT_EQ(ids(), "b a");
  EXPECT_EQ(ids(*other), "b a");
}

TEST_P(VectorsSuite, AreInSizesAndMemory) {
  const auto figure = [&](std::string_view object, std::string_view name) {
    return session_->stats()->get(object)->get_int64(name);
  };
  EXPECT_EQ(figure("size_bytes", "vectors"), 0);
  EXPECT_EQ(figure("vectors", "records"), 0);
  const uint64_t before = session_->size_bytes();
  add_with("a", {1, 0, 0});
  add_with("b", {1, 1, 0});
  const auto bytes = static_cast<int64_t>(32 + 2 * (144 + 12));
  EXPECT_EQ(figure("size_bytes", "vectors"), bytes);
  EXPECT_EQ(figure("vectors", "records"), 2);
  EXPECT_EQ(figure("vectors", "dimension"), 3);
  EXPECT_EQ(figure("vectors", "memory_bytes"), 0) << "they are loaded when they are asked for";
  EXPECT_GE(session_->size_bytes(), before + static_cast<uint64_t>(bytes));
  const int64_t memory = session_->stats()->get_int64("memory_bytes");
  EXPECT_EQ(ids(), "a b");
  EXPECT_GT(figure("vectors", "memory_bytes"), 24);
  EXPECT_GT(session_->stats()->get_int64("memory_bytes"), memory);
}

TEST_P(VectorsSuite, PagesStayWhileEntriesAndVectorsAreAdded) {
  for (int i = 0; i < 12; ++i) add_with("e" + std::to_string(i), {1, static_cast<float>(i), 0});
  for (const std::string text : {"", R"("text":"word",)"}) {
    const std::string query = "{" + text + R"("vector":[1,0,0],"now":"2026-02-01T00:00:00Z")";
    const std::string all = ids(query + "}");
    std::string met;
    std::string after;
    for (int page = 0; page < 20; ++page) {
      const auto found = session_->query(query + R"(,"limit":2)" + after + "}");
      ASSERT_TRUE(found.ok()) << found.status().message();
      for (const auto& result : found->results) met += (met.empty() ? "" : " ") + result.id();
      if (found->next.empty()) break;
      after = R"(,"after":")" + found->next + "\"";
      // A new first one, and the last one to the top.
      add_with("n" + std::to_string(page) + (text.empty() ? "a" : "b"), {1, 0, 0});
      put("e" + std::to_string(11 - page % 4), {1, 0, 0});
    }
    EXPECT_EQ(met, all) << text;
    for (int i = 0; i < 12; ++i) put("e" + std::to_string(i), {1, static_cast<float>(i), 0});
  }
}

TEST_P(VectorsSuite, CountIgnoresAVectorAndDeletingRefusesIt) {
  add_with("a", {1, 0, 0});
  add("b");
  EXPECT_EQ(*session_->count(R"({"vector":[1,0,0]})"), 2U);
  EXPECT_EQ(*session_->count(R"({"vector":[1,0],"ids":["a"],"vector_weight":1})"), 1U);
  EXPECT_EQ(session_->remove_where(R"({"vector":[1,0,0]})", "").code(), Code::kInvalidArgument);
  EXPECT_EQ(*session_->count(""), 2U);
}

TEST_P(VectorsSuite, ThreadsPutAndAskAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kEach = 30;
  for (int i = 0; i < kThreads * kEach; ++i) add("e" + std::to_string(i));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const std::string id = "e" + std::to_string(thread * kEach + i);
        EXPECT_TRUE(session_->put_vector(id, Values{1, static_cast<float>(i), 0}).ok());
        const auto found = session_->query(R"({"vector":[1,0,0],"limit":1000})");
        EXPECT_TRUE(found.ok());
        EXPECT_GT(found->results.size(), static_cast<size_t>(i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(session_->query(R"({"vector":[1,0,0],"limit":1000})")->results.size(),
            size_t{kThreads * kEach});
}

// Else a power loss could take the entry and leave the vector, for the next entry of that id.
TEST(VectorsOrder, AnEntryIsDurableBeforeItsVector) {
  for (const bool is_first : {true, false}) {
    Host host;
    host.context.settings.durability = log::Durability::kOs;
    SessionDisk disk(host);
    disk.make();
    const auto session = disk.open();
    ASSERT_TRUE(session->add(entry_text("before")).ok());
    if (!is_first) {
      ASSERT_TRUE(session->put_vector("before", Values{1, 0}).ok());
    }
    ASSERT_TRUE(session->add(entry_text("a")).ok());
    EXPECT_EQ(disk.open(disk.disk.crash().get())->get("a").code(), Code::kNotFound);
    ASSERT_TRUE(session->put_vector("a", Values{0, 1}).ok());
    EXPECT_TRUE(disk.open(disk.disk.crash().get())->get("a").ok());
  }
}

}  // namespace
}  // namespace varve::session
