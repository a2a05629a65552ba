// Compaction and purge of one session, over every storage alike.
#include "session/upkeep/compaction.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "compaction_options.h"
#include "session/core.h"
#include "session/writer.h"
#include "session_place.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;

class CompactionSuite : public OverPlaces {
 protected:
  void add(const std::string& id, const std::string& more = {}) {
    const std::string text = R"({"id":")" + id + R"(","type":"finding","content":"the word of )" +
                             id + "\"" + more + "}";
    const auto added = session_->add(text);
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  // At an age, counted back from the clock's present.
  void add_aged(const std::string& id, int days, double importance, const std::string& type,
                const std::string& more = {}) {
    const auto added = session_->add(
        R"({"id":")" + id + R"(","type":")" + type + R"(","content":"x","importance":)" +
        std::to_string(importance) + R"(,"timestamp":")" +
        format_rfc3339(host_.clock.now_ms() - days * kDayMs) + "\"" + more + "}");
    ASSERT_TRUE(added.ok()) << added.status().message();
  }
  std::string ids() {
    std::string found;
    const auto exported = exported_text(*session_, "jsonl");
    EXPECT_TRUE(exported.ok());
    for (size_t at = exported->find("\"id\":\""); at != std::string::npos;
         at = exported->find("\"id\":\"", at + 1)) {
      const size_t begin = at + 6;
      found += exported->substr(begin, exported->find('"', begin) - begin) + " ";
    }
    return found;
  }
  json::Tree compact(const CompactionOptions& options) {
    auto report = session_->compact(options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree();
  }
  int64_t dropped(const json::Tree& report, std::string_view rule) {
    return report.get("dropped")->get_int64(rule, -1);
  }
  uint64_t found(const std::string& text) {
    return *session_->count(R"({"text":")" + text + "\"}");
  }

  int number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Over, CompactionSuite, kEveryPlace, place_name);

// Entries of one time, that is of one place in every order but their own.
TEST_P(CompactionSuite, APageGoesOnWhereItsLastEntryWasDroppedFrom) {
  const std::vector<std::string> orders = {R"("sort_by":"time")", R"("sort_by":"importance")",
                                           R"("sort_by":"relevance")"};
  for (const std::string& order : orders) {
    for (const std::string direction : {"asc", "desc"}) {
      const std::string named = std::to_string(number_++);
      for (int i = 0; i < 10; ++i)
        add("e" + named + std::to_string(i), R"(,"tags":["t)" + named + "\"]");
      const std::string query = R"({"limit":4,"tags":{"include":["t)" + named + R"("]},)" + order +
                                R"(,"order":")" + direction + "\"";
      std::string seen;
      std::string after;
      for (int pages = 0; pages < 5; ++pages) {
        const auto page = session_->query(query + after + "}");
        ASSERT_TRUE(page.ok()) << page.status().message();
        for (const auto& one : page->results) seen += one.id().back();
        if (page->next.empty()) break;
        after = R"(,"after":")" + page->next + "\"";
        ASSERT_TRUE(session_->remove(page->results.back().id(), "").ok());
        compact(asked());
      }
      EXPECT_EQ(seen, direction == "asc" ? "0123456789" : "9876543210") << order;
    }
  }
}

TEST_P(CompactionSuite, WhatWasDeletedGoesAndTheRestStaysByteForByte) {
  for (const auto id : {"a", "b", "c", "d"}) add(id);
  const std::string a = *session_->get("a") + "\n";
  const std::string c = *session_->get("c") + "\n";
  const uint64_t before = place_.entries().size();
  ASSERT_TRUE(session_->remove("b", "user request").ok());
  ASSERT_TRUE(session_->remove("d", "").ok());
  const std::string tombstones = place_.tombstones();
  const json::Tree report = compact(asked());
  EXPECT_EQ(place_.entries(), a + c);
  EXPECT_EQ(place_.tombstones(), tombstones) << "the audit lines stay";
  EXPECT_EQ(report.get_int64("entries_before"), 4);
  EXPECT_EQ(report.get_int64("entries_after"), 2);
  EXPECT_EQ(report.get_int64("bytes_before"), static_cast<int64_t>(before));
  EXPECT_EQ(report.get_int64("bytes_after"), static_cast<int64_t>((a + c).size()));
  EXPECT_EQ(dropped(report, "deleted"), 2);
  EXPECT_EQ(dropped(report, "expired"), 0);
  EXPECT_TRUE(report.get_bool("changed"));
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(ids(), "a c ");
    EXPECT_EQ(found("word"), 2u);
    EXPECT_EQ(session_->add(R"({"id":"b","type":"finding","content":1})").code(),
              Code::kAlreadyExists)
        << "an id is used once, ever";
    EXPECT_TRUE(session_->verify()->get_bool("ok")) << session_->verify()->canonical();
    reopen();
  }
}

TEST_P(CompactionSuite, NumbersGoOnAndGapsAreLegal) {
  for (const auto id : {"a", "b", "c"}) add(id);
  ASSERT_TRUE(session_->remove("b", "").ok());
  ASSERT_TRUE(session_->remove("c", "").ok());
  compact(asked());
  reopen();
  add("d");
  EXPECT_NE(session_->get("d")->find("\"seq\":4,"), std::string::npos);
  reopen();
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
  EXPECT_EQ(session_->stats()->get("corruption")->get_int64("missing", -1), 0);
}

TEST_P(CompactionSuite, WithNothingToDropNothingIsWritten) {
  add("a");
  const json::Tree report = compact(asked());
  EXPECT_FALSE(report.get_bool("changed"));
  EXPECT_EQ(session_->metadata()->get("compactions"), nullptr);
  EXPECT_EQ(session_->metadata()->get_int64("generation"), 1);
}

TEST_P(CompactionSuite, OfAnEmptySessionAndOfOneThatLosesEverything) {
  EXPECT_FALSE(compact(asked()).get_bool("changed"));
  add("a");
  ASSERT_TRUE(session_->sync().ok());
  ASSERT_TRUE(session_->remove("a", "").ok());
  EXPECT_TRUE(compact(asked()).get_bool("changed"));
  EXPECT_EQ(place_.entries(), "");
  reopen();
  EXPECT_EQ(ids(), "");
  add("b");
  EXPECT_EQ(ids(), "b ");
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_P(CompactionSuite, ExpiredEntriesGo) {
  add("a", R"(,"expires_at":")" + format_rfc3339(host_.clock.now_ms() + 1000) + "\"");
  add("b");
  EXPECT_EQ(dropped(compact(asked()), "expired"), 0);
  host_.clock.advance_ms(1000);
  EXPECT_EQ(ids(), "b ");
  EXPECT_EQ(dropped(compact(asked()), "expired"), 1);
  EXPECT_EQ(place_.entries().find("\"id\":\"a\""), std::string::npos);
}

TEST_P(CompactionSuite, ADryRunTellsAndChangesNothing) {
  add("a");
  add("b");
  ASSERT_TRUE(session_->remove("a", "").ok());
  const std::string log = place_.entries();
  CompactionOptions options = asked();
  options.dry_run = true;
  const json::Tree report = compact(options);
  EXPECT_EQ(dropped(report, "deleted"), 1);
  EXPECT_EQ(report.get_int64("entries_after"), 1);
  EXPECT_LT(report.get_int64("bytes_after"), report.get_int64("bytes_before"));
  EXPECT_FALSE(report.get_bool("changed"));
  EXPECT_EQ(place_.entries(), log);
}

// Relevance: importance · max(.1, decay) · boost.
TEST_P(CompactionSuite, EvictionTakesTheLeastRelevantAndSparesTheProtected) {
  add_aged("old_small", 365, 0.4, "finding");  // .04
  add_aged("old_large", 365, 0.9, "finding");  // .09
  add_aged("new_small", 0, 0.04, "finding");   // .06, boosted
  add_aged("liked", 365, 0.04, "preference");  // never decays
  add_aged("pinned", 365, 0.1, "finding", R"(,"tags":["pinned"])");
  add_aged("pinned_below", 365, 0.1, "finding", R"(,"tags":["pinned.by_hand"])");
  add_aged("named", 365, 0.1, "finding");
  add_aged("related", 365, 0.1, "finding");
  add_aged("by_the_dead", 365, 0.1, "finding");
  add_aged("one", 0, 0.9, "finding", R"(,"references":["named"])");
  add_aged("two", 0, 0.9, "finding", R"(,"relations":{"because":["related"]})");
  add_aged("dead", 0, 0.9, "finding", R"(,"references":["by_the_dead"])");
  ASSERT_TRUE(session_->remove("dead", "").ok());
  const json::Tree report = compact(asked(0.05));
  EXPECT_EQ(ids(), "old_large new_small liked pinned pinned_below named related one two ");
  EXPECT_EQ(dropped(report, "evicted"), 2);
  EXPECT_EQ(dropped(report, "deleted"), 1);
  EXPECT_EQ(dropped(compact(asked(0.05)), "evicted"), 0);
}

TEST_P(CompactionSuite, WithoutALimitOfRelevanceNothingAliveGoes) {
  add_aged("old", 3650, 0.001, "conversation");
  EXPECT_FALSE(compact(asked()).get_bool("changed"));
  EXPECT_EQ(ids(), "old ");
}

TEST_P(CompactionSuite, TheHistoryIsKeptInTheMetadata) {
  for (int run = 0; run < 25; ++run) {
    add("e" + std::to_string(run));
    ASSERT_TRUE(session_->remove("e" + std::to_string(run), "").ok());
    ASSERT_TRUE(compact(asked()).get_bool("changed"));
  }
  const json::Tree metadata = *session_->metadata();
  const json::Tree* history = metadata.get("compactions");
  ASSERT_NE(history, nullptr);
  ASSERT_EQ(history->items().size(), 20u);
  const json::Tree& last = history->items().back();
  EXPECT_EQ(last.get_string("cause"), "asked");
  EXPECT_EQ(last.get_int64("entries_before"), 1);
  EXPECT_EQ(last.get_string("timestamp"), format_rfc3339(host_.clock.now_ms()));
  EXPECT_EQ(metadata.get_string("last_compaction"), format_rfc3339(host_.clock.now_ms()));
  EXPECT_EQ(metadata.get_int64("generation"), 26);
}

TEST_P(CompactionSuite, ABatchMayBeThinned) {
  ASSERT_TRUE(
      session_->add_batch(entry_text("a") + "\n" + entry_text("b") + "\n" + entry_text("c")).ok());
  ASSERT_TRUE(session_->remove("b", "").ok());
  compact(asked());
  reopen();
  EXPECT_EQ(ids(), "a c ");
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_P(CompactionSuite, AnotherReaderGoesOnAndSeesTheNewLog) {
  for (const auto id : {"a", "b", "c"}) add(id);
  const auto reader = place_.open();
  ASSERT_EQ(*reader->count(R"({"text":"word"})"), 3u);
  ASSERT_TRUE(reader->get("a").ok());
  ASSERT_TRUE(session_->remove("a", "").ok());
  compact(asked());
  EXPECT_EQ(reader->get("a").code(), Code::kNotFound);
  EXPECT_EQ(*reader->count(R"({"text":"word"})"), 2u);
  EXPECT_TRUE(reader->get("c").ok());
  ASSERT_TRUE(reader->add(entry_text("d")).ok()) << "and it writes into the new one";
  EXPECT_EQ(ids(), "b c d ");
}

TEST_P(CompactionSuite, EveryWordOfTheRestIsFoundAgain) {
  for (int i = 0; i < 40; ++i) add("e" + std::to_string(i), R"(,"tags":["t.x"])");
  ASSERT_EQ(found("e17"), 1u);
  for (int i = 0; i < 40; i += 2) ASSERT_TRUE(session_->remove("e" + std::to_string(i), "").ok());
  compact(asked());
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(found("word"), 20u);
    EXPECT_EQ(found("e17"), 1u);
    EXPECT_EQ(found("e18"), 0u);
    EXPECT_EQ(*session_->count(R"({"tags":{"include":["t"]}})"), 20u);
    EXPECT_TRUE(session_->verify(true)->get_bool("ok")) << session_->verify(true)->canonical();
    reopen();
  }
}

// The index is renumbered, not made anew: every list of it must be what the log gives.
TEST_P(CompactionSuite, EveryListOfTheIndexIsRightAfterIt) {
  const std::vector<std::string> words = {"kettle",  "kettles",    "tea cup", "running",  "ran",
                                          "PR-1234", "snake_case", "\u8336",  "Caf\u00e9"};
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(i);
    std::string more = R"(,"tags":["t.)" + std::to_string(i % 7) + R"(","u"],"trace_id":"x)" +
                       std::to_string(i % 5) + "\"";
    if (i > 0) more += R"(,"references":["e)" + std::to_string(i / 2) + R"("])";
    if (i > 9) more += R"(,"relations":{"after":["e)" + std::to_string(i - 9) + R"("]})";
    ASSERT_TRUE(session_
                    ->add(R"({"id":"e)" + number + R"(","type":"finding","content":{"k":)" +
                          std::to_string(i % 3) + R"(,"text":")" +
                          words[static_cast<size_t>(i) % words.size()] + " only" + number + "\"}" +
                          more + "}")
                    .ok());
    if (i == 150) {
      ASSERT_GT(found("kettle"), 0u) << "a part is indexed, a part is not";
    }
  }
  for (int i = 0; i < 300; i += 3) {
    ASSERT_TRUE(session_->remove("e" + std::to_string(i), "").ok());
  }
  compact(asked());
  const json::Tree verified = *session_->verify(true);
  EXPECT_TRUE(verified.get_bool("ok")) << verified.canonical();
  EXPECT_EQ(found("only4"), 1u);
  EXPECT_EQ(found("only3*"), 6u) << "31, 32, 34, 35, 37 and 38 are left";
  EXPECT_EQ(*session_->count(R"({"references":["e50"],"relation":"references"})"), 3u)
      << "e100 and e101, and e25, to which it refers itself";
  ASSERT_TRUE(session_->sync().ok());
  reopen();
  EXPECT_TRUE(session_->verify(true)->get_bool("ok"));
  add("late");
  EXPECT_EQ(found("late"), 1u);
  ASSERT_TRUE(session_->remove("e1", "").ok());
  compact(asked());
  EXPECT_TRUE(session_->verify(true)->get_bool("ok"));
  EXPECT_EQ(found("only1"), 0u);
}

TEST_P(CompactionSuite, APurgeWithNothingGoneKeepsEverything) {
  add("a");
  CompactionOptions dry_run = purge();
  dry_run.dry_run = true;
  EXPECT_FALSE(compact(dry_run).get_bool("changed"));
  EXPECT_TRUE(compact(purge()).get_bool("changed")) << "the log is another file now";
  EXPECT_EQ(session_->metadata()->get("compactions")->items().size(), 1u);
  EXPECT_EQ(ids(), "a ");
  EXPECT_EQ(found("word"), 1u);
}

// A ranked wildcard finds other forms of the words that it matches.
TEST_P(CompactionSuite, AfterAPurgeNoWildcardMatchesAWordThatOnlyTheForgottenHad) {
  ASSERT_TRUE(session_->add(entry_text("a", "they sailed")).ok());
  ASSERT_TRUE(session_->add(entry_text("b", "he sails")).ok());
  ASSERT_EQ(found("*ailed"), 2u);
  ASSERT_TRUE(session_->remove("a", "").ok());
  ASSERT_EQ(found("*ailed"), 1u);
  compact(purge());
  EXPECT_EQ(found("*ailed"), 0u);
  EXPECT_EQ(found("*ails"), 1u);
}

TEST_P(CompactionSuite, WhatWasForgottenTwiceIsPurgedOnce) {
  add("a");
  add("b");
  EXPECT_EQ(*session_->remove_where(R"({"ids":["a"]})", "one"), 1u);
  EXPECT_EQ(*session_->remove_where(R"({"ids":["a"]})", "two"), 0u);
  EXPECT_EQ(session_->remove("a", "three").code(), Code::kNotFound);
  EXPECT_EQ(dropped(compact(purge()), "deleted"), 1);
  EXPECT_EQ(dropped(compact(purge()), "deleted"), 0);
}

// A process that prepared an index before another one purged must not put it down after.
// The compactor's index still knows a form of a word that only the forgotten had.
TEST(CompactionOfTwo, TheCompactorsIndexIsNotSavedBehindAPurgeOfAnother) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto compactor = disk.open();
  ASSERT_TRUE(compactor->add(entry_text("a", "they sailed")).ok());
  ASSERT_TRUE(compactor->add(entry_text("b", "he sails")).ok());
  ASSERT_EQ(*compactor->count(R"({"text":"sail"})"), 2u);
  ASSERT_TRUE(compactor->remove("a", "").ok());
  ASSERT_TRUE(compactor->compact(asked()).ok());
  ASSERT_NE(disk.bytes("index.bin").find("sailed"), std::string::npos) << "or nothing is tested";
  const auto purger = disk.open();
  ASSERT_TRUE(purger->compact(purge()).ok());
  ASSERT_EQ(disk.bytes("index.bin").find("sailed"), std::string::npos);
  ASSERT_TRUE(compactor->add(entry_text("c", "horse")).ok());
  ASSERT_EQ(*compactor->count(R"({"text":"horse"})"), 1u);
  ASSERT_TRUE(compactor->sync().ok());
  EXPECT_EQ(disk.bytes("index.bin").find("sailed"), std::string::npos);
}

TEST(CompactionOfTwo, WhatAReaderHeldOfTheOldLogGoesWithIt) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto purger = disk.open();
  ASSERT_TRUE(purger->add(entry_text("a", std::string(10'000, 'x'))).ok());
  Core reader(std::string(kSessionId), *disk.storage(), host.context);
  ASSERT_TRUE(reader.load().ok());
  ASSERT_TRUE(reader.entries.read("a").ok());
  ASSERT_GT(reader.entries.memory_bytes(), 10'000u) << "or nothing is tested";
  ASSERT_TRUE(purger->remove("a", "").ok());
  ASSERT_TRUE(purger->compact(purge()).ok());
  ASSERT_TRUE(reader.catch_up().ok());
  EXPECT_LT(reader.entries.memory_bytes(), 10'000u);
}

TEST(CompactionOfTwo, AnIndexOfTheOldLogIsNotSavedAfterAPurge) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  ASSERT_TRUE(session->add(entry_text("a", "zebrastripe")).ok());
  ASSERT_TRUE(session->add(entry_text("b", "horse")).ok());
  Core other(std::string(kSessionId), *disk.storage(), host.context);
  ASSERT_TRUE(other.load().ok());
  ASSERT_TRUE(other.prepare_query({.words = true}).ok());
  const auto snapshot = other.prepare_snapshot(Saving::kAlways);
  ASSERT_TRUE(snapshot.has_value());
  ASSERT_NE(snapshot->bytes.find("zebrastripe"), std::string::npos);
  ASSERT_TRUE(session->remove("a", "").ok());
  ASSERT_TRUE(session->compact(purge()).ok());
  Writer writer(other);
  ASSERT_TRUE(writer
                  .run_as_is("test",
                             [&] {
                               other.put_snapshot(*snapshot);
                               return Status();
                             })
                  .ok());
  EXPECT_EQ(disk.bytes("index.bin").find("zebrastripe"), std::string::npos);
  ASSERT_EQ(*session->count(R"({"text":"horse"})"), 1u);
  ASSERT_TRUE(session->sync().ok());
  EXPECT_NE(disk.bytes("index.bin").find("hors"), std::string::npos) << "where one looks, it is";
}

}  // namespace
}  // namespace varve::session
