// Compaction over an index that came from index.bin: it may say what it likes, the log decides.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "planted_index.h"
#include "session/upkeep/compaction.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class CompactionTrust : public testing::Test {
 protected:
  CompactionTrust() {
    disk_.make();
    auto session = disk_.open();
    for (const std::string id : {"a", "b", "c"}) {
      EXPECT_TRUE(session->add(entry_text(id, "the word of " + id)).ok());
    }
  }
  // Compacts with such an index.bin; the ids that are left.
  std::string ids_after(const Planted& change) {
    plant_index(disk_, change);
    const auto session = disk_.open();
    EXPECT_TRUE(member(*session->stats(), "index").get_bool("loaded")) << "or nothing is tested";
    EXPECT_TRUE(session->compact({}).ok());
    const bool verified = session->verify(true)->get_bool("ok");
    EXPECT_TRUE(verified) << session->verify(true)->canonical();
    std::string ids;
    for (const std::string id : {"a", "b", "c"}) {
      if (session->get(id).ok()) ids += id;
    }
    return ids;
  }
  void remove(const std::string& id) { ASSERT_TRUE(disk_.open()->remove(id, "").ok()); }

  // One more, which an eviction takes and nothing else does.
  void add_unimportant() {
    json::Tree entry = *json::Tree::parse(entry_text("d", "the word of d"));
    entry.set("importance", json::Tree::number(0.01));
    ASSERT_TRUE(disk_.open()->add(entry.canonical()).ok());
  }
  static CompactionOptions evicting(bool dry_run) {
    CompactionOptions options;
    options.dry_run = dry_run;
    options.evict_below = 0.05;
    return options;
  }
  static int64_t words_of_entries(Session& session) {
    return member(*session.stats(), "index").get_int64("words_of_entries");
  }

  Host host_;
  SessionDisk disk_{host_};
};

TEST_F(CompactionTrust, AnEntryThatIsSaidToBeDeletedStays) {
  EXPECT_EQ(ids_after({.index = [](index::Index& index) { index.add_tombstone("a"); }}), "abc");
}

TEST_F(CompactionTrust, AnEntryThatIsSaidToHaveExpiredStays) {
  EXPECT_EQ(ids_after({.facts =
                           [](entry::EntryFacts& facts) {
                             if (facts.id == "b") facts.expires_at_ms = 1;
                           }}),
            "abc");
}

TEST_F(CompactionTrust, AnEntryThatIsNotMentionedIsNoDamage) {
  EXPECT_EQ(ids_after({.facts =
                           [](entry::EntryFacts& facts) {
                             if (facts.id == "b") facts.id.clear();
                           }}),
            "abc");
  EXPECT_TRUE(disk_.quarantine().empty());
}

TEST_F(CompactionTrust, OfTwoNamesThatChangedPlacesTheRightOneGoes) {
  remove("b");
  EXPECT_EQ(ids_after({.facts =
                           [](entry::EntryFacts& facts) {
                             if (facts.id == "a") {
                               facts.id = "b";
                             } else if (facts.id == "b") {
                               facts.id = "a";
                             }
                           }}),
            "ac");
}

// A row of something that is no entry, by an id that is deleted.
TEST_F(CompactionTrust, ADeletedRowThatStandsForNoEntryIsDamage) {
  constexpr std::string_view kNoEntry = R"({"no":"entry"})";
  const std::string log = disk_.bytes(log::kEntriesFile);
  plant_index(disk_, {.index = [&](index::Index& index) {
                entry::EntryFacts facts;
                facts.id = "ghost";
                facts.type = "message";
                facts.seq = 4;
                index.add(facts, {log.size(), kNoEntry.size(), hash64(kNoEntry)}, 0);
                index.coverage.entries_bytes = log.size() + kNoEntry.size() + 1;
              }});
  disk_.write(log::kEntriesFile, log + std::string(kNoEntry) + "\n");
  disk_.write(log::kTombstonesFile, entry::seal_tombstone({"ghost", "", 0}));
  const auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded")) << "or nothing is tested";
  const auto report = session->compact({});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get("dropped")->get_int64("damaged"), 1);
  EXPECT_EQ(report->get("dropped")->get_int64("deleted"), 0);
  ASSERT_EQ(disk_.quarantine().size(), 1u);
  EXPECT_EQ(disk_.quarantine()[0].bytes, std::string(kNoEntry) + "\n");
}

// A deletion that was made, of a line that is not what it was.
TEST_F(CompactionTrust, ADeletedLineThatWentBadSinceIsDamage) {
  remove("b");
  plant_index(disk_, {.index = [](index::Index& index) { index.add_tombstone("b"); }});
  std::string log = disk_.bytes(log::kEntriesFile);
  log[log.find("word of b")] = 'W';
  disk_.write(log::kEntriesFile, log);
  const auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded")) << "or nothing is tested";
  const auto report = session->compact({});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get("dropped")->get_int64("damaged"), 1);
  EXPECT_EQ(disk_.quarantine().size(), 1u);
}

TEST_F(CompactionTrust, ALineThatWentBadSinceIsDamageAlsoWhenNothingElseGoes) {
  plant_index(disk_, {});
  std::string log = disk_.bytes(log::kEntriesFile);
  log[log.find("word of b")] = 'W';
  disk_.write(log::kEntriesFile, log);
  for (const bool dry_run : {true, false}) {
    const auto session = disk_.open();
    EXPECT_TRUE(member(*session->stats(), "index").get_bool("loaded")) << "or nothing is tested";
    CompactionOptions options;
    options.dry_run = dry_run;
    const auto report = session->compact(options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->get("dropped")->get_int64("damaged"), 1);
    EXPECT_EQ(report->get_int64("entries_after"), 2);
  }
  EXPECT_EQ(disk_.quarantine().size(), 1u);
}

// Behind the last whole line there is a torn tail then, which is cut off before the log is copied.
TEST_F(CompactionTrust, ALastLineThatWentBadWhileTheSessionIsOpenIsATornTail) {
  remove("a");
  plant_index(disk_, {});
  const auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded")) << "or nothing is tested";
  std::string log = disk_.bytes(log::kEntriesFile);
  const std::string last(lines_of(log).back());
  const std::string nuls(last.size(), '\0');
  const auto file = (*disk_.disk.open_root(kFolder, false))
                        ->open(log::kEntriesFile, io::OpenMode::kUpdateOrCreate);
  ASSERT_TRUE((*file)->write_at(log.size() - last.size(), nuls).ok());
  const auto report = session->compact({});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(session->get("b").ok());
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), lines_of(log)[1]);
  ASSERT_EQ(disk_.quarantine().size(), 1u);
  EXPECT_EQ(disk_.quarantine()[0].bytes, nuls);
}

TEST_F(CompactionTrust, AnIndexThatIsRightSparesReadingTheLogAnew) {
  ASSERT_EQ(*disk_.open()->count(R"({"text":"word"})"), 3u);
  remove("b");
  const auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded"));
  const uint64_t before = host_.counters.index_rebuilds.load();
  const auto report = session->compact({});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->get("dropped")->get_int64("deleted"), 1);
  EXPECT_EQ(host_.counters.index_rebuilds.load(), before);
  EXPECT_TRUE(session->verify(true)->get_bool("ok"));
  EXPECT_EQ(*session->count(R"({"text":"word"})"), 2u);
  EXPECT_EQ(*disk_.open()->count(R"({"text":"word"})"), 2u);
}

// Without a copy, too, the lines are compared with the rows: that takes no new index.
TEST_F(CompactionTrust, AnIndexThatIsRightKeepsItsWordsWhereNothingIsCopied) {
  ASSERT_EQ(*disk_.open()->count(R"({"text":"word"})"), 3u);
  for (const bool deletes : {false, true}) {
    if (deletes) remove("b");
    const auto session = disk_.open();
    ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded"));
    const uint64_t before = host_.counters.index_rebuilds.load();
    CompactionOptions options;
    options.dry_run = deletes;  // the other has nothing to drop
    const auto report = session->compact(options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->get("dropped")->get_int64("deleted"), deletes ? 1 : 0);
    EXPECT_EQ(host_.counters.index_rebuilds.load(), before);
    EXPECT_EQ(member(*session->stats(), "index").get_int64("words_of_entries"), 3);
  }
}

// Many rows decide what is evicted: they are those of the log. Its words need not be read for that,
// and a dry run leaves index.bin as it is.
TEST_F(CompactionTrust, AnEvictionKeepsTheWordsOfAnIndexThatIsRight) {
  const int64_t entry_count = 304;  // as many as a session that ends saves words for
  add_unimportant();
  const std::string padding = " " + std::string(4000, 'x');  // a megabyte is worth saving
  std::string batch = "[";
  for (int i = 4; i < entry_count; ++i) {
    const std::string id = "e" + std::to_string(i);
    batch += entry_text(id, "the word of " + id + padding) + (i + 1 < entry_count ? "," : "]");
  }
  ASSERT_TRUE(disk_.open()->add_batch(batch).ok());
  ASSERT_TRUE(disk_.open()->rebuild_index().ok());
  uint64_t write_count = 0;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) {
    const bool is_write = operation.kind == io::OperationKind::kAppend;
    if (is_write && operation.name.starts_with("index.bin")) ++write_count;
    return std::optional<io::Fault>();
  });
  for (const bool dry_run : {true, false}) {
    auto session = disk_.open();
    ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded"));
    const auto report = session->compact(evicting(dry_run));
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->get("dropped")->get_int64("evicted"), 1);
    EXPECT_EQ(words_of_entries(*session), dry_run ? entry_count : entry_count - 1);
    session.reset();
    EXPECT_EQ(write_count, dry_run ? 0u : 1u);
  }
  EXPECT_EQ(words_of_entries(*disk_.open()), entry_count - 1);
  EXPECT_EQ(*disk_.open()->count(R"({"text":"word"})"), 303u);
  EXPECT_TRUE(disk_.open()->verify(true)->get_bool("ok"));
}

// Which vectors go, only rows of the log decide.
TEST_F(CompactionTrust, ACompactionThatDropsVectorsKeepsTheWordsOfAnIndexThatIsRight) {
  const std::vector<float> vector = {1, 2};
  for (const std::string id : {"a", "b"}) ASSERT_TRUE(disk_.open()->put_vector(id, vector).ok());
  remove("b");
  ASSERT_TRUE(disk_.open()->rebuild_index().ok());
  const auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded"));
  ASSERT_EQ(words_of_entries(*session), 3);
  const auto report = session->compact({});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->get("dropped")->get_int64("deleted"), 1);
  EXPECT_EQ(words_of_entries(*session), 2);
  EXPECT_EQ(*session->count(R"({"text":"word"})"), 2u);
  EXPECT_TRUE(session->verify(true)->get_bool("ok"));
}

// Words stand by the numbers of rows: they are of no use where the log has other rows.
TEST_F(CompactionTrust, AnEvictionMakesTheWordsOfOtherRowsAnew) {
  add_unimportant();
  plant_index(disk_, {.facts = [](entry::EntryFacts& facts) {
                if (facts.id == "b") facts.id.clear();
              }});
  const auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded")) << "or nothing is tested";
  const auto report = session->compact(evicting(false));
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(words_of_entries(*session), 0);
  for (const std::string id : {"a", "b", "c"}) {
    const auto found = session->query(R"({"text":"\"of )" + id + R"(\""})");
    ASSERT_TRUE(found.ok() && found->results.size() == 1u) << id;
    EXPECT_EQ(found->results[0].id(), id);
  }
  EXPECT_TRUE(session->verify(true)->get_bool("ok"));
}

// A part of the last batch is gone. That the rest of it is whole, the number says up to which gaps
// are legal; how far the log was durable may not be known any more.
TEST(CompactionOfABatch, WhatIsLeftAtTheEndIsNoTornTail) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  auto session = disk.open();
  ASSERT_TRUE(
      session
          ->add_batch("[" + entry_text("a") + "," + entry_text("b") + "," + entry_text("c") + "]")
          .ok());
  ASSERT_TRUE(session->remove("c", "").ok());
  ASSERT_TRUE(session->compact({}).ok());
  session.reset();
  auto metadata = Metadata::parse(disk.bytes("metadata.json"), kSessionId);
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->compacted_through_seq(), 3u);
  metadata->tree().set("durable_seq", json::Tree::integer(0));
  disk.write("metadata.json", metadata->encode());
  for (const auto name : {log::kLockFile, std::string_view("index.bin")}) disk.remove(name);
  session = disk.open();
  for (const auto id : {"a", "b"}) EXPECT_TRUE(session->get(id).ok()) << id;
  EXPECT_TRUE(session->verify()->get_bool("ok")) << session->verify()->canonical();
  ASSERT_TRUE(session->add(entry_text("d")).ok());
  EXPECT_TRUE(disk.quarantine().empty());
  for (const auto id : {"a", "b", "d"}) EXPECT_TRUE(session->get(id).ok()) << id;
}

}  // namespace
}  // namespace varve::session
