// The moments of a reader: what others do between two of its steps, and storages that fail in them.
#include "session/core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "failing_reader.h"
#include "log/line_reader.h"
#include "planted_index.h"
#include "session/retries.h"
#include "session/upkeep/compaction.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

constexpr std::string_view kOverAndOver = "the log is being replaced over and over; try again";

class Moments : public testing::Test {
 protected:
  void SetUp() override { begin_anew(); }
  void begin_anew() {
    core_.reset();
    other_.reset();
    for (const auto name : {"tombstones.jsonl", "index.bin", "lock", "quarantine.jsonl"}) {
      if (disk_.read(name)) disk_.remove(name);
    }
    disk_.make();
    other_ = disk_.open();
    for (const std::string id : {"a", "b", "c"}) add(id);
  }
  void add(const std::string& id) { ASSERT_TRUE(other_->add(entry_text(id, "tea of " + id)).ok()); }
  // Another handle on the same session, that is watched.
  void load() {
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    const Status loaded = core_->load();
    ASSERT_TRUE(loaded.ok()) << loaded.message();
  }
  std::shared_ptr<Session> watched_session() {
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    auto session = Session::open(std::string(kSessionId), std::move(owned), host_.context);
    EXPECT_TRUE(session.ok()) << session.status().message();
    return session.ok() ? *session : nullptr;
  }
  // As somebody who does not take the lock: a line that the watched one has not seen.
  void add_without_lock() { disk_.write(log::kEntriesFile, disk_.bytes(log::kEntriesFile) + "\n"); }
  // The file stays, and ends sooner.
  void cut(std::string_view name, uint64_t size_bytes) {
    const auto root = *disk_.disk.open_root(kFolder, false);
    ASSERT_TRUE((*root->open(name, io::OpenMode::kUpdateOrCreate))->truncate(size_bytes).ok());
  }
  static Result<size_t> gone(log::Stream, uint64_t, size_t) {
    return Status(Code::kGone, "the log was replaced");
  }
  void compact_by_other() {
    ASSERT_TRUE(other_->remove("a", "").ok());
    ASSERT_TRUE(other_->compact({}).ok());
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> other_;
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
};

// --- a log that is replaced while it is read -----------------------------------------------------

TEST_F(Moments, ALogThatIsReplacedOverAndOverIsBusyForWhoOpensIt) {
  auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
  owned->change_tail = [n = uint64_t{0}](log::Tail tail) mutable {
    tail.generation += ++n;
    return tail;
  };
  const auto opened = Session::open(std::string(kSessionId), std::move(owned), host_.context);
  EXPECT_EQ(opened.code(), Code::kBusy);
  EXPECT_EQ(opened.status().message(), kOverAndOver);
}

TEST_F(Moments, ALogThatIsReplacedOverAndOverIsBusyForWhoCatchesUp) {
  load();
  add("new");
  storage_->change_read = gone;
  EXPECT_EQ(core_->catch_up().message(), kOverAndOver);
  storage_->change_read = [this](log::Stream, uint64_t, size_t) {
    storage_->change_tail = [](const log::Tail&) { return Status(Code::kIo, "no tail"); };
    return Status(Code::kGone, "the log was replaced");
  };
  EXPECT_EQ(core_->catch_up().message(), "no tail");
  storage_->change_read = nullptr;
  storage_->change_tail = nullptr;
  EXPECT_TRUE(core_->entries.read("new").ok());
}

TEST_F(Moments, ALogThatIsReplacedOverAndOverIsBusyForWhoReadsAnEntry) {
  load();
  ASSERT_TRUE(core_->catch_up().ok());
  int times = 0;
  storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    if (++times < 3) return Status(Code::kGone, "the log was replaced");
    return got;
  };
  EXPECT_TRUE(core_->entries.read("a").ok());
  storage_->change_read = gone;
  const auto busy = core_->entries.read("b");
  EXPECT_EQ(busy.code(), Code::kBusy);
  EXPECT_EQ(busy.status().message(), kOverAndOver);
  storage_->change_read = [](log::Stream, uint64_t, size_t) { return Status(Code::kIo, "no"); };
  EXPECT_EQ(core_->entries.read("b").code(), Code::kIo);
}

TEST_F(Moments, ALogThatIsReplacedOverAndOverIsBusyForWhoListsTheIndex) {
  const auto session = watched_session();
  ASSERT_TRUE(session->index_listing().ok());
  bool was_replaced = false;
  storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    if (std::exchange(was_replaced, true)) return got;
    return Status(Code::kGone, "the log was replaced");
  };
  const auto listing = session->index_listing();
  ASSERT_TRUE(listing.ok()) << listing.status().message();
  EXPECT_TRUE(was_replaced);
  EXPECT_EQ(member(*json::Tree::parse(*listing), "entries").members().size(), 3u);
  storage_->change_read = gone;
  EXPECT_EQ(session->index_listing().code(), Code::kBusy);
  EXPECT_EQ(session->index_listing().status().message(), kOverAndOver);
}

TEST_F(Moments, ALogThatIsReplacedOverAndOverIsBusyForAQuery) {
  load();
  ASSERT_TRUE(core_->catch_up().ok());
  storage_->change_read = gone;
  EXPECT_EQ(core_->prepare_query({.words = true}).status().message(), kOverAndOver);
  int times = 0;
  storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    if (++times < kReplacedMax) return Status(Code::kGone, "the log was replaced");
    return got;
  };
  EXPECT_TRUE(core_->prepare_query({.words = true}).ok());
  EXPECT_EQ(core_->index.text_row_count(), 3u);
}

// --- what others leave behind --------------------------------------------------------------------

TEST_F(Moments, AfterAReplacementMetadataThatCannotBeReadIsAnErrorAndDamagedOnesAreNot) {
  load();
  compact_by_other();
  disk_.disk.set_fault_hook(
      io::FailNth(1, EIO, true, {io::OperationKind::kOpen}).on_file("metadata.json"));
  EXPECT_EQ(core_->catch_up().code(), Code::kIo);
  disk_.write(log::kMetadataFile, "{");
  disk_.disk.set_fault_hook(nullptr);
  EXPECT_TRUE(core_->catch_up().ok());
  EXPECT_TRUE(core_->entries.read("b").ok());
  EXPECT_EQ(core_->entries.read("a").code(), Code::kNotFound);
}

TEST_F(Moments, TombstonesThatWereCutTakeTheirDeletionsBack) {
  ASSERT_TRUE(other_->remove("a", "").ok());
  load();
  ASSERT_TRUE(core_->catch_up().ok());
  EXPECT_EQ(core_->entries.read("a").code(), Code::kNotFound);
  cut(log::kTombstonesFile, 0);
  EXPECT_TRUE(core_->entries.read("a").ok()) << "the files decide";
  ASSERT_TRUE(other_->remove("b", "").ok());
  EXPECT_EQ(core_->entries.read("b").code(), Code::kNotFound);
  disk_.write(log::kTombstonesFile, "");
  EXPECT_TRUE(core_->entries.read("b").ok()) << "another file, too";
}

TEST_F(Moments, AnIndexThatEndsElsewhereThanItsLogIsNotUsed) {
  other_.reset();
  const std::function<void(index::Coverage&)> changes[] = {
      [](index::Coverage& coverage) { coverage.last_line_length += 1000; },
      [](index::Coverage& coverage) { coverage.entries_bytes -= 1; },
  };
  for (const auto& change : changes) {
    plant_index(disk_, {.index = [&](index::Index& index) { change(index.coverage); }});
    const auto session = disk_.open();
    const json::Tree stats = *session->stats();
    EXPECT_FALSE(member(stats, "index").get_bool("loaded", true));
    EXPECT_EQ(stats.get_int64("entries"), 3);
    EXPECT_TRUE(session->verify(true)->get_bool("ok"));
  }
}

TEST_F(Moments, ARowOfAnIndexThatStandsForNoEntryIsTold) {
  other_.reset();
  std::string text = disk_.bytes(log::kEntriesFile);
  plant_index(disk_, {});
  const size_t begin = text.find("tea of b");
  ASSERT_NE(begin, std::string::npos);
  text[begin] = 'p';
  disk_.write(log::kEntriesFile, text);
  // An index of the changed log with a right hash of a line that is wrong.
  index::Index made;
  uint64_t offset = 0;
  json::Document document;
  const std::string whole = text;
  for (const auto line : lines_of(whole)) {
    const std::string_view bare = line.substr(0, line.size() - 1);
    std::string right(bare);
    if (const size_t at = right.find("pea of b"); at != std::string::npos) right[at] = 't';
    entry::EntryFacts facts;
    ASSERT_TRUE(entry::read_line(right, document, &facts).ok());
    made.add(facts, {offset, bare.size(), hash64(bare)}, 0);
    ASSERT_TRUE(document.parse(right, entry::line_limits()).ok());
    const json::Value root = document.root();
    made.text_to_extend().add(&root);
    offset += line.size();
  }
  made.coverage.entries_bytes = offset;
  made.compress();
  disk_.write("index.bin", index::encode_snapshot(made));
  const auto session = disk_.open();
  ASSERT_TRUE(member(*session->stats(), "index").get_bool("loaded"));
  const auto refused = session->get("b");
  EXPECT_EQ(refused.code(), Code::kCorruption);
  EXPECT_NE(refused.status().message().find("checksum"), std::string::npos)
      << refused.status().message();
  EXPECT_NE(refused.status().place().path.find("memory.jsonl"), std::string::npos);
  EXPECT_TRUE(session->get("a").ok());
  EXPECT_TRUE(session->get("c").ok());
}

// --- a wrong index that cannot be made anew ------------------------------------------------------

TEST_F(Moments, WhenItCannotBeMadeAnewTheFailureIsTheAnswer) {
  other_.reset();
  plant_index(disk_, {.facts = [](entry::EntryFacts& facts) {
                if (facts.id == "b") facts.id = "x";
              }});
  load();
  storage_->change_read = [](log::Stream, uint64_t offset, size_t got) -> Result<size_t> {
    if (offset == 0) return Status(Code::kIo, "no read");  // where making it anew begins
    return got;
  };
  EXPECT_EQ(core_->entries.read("x").code(), Code::kIo);
  storage_->change_read = nullptr;
  EXPECT_EQ(core_->entries.read("x").code(), Code::kNotFound);
  EXPECT_TRUE(core_->entries.read("b").ok());
}

TEST_F(Moments, ALineThatIsReadInPartIsDamage) {
  load();
  storage_->change_read = [](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    return got - 1;
  };
  EXPECT_EQ(core_->entries.read("c").code(), Code::kCorruption);
  storage_->change_read = nullptr;
  EXPECT_TRUE(core_->entries.read("c").ok());
}

TEST_F(Moments, WhoseTailCannotBeSeenIsNotMadeAnew) {
  load();
  fail_to_read(*core_, *storage_, false);
  storage_->change_tail = [](const log::Tail&) { return Status(Code::kIo, "no tail"); };
  EXPECT_EQ(core_->load_sections().code(), Code::kIo);
  storage_->change_tail = nullptr;
  EXPECT_TRUE(core_->load_sections().ok());
  EXPECT_TRUE(core_->entries.read("c").ok());
}

// For who goes on with what a query found.
TEST_F(Moments, FacetsAreThereWhateverTheIndexLacked) {
  for (int i = 0; i < 1500; ++i) {  // more than are read at once
    const std::string number = std::to_string(i);
    ASSERT_TRUE(other_
                    ->add(R"({"id":"e)" + number + R"(","type":"note","content":"x","tags":["t)" +
                          number + "\"]}")
                    .ok());
  }
  other_->close();
  const std::function<void()> lacks[] = {
      [] {},  // they are in index.bin
      [this] { fail_to_read(*core_, *storage_, false); },
      [this] {
        ASSERT_TRUE(core_->prepare_facets().ok());
        disk_.disk.set_fault_hook(io::FailNth(1, EIO, true).on_file("index.bin"));
        const auto rows = core_->index.facets().tag("t777");
        EXPECT_EQ(index::PostingCursor(rows).seek(0), index::kNoRow);
        EXPECT_TRUE(core_->index.is_damaged());
      },
  };
  for (const auto& lack : lacks) {
    load();
    lack();
    EXPECT_TRUE(core_->prepare_facets().ok());
    EXPECT_TRUE(core_->index.has_facets());
    EXPECT_FALSE(core_->index.is_damaged());
    EXPECT_EQ(core_->index.size(), 1503U);
    disk_.disk.set_fault_hook(nullptr);
  }
}

TEST_F(Moments, AnIndexThatIsNotWholeIsNotSaved) {
  ASSERT_TRUE(other_->sync().ok());
  load();
  fail_to_read(*core_, *storage_, false);
  EXPECT_FALSE(core_->prepare_snapshot(Saving::kAlways).has_value());
  ASSERT_TRUE(core_->catch_up().ok());
  core_->index_pending_words(Saving::kAlways);
  EXPECT_TRUE(core_->prepare_snapshot(Saving::kAlways).has_value());
}

TEST_F(Moments, AnExportThatCannotMakeItAnewIsAFailure) {
  other_.reset();
  plant_index(disk_, {.facts = [](entry::EntryFacts& facts) {
                if (facts.id == "b") facts.id = "x";
              }});
  load();
  auto live = core_->entries.live_rows();
  ASSERT_TRUE(live.ok());
  const auto nothing = [](std::string_view) { return Status(); };
  int reads = 0;
  storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    if (++reads > 2) return Status(Code::kIo, "no read");
    return got;
  };
  EXPECT_EQ(core_->entries.for_each_line(*live, nothing).code(), Code::kIo);
  storage_->change_read = nullptr;
  EXPECT_EQ(core_->entries.for_each_line(*live, nothing).code(), Code::kGone)
      << "rows of another index";
  live = core_->entries.live_rows();
  EXPECT_TRUE(core_->entries.for_each_line(*live, nothing).ok());
  live->generation += 1;
  EXPECT_EQ(core_->entries.for_each_line(*live, nothing).code(), Code::kGone)
      << "rows of another log";
}

// --- while a line is read, nothing is locked -----------------------------------------------------

TEST_F(Moments, ALineThatWasReadIsRightWhateverBecomesOfItsLog) {
  const std::function<void()> changes[] = {
      [this] { compact_by_other(); },                  // another generation
      [this] { disk_.write(log::kEntriesFile, ""); },  // fewer rows
      [this] {                                         // other rows
        const std::string text = disk_.bytes(log::kEntriesFile);
        const auto lines = lines_of(text);
        disk_.write(log::kEntriesFile, std::string(lines[1]));
        EXPECT_TRUE(core_->catch_up().ok());
        disk_.write(log::kEntriesFile, std::string(lines[1]) + std::string(lines[0]));
      },
  };
  for (const auto& change : changes) {
    begin_anew();
    other_->close();  // leaves an index.bin, whose rows are not known to be right
    load();
    bool is_done = false;
    const std::string before = *other_->get("a");
    storage_->change_read = [&](log::Stream stream, uint64_t offset, size_t got) -> Result<size_t> {
      if (stream == log::Stream::kEntries && offset == 0 && !std::exchange(is_done, true)) {
        change();
        EXPECT_TRUE(core_->catch_up().ok());
      }
      return got;
    };
    const auto read = core_->entries.read("a");
    EXPECT_TRUE(is_done);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(**read, before);
  }
}

TEST_F(Moments, ALineIsReadAlsoWhileSomebodyChangesTheIndex) {
  other_->close();
  load();
  std::mutex mutex;
  std::condition_variable changed;
  bool is_held = false;
  bool is_read = false;
  std::thread changer;
  storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    if (!changer.joinable()) {
      changer = std::thread([&] {
        const std::unique_lock index_lock(core_->index_mutex);
        std::unique_lock lock(mutex);
        is_held = true;
        changed.notify_all();
        changed.wait(lock, [&] { return is_read; });
      });
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return is_held; });
    }
    return got;
  };
  const auto read = core_->entries.read("a");
  {
    const std::lock_guard lock(mutex);
    is_read = true;
  }
  changed.notify_all();
  if (changer.joinable()) changer.join();
  EXPECT_TRUE(read.ok()) << read.status().message();
}

// A log that is cut while its words are read: those lines have none, and are damage to who reads.
TEST_F(Moments, LinesThatAreNotThereAnyMoreHaveNoWords) {
  load();
  ASSERT_TRUE(core_->catch_up().ok());
  storage_->change_read = [](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    return got / 2;
  };
  EXPECT_TRUE(core_->prepare_query({.words = true}).ok());
  EXPECT_EQ(core_->index.text_row_count(), 3u);
  storage_->change_read = nullptr;
  EXPECT_TRUE(core_->entries.read("c").ok());
}

TEST_F(Moments, ALogThatEndsSoonerThanItsTailSaysIsNotCopied) {
  load();
  ASSERT_TRUE(other_->remove("a", "").ok());
  const std::string log = disk_.bytes(log::kEntriesFile);
  storage_->change_read = [](log::Stream stream, uint64_t, size_t got) -> Result<size_t> {
    return stream == log::Stream::kEntries ? got / 2 : got;
  };
  Writer writer(*core_);
  EXPECT_EQ(compact(*core_, writer, {}).code(), Code::kCorruption);
  EXPECT_EQ(disk_.bytes(log::kEntriesFile), log);
  storage_->change_read = nullptr;
  EXPECT_TRUE(compact(*core_, writer, {}).ok());
}

// --- a line that no memory has room for ----------------------------------------------------------

TEST_F(Moments, ALineLongerThanAnyEntryIsDamageToACompaction) {
  const std::string log = disk_.bytes(log::kEntriesFile);
  const uint64_t long_at = log.rfind('\n', log.size() - 2) + 1;  // before the last
  const uint64_t long_end = long_at + log::kLineBytesMax + 10;
  const uint64_t end = long_end + log.size() - long_at;
  const auto byte_at = [&](uint64_t at) {
    if (at < long_at) return log[at];
    return at >= long_end ? log[at - long_end + long_at] : at + 1 == long_end ? '\n' : 'x';
  };
  other_.reset();
  disk_.remove("index.bin");
  auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
  owned->change_tail = [&](log::Tail tail) {
    tail.entries_bytes = end;
    return tail;
  };
  owned->read_instead = [&](log::Stream, uint64_t offset, std::span<char> out) -> Result<size_t> {
    const size_t size = std::min<uint64_t>(out.size(), end - std::min(end, offset));
    if (offset > long_at && offset + size < long_end) {
      std::fill_n(out.begin(), size, 'x');
    } else {
      for (size_t i = 0; i < size; ++i) out[i] = byte_at(offset + i);
    }
    return size;
  };
  const auto session = Session::open(std::string(kSessionId), std::move(owned), host_.context);
  ASSERT_TRUE(session.ok()) << session.status().message();
  CompactionOptions options;
  options.dry_run = true;
  const auto report = (*session)->compact(options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(member(*report, "dropped").get_int64("damaged"), 1);
  EXPECT_EQ(report->get_int64("entries_after"), 3);
}

// --- who waits for the lock ----------------------------------------------------------------------

TEST_F(Moments, WhatAWaitingWriterCannotFollowItReadsWhenItHasTheLock) {
  const std::function<void()> disturbances[] = {
      [this] { storage_->change_tail = [](const log::Tail&) { return Status(Code::kIo, "no"); }; },
      [this] { disk_.write(log::kEntriesFile, ""); },
      [this] { cut(log::kEntriesFile, 0); },
      [this] {
        const uint64_t known_bytes = core_->index.coverage.entries_bytes;
        storage_->change_read = [=](log::Stream, uint64_t offset, size_t got) -> Result<size_t> {
          if (offset >= known_bytes) return Status(Code::kIo, "no read");
          return got;
        };
        EXPECT_FALSE(core_->catch_up().ok());
        EXPECT_FALSE(core_->has_rows_of(core_->index_epoch)) << "or the index is whole";
        storage_->change_read = nullptr;
      },
  };
  for (const auto& disturb : disturbances) {
    begin_anew();
    load();
    Writer writer(*core_);
    const auto holder = *disk_.storage();
    ASSERT_TRUE(holder->lock(host_.clock.monotonic_us(), "test", nullptr).ok());
    add_without_lock();
    int tries = 0;
    uint64_t read_bytes = 0;
    disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind != io::OperationKind::kLock) return std::nullopt;
      tries += 1;
      if (tries == 1) {
        disturb();
        read_bytes = storage_->read_bytes;
      }
      if (tries == 3) {
        EXPECT_EQ(storage_->read_bytes, read_bytes) << "it may be the whole log";
        storage_->change_tail = nullptr;
        holder->unlock();
      }
      return std::nullopt;
    });
    const Status answer = writer.run("test", [] { return Status(); });
    disk_.disk.set_fault_hook(nullptr);
    EXPECT_TRUE(answer.ok()) << answer.message();
    EXPECT_EQ(tries, 3);
    const bool is_cut = disk_.bytes(log::kEntriesFile).empty();
    EXPECT_EQ(core_->entries.read("a").ok(), !is_cut);
  }
}

// --- what another thread, or the end of memory, leaves -------------------------------------------

// Else the number that a compaction gave away would be given a second time.
TEST_F(Moments, MetadataThatWasReadIsNotTakenBehindWhatAnotherThreadSaved) {
  for (const auto* const id : {"b", "c"}) ASSERT_TRUE(other_->remove(id, "").ok());
  std::thread compacting;
  std::promise<void> compacted;
  disk_.disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool reads =
        operation.kind == io::OperationKind::kRead && operation.name == log::kMetadataFile;
    if (!reads || compacting.joinable()) return std::nullopt;
    compacting = std::thread([&] {
      EXPECT_TRUE(other_->compact({}).ok());
      compacted.set_value();
    });
    // It is done, or waits for the one who reads.
    compacted.get_future().wait_for(std::chrono::milliseconds(500));
    return std::nullopt;
  });
  EXPECT_TRUE(other_->metadata().ok());
  ASSERT_TRUE(compacting.joinable());
  compacting.join();
  disk_.disk.set_fault_hook({});
  add("d");
  EXPECT_EQ(json::Tree::parse(*other_->get("d"))->get_int64("seq"), 4);
  EXPECT_TRUE(other_->verify()->get_bool("ok"));
}

TEST_F(Moments, WhoRanOutOfMemoryWhileItHadTheLockIsNotAloneWithTheLogForEver) {
  host_.context.settings.recovery = Recovery::kSalvage;
  load();
  add("d");
  ASSERT_TRUE(storage_->lock(host_.clock.monotonic_us(), "test", nullptr).ok());
  storage_->read_instead = [](log::Stream, uint64_t, std::span<char>) -> Result<size_t> {
    throw std::bad_alloc();
  };
  EXPECT_THROW((void)core_->catch_up_as_writer().ok(), std::bad_alloc);
  storage_->read_instead = nullptr;
  storage_->unlock();
  const auto writer = *disk_.storage();
  ASSERT_TRUE(writer->lock(host_.clock.monotonic_us(), "test", nullptr).ok());
  EXPECT_EQ(core_->kept_to(*storage_->tail(), {}), log::kNoneKept)
      << "it may be written at this moment";
  writer->unlock();
}

}  // namespace
}  // namespace varve::session
