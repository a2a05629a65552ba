// What a query needs of the index besides its rows, and gets late.
#include "session/core.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "planted_index.h"
#include "session_disk.h"
#include "unit/index/snapshot_editor.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

// The line has its row, but the disk, or somebody, changed it since. Nobody wrote that.
TEST(WordsIndexedLate, AreNotThoseOfALineThatChangedSinceItWasRead) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  const auto session = disk.open();
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_TRUE(session->add(entry_text(id, "kettle of " + id)).ok());
  }
  std::string log = disk.bytes(log::kEntriesFile);
  log.replace(log.find("kettle of b"), 6, "teapot");
  disk.write(log::kEntriesFile, log);
  EXPECT_EQ(*session->count(R"({"text":"teapot"})"), 0u);
  EXPECT_EQ(*session->count(R"({"text":"kettle"})"), 2u);
}

// Who means harm may hide an entry in index.bin from its deletion. A query that was ready looks at
// all rows then, which finds it out.
TEST(FacetsOfAnIndexBin, TellOfNoEntryThatItsTableHidesFromItsDeletion) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_TRUE(disk.open()->add(entry_text(id)).ok());
  }
  ASSERT_TRUE(disk.open()->rebuild_index().ok());
  index::SnapshotEditor editor(disk.bytes("index.bin"));
  size_t slot = 0;
  while (slot < editor.slot_count() && editor.slot(slot) != 2) ++slot;
  ASSERT_LT(slot, editor.slot_count()) << "the row of b";
  editor.set_slot(slot, 0);
  disk.write("index.bin", editor.assembled());
  const auto session = disk.open();
  const uint64_t rebuilds = host.counters.index_rebuilds.load();
  ASSERT_EQ(*session->count("{}"), 3u);
  ASSERT_EQ(host.counters.index_rebuilds.load(), rebuilds) << "or nothing is tested";
  disk.write(log::kTombstonesFile, entry::seal_tombstone({"b", "", 0}));
  EXPECT_EQ(*session->count("{}"), 2u);
  EXPECT_EQ(host.counters.index_rebuilds.load(), rebuilds + 1);
}

// At each reading of index.bin it and the log fail. The next query has all words.
TEST(WordsIndexedLate, AreNotIndexedByRowsThatCannotBeRead) {
  Host host;
  SessionDisk disk(host);
  disk.make();
  for (const std::string id : {"a", "b", "c"}) {
    ASSERT_TRUE(disk.open()->add(entry_text(id, "kettle of " + id)).ok());
  }
  plant_index(disk, {.has_words = false});
  bool was_met = true;
  int moment = 0;
  for (; was_met && !testing::Test::HasFailure(); ++moment) {
    SCOPED_TRACE(moment);
    auto owned = std::make_unique<WatchedStorage>(*disk.storage());
    WatchedStorage& storage = *owned;
    Core core(std::string(kSessionId), std::move(owned), host.context);
    ASSERT_TRUE(core.load().ok());
    ASSERT_FALSE(core.index.has_all_rows()) << "or nothing is tested";
    int left = moment;
    was_met = false;
    disk.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool reads =
          operation.kind == io::OperationKind::kRead && operation.name == "index.bin";
      if (!reads || left-- > 0) return std::nullopt;
      was_met = true;
      return io::Fault{EIO};
    });
    storage.change_tail = [&](const log::Tail& tail) -> Result<log::Tail> {
      if (was_met) return Status(Code::kIo, "no tail");
      return tail;
    };
    const Code prepared = core.prepare_query({.words = true}).code();
    EXPECT_EQ(prepared, was_met ? Code::kIo : Code::kOk);
    disk.disk.set_fault_hook(nullptr);
    storage.change_tail = nullptr;
    ASSERT_TRUE(core.prepare_query({.words = true}).ok());
    EXPECT_EQ(core.index.size(), 3u);
    EXPECT_EQ(core.index.text_row_count(), 3u);
  }
  EXPECT_GT(moment, 2);
}

}  // namespace
}  // namespace varve::session
