// Who looks at a log at the very moment when another process writes to it: what is added between
// two looks is not told as lost, and a batch is seen whole or not at all.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "failing_reader.h"
#include "query/parse.h"
#include "session/core.h"
#include "session/query/query.h"
#include "session/upkeep/compaction.h"
#include "session/upkeep/verify.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

class BesideWriters : public testing::Test {
 protected:
  void begin_anew() {
    writer_.reset();
    core_.reset();
    other_.reset();
    for (const auto name : {"index.bin", "lock"}) {
      if (disk_.read(name)) disk_.remove(name);
    }
    disk_.make();
    other_ = disk_.open();
    for (const std::string id : {"a", "b", "c"}) add(id);
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    writer_ = std::make_unique<Writer>(*core_);
  }
  void add(const std::string& id) { ASSERT_TRUE(other_->add(entry_text(id, "tea of " + id)).ok()); }
  // Of e and f: where the log ends while only e is there.
  uint64_t add_batch() {
    const uint64_t before_bytes = disk_.bytes("memory.jsonl").size();
    EXPECT_TRUE(other_->add_batch("[" + entry_text("e") + "," + entry_text("f") + "]").ok());
    return disk_.bytes("memory.jsonl").find('\n', before_bytes) + 1;
  }
  // Writes down which gaps become legal, as a compaction does before it replaces the log.
  static void begin_to_compact(Core& core) {
    const auto make_gaps_legal = [&](Metadata& metadata) {
      metadata.note_new_log(core.last_seq());
      return Status();
    };
    const auto save = [&] {
      return core.metadata_file.save(log::DocumentDurability::kContent, make_gaps_legal);
    };
    ASSERT_TRUE(Writer(core).run("compact", save).ok());
  }
  // Before the answer of the look of that number, from 0, is given; false: there are fewer.
  [[nodiscard]] bool was_behind_look(int number, const std::function<void(log::Tail* seen)>& change,
                                     const std::function<void()>& work) {
    bool came_to_it = false;
    storage_->change_tail = [&, left = number](log::Tail seen) mutable {
      if (left-- != 0) return seen;
      came_to_it = true;
      auto watched = std::exchange(storage_->change_tail, nullptr);
      change(&seen);
      storage_->change_tail = std::move(watched);
      return seen;
    };
    work();
    storage_->change_tail = nullptr;
    return came_to_it;
  }

  // Calls `once` with the number of each look there is; it answers whether there was such a one.
  void at_each_look(const std::function<bool(int look)>& once) {
    int look = 0;
    for (bool came_to_it = true; came_to_it && !HasFailure(); ++look) {
      SCOPED_TRACE(look);
      begin_anew();
      came_to_it = once(look);
    }
    EXPECT_GT(look, 1);
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> other_;
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(BesideWriters, WhoOpensTellsOfNoLoss) {
  at_each_look([this](int look) {
    const bool came_to_it = was_behind_look(
        look, [this](log::Tail*) { add("new"); }, [this] { EXPECT_TRUE(core_->load().ok()); });
    EXPECT_EQ(core_->rolled_back_count(), 0u);
    EXPECT_EQ(host_.counters.corruption_errors.load(), 0u);
    EXPECT_EQ(core_->entries.read("new").ok(), came_to_it);
    return came_to_it;
  });
}

TEST_F(BesideWriters, NeitherDoesWhoCatchesUp) {
  at_each_look([this](int look) {
    EXPECT_TRUE(core_->load().ok());
    add("d");
    const bool came_to_it = was_behind_look(
        look, [this](log::Tail*) { add("new"); }, [this] { EXPECT_TRUE(core_->catch_up().ok()); });
    EXPECT_EQ(core_->rolled_back_count(), 0u);
    return came_to_it;
  });
}

// The system shows a large write as it grows.
TEST_F(BesideWriters, OfABatchNobodySeesAPart) {
  at_each_look([this](int look) {
    EXPECT_TRUE(core_->load().ok());
    add("d");
    const bool came_to_it = was_behind_look(
        look, [this](log::Tail* seen) { seen->entries_bytes = add_batch(); },
        [this] { EXPECT_TRUE(core_->catch_up().ok()); });
    const uint32_t count = core_->index.size();
    EXPECT_TRUE(count == 4 || count == 6) << count;
    EXPECT_EQ(core_->entries.read("f").ok(), came_to_it);
    return came_to_it;
  });
}

// Words are indexed in steps of a mebibyte, of which the first ends within the batch.
TEST_F(BesideWriters, OfABatchNobodySeesAPartByWords) {
  const auto query = query::parse_query(R"({"text":"tea"})", query::Scope::kCount);
  ASSERT_TRUE(query.ok());
  at_each_look([&](int look) {
    EXPECT_TRUE(other_->add(entry_text("d", "tea " + std::string(900'000, 'x'))).ok());
    EXPECT_TRUE(core_->load().ok());
    const std::string content = "tea " + std::string(100'000, 'x');
    const auto add_large_batch = [&](log::Tail*) {
      EXPECT_TRUE(
          other_->add_batch("[" + entry_text("e", content) + "," + entry_text("f", content) + "]")
              .ok());
    };
    uint64_t count = 0;
    const bool came_to_it = was_behind_look(look, add_large_batch, [&] {
      const auto counted = count_matches(*core_, *query);
      if (counted.ok()) count = *counted;
    });
    EXPECT_TRUE(count == 4 || count == 6) << count;
    return came_to_it;
  });
}

// Another thread brings a form of a word that makes the wildcard one that entries are asked about,
// while they are asked about the phrase.
TEST_F(BesideWriters, WhatEntriesWereAskedIsWhatTheyAnswer) {
  const auto query = query::parse_query(R"({"text":"-*ing \"milk tea\""})", query::Scope::kCount);
  const auto by_words = query::parse_query(R"({"text":"milk"})", query::Scope::kCount);
  ASSERT_TRUE(query.ok() && by_words.ok());
  begin_anew();
  const std::pair<const char*, const char*> entries[] = {
      {"d", "milk tea running"}, {"e", "milk tea"}, {"f", "tea milk running"}, {"g", "tea milk"}};
  for (const auto& [id, content] : entries) {
    ASSERT_TRUE(other_->add(entry_text(id, content)).ok());
  }
  ASSERT_TRUE(core_->load().ok());
  ASSERT_TRUE(count_matches(*core_, *by_words).ok());
  bool came_to_it = false;
  storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    if (std::exchange(came_to_it, true)) return got;
    EXPECT_TRUE(other_->add(entry_text("later", "milk tea runs")).ok());
    EXPECT_TRUE(count_matches(*core_, *by_words).ok());
    return got;
  };
  const auto found = find_matches(*core_, *query);
  storage_->change_read = nullptr;
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_TRUE(came_to_it);
  EXPECT_EQ(*found, std::vector<std::string>{"e"});
}

// Words of three mebibytes are indexed in as many steps, and before each of them they are lost.
TEST_F(BesideWriters, AQueryByWordsEndsThoughTheIndexIsMadeAnewEachTime) {
  constexpr int kLooksMax = 100;
  const auto query = query::parse_query(R"({"text":"tea"})", query::Scope::kCount);
  ASSERT_TRUE(query.ok());
  begin_anew();
  for (const std::string id : {"d", "e", "f"}) {
    ASSERT_TRUE(other_->add(entry_text(id, "tea " + std::string(900'000, 'x'))).ok());
  }
  ASSERT_TRUE(core_->load().ok());
  int looks = 0;
  storage_->change_tail = [&](const log::Tail& seen) {
    if (is_index_free(*core_) && ++looks < kLooksMax) {
      auto watched = std::exchange(storage_->change_tail, nullptr);
      EXPECT_TRUE(core_->rebuild().ok());
      storage_->change_tail = std::move(watched);
    }
    return seen;
  };
  const auto counted = count_matches(*core_, *query);
  EXPECT_EQ(counted.code(), Code::kBusy);
  EXPECT_LT(looks, kLooksMax);
  storage_->change_tail = nullptr;
  const auto afterwards = count_matches(*core_, *query);
  ASSERT_TRUE(afterwards.ok());
  EXPECT_EQ(*afterwards, 6u);
}

// A log that was replaced is read, with what metadata.json says of it. That may be of the next
// compaction already, which has written down which gaps become legal, behind the batch.
TEST_F(BesideWriters, OfABatchInAReplacedLogNobodySeesAPart) {
  at_each_look([&](int look) {
    EXPECT_TRUE(core_->load().ok());
    CompactionOptions options;
    options.cause = CompactionCause::kPurge;  // replaces the log although nothing goes
    EXPECT_TRUE(other_->compact(options).ok());
    const bool came_to_it = was_behind_look(
        look,
        [&](log::Tail* seen) {
          seen->entries_bytes = add_batch();
          Core core(std::string(kSessionId), *disk_.storage(), host_.context);
          ASSERT_TRUE(core.load().ok());
          begin_to_compact(core);
        },
        [this] { EXPECT_TRUE(core_->catch_up().ok()); });
    const uint32_t count = core_->index.size();
    EXPECT_TRUE(count == 3 || count == 5) << count;
    return came_to_it;
  });
}

// The log is replaced again before a look: what was read of the gaps is of the log before.
TEST_F(BesideWriters, WhoMeetsALogThatIsReplacedAgainTellsOfNoGap) {
  at_each_look([this](int look) {
    const std::string gone = "gone" + std::to_string(look);
    EXPECT_TRUE(core_->load().ok());
    CompactionOptions options;
    options.cause = CompactionCause::kPurge;  // replaces the log although nothing goes
    EXPECT_TRUE(other_->compact(options).ok());
    const bool came_to_it = was_behind_look(
        look,
        [&](log::Tail* seen) {
          add(gone);
          add("d");
          ASSERT_TRUE(other_->remove(gone, "").ok());
          ASSERT_TRUE(other_->compact({}).ok());
          *seen = *storage_->tail();
        },
        [this] { EXPECT_TRUE(core_->catch_up().ok()); });
    EXPECT_EQ(core_->index.coverage.missing_count, 0u);
    EXPECT_EQ(core_->entries.read("d").ok(), came_to_it);
    return came_to_it;
  });
}

// What another thread of the process has caught up with since is not missing in what was looked at.
TEST_F(BesideWriters, WhoVerifiesFindsNothingMissing) {
  at_each_look([this](int look) {
    EXPECT_TRUE(core_->load().ok());
    const bool came_to_it = was_behind_look(
        look,
        [this](log::Tail*) {
          if (!is_index_free(*core_)) return;
          add("new");
          EXPECT_TRUE(core_->catch_up().ok());
        },
        [this] {
          const auto report = verify(*core_, *writer_, false, {});
          ASSERT_TRUE(report.ok()) << report.status().message();
          EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
        });
    return came_to_it;
  });
}

// What a writer of a session with a, b and c leaves of a batch of three when it is killed.
std::string part_of_a_batch(const std::string& content) {
  Host host;
  SessionDisk elsewhere(host);
  elsewhere.make();
  const auto session = elsewhere.open();
  for (const char* id : {"a", "b", "c"}) EXPECT_TRUE(session->add(entry_text(id)).ok());
  const size_t begin = elsewhere.bytes("memory.jsonl").size();
  const std::string batch = "[" + entry_text("1", content) + "," + entry_text("2", content) + "," +
                            entry_text("3", content) + "]";
  EXPECT_TRUE(session->add_batch(batch).ok());
  const std::string log = elsewhere.bytes("memory.jsonl");
  return log.substr(begin, log.size() - begin - 1000);
}

// While one process reads that, another cuts it off and adds entries, so that the first has read
// the beginning of the one and the rest of the other.
TEST_F(BesideWriters, WhatIsWrittenOverATornTailMeanwhileIsRead) {
  begin_anew();
  ASSERT_TRUE(core_->load().ok());
  other_.reset();
  const std::string large(150'000, 'x');
  disk_.write("memory.jsonl", disk_.bytes("memory.jsonl") + part_of_a_batch(large));
  bool is_cut = false;
  storage_->change_read = [&](log::Stream stream, uint64_t, size_t got) -> Result<size_t> {
    const bool is_part = stream == log::Stream::kEntries && got > large.size();
    if (!is_part || std::exchange(is_cut, true)) return got;
    other_ = disk_.open();
    for (int i = 0; i < 8; ++i) {
      add("new-" + std::to_string(i));
      EXPECT_TRUE(other_->add(entry_text("large-" + std::to_string(i), large)).ok());
    }
    return got;
  };
  ASSERT_TRUE(core_->catch_up().ok());
  ASSERT_TRUE(is_cut);
  EXPECT_EQ(core_->index.size(), 3u + 16u);
  for (int i = 0; i < 8; ++i) {
    EXPECT_TRUE(core_->entries.read("large-" + std::to_string(i)).ok()) << i;
  }
  EXPECT_EQ(core_->entries.read("1").code(), Code::kNotFound);
  EXPECT_EQ(host_.counters.corruption_errors.load(), 0u);
}

}  // namespace
}  // namespace varve::session
