// Directories whose sync fails: a session keeps its name, and who goes on in it is answered only
// when the name is durable again.
#include <gtest/gtest.h>

#include <set>

#include "crash_rig.h"
#include "support/counted.h"

namespace varve::crash {
namespace {

// The n-th sync of a directory fails, and those after it, `count` in all.
io::FaultHook fail_syncs(uint64_t first, uint64_t count, uint64_t* seen) {
  return [=](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind != io::OperationKind::kSyncDirectory) return std::nullopt;
    *seen += 1;
    if (*seen < first || *seen >= first + count) return std::nullopt;
    return io::Fault{EIO};
  };
}

// Nothing is promised of it through a power loss.
void add_without_sync(CrashRig& rig, CrashRig::Process& process) {
  SessionPromise& promise = rig.ledger()["s"];
  promise.order.emplace_back("c1");
  promise.entries["c1"].content = content_of("c1", 60);
  const auto added = process->find("s")->add(entry_text("c1", content_of("c1", 60)));
  EXPECT_TRUE(added.ok()) << added.status().message();
}

// What a failed deletion left there stays: at once when the second sync of the name works, and
// else from the next durable answer on, also of a process that had it open before, and also when
// one that needs no sync wrote in between.
void delete_with_failing_syncs(uint64_t count) {
  size_t state_count = 0;
  uint64_t first = 1;
  uint64_t failed_deletions = 0;
  for (uint64_t seen = first; seen >= first; ++first) {
    CrashRig rig;
    seen = 0;
    CrashRig::Process owner = rig.process(2001);
    owner->open_store();
    owner->create("s");
    owner->add("s", "a1");
    owner->close("s");
    CrashRig::Process other = rig.process(2002);
    other->open_store();
    other->open("s");
    other->add("s", "b1");
    CrashRig::Process relaxed = rig.process(2003);
    relaxed->open_store(R"({"durability":"os"})");
    relaxed->open("s");
    rig.watch(60);
    rig.fail(fail_syncs(first, count, &seen));
    owner->drop("s");
    SessionPromise& promise = rig.ledger()["s"];
    if (promise.dropped == Promise::kUnknown) {
      failed_deletions += 1;
      if (count == 1) promise.dropped.reset();
      if (count == 2) add_without_sync(rig, relaxed);
      other->add("s", "b2");
      if (other->answers().back().status.ok()) {
        promise.dropped.reset();
        rig.look(1200);
      }
      other->add("s", "b3");
      EXPECT_TRUE(other->answers().back().status.ok()) << other->failures();
      promise.dropped.reset();
    }
    rig.unwatch();
    state_count += rig.state_count();
    ASSERT_EQ(rig.findings().count(), 0U)
        << count << " from sync " << first << " on failed: " << rig.findings().text();
  }
  EXPECT_GT(failed_deletions, 0U);
  test::counted("states", state_count);
  test::counted("failed syncs", first - 1);
}

TEST(CrashStatesOfNames, ADeletionThatFailedLeavesTheSession) { delete_with_failing_syncs(1); }

TEST(CrashStatesOfNames, AWriterSyncsTheNameThatADeletionCouldNot) {
  delete_with_failing_syncs(2);
  delete_with_failing_syncs(3);
}

TEST(CrashStatesOfNames, ASessionThatCouldNotBeMadeIsWholeOrNotThere) {
  size_t state_count = 0;
  for (uint64_t count = 1; count <= 3; ++count) {
    uint64_t first = 1;
    for (uint64_t seen = first; seen >= first; ++first) {
      CrashRig rig;
      seen = 0;
      CrashRig::Process maker = rig.process(2001);
      maker->open_store();
      rig.watch(60);
      rig.fail(fail_syncs(first, count, &seen));
      maker->create("s");
      CrashRig::Process other = rig.process(2002);
      other->open_store();  // and tidies up
      for (int again = 0; again < 4 && maker->find("s") == nullptr; ++again) maker->create("s");
      EXPECT_NE(maker->find("s"), nullptr) << maker->failures();
      maker->add("s", "a1");
      rig.unwatch();
      state_count += rig.state_count();
      ASSERT_EQ(rig.findings().count(), 0U)
          << count << " from sync " << first << " on failed: " << rig.findings().text();
    }
    EXPECT_GT(first, 3U);
  }
  test::counted("states", state_count);
}

// Whatever else a session is used for.
TEST(CrashStatesOfNames, NothingAnsweredIsLostWhereverASyncOfADirectoryFails) {
  size_t state_count = 0;
  for (uint64_t count = 1; count <= 2; ++count) {
    uint64_t first = 1;
    for (uint64_t seen = first; seen >= first; ++first) {
      CrashRig rig;
      seen = 0;
      CrashRig::Process agent = rig.process(2001);
      agent->open_store();
      agent->create("s");
      CrashRig::Process other = rig.process(2002);
      other->open_store();
      other->open("s");
      rig.watch(12);
      rig.fail(fail_syncs(first, count, &seen));
      agent->add("s", "a1");
      agent->add_batch("s", {"b1", "b2"});
      other->remove("s", "a1");
      agent->put_vector("s", "b1");
      other->add("s", "a2");
      agent->update("s", "title");
      agent->compact("s");
      other->add("s", "a3");
      agent->remove("s", "b1");
      agent->purge("s");
      other->put_vector("s", "a3");
      other->add("s", "a4");
      agent->repair("s");
      agent->close("s");
      other->add("s", "a5");
      rig.unwatch();
      rig.look(200);
      state_count += rig.state_count();
      ASSERT_EQ(rig.findings().count(), 0U)
          << count << " from sync " << first << " on failed: " << rig.findings().text() << "\n"
          << agent->failures() << other->failures();
    }
    EXPECT_GT(first, 10U);
  }
  test::counted("states", state_count);
}

// A session with entries "a1" and "a2", the latter newer than its copy.
class Restored {
 public:
  Restored() {
    store_ = open(disk_);
    session_ = *store_->create_session(R"({"session_id":"s"})");
    add("a1");
    EXPECT_TRUE(store_->back_up("copy", {}).ok());
    add("a2");
  }

  // Whether it was answered without an error or a problem.
  bool restore() {
    const auto report = store_->restore("copy", R"({"overwrite":true})");
    return report.ok() && report->get("problems")->items().empty();
  }
  bool add(const std::string& id) { return session_->add(entry_text(id, "content")).ok(); }
  void tidy_up() {
    const auto own = disk_.process(2002);
    open(*own)->close();
  }
  // What a session of this name holds after a power loss is one of these.
  size_t expect_one_of(const std::set<std::string>& contents) {
    size_t states = 0;
    disk_.for_each_crash_state(
        [&](auto state, const io::CrashPlan& plan) {
          states += 1;
          const auto store = open(*state);
          const auto found = store->open_session("s");
          ASSERT_TRUE(found.ok()) << found.status().message() << disk_.describe(plan);
          const auto shown = shown_by(**found);
          ASSERT_TRUE(shown.ok());
          std::string ids;
          for (const auto& entry : shown->entries) ids += entry.first + " ";
          ASSERT_TRUE(contents.contains(ids)) << ids << disk_.describe(plan);
        },
        scaled(200));
    return states;
  }
  io::SimulatedFileSystem& disk() { return disk_; }

 private:
  std::shared_ptr<store::Store> open(io::FileSystem& disk) {
    auto store = store::Store::open(kRoot, {}, environment_.with(disk));
    EXPECT_TRUE(store.ok()) << store.status().message();
    return *std::move(store);
  }

  TestEnvironment environment_;
  io::SimulatedFileSystem disk_;
  std::shared_ptr<store::Store> store_;
  std::shared_ptr<session::Session> session_;
};

TEST(CrashStatesOfNames, ARestoreThatFailedLeavesTheOldOrTheNewWhole) {
  size_t states = 0;
  for (uint64_t count = 1; count <= 3; ++count) {
    uint64_t failures = 0;
    uint64_t first = 1;
    for (uint64_t seen = first; seen >= first && !testing::Test::HasFailure(); ++first) {
      seen = 0;
      Restored restored;
      restored.disk().set_fault_hook(fail_syncs(first, count, &seen));
      const bool is_restored = restored.restore();
      restored.tidy_up();
      states += restored.expect_one_of({"a1 ", "a1 a2 "});
      if (is_restored) continue;
      failures += 1;
      // It goes on, as what it was; or it was replaced, and takes nothing.
      const bool is_added = restored.add("b1");
      if (!is_added) states += restored.expect_one_of({"a1 ", "a1 a2 "});
      const bool goes_on = is_added || restored.add("b1");
      states += restored.expect_one_of({goes_on ? "a1 a2 b1 " : "a1 "});
    }
    EXPECT_GT(failures, 1U);
  }
  test::counted("states", states);
}

}  // namespace
}  // namespace varve::crash
