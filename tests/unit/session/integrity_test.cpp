// What verify finds, what repair accepts, and what the three kinds of recovery do.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "planted_index.h"
#include "session_disk.h"

namespace varve::session {
namespace {

class Integrity : public testing::Test {
 protected:
  void SetUp() override { disk_.make(); }

  void recover_by(Recovery recovery) { host_.context.settings.recovery = recovery; }
  std::string log() const { return disk_.bytes(log::kEntriesFile); }
  void set_log(const std::string& text) {
    disk_.write(log::kEntriesFile, text);
    if (disk_.read("index.bin")) disk_.remove("index.bin");
  }
  // Changes one line's text and leaves its checksum as it was.
  void edit(const std::string& from, const std::string& to) {
    std::string text = log();
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    set_log(text.replace(at, from.size(), to));
  }
  // Entries with these ids, closed.
  void make(const std::vector<std::string>& ids) {
    auto session = disk_.open();
    for (const auto& id : ids) ASSERT_TRUE(session->add(entry_text(id, "tea of " + id)).ok());
  }
  static std::vector<std::string> reasons(const json::Tree& report, std::string_view list) {
    std::vector<std::string> found;
    for (const auto& item : member(report, list).items()) {
      found.push_back(item.get_string("reason"));
    }
    return found;
  }

  Host host_;
  SessionDisk disk_{host_};
};

using Reasons = std::vector<std::string>;

// --- verify --------------------------------------------------------------------------------------

TEST_F(Integrity, ReferencesThatLeadNowhereAreNotes) {
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("gone")).ok());
  ASSERT_TRUE(session->add(entry_text("there")).ok());
  ASSERT_TRUE(session
                  ->add(R"({"id":"a","type":"m","content":1,"references":["there","gone"],)"
                        R"("relations":{"caused_by":["never"],"next":["later"]}})")
                  .ok());
  ASSERT_TRUE(session->add(entry_text("later")).ok());
  ASSERT_TRUE(session->remove("gone", "").ok());
  const json::Tree report = *session->verify();
  EXPECT_TRUE(report.get_bool("ok"));
  EXPECT_EQ(report.get_int64("problems_total"), 0);
  EXPECT_EQ(report.get_int64("notes_total"), 2);
  ASSERT_EQ(reasons(report, "notes"), (Reasons{"refers to an entry that was deleted",
                                               "refers to an entry that does not exist"}));
  EXPECT_EQ(member(report, "notes").items()[0].get_string("id"), "a");
  EXPECT_EQ(member(report, "notes").items()[0].get_string("target"), "gone");
  EXPECT_EQ(member(report, "notes").items()[1].get_string("target"), "never");
  ASSERT_TRUE(session->remove("a", "").ok());
  EXPECT_EQ(session->verify()->get_int64("notes_total"), 0) << "nobody reads a deleted entry";
}

// As imports of a memory server's relations do, which name both ends twice.
TEST_F(Integrity, AnEntryThatIsReferredToInSeveralWaysIsOneNote) {
  auto session = disk_.open();
  ASSERT_TRUE(session
                  ->add(R"({"id":"a","type":"m","content":1,"references":["x","y"],)"
                        R"("relations":{"from":["y"],"to":["x","z"]}})")
                  .ok());
  const json::Tree report = *session->verify();
  EXPECT_EQ(report.get_int64("notes_total"), 3);
  ASSERT_EQ(member(report, "notes").items().size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(member(report, "notes").items()[i].get_string("target"), std::string(1, "xyz"[i]));
  }
}

TEST_F(Integrity, AnIndexThatSaysOtherwiseThanTheLineIsAProblem) {
  make({"a", "b"});
  struct Case {
    std::string name;
    std::function<void(entry::EntryFacts&)> change;
  };
  const Case cases[] = {
      {"type", [](auto& facts) { facts.type = "decision"; }},
      {"timestamp", [](auto& facts) { facts.timestamp_ms += 1; }},
      {"importance", [](auto& facts) { facts.importance = 0.75; }},
      {"expires_at", [](auto& facts) { facts.expires_at_ms = 4'000'000'000'000; }},
      {"", [](auto&) {}},
  };
  for (const auto& row : cases) {
    plant_index(disk_, {.facts = [&](entry::EntryFacts& facts) {
                  if (facts.id == "b") row.change(facts);
                }});
    auto session = disk_.open();
    ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded")) << row.name;
    const json::Tree report = *session->verify();
    if (row.name.empty()) {
      EXPECT_TRUE(report.get_bool("ok"));
      continue;
    }
    ASSERT_EQ(
        reasons(report, "problems"),
        (Reasons{"the index has another value for 'b': " + row.name + "; rebuild the index"}));
    EXPECT_EQ(member(report, "problems").items()[0].get_int64("offset"),
              static_cast<int64_t>(lines_of(log())[0].size()));
    ASSERT_TRUE(session->rebuild_index().ok());
    EXPECT_TRUE(session->verify()->get_bool("ok")) << row.name;
  }
}

// Repair would move none of them away.
TEST_F(Integrity, LinesThatChangedPlacesBehindTheIndexAreNoRepeatedOnes) {
  make({"a", "b", "c"});
  const std::string text = log();
  const auto lines = lines_of(text);
  disk_.write(log::kEntriesFile,
              std::string(lines[1]) + std::string(lines[0]) + std::string(lines[2]));
  auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded"));
  const json::Tree report = *session->verify();
  EXPECT_EQ(report.get_int64("damaged"), 0);
  EXPECT_EQ(report.get_int64("entries"), 3);
  int of_the_index = 0;
  for (const std::string& reason : reasons(report, "problems")) {
    EXPECT_EQ(reason.find("the same id"), std::string::npos) << reason;
    if (reason.find("rebuild the index") != std::string::npos) of_the_index += 1;
  }
  EXPECT_EQ(of_the_index, 2);
  ASSERT_TRUE(session->rebuild_index().ok());
  EXPECT_EQ(reasons(*session->verify(), "problems"),
            (Reasons{"1 entry is missing: seq 1", "seq 1 is out of order or repeated"}));
}

TEST_F(Integrity, ATagThatTheIndexDoesNotKnowIsAProblem) {
  ASSERT_TRUE(disk_.open()->add(R"({"id":"a","type":"m","content":1,"tags":["x","y"]})").ok());
  plant_index(disk_, {.facts = [](entry::EntryFacts& facts) { facts.tags = {"x"}; }});
  EXPECT_EQ(reasons(*disk_.open()->verify(), "problems"),
            (Reasons{"the index has another value for 'a': tags; rebuild the index"}));
}

TEST_F(Integrity, ListsOfTheIndexAreComparedWhenThatIsAskedFor) {
  ASSERT_TRUE(disk_.open()
                  ->add(R"({"id":"a","type":"m","content":"green tea","tags":["x"],)"
                        R"("references":["z"]})")
                  .ok());
  struct Case {
    std::function<void(entry::EntryFacts&)> change;
    std::function<void(json::Tree&)> change_words;
    Reasons reasons;
  };
  const auto nothing = [](auto&) {};
  const Case cases[] = {
      {nothing, nothing, {}},
      {[](auto& facts) {
         facts.tags = {"x", "w"};
       },
       nothing,
       {"the index has the entries with tag 'w', but the log does not"}},
      {[](auto& facts) { facts.trace_id = "t1"; },
       nothing,
       {"the index has the entries of trace 't1', but the log does not"}},
      {[](auto& facts) { facts.references.clear(); },
       nothing,
       {"the index lacks the entries that refer to 'z'",
        "the index lacks what an entry refers to"}},
      {nothing,
       [](json::Tree& tree) { tree.set("content", json::Tree::string("green green tea")); },
       {"the index is wrong about the entries with the word 'green'",
        "the index is wrong about the lengths of entries"}},
      {nothing,
       [](json::Tree& tree) { tree.set("content", json::Tree::string("green teas")); },
       {"the index lacks the word 'tea'"}},
  };
  for (const auto& row : cases) {
    plant_index(disk_, {.facts = row.change, .words = row.change_words});
    auto session = disk_.open();
    EXPECT_TRUE(session->verify(false)->get_bool("ok")) << "is not looked at";
    const json::Tree report = *session->verify(true);
    EXPECT_EQ(reasons(report, "problems"), row.reasons);
    EXPECT_EQ(report.get_bool("ok"), row.reasons.empty());
  }
}

TEST_F(Integrity, DeepFindsNothingInASessionThatWasWrittenAndReadInManyWays) {
  const SessionFiles files = make_session_of(host_, 60'000, [](Session& session, const auto&) {
    EXPECT_TRUE(session.query(R"({"text":"hello"})").ok());
  });
  disk_.put(files);
  auto session = disk_.open();
  ASSERT_TRUE(session->add(entry_text("more", "hello again")).ok());
  const json::Tree report = *session->verify(true);
  EXPECT_EQ(reasons(report, "problems"), Reasons{});
  EXPECT_GT(report.get_int64("entries"), 100);
}

// --- strict --------------------------------------------------------------------------------------

TEST_F(Integrity, StrictOpensWhatIsWholeAndRefusesAnyDamageWithItsPlace) {
  recover_by(Recovery::kStrict);
  make({"a", "b", "c"});
  const std::string whole = log();
  const auto lines = lines_of(whole);
  EXPECT_TRUE(disk_.try_open().ok());
  struct Case {
    std::string log;
    uint64_t offset;
    uint64_t line;
  };
  std::string flipped = whole;
  flipped[flipped.find("tea of b")] = 'p';
  const std::string gap = std::string(lines[0]) + std::string(lines[2]);
  const std::string torn = whole + std::string(lines[2]).substr(0, 30);
  const Case cases[] = {
      {flipped, lines[0].size(), 2},
      {gap, lines[0].size(), 2},
      {torn, whole.size(), 4},
      {std::string(lines[0]) + "garbage\n" + std::string(lines[1]) + std::string(lines[2]),
       lines[0].size(), 2},
      {whole + std::string(lines[0]), whole.size(), 4},
      {std::string(lines[0]) + std::string(lines[1]), lines[0].size() + lines[1].size(), 3},
  };
  for (const auto& row : cases) {
    disk_.write(log::kEntriesFile, row.log);
    const SessionFiles before = disk_.files();
    const auto refused = disk_.try_open();
    ASSERT_EQ(refused.code(), Code::kCorruption) << row.log;
    const varve::Place& place = refused.status().place();
    EXPECT_NE(place.path.find("memory.jsonl"), std::string::npos);
    EXPECT_EQ(place.offset, row.offset) << refused.status().message();
    EXPECT_EQ(place.line, row.line) << refused.status().message();
    const SessionFiles after = disk_.files();
    EXPECT_EQ(after.entries, before.entries);
    EXPECT_EQ(after.snapshot, before.snapshot);
    EXPECT_EQ(after.metadata, before.metadata);
    EXPECT_EQ(after.lock, before.lock);
    EXPECT_FALSE(disk_.read(log::kQuarantineFile).has_value());
  }
  recover_by(Recovery::kTail);
  disk_.write(log::kEntriesFile, flipped);
  ASSERT_TRUE(disk_.open()->repair(false).ok());
  recover_by(Recovery::kStrict);
  EXPECT_TRUE(disk_.try_open().ok()) << "after a repair it opens";
}

TEST_F(Integrity, StrictRefusesDamagedTombstonesAndMetadata) {
  make({"a"});
  ASSERT_TRUE(disk_.open()->remove("a", "").ok());
  recover_by(Recovery::kStrict);
  const SessionFiles whole = disk_.files();
  ASSERT_TRUE(disk_.try_open().ok());
  disk_.write(log::kTombstonesFile, "{}\n" + *whole.tombstones);
  auto refused = disk_.try_open();
  EXPECT_EQ(refused.code(), Code::kCorruption);
  EXPECT_NE(refused.status().place().path.find("tombstones.jsonl"), std::string::npos);
  EXPECT_EQ(refused.status().place().line, 1u);
  disk_.put(whole);
  disk_.write(log::kMetadataFile, "{");
  refused = disk_.try_open();
  EXPECT_EQ(refused.code(), Code::kCorruption);
  EXPECT_EQ(refused.status().place().path, "metadata.json");
}

TEST_F(Integrity, StrictWaitsForAWriterInTheMiddleOfItsLine) {
  make({"a", "b"});
  recover_by(Recovery::kStrict);
  const std::string whole = log();
  const auto other = disk_.disk.process(7);
  auto writer = *disk_.storage(other.get());
  ASSERT_TRUE(writer->lock(0, "write", nullptr).ok());
  disk_.write(log::kEntriesFile, whole.substr(0, whole.size() - 10));
  bool is_done = false;
  disk_.disk.set_fault_hook([&](const io::OperationInfo&) -> std::optional<io::Fault> {
    if (!is_done && host_.clock.slept_us() > 5000) {
      is_done = true;
      disk_.write(log::kEntriesFile, whole);
    }
    return std::nullopt;
  });
  EXPECT_TRUE(disk_.try_open().ok());
  EXPECT_TRUE(is_done);
  disk_.disk.set_fault_hook({});
}

// --- salvage -------------------------------------------------------------------------------------

class Salvage : public Integrity {
 protected:
  // Two entries, then a batch of three that ends inside its third line.
  void SetUp() override {
    Integrity::SetUp();
    host_.context.settings.durability = log::Durability::kOs;
    make({"a", "b"});
    const std::string before = log();
    ASSERT_TRUE(
        disk_.open()
            ->add_batch("[" + entry_text("x") + "," + entry_text("y") + "," + entry_text("z") + "]")
            .ok());
    const std::string text = log();
    cut_ = text.substr(0, text.size() - 20);
    batch_begin_ = before.size();
    disk_.write(log::kEntriesFile, cut_);
    disk_.remove("index.bin");
    disk_.remove(log::kLockFile);
    disk_.write(log::kMetadataFile, Metadata::make(options(), host_.clock.now_ms()).encode());
  }
  static CreateOptions options() {
    CreateOptions options;
    options.session_id = kSessionId;
    return options;
  }
  static bool has(Session& session, std::string_view id) { return session.get(id).ok(); }

  std::string cut_;
  size_t batch_begin_ = 0;
};

TEST_F(Salvage, WithoutItTheWholeBatchIsNotThere) {
  auto session = disk_.open();
  EXPECT_FALSE(has(*session, "x"));
  ASSERT_TRUE(session->add(entry_text("c")).ok());
  EXPECT_EQ(disk_.quarantine().at(0).bytes, cut_.substr(batch_begin_));
}

TEST_F(Salvage, TheWholeLinesOfTheBatchAreKept) {
  recover_by(Recovery::kSalvage);
  auto session = disk_.open();
  EXPECT_TRUE(has(*session, "x"));
  EXPECT_TRUE(has(*session, "y"));
  EXPECT_FALSE(has(*session, "z"));
  ASSERT_TRUE(session->add(entry_text("c")).ok());
  ASSERT_EQ(disk_.quarantine().size(), 1u);
  EXPECT_EQ(disk_.quarantine()[0].bytes, cut_.substr(cut_.rfind('\n') + 1)) << "the cut line only";
  EXPECT_TRUE(session->verify()->get_bool("ok")) << session->verify()->canonical();
  session.reset();
  recover_by(Recovery::kTail);
  session = disk_.open();
  for (const auto id : {"a", "b", "x", "y", "c"}) EXPECT_TRUE(has(*session, id)) << id;
}

// Whoever has the lock for good finds it taken whenever the log is read.
TEST_F(Salvage, WhatAnExclusiveSessionKeepsStaysThere) {
  recover_by(Recovery::kSalvage);
  auto session = disk_.open();
  ASSERT_TRUE(session->keep_lock().ok());
  ASSERT_TRUE(has(*session, "y"));
  const size_t kept_bytes = cut_.rfind('\n') + 1;
  const auto expect_only_the_cut_line_is_torn = [&] {
    const auto report = *session->verify();
    EXPECT_EQ(report.get_int64("entries"), 4) << report.canonical();
    EXPECT_EQ(report.get_int64("problems_total"), 1) << report.canonical();
    EXPECT_EQ(report.get("problems")->items().at(0).get_int64("offset"), kept_bytes);
  };
  expect_only_the_cut_line_is_torn();
  const auto rebuilt = session->rebuild_index();
  ASSERT_TRUE(rebuilt.ok());
  EXPECT_EQ(rebuilt->get_int64("entries"), 4);
  EXPECT_TRUE(has(*session, "y"));
  expect_only_the_cut_line_is_torn();
}

TEST_F(Salvage, IsToldToTheLog) {
  recover_by(Recovery::kSalvage);
  std::vector<std::string> lines;
  host_.keep_lines(Level::kWarn, &lines);
  auto session = disk_.open();
  host_.events.deliver();
  size_t told = 0;
  for (const auto& line : lines) {
    if (line.find("lines of an unfinished batch were kept") == std::string::npos) continue;
    EXPECT_NE(line.find("\"lines\":2"), std::string::npos);
    told += 1;
  }
  EXPECT_EQ(told, 1u);
}

TEST_F(Salvage, ABatchThatIsBeingWrittenIsNotShownInParts) {
  recover_by(Recovery::kSalvage);
  const auto other = disk_.disk.process(7);
  auto writer = *disk_.storage(other.get());
  ASSERT_TRUE(writer->lock(0, "write", nullptr).ok());
  auto session = disk_.open();
  EXPECT_TRUE(has(*session, "b"));
  EXPECT_FALSE(has(*session, "x"));
  writer->unlock();
  EXPECT_TRUE(has(*session, "x"));
}

TEST_F(Salvage, LinesBehindDamageAreThereInEveryKindOfRecovery) {
  for (const auto recovery : {Recovery::kTail, Recovery::kSalvage}) {
    recover_by(recovery);
    const auto lines = lines_of(cut_);
    disk_.write(log::kEntriesFile,
                std::string(lines[0]) + "\x01\x02 no entry\n" + std::string(lines[1]));
    auto session = disk_.open();
    EXPECT_TRUE(has(*session, "a"));
    EXPECT_TRUE(has(*session, "b"));
  }
}

// --- edits ---------------------------------------------------------------------------------------

TEST_F(Integrity, AnEditedLineIsAcceptedWithItsIdAndSeq) {
  make({"a", "b", "c"});
  const std::string before = log();
  edit("tea of b", "coffee, rather");
  auto session = disk_.open();
  EXPECT_FALSE(session->get("b").ok());
  const json::Tree dry = *session->repair(true, true);
  EXPECT_EQ(dry.get_int64("resealed"), 1);
  EXPECT_FALSE(dry.get_bool("changed", true));
  const json::Tree report = *session->repair(false, true);
  EXPECT_EQ(report.get_int64("resealed"), 1);
  EXPECT_EQ(report.get_int64("quarantined"), 0);
  EXPECT_EQ(report.get_int64("missing"), 0);
  EXPECT_EQ(report.get_int64("entries"), 3);
  EXPECT_TRUE(report.get_bool("changed"));
  EXPECT_EQ(report.get_int64("bytes_after"), static_cast<int64_t>(log().size()));
  const json::Tree entry = *json::Tree::parse(*session->get("b"));
  EXPECT_EQ(member(entry, "content").canonical(), R"("coffee, rather")");
  EXPECT_EQ(entry.get_int64("seq"), 2);
  EXPECT_EQ(lines_of(log())[0], lines_of(before)[0]) << "intact lines stay byte for byte";
  EXPECT_EQ(lines_of(log())[2], lines_of(before)[2]);
  EXPECT_TRUE(session->verify(true)->get_bool("ok"));
  EXPECT_FALSE(disk_.read(log::kQuarantineFile).has_value());
  session.reset();
  EXPECT_TRUE(disk_.open()->get("b").ok());
}

TEST_F(Integrity, WithoutTheOptionAnEditGoesToQuarantine) {
  make({"a", "b"});
  edit("tea of a", "coffee, rather");
  auto session = disk_.open();
  const json::Tree report = *session->repair(false);
  EXPECT_EQ(report.get_int64("resealed"), 0);
  EXPECT_EQ(report.get_int64("quarantined"), 1);
  EXPECT_FALSE(session->get("a").ok());
}

TEST_F(Integrity, ALastLineThatWasEditedIsAccepted) {
  make({"a", "b"});
  edit("tea of b", "coffee, rather");
  auto session = disk_.open();
  const json::Tree report = *session->repair(false, true);
  EXPECT_EQ(report.get_int64("resealed"), 1);
  EXPECT_EQ(report.get_int64("missing"), 0);
  ASSERT_TRUE(session->add(entry_text("c")).ok());
  EXPECT_EQ(json::Tree::parse(*session->get("c"))->get_int64("seq"), 3);
  EXPECT_TRUE(session->verify()->get_bool("ok"));
}

TEST_F(Integrity, WhatIsNoEntryOrDoesNotFitIsNoEdit) {
  struct Case {
    std::string from;
    std::string to;
  };
  const Case cases[] = {
      {R"("id":"b")", R"("id":"a")"},      // the id is taken
      {R"("id":"b")", R"("id":"no id")"},  // is none
      {R"("seq":2)", R"("seq":3)"},        // the next one's
      {R"("seq":2)", R"("seq":1)"},        // the one's before
      {R"("type":"message")", R"("typ":"message")"},
      {R"("content":"tea of b")", R"("content":"tea of b)"},
  };
  for (const auto& row : cases) {
    disk_.make();
    host_.counters.syncs = 0;
    for (const auto name : {"lock", "index.bin", "quarantine.jsonl"}) {
      if (disk_.read(name)) disk_.remove(name);
    }
    make({"a", "b", "c"});
    std::string text = log();
    const size_t begin = text.find("\n") + 1;
    const size_t at = text.find(row.from, begin);
    ASSERT_LT(at, text.find("\n", begin)) << row.from;
    set_log(text.replace(at, row.from.size(), row.to));
    auto session = disk_.open();
    const json::Tree report = *session->repair(false, true);
    EXPECT_EQ(report.get_int64("resealed"), 0) << row.to;
    EXPECT_EQ(report.get_int64("quarantined"), 1) << row.to;
    EXPECT_TRUE(session->verify()->get_bool("ok")) << row.to;
  }
}

TEST_F(Integrity, SeveralEditsMustFitBesideEachOther) {
  make({"a", "b", "c", "d"});
  edit("tea of b", "milk");
  edit("tea of c", "water");
  auto session = disk_.open();
  const json::Tree report = *session->repair(false, true);
  EXPECT_EQ(report.get_int64("resealed"), 2);
  EXPECT_TRUE(session->verify(true)->get_bool("ok"));
  // Both claim the same seq: the first one keeps it.
  session.reset();
  std::string text = log();
  text.replace(text.find(R"("seq":3)"), 7, R"("seq":2)");
  text.replace(text.find("milk"), 4, "wine");
  set_log(text);
  session = disk_.open();
  const json::Tree again = *session->repair(false, true);
  EXPECT_EQ(again.get_int64("resealed"), 1);
  EXPECT_EQ(again.get_int64("quarantined"), 1);
  EXPECT_TRUE(session->verify()->get_bool("ok"));
}

// --- ids of damaged entries ----------------------------------------------------------------------

// By what became of the line of "b".
class DamagedEntry : public Integrity, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    Integrity::SetUp();
    make({"a", "b", "c"});
    edit("\"content\":\"tea of b\"", GetParam());
    offset_ = log().find('\n') + 1;
  }
  void expect_taken(Session& session) {
    const auto read = session.get("b");
    EXPECT_EQ(read.code(), Code::kCorruption);
    EXPECT_TRUE(read.status().place().path.ends_with("memory.jsonl"));
    EXPECT_EQ(read.status().place().offset, offset_);
    EXPECT_EQ(session.add(entry_text("b", "another")).code(), Code::kAlreadyExists);
    EXPECT_EQ(session.add_batch("[" + entry_text("x") + "," + entry_text("b") + "]").code(),
              Code::kAlreadyExists);
    const auto imported = session.import_text(entry_text("b") + "\n" + entry_text("a"));
    ASSERT_TRUE(imported.ok()) << imported.status().message();
    EXPECT_EQ(imported->get_int64("refused_total"), 2) << imported->canonical();
    EXPECT_EQ(session.get("never").code(), Code::kNotFound);
    for (const auto id : {"a", "c"}) EXPECT_TRUE(session.get(id).ok()) << id;
  }

  uint64_t offset_ = 0;
};

TEST_P(DamagedEntry, IsToldAndKeepsItsIdUntilARepair) {
  auto session = disk_.open();
  expect_taken(*session);
  ASSERT_TRUE(session->add(entry_text("d")).ok());
  expect_taken(*session);
  ASSERT_TRUE(session->sync().ok());
  session.reset();
  ASSERT_TRUE(disk_.read("index.bin").has_value());
  expect_taken(*disk_.open());
  session = disk_.open();
  ASSERT_TRUE(session->repair(false).ok());
  EXPECT_EQ(session->get("b").code(), Code::kNotFound) << "it is in quarantine";
  EXPECT_TRUE(session->add(entry_text("b", "another")).ok());
  EXPECT_TRUE(session->verify()->get_bool("ok"));
}

INSTANTIATE_TEST_SUITE_P(By, DamagedEntry,
                         testing::Values(R"("content":"milk")", R"("content:"no JSON")",
                                         R"("content":{"id":"c","x":"tea)"));

TEST_F(Integrity, AnEditThatIsAcceptedHasItsIdStill) {
  make({"a", "b", "c"});
  edit("tea of b", "milk");
  const auto session = disk_.open();
  EXPECT_EQ(session->add(entry_text("b")).code(), Code::kAlreadyExists);
  EXPECT_EQ(session->repair(false, true)->get_int64("resealed"), 1);
  EXPECT_NE(session->get("b")->find("milk"), std::string::npos);
}

TEST_F(Integrity, ADamagedLineOfADeletedEntryIsNoEntry) {
  make({"a", "b", "c"});
  ASSERT_TRUE(disk_.open()->remove("b", "").ok());
  edit("tea of b", "milk");
  EXPECT_EQ(disk_.open()->get("b").code(), Code::kNotFound);
}

}  // namespace
}  // namespace varve::session
