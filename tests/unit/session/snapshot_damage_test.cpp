// What a damaged index.bin costs: a rebuild when the damage is met, and no wrong answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "index/snapshot_file.h"
#include "query/parse.h"
#include "session/query/query.h"
#include "session/upkeep/compaction.h"
#include "snapshot_use.h"

namespace varve::session {
namespace {

class SnapshotDamage : public SnapshotUse {
 protected:
  // index.bin as it was, but for a byte of its words that no list has there; its hashes are right.
  void spoil_words(const std::string& right, size_t at) {
    index::SnapshotEditor editor(right);
    editor.sections[kTextSection][at] = static_cast<char>(0xff);
    disk_.write("index.bin", editor.assembled());
  }
};

TEST_F(SnapshotDamage, WhatAnotherLeftInItsPlaceThatIsNoneIsReplaced) {
  fill(10);
  disk_.open()->close();
  const auto session = disk_.open();
  ASSERT_TRUE(index_stats(*session).get_bool("loaded"));
  disk_.write("index.bin", "no index");
  for (int i = 0; i < 3; ++i) {
    const std::string id = "s" + std::to_string(i);
    ASSERT_TRUE(session->add(entry_text(id, std::string(900'000, 'x'))).ok());
  }
  EXPECT_NE(disk_.bytes("index.bin"), "no index");
  EXPECT_TRUE(index_stats(*disk_.open()).get_bool("loaded"));
}

TEST_F(SnapshotDamage, DamageOfAnySectionCostsARebuildWhenItIsMet) {
  fill(20);
  const std::string right = disk_.bytes("index.bin");
  for (size_t section = 0; section < index::SnapshotEditor::kSectionCount; ++section) {
    disk_.write("index.bin", right);
    damage(section);
    auto session = disk_.open();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(session->get("e" + std::to_string(i)).ok()) << section;
    }
    EXPECT_EQ(found_by_word(*session), 20u) << section;
    EXPECT_EQ(session->stats()->get_int64("entries"), 20) << section;
    EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1) << section;
    EXPECT_EQ(found_by_word(*session), 20u) << section;
    session.reset();
    session = disk_.open();
    EXPECT_EQ(session->stats()->get_int64("entries"), 20) << section;
    EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 0) << "a right one was saved";
  }
}

// What cannot be read reads as zeros, and so as a time that is over.
TEST_F(SnapshotDamage, DamagedExpiriesOfOpenRowsHideNoEntry) {
  const auto add = [&](int first, int end) {
    auto session = disk_.open();
    for (int i = first; i < end; ++i) {
      const std::string seconds = std::to_string(1'000'000 + i * i % 97 * 977);
      ASSERT_TRUE(session
                      ->add(R"({"type":"note","content":"x","id":"e)" + std::to_string(i) +
                            R"(","ttl_seconds":)" + seconds + "}")
                      .ok());
    }
  };
  add(0, 100);
  const std::string older = disk_.bytes("index.bin");
  add(100, 110);
  disk_.write("index.bin", older);
  damage(index::kExpiries);
  auto session = disk_.open();
  for (const auto id : {"e5", "e105"}) EXPECT_TRUE(session->get(id).ok()) << id;
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1);
}

// Lists are read from the file when a word is looked up: damage shows within a query.
TEST_F(SnapshotDamage, DamageWithinAListCostsARebuildWhenAQueryMeetsIt) {
  auto session = disk_.open();
  for (int i = 0; i < 7000; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(session->add(entry_text("e" + number, "every word" + number)).ok());
  }
  session.reset();
  const std::string right = disk_.bytes("index.bin");
  const index::SnapshotEditor editor(right);
  const uint64_t begin = editor.word(index::SnapshotEditor::place_of(kTextSection));
  const size_t bytes = editor.sections[kTextSection].size();
  ASSERT_GT(bytes, 5 * index::kSnapshotBlockBytes);
  int64_t rebuilds = 0;
  for (size_t at = index::kSnapshotBlockBytes; at < bytes; at += index::kSnapshotBlockBytes) {
    std::string damaged = right;
    damaged[begin + at] ^= 1;
    disk_.write("index.bin", damaged);
    session = disk_.open();
    EXPECT_EQ(*session->count(R"({"text":"every"})"), 7000u) << at;
    EXPECT_EQ(*session->count(R"({"text":"word4321"})"), 1u) << at;
    rebuilds += index_stats(*session).get_int64("rebuilds");
  }
  EXPECT_GE(rebuilds, 2) << "of the word's name, of its list";
}

// A compaction takes lists over as bytes, also those that nobody has looked at.
TEST_F(SnapshotDamage, ACompactionTakesNoDamagedListsAlong) {
  auto session = disk_.open();
  for (int i = 0; i < 2000; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(session->add(entry_text("e" + number, "every word" + number)).ok());
  }
  ASSERT_TRUE(session->remove("e7", "").ok());
  session.reset();
  const std::string right = disk_.bytes("index.bin");
  const std::string log = disk_.bytes("memory.jsonl");
  const index::SnapshotEditor editor(right);
  const uint64_t begin = editor.word(index::SnapshotEditor::place_of(kTextSection));
  const size_t bytes = editor.sections[kTextSection].size();
  ASSERT_GT(bytes, index::kSnapshotBlockBytes);
  for (size_t at = 64; at < bytes; at += index::kSnapshotBlockBytes) {
    std::string damaged = right;
    damaged[begin + at] ^= 1;
    disk_.write("memory.jsonl", log);
    disk_.write("index.bin", damaged);
    session = disk_.open();
    ASSERT_TRUE(session->compact({}).ok());
    for (int i = 8; i < 2000; i += 83) {
      const std::string asked = R"({"text":"word)" + std::to_string(i) + R"("})";
      EXPECT_EQ(*session->count(asked), 1u) << at << ": " << i;
    }
    EXPECT_EQ(*session->count(R"({"text":"every"})"), 1999u) << at;
  }
}

// Neither a compaction nor a saved index makes lists that can be read, with fewer rows, of those
// that cannot.
TEST_F(SnapshotDamage, ListsThatCannotBeReadAreNotMadeReadable) {
  const std::string asked = R"({"text":"needle"})";
  auto session = disk_.open();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(session->add(entry_text("e" + std::to_string(i), "needle")).ok());
  }
  ASSERT_TRUE(session->remove("e7", "").ok());
  session.reset();
  const std::string right = disk_.bytes("index.bin");
  const std::string log = disk_.bytes("memory.jsonl");
  const std::string deletions = disk_.bytes("tombstones.jsonl");
  const size_t bytes = index::SnapshotEditor(right).sections[kTextSection].size();
  int noticed_count = 0;
  for (size_t at = 0; at < bytes; ++at) {
    const auto open_spoilt = [&] {
      disk_.write("memory.jsonl", log);
      disk_.write("tombstones.jsonl", deletions);
      spoil_words(right, at);
      session = disk_.open();
    };
    open_spoilt();
    (void)session->count(asked);
    if (index_stats(*session).get_int64("rebuilds") == 0) continue;
    noticed_count += 1;
    open_spoilt();
    ASSERT_TRUE(session->compact({}).ok());
    session = disk_.open();
    EXPECT_EQ(*session->count(asked), 199u) << "compacted: " << at;
    open_spoilt();
    ASSERT_TRUE(session->add(entry_text("more", "needle " + std::string(200'000, 'x'))).ok());
    session->close();
    session = disk_.open();
    EXPECT_EQ(*session->count(asked), 200u) << "saved: " << at;
  }
  EXPECT_GT(noticed_count, 10);
}

// Somebody wrote a list that is none, under right hashes.
TEST_F(SnapshotDamage, AListThatCannotBeReadCostsARebuildAndNoError) {
  fill(300);
  const std::string right = disk_.bytes("index.bin");
  int64_t rebuilds = 0;
  const size_t bytes = index::SnapshotEditor(right).sections[kTextSection].size();
  for (size_t at = 0; at < bytes; at += 5) {
    spoil_words(right, at);
    auto session = disk_.open();
    const auto found = session->query(R"({"text":")" + std::string(50, 'x') + R"("})");
    EXPECT_TRUE(found.ok()) << at << ": " << found.status().message();
    rebuilds += index_stats(*session).get_int64("rebuilds");
  }
  EXPECT_GT(rebuilds, 1);
}

// What a wildcard stands for is read from lists, too, also from those of one block.
TEST_F(SnapshotDamage, AListThatCannotBeReadIsNoticedByAWildcard) {
  fill(20);
  const std::string right = disk_.bytes("index.bin");
  const std::string word(49, 'x');
  const auto rebuilds_by = [&](const std::string& words) {
    auto session = disk_.open();
    const auto found = session->query(R"({"text":")" + words + R"("})");
    EXPECT_TRUE(found.ok()) << found.status().message();
    return index_stats(*session).get_int64("rebuilds");
  };
  int noticed_count = 0;
  const size_t bytes = index::SnapshotEditor(right).sections[kTextSection].size();
  for (size_t at = 0; at < bytes; ++at) {
    spoil_words(right, at);
    if (rebuilds_by(word + "x") == 0) continue;
    spoil_words(right, at);
    EXPECT_EQ(rebuilds_by(word + "*"), 1) << at;
    noticed_count += 1;
  }
  EXPECT_GT(noticed_count, 10);
}

// A session that tells the others it has no match is asked for none.
TEST_F(SnapshotDamage, AListThatCannotBeReadIsNoticedByWhatOtherSessionsAreTold) {
  fill(300);
  const std::string right = disk_.bytes("index.bin");
  const std::string text = R"({"text":")" + std::string(50, 'x') + R"("})";
  const auto query = query::parse_query(text, query::Scope::kStore);
  ASSERT_TRUE(query.ok());
  SharedQuery shared;
  shared.statistics = disk_.open()->count_words(*query, shared)->statistics;
  int noticed_count = 0;
  const size_t bytes = index::SnapshotEditor(right).sections[kTextSection].size();
  for (size_t at = 0; at < bytes; ++at) {
    spoil_words(right, at);
    auto session = disk_.open();
    EXPECT_TRUE(session->query(text).ok()) << at;
    if (index_stats(*session).get_int64("rebuilds") == 0) continue;
    spoil_words(right, at);
    session = disk_.open();
    const auto best = session->find_best_match(*query, shared);
    EXPECT_TRUE(best.ok() && best->match > 0) << at;
    EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1) << at;
    noticed_count += 1;
  }
  EXPECT_GT(noticed_count, 10);
}

// As somebody who means harm would write it: all hashes are right.
TEST_F(SnapshotDamage, ARowThatItsTableHidesIsDeletedAllTheSame) {
  fill(20);
  auto session = disk_.open();
  ASSERT_TRUE(session->remove("e3", "").ok());
  session->close();
  using Editor = index::SnapshotEditor;
  Editor editor(disk_.bytes("index.bin"));
  const size_t slots = editor.slot_count();
  size_t slot = 0;
  while (editor.slot(slot) != 4) slot = (slot + 1) % slots;
  editor.set_slot(slot, 0);
  disk_.write("index.bin", editor.assembled());
  for (const auto query : {R"({"sort_by":"time","limit":100})", R"({"limit":100})"}) {
    session.reset();
    disk_.write("index.bin", editor.assembled());
    session = disk_.open();
    const auto found = session->query(query);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->results.size(), 19u);
    for (const auto& result : found->results) EXPECT_NE(result.id(), "e3");
    EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1);
  }
}

// Nor may its places be believed where many lines are read at once.
TEST_F(SnapshotDamage, PlacesThatFallCostARebuildBeforeWordsAreFoundThere) {
  fill(20);
  using Editor = index::SnapshotEditor;
  Editor editor(disk_.bytes("index.bin"));
  editor.set_word(Editor::kTextRowCount, 0);
  editor.sections[Editor::kTextLengths].clear();
  editor.set<uint64_t>(Editor::kOffsets, 19, 0);
  disk_.write("index.bin", editor.assembled());
  const auto session = disk_.open();
  EXPECT_EQ(found_by_word(*session), 20u);
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1);
}

TEST_F(SnapshotDamage, AnAddBesideDamagedRowsTakesNoIdTwice) {
  fill(20);
  damage(index::SnapshotEditor::kTable);
  auto session = disk_.open();
  EXPECT_EQ(session->add(entry_text("e7")).code(), Code::kAlreadyExists);
  EXPECT_TRUE(session->add(entry_text("new")).ok());
  EXPECT_EQ(session->stats()->get_int64("entries"), 21);
}

TEST_F(SnapshotDamage, AFileThatCannotBeReadAnyMoreCostsARebuild) {
  fill(20);
  auto session = disk_.open();
  disk_.disk.set_fault_hook(io::FailNth(1, EIO, true).on_file("index.bin"));
  EXPECT_TRUE(session->get("e7").ok());
  EXPECT_EQ(session->get("none").code(), Code::kNotFound);
  EXPECT_EQ(session->stats()->get_int64("entries"), 20);
  EXPECT_EQ(index_stats(*session).get_int64("rebuilds"), 1);
}

}  // namespace
}  // namespace varve::session
