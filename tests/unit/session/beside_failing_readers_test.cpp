// Who asks while another thread of the process cannot read the log to the end, and leaves an index
// without rows: the answer is the log's, or to ask again. And an index for which memory ended.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "asked_clock.h"
#include "failing_reader.h"
#include "query/parse.h"
#include "session/core.h"
#include "session/entry/stored_entry.h"
#include "session/query/query.h"
#include "session/query/selection.h"
#include "session/query/tags.h"
#include "session/reports/index_listing.h"
#include "session/reports/stats.h"
#include "session/reports/usage.h"
#include "session/transfer/export.h"
#include "session/upkeep/compaction.h"
#include "session/upkeep/verify.h"
#include "session/writer.h"
#include "session_disk.h"
#include "support/exported_text.h"
#include "support/no_memory/no_memory.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

constexpr uint64_t kEntryCount = 3;
constexpr int kRounds = 5000;
// More would keep the lock from who asks for as long as the machine takes to wake a thread.
constexpr int kFailuresARound = 8;

std::vector<std::string> all_ids() { return {"a", "b", "c"}; }

// How many of the entries it finds.
struct Question {
  const char* name;
  Result<uint64_t> (*ask)(Core& core, Writer& writer);
};
void PrintTo(const Question& question, std::ostream* out) { *out << question.name; }

Result<uint64_t> get_each(Core& core, Writer&) {
  uint64_t count = 0;
  std::vector<std::string> ids = all_ids();
  ids.emplace_back("nobody");
  for (const auto& id : ids) {
    const auto line = core.entries.read(id);
    if (line.code() == Code::kNotFound) continue;
    VARVE_TRY(line);
    count += 1;
  }
  return count;
}

Result<uint64_t> count_all(Core& core, Writer&) {
  VARVE_TRY_ASSIGN(const auto query, query::parse_query("{}", query::Scope::kCount));
  return count_matches(core, query);
}

Result<uint64_t> export_all(Core& core, Writer&) {
  VARVE_TRY_ASSIGN(const auto options, parse_export_format("jsonl"));
  log::TextSink sink;
  VARVE_TRY(export_text(core, options, begin_in(sink), {}));
  return lines_of(sink.text).size();
}

Result<uint64_t> select_each(Core& core, Writer&) {
  VARVE_TRY_ASSIGN(const auto selected, select_ids(core, all_ids(), 0));
  return selected.size();
}

Result<uint64_t> sum_usage(Core& core, Writer&) {
  UsageTable table(core);
  VARVE_TRY_ASSIGN(const auto days, table.by_day(std::numeric_limits<int64_t>::min(),
                                                 std::numeric_limits<int64_t>::max()));
  uint64_t count = 0;
  for (const auto& [day, usage] : days) count += usage.entries;
  return count;
}

Result<uint64_t> entries_of_tag(Core& core, Writer&) {
  VARVE_TRY_ASSIGN(const json::Tree tree, list_tags(core));
  const auto& tags = member(tree, "tags").items();
  return tags.empty() ? 0 : static_cast<uint64_t>(tags[0].get_int64("entries"));
}

Result<uint64_t> figure(Core& core, Writer&) {
  VARVE_TRY_ASSIGN(const json::Tree tree, stats(core));
  return static_cast<uint64_t>(tree.get_int64("entries"));
}

Result<uint64_t> list_each(Core& core, Writer&) {
  VARVE_TRY_ASSIGN(const std::string text, list_index(core));
  VARVE_TRY_ASSIGN(const json::Tree tree, json::Tree::parse(text));
  return member(tree, "entries").members().size();
}

Result<uint64_t> verify_all(Core& core, Writer& writer) {
  VARVE_TRY_ASSIGN(const json::Tree tree, verify(core, writer, false, {}));
  EXPECT_TRUE(tree.get_bool("ok")) << tree.canonical();
  return static_cast<uint64_t>(tree.get_int64("entries"));
}

// For an import, which refuses what is there already.
Result<uint64_t> find_each(Core& core, Writer&) {
  uint64_t count = 0;
  for (const auto& id : all_ids()) {
    VARVE_TRY_ASSIGN(const Standing standing,
                     find_standing(core, id, [](std::string_view) { return true; }));
    count += standing == Standing::kSame ? 1 : 0;
  }
  return count;
}

class BesideFailingReaders : public testing::TestWithParam<Question> {
 protected:
  void SetUp() override {
    host_.context.clock = &clock_;
    disk_.make();
    const auto session = disk_.open();
    for (const auto& id : all_ids()) {
      const auto added = session->add(
          R"({"id":")" + id +
          R"(","type":"message","content":"tea","tags":["drinks"],"usage":{"input_tokens":1}})");
      ASSERT_TRUE(added.ok()) << added.status().message();
    }
  }
  void load() {
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    ASSERT_TRUE(core_->load().ok());
    writer_ = std::make_unique<Writer>(*core_);
  }
  // To one thread it is another log, of which nothing can be read.
  void fail_in(const std::atomic<std::thread::id>& thread) {
    storage_->change_tail = [&](log::Tail tail) {
      if (std::this_thread::get_id() == thread) tail.generation += 1000;
      return tail;
    };
    storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
      if (std::this_thread::get_id() == thread) return Status(Code::kIo, "no read");
      return got;
    };
  }

  Host host_;
  AskedClock clock_{host_.clock};
  SessionDisk disk_{host_};
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Writer> writer_;
};

TEST_P(BesideFailingReaders, TheAnswerIsOfAllEntriesOrToAskAgain) {
  load();
  std::atomic<std::thread::id> failing_id;
  std::atomic<bool> is_over{false};
  fail_in(failing_id);
  std::atomic<int> begun{0};
  std::thread failing([&] {
    failing_id = std::this_thread::get_id();
    for (;;) {
      const int round = begun;
      if (is_over) return;
      for (int i = 0; i < kFailuresARound; ++i) EXPECT_FALSE(core_->catch_up().ok());
      begun.wait(round);
    }
  });
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    begun += 1;
    begun.notify_one();
    const auto found = GetParam().ask(*core_, *writer_);
    if (found.ok()) {
      EXPECT_EQ(*found, kEntryCount);
    } else {
      EXPECT_TRUE(found.code() == Code::kBusy || found.code() == Code::kConflict ||
                  found.code() == Code::kGone)
          << found.status().message();
    }
  }
  is_over = true;
  begun += 1;
  begun.notify_one();
  failing.join();
  const auto found = GetParam().ask(*core_, *writer_);
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(*found, kEntryCount);
}

// Those that ask for the time under no lock.
class BesideOneThatFails : public BesideFailingReaders {};

// Once, at each moment at which it asks for the time, which is mostly right behind catching up.
TEST_P(BesideOneThatFails, TheAnswerIsOfAllEntriesWhereverThatIs) {
  bool came_to_it = true;
  int moment = 0;
  for (; came_to_it && !HasFailure(); ++moment) {
    SCOPED_TRACE(moment);
    load();
    int left = moment;
    came_to_it = false;
    clock_.when_asked = [&] {
      if (came_to_it || !is_index_free(*core_) || left-- != 0) return;
      came_to_it = true;
      fail_to_read(*core_, *storage_, false);
    };
    auto found = GetParam().ask(*core_, *writer_);
    clock_.when_asked = nullptr;
    if (found.code() == Code::kGone) found = GetParam().ask(*core_, *writer_);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(*found, kEntryCount);
  }
  EXPECT_GT(moment, 1) << "it was not disturbed";
}

// Those that read index.bin under no lock.
class BesideOneThatFailsWhileIndexBinIsRead : public BesideFailingReaders {};

// Once, at each such reading, which then fails or not.
TEST_P(BesideOneThatFailsWhileIndexBinIsRead, TheAnswerIsOfAllEntriesWhereverThatIs) {
  for (const bool fails_too : {false, true}) {
    bool came_to_it = true;
    int moment = 0;
    for (; came_to_it && !HasFailure(); ++moment) {
      SCOPED_TRACE(moment);
      load();
      int left = moment;
      came_to_it = false;
      disk_.disk.set_fault_hook([&](const io::OperationInfo& done) -> std::optional<io::Fault> {
        const bool reads = done.kind == io::OperationKind::kRead && done.name == "index.bin";
        if (!reads || came_to_it || !is_index_free(*core_) || left-- != 0) return std::nullopt;
        came_to_it = true;
        fail_to_read(*core_, *storage_, false);
        return fails_too ? std::optional(io::Fault{EIO}) : std::nullopt;
      });
      const auto found = GetParam().ask(*core_, *writer_);
      disk_.disk.set_fault_hook(nullptr);
      ASSERT_TRUE(found.ok()) << found.status().message();
      EXPECT_EQ(*found, kEntryCount);
    }
    EXPECT_GT(moment, 1) << "it was not disturbed";
  }
}

std::string name_of(const testing::TestParamInfo<Question>& given) { return given.param.name; }

const Question kGet{"Get", get_each};
const Question kCount{"Count", count_all};
const Question kExport{"Export", export_all};
const Question kSelect{"Select", select_each};
const Question kUsage{"Usage", sum_usage};
const Question kTags{"Tags", entries_of_tag};
const Question kStats{"Stats", figure};
const Question kListing{"Listing", list_each};
const Question kVerify{"Verify", verify_all};
const Question kImport{"Import", find_each};

INSTANTIATE_TEST_SUITE_P(All, BesideFailingReaders,
                         testing::Values(kGet, kCount, kExport, kSelect, kUsage, kTags, kStats,
                                         kListing, kVerify, kImport),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, BesideOneThatFails,
                         testing::Values(kCount, kExport, kSelect, kUsage, kTags, kStats, kListing),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, BesideOneThatFailsWhileIndexBinIsRead, testing::Values(kGet),
                         name_of);

class WithoutMemory : public BesideFailingReaders {
 protected:
  // Rows are read when they are asked for: until then nobody knows.
  void damage_rows() {
    constexpr size_t kHeaderBytes = 976;
    std::string bytes = disk_.bytes("index.bin");
    ASSERT_GT(bytes.size(), kHeaderBytes);
    bytes[kHeaderBytes] ^= 1;
    disk_.write("index.bin", bytes);
  }
};

// An index.bin that is damaged is made anew. When memory ends in that, what is left of it is no
// index of a log without entries: a purge would make that of it.
TEST_P(WithoutMemory, ADamagedIndexIsNotTakenForAnEmptyLog) {
  bool was_met = true;
  int64_t allowed = 0;
  for (; was_met && !HasFailure(); ++allowed) {
    SCOPED_TRACE(allowed);
    {
      const auto session = disk_.open();
      ASSERT_TRUE(session->sync().ok());
    }
    damage_rows();
    load();
    try {
      const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
      (void)core_->catch_up().ok();
      was_met = limit.was_met();
    } catch (const std::bad_alloc&) {
      // As every call that ends so.
    }
    const auto found = GetParam().ask(*core_, *writer_);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(*found, kEntryCount);
    CompactionOptions purge;
    purge.cause = CompactionCause::kPurge;
    ASSERT_TRUE(compact(*core_, *writer_, purge).ok());
    EXPECT_EQ(lines_of(disk_.bytes("memory.jsonl")).size(), kEntryCount);
  }
  EXPECT_GT(allowed, 50) << "hardly any allocations";
}

INSTANTIATE_TEST_SUITE_P(All, WithoutMemory, testing::Values(kGet, kCount), name_of);

}  // namespace
}  // namespace varve::session
