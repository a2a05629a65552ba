// index.bin and metadata.json damaged in every way: the log decides, so nothing is lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "session/session.h"
#include "session_disk.h"
#include "support/build_kind.h"
#include "support/counted.h"
#include "support/exported_text.h"
#include "support/scale.h"
#include "unit/index/decode_snapshot.h"
#include "unit/index/snapshot_editor.h"

namespace varve::session {
namespace {

using index::SnapshotEditor;

const size_t kFlippedBytes = test::scaled(size_t{64} << 10, 20, 10);

struct Unflipped {
  Unflipped() {
    Host host;
    files = make_session_of(host, kFlippedBytes);
    SessionDisk disk(host);
    disk.put(files);
    const auto session = disk.open();
    exported = *exported_text(*session, "jsonl");
    found = found_in(*session);
    EXPECT_GT(session->count(kWildcard).ok() ? *session->count(kWildcard) : 0, 0U);
    json::Document scratch;
    entry::EntryFacts facts;
    for (const auto line : lines_of(exported)) {
      lines.emplace_back(line.substr(0, line.size() - 1));
      EXPECT_TRUE(entry::read_line(lines.back(), scratch, &facts).ok());
      ids.push_back(facts.id);
    }
  }

  // What queries need of the index that reading entries does not: words, tags, traces.
  static std::string found_in(session::Session& session) {
    const auto words = session.count(kWildcard);
    const auto tags = session.tags();
    return words.ok() && tags.ok() ? std::to_string(*words) + tags->canonical() : "nothing";
  }
  static constexpr std::string_view kWildcard = R"({"text":"+*e*"})";

  SessionFiles files;
  std::string exported;
  std::string found;
  std::vector<std::string> ids;    // of the live entries
  std::vector<std::string> lines;  // without line ends
};

const Unflipped& unflipped() {
  static const Unflipped kWhole;
  return kWhole;
}

class Damaged : public testing::Test {
 protected:
  // Opens the session with this index.bin and reads everything; answers how often the index was
  // made anew.
  uint64_t rebuilds_with(std::string_view snapshot) {
    Host host;
    SessionDisk disk(host);
    SessionFiles files = unflipped().files;
    files.snapshot = snapshot;
    disk.put(files);
    const auto session = disk.open();
    if (session == nullptr) return 0;
    const auto exported = exported_text(*session, "jsonl");
    EXPECT_TRUE(exported.ok()) << exported.status().message();
    EXPECT_TRUE(exported.ok() && *exported == unflipped().exported);
    EXPECT_EQ(Unflipped::found_in(*session), unflipped().found);
    return host.counters.index_rebuilds.load();
  }

  static std::string flipped(std::string_view bytes, size_t bit) {
    std::string changed(bytes);
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    return changed;
  }
};

using Snapshots = Damaged;
using MetadataFlips = Damaged;

TEST_F(Snapshots, OfTheLogIsUsedAsItIs) {
  EXPECT_EQ(rebuilds_with(*unflipped().files.snapshot), 0u);
}

TEST_F(Snapshots, WithAnyBitFlippedIsRefused) {
  const std::string& snapshot = *unflipped().files.snapshot;
  for (size_t bit = 0; bit < snapshot.size() * 8; ++bit) {
    ASSERT_EQ(index::decode_snapshot(flipped(snapshot, bit)).code(), Code::kCorruption)
        << "bit " << bit;
  }
  test::counted("flips", snapshot.size() * 8);
}

TEST_F(Snapshots, WithAnyBitOfTheHeaderFlippedCostsARebuildAndNothingElse) {
  const std::string& snapshot = *unflipped().files.snapshot;
  const size_t step = test::kFastBuild ? 1 : 13;
  size_t flip_count = 0;
  for (size_t bit = 0; bit < SnapshotEditor::kHeaderBytes * 8; bit += step) {
    ASSERT_EQ(rebuilds_with(flipped(snapshot, bit)), 1u) << "bit " << bit;
    ASSERT_FALSE(HasFailure()) << "bit " << bit;
    flip_count += 1;
  }
  test::counted("flips", flip_count);
}

TEST_F(Snapshots, WithABitOfASectionFlippedCostsARebuildAndNothingElse) {
  const std::string& snapshot = *unflipped().files.snapshot;
  const size_t step = test::kFastBuild ? 37 : 131;
  size_t flip_count = 0;
  for (size_t bit = SnapshotEditor::kHeaderBytes * 8; bit < snapshot.size() * 8; bit += step) {
    ASSERT_EQ(rebuilds_with(flipped(snapshot, bit)), 1u) << "bit " << bit;
    ASSERT_FALSE(HasFailure()) << "bit " << bit;
    flip_count += 1;
  }
  test::counted("flips", flip_count);
}

TEST_F(Snapshots, TruncatedAtAnyLengthCostsARebuildAndNothingElse) {
  const std::string& snapshot = *unflipped().files.snapshot;
  std::mt19937_64 generator(5);
  size_t cut_count = 0;
  for (size_t length = 0; length < snapshot.size(); ++length) {
    const std::string cut = snapshot.substr(0, length);
    std::string garbage(1 + generator() % 16, static_cast<char>(generator()));
    for (const std::string& behind :
         {std::string(), std::string(snapshot.size() - length, '\0'), garbage}) {
      if (cut + behind == snapshot) continue;  // they were NULs before
      ASSERT_EQ(index::decode_snapshot(cut + behind).code(), Code::kCorruption) << length;
      cut_count += 1;
    }
    if (length % 61 == 0) {
      ASSERT_EQ(rebuilds_with(cut), 1u) << length;
    }
  }
  EXPECT_EQ(rebuilds_with(snapshot + '\0'), 1u);
  test::counted("cuts", cut_count);
}

TEST_F(Snapshots, OfGarbageCostARebuildAndNothingElse) {
  std::mt19937_64 generator(7);
  for (const size_t size : {1u, 8u, 100u, 424u, 4096u, 70000u}) {
    std::string garbage(size, '\0');
    EXPECT_EQ(rebuilds_with(garbage), 1u);
    for (char& byte : garbage) byte = static_cast<char>(generator());
    EXPECT_EQ(rebuilds_with(garbage), 1u);
    garbage.replace(0, std::min<size_t>(size, 8), "VARVEIDX", std::min<size_t>(size, 8));
    EXPECT_EQ(rebuilds_with(garbage), 1u);
  }
}

TEST_F(Snapshots, OfAnotherLogIsNotUsed) {
  Host host;
  host.clock.advance_ms(77);  // other timestamps, lines as long as ours
  const SessionFiles other = make_session_of(host, kFlippedBytes);
  ASSERT_EQ(other.entries->size(), unflipped().files.entries->size());
  EXPECT_EQ(rebuilds_with(*other.snapshot), 1u);
}

TEST_F(Snapshots, ThatCoverMoreThanTheLogAreNotUsed) {
  Host host;
  const SessionFiles longer = make_session_of(host, kFlippedBytes + 1000);
  ASSERT_GT(longer.entries->size(), unflipped().files.entries->size());
  EXPECT_EQ(rebuilds_with(*longer.snapshot), 1u);
}

TEST_F(Snapshots, ThatCoverLessAreCaughtUpWith) {
  Host host;
  const SessionFiles shorter = make_session_of(host, kFlippedBytes / 2);
  ASSERT_TRUE(unflipped().files.entries->starts_with(*shorter.entries));
  EXPECT_EQ(rebuilds_with(*shorter.snapshot), 0u);
}

// --- right hashes over wrong values --------------------------------------------------------------

class Hostile : public Damaged {
 protected:
  // Whatever get() answers with this index.bin, it is no wrong entry.
  void check(std::string_view snapshot) {
    Host host;
    SessionDisk disk(host);
    SessionFiles files = unflipped().files;
    files.snapshot = snapshot;
    disk.put(files);
    const auto session = disk.open();
    ASSERT_NE(session, nullptr);
    check_export(*session);
    for (size_t i = 0; i < unflipped().ids.size(); i += kStep) {
      const auto line = session->get(unflipped().ids[i]);
      if (line.ok()) {
        ASSERT_EQ(*line, unflipped().lines[i]);
      } else {
        ASSERT_EQ(line.code(), Code::kNotFound) << line.status().message();
      }
    }
    const bool added = session->add(entry_text("one_more")).ok();
    ASSERT_TRUE(session->stats().ok());
    ASSERT_TRUE(session->verify().ok());
    ASSERT_TRUE(session->rebuild_index().ok());
    ASSERT_EQ(session->get("one_more").ok(), added);
    const auto exported = exported_text(*session, "jsonl");
    ASSERT_TRUE(exported.ok());
    ASSERT_TRUE(exported->starts_with(unflipped().exported));
  }

  // An index that leaves entries out cannot be told from one of a shorter log; but what is
  // exported is whole, right, and in order.
  void check_export(Session& session) {
    const auto exported = exported_text(session, "jsonl");
    ASSERT_TRUE(exported.ok()) << exported.status().message();
    size_t at = 0;
    for (const auto line : lines_of(*exported)) {
      while (at < unflipped().lines.size() && unflipped().lines[at] + "\n" != line) at += 1;
      ASSERT_LT(at, unflipped().lines.size()) << "not an entry: " << line;
      at += 1;
    }
  }

  static constexpr size_t kStep = test::kFastBuild ? 1 : 3;
  SnapshotEditor editor_{*unflipped().files.snapshot};
};

constexpr uint64_t kValues[] = {0,          1,          2,
                                255,        256,        65535,
                                65536,      UINT32_MAX, UINT32_MAX - 1,
                                1ull << 32, 1ull << 40, INT64_MAX,
                                1ull << 63, UINT64_MAX};

TEST_F(Hostile, HeaderWords) {
  const std::string before = editor_.header;
  for (size_t word = 1; word < SnapshotEditor::kHeaderBytes / 8 - 1; ++word) {
    for (const uint64_t value : kValues) {
      editor_.set_word(word, value);
      check(editor_.as_it_is());
      editor_.header = before;
      ASSERT_FALSE(HasFailure()) << "word " << word << " = " << value;
    }
    for (const uint64_t delta : {uint64_t{1}, uint64_t{0} - 1, uint64_t{8}, uint64_t{0} - 8}) {
      editor_.set_word(word, editor_.word(word) + delta);
      check(editor_.as_it_is());
      editor_.header = before;
      ASSERT_FALSE(HasFailure()) << "word " << word << " + " << delta;
    }
  }
}

template <typename T>
void corrupt_column(SnapshotEditor& editor, SnapshotEditor::Section section,
                    const std::function<void(const std::string&)>& check) {
  editor.widen<T>(section);
  const std::string before = editor.sections[section];
  const size_t rows = before.size() / sizeof(T);
  for (const size_t row : {size_t{0}, size_t{1}, rows / 2, rows - 1}) {
    for (const uint64_t value : kValues) {
      editor.set<T>(section, row, static_cast<T>(value));
      check(editor.assembled());
      editor.sections[section] = before;
    }
    // The neighbour's value: right, for another row.
    editor.set<T>(section, row, editor.get<T>(section, (row + 1) % rows));
    check(editor.assembled());
    editor.sections[section] = before;
    editor.set<T>(section, row, static_cast<T>(editor.get<T>(section, row) + 1));
    check(editor.assembled());
    editor.sections[section] = before;
  }
  // All rows alike; the whole column turned round.
  for (size_t row = 0; row < rows; ++row) {
    editor.set<T>(section, row, editor.get<T>(section, rows / 2));
  }
  check(editor.assembled());
  editor.sections[section] = before;
  for (size_t row = 0; row < rows / 2; ++row) {
    const T value = editor.get<T>(section, row);
    editor.set<T>(section, row, editor.get<T>(section, rows - 1 - row));
    editor.set<T>(section, rows - 1 - row, value);
  }
  check(editor.assembled());
  editor.sections[section] = before;
}

TEST_F(Hostile, Columns) {
  const auto check_all = [this](const std::string& bytes) { check(bytes); };
  for (const auto section :
       {SnapshotEditor::kOffsets, SnapshotEditor::kLineHashes, SnapshotEditor::kIdEnds,
        SnapshotEditor::kTimestamps, SnapshotEditor::kExpiries, SnapshotEditor::kImportances,
        SnapshotEditor::kSeqs}) {
    corrupt_column<uint64_t>(editor_, section, check_all);
    ASSERT_FALSE(HasFailure()) << "section " << section;
  }
  corrupt_column<uint32_t>(editor_, SnapshotEditor::kLengths, check_all);
  corrupt_column<uint32_t>(editor_, SnapshotEditor::kIdHashes, check_all);
  corrupt_column<uint32_t>(editor_, SnapshotEditor::kTable, check_all);
  corrupt_column<uint16_t>(editor_, SnapshotEditor::kTypes, check_all);
  corrupt_column<uint8_t>(editor_, SnapshotEditor::kFlags, check_all);
  corrupt_column<char>(editor_, SnapshotEditor::kIds, check_all);
  corrupt_column<char>(editor_, SnapshotEditor::kTypeNames, check_all);
}

TEST_F(Hostile, IdsExchangedBetweenTwoRowsGiveTheRightLines) {
  // e0 and e1 change their names, hashes with them: the index now points each to the other's line.
  // ("e" is what all ids start with.)
  std::swap(editor_.sections[SnapshotEditor::kIds][0], editor_.sections[SnapshotEditor::kIds][1]);
  const auto hash = editor_.get<uint32_t>(SnapshotEditor::kIdHashes, 0);
  editor_.set(SnapshotEditor::kIdHashes, 0, editor_.get<uint32_t>(SnapshotEditor::kIdHashes, 1));
  editor_.set(SnapshotEditor::kIdHashes, 1, hash);
  for (size_t slot = 0; slot < editor_.slot_count(); ++slot) {
    const auto value = editor_.slot(slot);
    if (value == 1 || value == 2) {
      editor_.set_slot(slot, 3 - value);
    }
  }
  ASSERT_EQ(editor_.sections[SnapshotEditor::kIds].substr(0, 2), "10");
  Host host;
  SessionDisk disk(host);
  SessionFiles files = unflipped().files;
  files.snapshot = editor_.assembled();
  files.tombstones.reset();
  disk.put(files);
  const auto session = disk.open();
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(host.counters.index_rebuilds.load(), 0u) << "the snapshot was meant to be taken";
  for (const std::string id : {"e0", "e1"}) {
    const auto line = session->get(id);
    ASSERT_TRUE(line.ok()) << line.status().message();
    EXPECT_NE(line->find("\"id\":\"" + id + "\""), std::string::npos) << *line;
  }
  EXPECT_EQ(host.counters.index_rebuilds.load(), 1u);
}

TEST_F(Hostile, SectionsOfTheWrongSize) {
  const auto before = editor_.sections;
  for (size_t section = 0; section < SnapshotEditor::kSectionCount; ++section) {
    const size_t right = before[section].size();  // 0 where all rows are alike
    for (const size_t size :
         {size_t{0}, size_t{1}, right - std::min<size_t>(right, 1), right + 1, right * 2}) {
      editor_.sections[section].resize(size);
      check(editor_.assembled());
      editor_.sections = before;
      ASSERT_FALSE(HasFailure()) << "section " << section << " of " << size << " bytes";
    }
  }
}

TEST_F(Hostile, AnEmptyTableOfMillionsOfRowsTakesNoMemory) {
  for (auto& section : editor_.sections) section.clear();
  editor_.set_word(SnapshotEditor::kRowCount, UINT32_MAX - 1);
  check(editor_.assembled());
}

// --- metadata.json -------------------------------------------------------------------------------

TEST_F(MetadataFlips, EveryBitLeavesEveryEntryReadable) {
  const std::string& metadata = *unflipped().files.metadata;
  const size_t version_at = metadata.find("\"version\": 1") + 11;
  ASSERT_EQ(metadata[version_at], '1');
  size_t refused = 0;
  size_t flip_count = 0;
  for (size_t bit = 0; bit < metadata.size() * 8; bit += test::kFastBuild ? 1 : 3) {
    flip_count += 1;
    Host host;
    SessionDisk disk(host);
    SessionFiles files = unflipped().files;
    files.metadata = flipped(metadata, bit);
    disk.put(files);
    auto session = disk.try_open();
    if (session.code() == Code::kFormatVersion) {
      ASSERT_EQ(bit / 8, version_at);
      ASSERT_EQ(disk.read(log::kMetadataFile), files.metadata) << "touched";
      refused += 1;
      continue;
    }
    ASSERT_TRUE(session.ok()) << "bit " << bit << ": " << session.status().message();
    ASSERT_TRUE(*exported_text(**session, "jsonl") == unflipped().exported) << "bit " << bit;
    const auto added = (*session)->add(entry_text("one_more"));
    ASSERT_TRUE(added.ok()) << "bit " << bit << ": " << added.status().message();
    *session = nullptr;
    session = disk.try_open();
    ASSERT_TRUE(session.ok()) << "bit " << bit;
    ASSERT_TRUE((*session)->get("one_more").ok()) << "bit " << bit;
    ASSERT_TRUE(exported_text(**session, "jsonl")->starts_with(unflipped().exported))
        << "bit " << bit;
  }
  // '1' becomes '3', '5' and '9'.
  EXPECT_TRUE(refused == 3u || !test::kFastBuild) << refused;
  test::counted("flips", flip_count);
}

TEST_F(MetadataFlips, EveryLengthLeavesEveryEntryReadable) {
  const std::string& metadata = *unflipped().files.metadata;
  size_t cut_count = 0;
  for (size_t length = 0; length < metadata.size() - 1; length += test::kFastBuild ? 1 : 5) {
    Host host;
    SessionDisk disk(host);
    SessionFiles files = unflipped().files;
    files.metadata = metadata.substr(0, length);
    disk.put(files);
    const auto session = disk.open();
    ASSERT_NE(session, nullptr) << length;
    ASSERT_TRUE(*exported_text(*session, "jsonl") == unflipped().exported) << length;
    if (length + 2 < metadata.size()) {
      ASSERT_TRUE(member(*session->stats(), "corruption").get_bool("metadata")) << length;
    }
    cut_count += 1;
  }
  test::counted("cuts", cut_count);
}

}  // namespace
}  // namespace varve::session
