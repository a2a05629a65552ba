// A compaction beside a reader of the same process that fails, and leaves an index without some of
// its rows, or one that was made anew.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "embedding/vector_format.h"
#include "failing_reader.h"
#include "session/core.h"
#include "session/upkeep/compaction.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

constexpr std::string_view kOldAndPinned =
    R"({"id":"pinned","type":"finding","content":"x","importance":0.1,)"
    R"("timestamp":"2001-01-01T00:00:00Z","tags":["pinned"]})";

struct Moment {
  const char* name;
  CompactionCause cause;
  double evict_below;
  bool from_snapshot;  // the rows come from index.bin
  bool made_anew;      // by the next reader, after the one that failed
};
void PrintTo(const Moment& moment, std::ostream* out) { *out << moment.name; }

class CompactionMoments : public testing::TestWithParam<Moment> {
 protected:
  void begin_anew(bool with_vectors) {
    vectors_bytes_after_ =
        with_vectors ? embedding::kHeaderBytes + 3 * embedding::record_bytes(2) : 0;
    writer_.reset();
    core_.reset();
    for (const auto name :
         {"tombstones.jsonl", "index.bin", "lock", "quarantine.jsonl", "vectors.bin"}) {
      if (disk_.read(name)) disk_.remove(name);
    }
    disk_.make();
    const auto session = disk_.open();
    for (const std::string id : {"a", "b", "c", "d"}) {
      ASSERT_TRUE(session->add(entry_text(id, "tea of " + id)).ok());
      if (!with_vectors) continue;
      ASSERT_TRUE(session->put_vector(id, std::vector<float>{1, static_cast<float>(id[0])}).ok());
    }
    ASSERT_TRUE(session->add(kOldAndPinned).ok());
    ASSERT_TRUE(session->remove("a", "").ok());
    session->close();
    if (!GetParam().from_snapshot) disk_.remove("index.bin");
    load();
  }

  void load() {
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    ASSERT_TRUE(core_->load().ok());
    writer_ = std::make_unique<Writer>(*core_);
  }

  void compact_and_check() {
    CompactionOptions options;
    options.cause = GetParam().cause;
    options.evict_below = GetParam().evict_below;
    const auto report = compact(*core_, *writer_, options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    const json::Tree& dropped = member(*report, "dropped");
    EXPECT_EQ(dropped.get_int64("deleted"), 1);
    EXPECT_EQ(dropped.get_int64("damaged"), 0);
    EXPECT_EQ(dropped.get_int64("evicted"), 0);
    EXPECT_FALSE(disk_.read("quarantine.jsonl").has_value());
    EXPECT_TRUE(core_->entries.read("c").ok()) << "by the index it left";
    const auto session = disk_.open();
    for (const auto id : {"b", "c", "d", "pinned"}) EXPECT_TRUE(session->get(id).ok()) << id;
    EXPECT_TRUE(session->verify(true)->get_bool("ok"));
    EXPECT_EQ(disk_.bytes("vectors.bin").size(), vectors_bytes_after_);
  }

  // Once for each moment that `watch` sees, of sessions with vectors and without; there are more
  // than `count_min`.
  void at_each_moment(int count_min,
                      const std::function<void(const std::function<void()>& come_to_it)>& watch) {
    for (const bool with_vectors : {false, true}) {
      bool came_to_it = true;
      int moment = 0;
      for (; came_to_it && !HasFailure(); ++moment) {
        SCOPED_TRACE(moment);
        begin_anew(with_vectors);
        int left = moment;
        came_to_it = false;
        watch([&] {
          if (!is_index_free(*core_) || left-- != 0) return;
          came_to_it = true;
          fail_to_read(*core_, *storage_, GetParam().made_anew);
        });
        compact_and_check();
      }
      EXPECT_GT(moment, count_min);
    }
  }

  Host host_;
  SessionDisk disk_{host_};
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Writer> writer_;
  size_t vectors_bytes_after_ = 0;
};

TEST_P(CompactionMoments, NothingIsTakenForDamageWhenAReaderFailsAtATail) {
  at_each_moment(3, [this](const std::function<void()>& come_to_it) {
    storage_->change_tail = [=](log::Tail tail) {
      come_to_it();
      return tail;
    };
  });
}

TEST_P(CompactionMoments, NothingIsTakenForAnotherWhenAReaderFailsAtARead) {
  at_each_moment(1, [this](const std::function<void()>& come_to_it) {
    storage_->change_read = [=](log::Stream, uint64_t, size_t got) -> Result<size_t> {
      come_to_it();
      return got;
    };
  });
}

TEST_P(CompactionMoments, AReaderThatFailsOverAndOverIsNotWaitedForForEver) {
  begin_anew(true);
  const std::string vectors = disk_.bytes("vectors.bin");
  storage_->change_read = [this](log::Stream stream, uint64_t, size_t got) -> Result<size_t> {
    if (stream == log::Stream::kVectors && is_index_free(*core_)) {
      fail_to_read(*core_, *storage_, false);
    }
    return got;
  };
  CompactionOptions options;
  options.cause = GetParam().cause;
  EXPECT_EQ(compact(*core_, *writer_, options).code(), Code::kBusy);
  EXPECT_EQ(disk_.bytes("vectors.bin"), vectors);
  storage_->change_read = nullptr;
  compact_and_check();
}

INSTANTIATE_TEST_SUITE_P(
    All, CompactionMoments,
    testing::Values(Moment{"Asked", CompactionCause::kAsked, 0, false, false},
                    Moment{"AskedOfASnapshot", CompactionCause::kAsked, 0, true, false},
                    Moment{"AskedAndMadeAnew", CompactionCause::kAsked, 0, false, true},
                    Moment{"OfASnapshotMadeAnew", CompactionCause::kAsked, 0, true, true},
                    Moment{"Eviction", CompactionCause::kAsked, 0.2, false, false},
                    Moment{"EvictionMadeAnew", CompactionCause::kAsked, 0.2, false, true},
                    Moment{"Purge", CompactionCause::kPurge, 0, false, false},
                    Moment{"PurgeMadeAnew", CompactionCause::kPurge, 0, true, true}),
    [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::session
