// Import, export, and what a session tells about itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/time.h"
#include "session/session.h"
#include "session_place.h"
#include "support/exported_text.h"

namespace varve::session {
namespace {

class Transfer : public OverPlaces {
 protected:
  json::Tree import(std::string_view lines) {
    auto report = session_->import_text(lines);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? *report : json::Tree();
  }
};

INSTANTIATE_TEST_SUITE_P(Over, Transfer, testing::Values(PlaceKind::kSimulated, PlaceKind::kMemory),
                         place_name);

TEST_P(Transfer, ImportTakesGoodLinesAndTellsOfTheOthers) {
  ASSERT_TRUE(session_->add(entry_text("there")).ok());
  ASSERT_TRUE(session_->add(entry_text("gone")).ok());
  ASSERT_TRUE(session_->remove("gone", "").ok());
  const json::Tree report = import(entry_text("a") + "\r\n" + "\n" + "{\"type\":\"message\"}\n" +
                                   entry_text("there") + "\nnot json\n" + entry_text("b") + "\n" +
                                   entry_text("gone") + "\n   \n" + entry_text("c"));
  EXPECT_EQ(report.get_int64("added"), 3);
  EXPECT_EQ(report.get_int64("existing"), 1);
  EXPECT_EQ(report.get_int64("refused_total"), 3);
  std::vector<int64_t> lines;
  for (const auto& refused : member(report, "refused").items()) {
    lines.push_back(refused.get_int64("line"));
    EXPECT_FALSE(refused.get_string("reason").empty());
  }
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<int64_t>{3, 5, 7}));
  for (const auto id : {"a", "b", "c"}) EXPECT_TRUE(session_->get(id).ok()) << id;
}

TEST_P(Transfer, ImportingAgainAddsNothing) {
  const std::string lines = entry_text("a") + "\n" + entry_text("b") + "\n" + entry_text("a");
  EXPECT_EQ(import(lines).get_int64("added"), 2);
  const std::string stored = place_.entries();
  const json::Tree again = import(lines);
  EXPECT_EQ(again.get_int64("added"), 0);
  EXPECT_EQ(again.get_int64("existing"), 3);
  EXPECT_EQ(place_.entries(), stored);
}

TEST_P(Transfer, ALineWhoseChecksumDoesNotMatchIsRefused) {
  Host other_host;
  Place other(PlaceKind::kMemory, other_host);
  const auto source = other.open();
  ASSERT_TRUE(source->add(entry_text("right")).ok());
  ASSERT_TRUE(source->add(entry_text("wrong")).ok());
  std::string lines = *exported_text(*source, "jsonl");
  lines[lines.rfind("hello")] = 'j';
  const json::Tree report = import(lines);
  EXPECT_EQ(report.get_int64("added"), 1);
  EXPECT_EQ(report.get_int64("refused_total"), 1);
  EXPECT_EQ(member(report, "refused").items()[0].get_int64("line"), 2);
  EXPECT_TRUE(session_->get("right").ok());
  EXPECT_EQ(session_->get("wrong").code(), Code::kNotFound);
}

TEST_P(Transfer, ASealedLineWithWhiteSpaceIsCheckedInItsCanonicalForm) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  auto tree = json::Tree::parse(*session_->get("a"));
  Host other_host;
  Place other(PlaceKind::kMemory, other_host);
  const auto target = other.open();
  std::string spaced = tree->pretty();
  std::replace(spaced.begin(), spaced.end(), '\n', ' ');
  EXPECT_EQ(target->import_text(spaced)->get_int64("added"), 1);
}

TEST_P(Transfer, EntriesOfAnotherSessionBecomeThisOnes) {
  const json::Tree report =
      import(R"({"id":"a","type":"message","content":1,"session_id":"sess_other","seq":77,)"
             R"("batch":{"n":9,"i":3},"timestamp":"2020-01-01T00:00:00Z","decay_factor":0.25})");
  EXPECT_EQ(report.get_int64("added"), 1) << report.canonical();
  const auto entry = json::Tree::parse(*session_->get("a"));
  EXPECT_EQ(entry->get_string("session_id"), kSessionId);
  EXPECT_EQ(entry->get_int64("seq"), 1);
  EXPECT_EQ(entry->get("batch"), nullptr);
  EXPECT_EQ(entry->get_string("timestamp"), "2020-01-01T00:00:00.000Z");
  EXPECT_EQ(entry->get_double("decay_factor"), 0.25);
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_P(Transfer, ManyLinesAreWrittenInGroups) {
  std::string lines;
  for (int i = 0; i < 1500; ++i) lines += entry_text("e" + std::to_string(i)) + "\n";
  EXPECT_EQ(import(lines).get_int64("added"), 1500);
  EXPECT_EQ(host_.counters.entries_added.load(), 1500u);
  EXPECT_LE(host_.counters.syncs.load(), 4u);
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

TEST_P(Transfer, NoMoreThanAThousandRefusalsAreListed) {
  std::string lines;
  for (int i = 0; i < 1200; ++i) lines += "{}\n";
  const json::Tree report = import(lines);
  EXPECT_EQ(report.get_int64("refused_total"), 1200);
  EXPECT_EQ(member(report, "refused").items().size(), 1000u);
}

TEST_P(Transfer, AFullSessionStopsTheImportAndKeepsWhatWasAdded) {
  host_.context.settings.session_bytes_max = 3000;
  session_ = place_.open();
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += entry_text("e" + std::to_string(i)) + "\n";
  EXPECT_EQ(session_->import_text(lines).code(), Code::kSizeLimit);
  EXPECT_TRUE(session_->get("e0").ok());
  EXPECT_EQ(session_->get("e49").code(), Code::kNotFound);
  EXPECT_TRUE(session_->verify()->get_bool("ok"));
}

// --- export
// ------------------------------------------------------------------------------------------

TEST_P(Transfer, ExportedLinesAreTheStoredOnesAndGoBackIn) {
  for (const auto id : {"a", "b", "c", "d"}) ASSERT_TRUE(session_->add(entry_text(id, id)).ok());
  ASSERT_TRUE(session_->remove("b", "").ok());
  const std::string exported = *exported_text(*session_, "jsonl");
  const std::string stored = place_.entries();
  const auto lines = lines_of(stored);
  EXPECT_EQ(exported, std::string(lines[0]) + std::string(lines[2]) + std::string(lines[3]));
  Host other_host;
  Place other(PlaceKind::kMemory, other_host);
  EXPECT_EQ(other.open()->import_text(exported)->get_int64("added"), 3);
}

TEST_P(Transfer, ExportedJsonHoldsSessionAndEntries) {
  ASSERT_TRUE(session_->update(R"({"title":"a title"})").ok());
  const auto empty = json::Tree::parse(*exported_text(*session_, "json"));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(member(*empty, "entries").canonical(), "[]");
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  ASSERT_TRUE(session_->add(entry_text("b")).ok());
  const auto tree = json::Tree::parse(*exported_text(*session_, "json"));
  ASSERT_TRUE(tree.ok());
  ASSERT_EQ(member(*tree, "entries").items().size(), 2u);
  EXPECT_EQ(member(*tree, "entries").items()[1].canonical(), *session_->get("b"));
  EXPECT_EQ(member(*tree, "session").get_string("title"), "a title");
  EXPECT_EQ(member(*tree, "session").get_int64("total_entries"), 2);
}

TEST_P(Transfer, ExportedMarkdownIsForPeople) {
  ASSERT_TRUE(session_
                  ->add(R"({"id":"a","type":"message","tags":["x"],"importance":0.75,)"
                        R"("content":{"role":"user","message":"Where is the ferry?"}})")
                  .ok());
  ASSERT_TRUE(session_->add(R"({"id":"b","type":"finding","content":{"n":[1]}})").ok());
  const std::string text = *exported_text(*session_, "markdown");
  for (const std::string part : {"# Session sess_1\n", "## 2026-01-10T14:23:45.678Z message `a`\n",
                                 "**user**: Where is the ferry?\n", "_importance 0.75, tags `x`_\n",
                                 "finding `b`", "```json\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
}

TEST_P(Transfer, AnUnknownFormatIsRefused) {
  const auto refused = exported_text(*session_, "xml");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.status().place().member, "format");
  EXPECT_EQ(exported_text(*session_, "").code(), Code::kInvalidArgument);
}

// --- figures
// ------------------------------------------------------------------------------------------

TEST_P(Transfer, StatsHoldEveryDocumentedMember) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  ASSERT_TRUE(session_->add(R"({"id":"b","type":"decision","content":1})").ok());
  ASSERT_TRUE(session_->add(entry_text("c")).ok());
  ASSERT_TRUE(session_->remove("c", "").ok());
  const auto stats = session_->stats();
  ASSERT_TRUE(stats.ok());
  for (const auto name :
       {"session_id", "entries", "deleted", "expired", "size_bytes", "types", "memory_bytes",
        "last_seq", "durable_seq", "durability", "generation", "read_only", "corruption", "index",
        "size_limit_bytes", "modified", "lock"}) {
    EXPECT_NE(stats->get(name), nullptr) << name;
  }
  EXPECT_EQ(stats->get_string("session_id"), kSessionId);
  EXPECT_EQ(stats->get_int64("entries"), 2);
  EXPECT_EQ(stats->get_int64("deleted"), 1);
  EXPECT_EQ(stats->get_int64("last_seq"), 3);
  EXPECT_EQ(stats->get_int64("durable_seq"), 3);
  EXPECT_EQ(stats->get_string("durability"), "commit");
  EXPECT_FALSE(stats->get_bool("read_only", true));
  EXPECT_GT(stats->get_int64("memory_bytes"), 0);
  EXPECT_EQ(member(*stats, "types").canonical(), R"({"decision":1,"message":1})");
  EXPECT_EQ(member(*stats, "corruption").canonical(),
            R"({"kv":0,"metadata":false,"missing":0,"rollback":0,"skipped":0,"torn_tails":0,)"
            R"("transcript":0})");
  const json::Tree& sizes = member(*stats, "size_bytes");
  EXPECT_EQ(sizes.get_int64("log"), static_cast<int64_t>(place_.entries().size()));
  EXPECT_EQ(sizes.get_int64("tombstones"), static_cast<int64_t>(place_.tombstones().size()));
  EXPECT_EQ(sizes.get_int64("total"),
            sizes.get_int64("log") + sizes.get_int64("index") + sizes.get_int64("tombstones"));
  for (const auto name : {"loaded", "rebuilds", "reason", "covered_bytes", "facets_memory_bytes",
                          "words_memory_bytes", "words_of_entries"}) {
    EXPECT_NE(member(*stats, "index").get(name), nullptr) << name;
  }
}

TEST_P(Transfer, FilesAreListedByName) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  session_->close();
  const auto tree = session_->files();
  ASSERT_TRUE(tree.ok());
  std::vector<std::string> names;
  for (const auto& file : member(*tree, "files").items()) {
    names.push_back(file.get_string("name"));
    EXPECT_TRUE(parse_rfc3339(file.get_string("modified")).has_value());
    if (names.back() == "memory.jsonl") {
      EXPECT_EQ(file.get_int64("size_bytes"), static_cast<int64_t>(place_.entries().size()));
    }
  }
  const std::vector<std::string> on_disk = {"index.bin", "lock", "memory.jsonl", "metadata.json"};
  EXPECT_EQ(names, GetParam() == PlaceKind::kMemory ? std::vector<std::string>() : on_disk);
}

TEST_P(Transfer, TheIndexIsListedForPeople) {
  ASSERT_TRUE(session_
                  ->add(R"({"id":"a","type":"message","content":1,"tags":["x","y"],)"
                        R"("importance":0.25})")
                  .ok());
  const auto first_line = static_cast<int64_t>(place_.entries().size());
  ASSERT_TRUE(session_->add(R"({"id":"b","type":"decision","content":2,"tags":["x"]})").ok());
  ASSERT_TRUE(session_->add(entry_text("c")).ok());
  ASSERT_TRUE(session_->remove("c", "").ok());
  const auto text = session_->index_listing();
  ASSERT_TRUE(text.ok());
  const auto tree = json::Tree::parse(*text);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(tree->get_int64("version"), 1);
  EXPECT_TRUE(parse_rfc3339(tree->get_string("last_updated")).has_value());
  EXPECT_EQ(member(*tree, "tags").canonical(), R"({"x":["a","b"],"y":["a"]})");
  EXPECT_EQ(member(*tree, "types").canonical(), R"({"decision":["b"],"message":["a"]})");
  const json::Tree& entries = member(*tree, "entries");
  EXPECT_EQ(entries.members().size(), 2u);
  EXPECT_EQ(member(entries, "a").canonical(),
            R"({"byte_offset":0,"current_relevance":0.375,"importance":0.25,"line_number":1,)"
            R"("tags":["x","y"],)"
            R"("timestamp":"2026-01-10T14:23:45.678Z","type":"message"})");
  EXPECT_EQ(member(entries, "b").get_int64("byte_offset"), first_line);
  EXPECT_EQ(member(entries, "b").get_int64("line_number"), 2);
}

TEST_P(Transfer, TheIndexListsAnEntryOnceUnderATagThatItHasTwice) {
  const std::string twice = R"({"id":"a","type":"message","content":1,"tags":["x","y","x"]})";
  ASSERT_TRUE(session_->add(twice).ok());
  const auto text = session_->index_listing();
  ASSERT_TRUE(text.ok());
  const auto tree = json::Tree::parse(*text);
  ASSERT_TRUE(tree.ok());
  EXPECT_EQ(member(*tree, "tags").canonical(), R"({"x":["a"],"y":["a"]})");
}

// As a document would be written: members by their UTF-16 code units, where U+10400 comes before
// U+FB00, which is the other way round in UTF-8.
TEST_P(Transfer, TheIndexIsListedAsADocumentIsWritten) {
  for (int count = 0; count < 3; ++count) {
    const auto text = session_->index_listing();
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(json::Tree::parse(*text)->pretty(), *text);
    const std::string id = std::string(1, static_cast<char>('z' - count));
    ASSERT_TRUE(session_
                    ->add(R"({"id":")" + id +
                          R"(","type":"message","content":1,"tags":["\uFB00","\uD801\uDC00","b"]})")
                    .ok());
    ASSERT_TRUE(session_->add(entry_text("a" + id)).ok());
  }
}

TEST_P(Transfer, RebuildingTheIndexCountsAndKeepsAnswers) {
  ASSERT_TRUE(session_->add(entry_text("a")).ok());
  const auto report = session_->rebuild_index();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->get_int64("entries"), 1);
  EXPECT_NE(report->get("duration_ms"), nullptr);
  EXPECT_EQ(host_.counters.index_rebuilds.load(), 1u);
  EXPECT_TRUE(session_->get("a").ok());
}

}  // namespace
}  // namespace varve::session
