// Reports that are made without the session's lock, while another process replaces the log: of the
// one log or of the other.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "session/reports/index_listing.h"
#include "session/upkeep/compaction.h"
#include "session/upkeep/migration.h"
#include "session/upkeep/repair.h"
#include "session_disk.h"
#include "watched_storage.h"

namespace varve::session {
namespace {

struct Report {
  const char* name;
  Result<json::Tree> (*make)(Core& core, Writer& writer);
};
void PrintTo(const Report& report, std::ostream* out) { *out << report.name; }

Result<json::Tree> compacted(Core& core, Writer& writer) {
  CompactionOptions options;
  options.dry_run = true;
  return compact(core, writer, options);
}
Result<json::Tree> repaired(Core& core, Writer& writer) {
  return repair(core, writer, {.dry_run = true});
}
Result<json::Tree> migrated(Core& core, Writer& writer) { return migrate(core, writer, true); }
Result<json::Tree> listed(Core& core, Writer&) {
  VARVE_TRY_ASSIGN(const std::string text, list_index(core));
  return json::Tree::parse(text);
}

class ReplacedUnder : public testing::TestWithParam<Report> {
 protected:
  void begin_anew() {
    writer_.reset();
    core_.reset();
    other_.reset();
    for (const auto name : {"tombstones.jsonl", "index.bin", "lock"}) {
      if (disk_.read(name)) disk_.remove(name);
    }
    disk_.make();
    other_ = disk_.open();
    for (const std::string id : {"a", "b", "c", "d"}) {
      ASSERT_TRUE(other_->add(entry_text(id, "tea of " + id)).ok());
    }
    ASSERT_TRUE(other_->remove("a", "").ok());
    // A blank line, which has to be looked at.
    disk_.write("memory.jsonl", disk_.bytes("memory.jsonl") + "\n");
    auto owned = std::make_unique<WatchedStorage>(*disk_.storage());
    storage_ = owned.get();
    core_ = std::make_unique<Core>(std::string(kSessionId), std::move(owned), host_.context);
    ASSERT_TRUE(core_->load().ok());
    writer_ = std::make_unique<Writer>(*core_);
  }
  void check(const Result<json::Tree>& report) {
    ASSERT_TRUE(report.ok()) << report.status().message();
    if (const json::Tree* dropped = report->get("dropped")) {
      EXPECT_EQ(dropped->get_int64("damaged"), 0) << report->canonical();
      EXPECT_EQ(report->get_int64("entries_after"), 3) << report->canonical();
    } else if (const json::Tree* entries = report->get("entries"); entries->is_object()) {
      EXPECT_EQ(entries->members().size(), 3u) << report->canonical();
    } else {
      EXPECT_EQ(report->get_int64("quarantined"), 0) << report->canonical();
    }
  }

  Host host_;
  SessionDisk disk_{host_};
  std::shared_ptr<Session> other_;
  WatchedStorage* storage_ = nullptr;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Writer> writer_;
};

// At each look at the log, and at each read of it.
TEST_P(ReplacedUnder, ItIsOfOneLog) {
  for (const bool at_reads : {false, true}) {
    bool came_to_it = true;
    int moment = 0;
    for (; came_to_it && !HasFailure(); ++moment) {
      SCOPED_TRACE(std::to_string(moment) + (at_reads ? " read" : " look"));
      begin_anew();
      int left = moment;
      came_to_it = false;
      const auto come_to_it = [&] {
        if (came_to_it || left-- != 0) return;
        came_to_it = true;
        EXPECT_TRUE(other_->compact({}).ok());
      };
      if (at_reads) {
        storage_->change_read = [&](log::Stream, uint64_t, size_t got) -> Result<size_t> {
          come_to_it();
          return got;
        };
      } else {
        storage_->change_tail = [&](log::Tail tail) {
          come_to_it();
          return tail;
        };
      }
      check(GetParam().make(*core_, *writer_));
    }
    EXPECT_GT(moment, 1) << "nothing was looked at";
  }
}

TEST_P(ReplacedUnder, OverAndOverItIsToBeAskedForAgain) {
  begin_anew();
  storage_->change_read = [](log::Stream, uint64_t, size_t) {
    return Status(Code::kGone, "the log was replaced");
  };
  EXPECT_EQ(GetParam().make(*core_, *writer_).code(), Code::kBusy);
  storage_->change_read = nullptr;
  check(GetParam().make(*core_, *writer_));
}

INSTANTIATE_TEST_SUITE_P(All, ReplacedUnder,
                         testing::Values(Report{"Compaction", compacted},
                                         Report{"Repair", repaired}, Report{"Migration", migrated},
                                         Report{"Listing", listed}),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::session
