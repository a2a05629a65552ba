// A write beside a reader of the same process that fails, at each moment at which the write asks
// for the time: what was chosen by an index without some of its rows is chosen again.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "asked_clock.h"
#include "failing_reader.h"
#include "session/core.h"
#include "session/size_quota.h"
#include "session/upkeep/migration.h"
#include "session/writer.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

// Of version 0: no checksum, no seq.
constexpr std::string_view kOldLog =
    R"({"id":"b","type":"message","content":"tea","timestamp":"2025-01-01T00:00:00Z"})"
    "\n"
    R"({"id":"c","type":"message","content":"tea","timestamp":"2025-01-01T00:00:01Z"})"
    "\n";

// An add asks for its bytes when the number of the first is chosen, and ids of those behind are
// not.
class AskedQuota final : public SizeQuota {
 public:
  Status check(const std::string&, uint64_t) override {
    if (when_asked) std::exchange(when_asked, nullptr)();
    return {};
  }
  void note_growth(const std::string&, int64_t) noexcept override {}

  std::function<void()> when_asked;  // once
};

class WriterMoments : public testing::TestWithParam<bool> {
 protected:
  WriterMoments() { host_.context.clock = &clock_; }

  void begin_anew(const std::function<void()>& change) {
    writer_.reset();
    core_.reset();
    for (const auto name : {"tombstones.jsonl", "index.bin", "lock", "quarantine.jsonl",
                            "vectors.bin", "memory.jsonl.v0"}) {
      if (disk_.read(name)) disk_.remove(name);
    }
    disk_.make();
    {
      const auto session = disk_.open();
      for (const std::string id : {"a", "b", "c"}) {
        ASSERT_TRUE(session->add(entry_text(id, "tea of " + id)).ok());
      }
      ASSERT_TRUE(session->remove("a", "").ok());
    }
    if (change) change();
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    ASSERT_TRUE(core_->load().ok());
    writer_ = std::make_unique<Writer>(*core_);
  }

  // Once for each moment, on a session with b and c, of which a deleted one was the first. Answers
  // how many moments there were.
  int at_each_moment(const std::function<void()>& change, const std::function<void()>& work) {
    bool came_to_it = true;
    int moment = 0;
    for (; came_to_it && !HasFailure(); ++moment) {
      SCOPED_TRACE(moment);
      begin_anew(change);
      int left = moment;
      came_to_it = false;
      clock_.when_asked = [&] {
        if (came_to_it || !is_index_free(*core_) || left-- != 0) return;
        came_to_it = true;
        fail_to_read(*core_, *storage_, GetParam());
      };
      work();
      clock_.when_asked = nullptr;
    }
    return moment;
  }

  WriteRequest adding(const std::string& id) {
    entry::DraftOptions options;
    options.session_id = kSessionId;
    WriteRequest request;
    request.drafts.push_back(*entry::draft(entry_text(id), options, ids_, scratch_));
    return request;
  }
  Status add(const std::string& id) {
    std::vector<WriteRequest> requests;
    requests.push_back(adding(id));
    writer_->submit(requests);
    return requests[0].status;
  }
  size_t remove(const std::string& id) {
    std::vector<WriteRequest> requests(1);
    requests[0].kind = WriteRequest::Kind::kDelete;
    requests[0].tombstones.push_back({id, "", 0});
    writer_->submit(requests);
    EXPECT_TRUE(requests[0].status.ok()) << requests[0].status.message();
    return requests[0].deleted_count;
  }
  // Whoever opens it finds these and no others, and nothing wrong.
  void check(const std::vector<std::string>& ids) {
    clock_.when_asked = nullptr;
    const auto session = disk_.open();
    const auto report = session->verify(true);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(report->get_bool("ok")) << report->canonical();
    EXPECT_EQ(session->stats()->get_int64("entries"), static_cast<int64_t>(ids.size()));
    for (const std::string& id : ids) EXPECT_TRUE(session->get(id).ok()) << id;
    EXPECT_FALSE(disk_.read("quarantine.jsonl").has_value());
  }

  Host host_;
  AskedClock clock_{host_.clock};
  SessionDisk disk_{host_};
  IdGenerator ids_{host_.clock, host_.random};
  json::Document scratch_;
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Writer> writer_;
  bool is_to_fail_ = false;
};

TEST_P(WriterMoments, AnAddGetsANumberOfItsOwn) {
  const int moments = at_each_moment({}, [this] {
    const Status added = add("d");
    EXPECT_TRUE(added.ok()) << added.message();
    check({"b", "c", "d"});
  });
  EXPECT_GT(moments, 2);
}

TEST_P(WriterMoments, AnIdThatIsTakenStaysTaken) {
  at_each_moment({}, [this] {
    EXPECT_EQ(add("b").code(), Code::kAlreadyExists);
    check({"b", "c"});
  });
  at_each_moment({}, [this] {
    EXPECT_EQ(add("a").code(), Code::kAlreadyExists) << "deleted ones, too";
    check({"b", "c"});
  });
}

TEST_P(WriterMoments, ThoseOfOneGroupAreChosenByOneIndex) {
  AskedQuota quota;
  host_.context.quota = &quota;
  begin_anew({});
  quota.when_asked = [this] { fail_to_read(*core_, *storage_, GetParam()); };
  std::vector<WriteRequest> requests;
  for (const auto id : {"d", "b", "e"}) requests.push_back(adding(id));
  writer_->submit(requests);
  EXPECT_FALSE(quota.when_asked);
  EXPECT_TRUE(requests[0].status.ok()) << requests[0].status.message();
  EXPECT_EQ(requests[1].status.code(), Code::kAlreadyExists);
  EXPECT_TRUE(requests[2].status.ok()) << requests[2].status.message();
  host_.context.quota = nullptr;
  check({"b", "c", "d", "e"});
}

TEST_P(WriterMoments, ADeletionFindsItsEntry) {
  at_each_moment({}, [this] {
    EXPECT_EQ(remove("b"), 1U);
    check({"c"});
  });
}

TEST_P(WriterMoments, AVectorFindsItsEntryOrIsAskedForAgain) {
  bool was_asked_again = false;
  at_each_moment({}, [&] {
    Status put = writer_->put_vector("b", std::vector<float>{1, 2});
    was_asked_again = was_asked_again || put.code() == Code::kConflict;
    if (put.code() == Code::kConflict) {
      put = writer_->put_vector("b", std::vector<float>{1, 2});
    }
    EXPECT_TRUE(put.ok()) << put.message();
    check({"b", "c"});
  });
  EXPECT_EQ(was_asked_again, !GetParam());
}

TEST_P(WriterMoments, AMigrationTakesAllOfTheLog) {
  const auto put_old_log = [this] {
    disk_.remove("index.bin");
    disk_.make();  // nothing of what was deleted
    disk_.write(log::kTombstonesFile, "");
    disk_.write(log::kEntriesFile, kOldLog);
  };
  begin_anew(put_old_log);
  storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
    if (is_index_free(*core_) && std::exchange(is_to_fail_, false)) {
      fail_to_read(*core_, *storage_, GetParam());
    }
    return got;
  };
  is_to_fail_ = true;
  const auto migrated = migrate(*core_, *writer_, false);
  EXPECT_FALSE(is_to_fail_);
  EXPECT_TRUE(migrated.ok()) << migrated.status().message();
  check({"b", "c"});
}

// Where it begins is where the index ends: nothing before it may be cut off.
TEST_P(WriterMoments, ATornTailIsCutOffWhereItBegins) {
  begin_anew([this] {
    disk_.write(log::kEntriesFile, disk_.bytes(log::kEntriesFile) + "{\"checksum\":");
  });
  EXPECT_FALSE(core_->view.torn_entries.empty());
  fail_to_read(*core_, *storage_, GetParam());
  if (!GetParam()) {
    EXPECT_EQ(core_->index.coverage.entries_bytes, 0U);
    EXPECT_TRUE(core_->view.torn_entries.empty());
  }
  EXPECT_TRUE(add("d").ok());
  EXPECT_EQ(disk_.quarantine().size(), 1U);
  disk_.remove("quarantine.jsonl");
  check({"b", "c", "d"});
}

// The lines are in the log, and not in the index, when a reader comes to them and cannot read them.
TEST_P(WriterMoments, WhatIsAnsweredAsAddedIsFoundThoughAReaderFailedAtIt) {
  begin_anew({});
  bool was_met = false;
  storage_->while_syncing = [&] {
    const uint64_t known_bytes = core_->index.coverage.entries_bytes;
    storage_->change_read = [=](log::Stream, uint64_t offset, size_t got) -> Result<size_t> {
      if (offset >= known_bytes) return Status(Code::kIo, "no read");
      return got;
    };
    EXPECT_FALSE(core_->catch_up().ok());
    storage_->change_read = nullptr;
    if (GetParam()) {
      EXPECT_TRUE(core_->catch_up().ok());
    }
    EXPECT_EQ(core_->has_rows_of(core_->index_epoch), GetParam());
    was_met = true;
  };
  const Status added = add("d");
  storage_->while_syncing = nullptr;
  EXPECT_TRUE(added.ok()) << added.message();
  EXPECT_TRUE(was_met);
  EXPECT_EQ(core_->has_rows_of(core_->index_epoch), GetParam()) << "the next reader makes it anew";
  for (const auto id : {"b", "c", "d"}) EXPECT_TRUE(core_->entries.read(id).ok()) << id;
  EXPECT_EQ(core_->index.size(), 4U);
  EXPECT_EQ(add("d").code(), Code::kAlreadyExists);
  check({"b", "c", "d"});
}

INSTANTIATE_TEST_SUITE_P(All, WriterMoments, testing::Bool(), [](const auto& given) {
  return std::string(given.param ? "MadeAnew" : "NotWhole");
});

}  // namespace
}  // namespace varve::session
