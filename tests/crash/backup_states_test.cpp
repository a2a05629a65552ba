// Every state that a power loss, or the death of the process, can leave a backup in: each session
// of the copy is as the last backup or this one made it, and nothing deleted is alive in it.
#include <gtest/gtest.h>

#include "crash_rig.h"
#include "log/directory_engine.h"
#include "support/counted.h"
#include "support/exported_text.h"

namespace varve::crash {
namespace {

constexpr std::string_view kOrigin = "origin";

// A copy says in its metadata.json what the session says in its file `lock`.
std::string but_for_durable_seq(const std::optional<std::string>& metadata) {
  json::Tree tree = *json::Tree::parse(metadata.value_or("{}"));
  tree.erase("durable_seq");
  tree.erase("checksum");
  return tree.canonical();
}

// The store that is copied into kRoot, where the rig looks.
class Origin {
 public:
  explicit Origin(CrashRig& rig) : rig_(rig), own_(rig.disk().process(3001)) {
    store_ = *store::Store::open(kOrigin, {}, environment_.with(*own_));
  }

  void create(const std::string& session) {
    sessions_[session] = *store_->create_session(R"({"session_id":")" + session + "\"}");
    rig_.ledger()[session].created = Promise::kAsked;
  }
  void add(const std::string& session, const std::vector<std::string>& ids) {
    static size_t batches = 0;
    std::string batch;
    batches += 1;
    for (const std::string& id : ids) {
      SessionPromise& promise = rig_.ledger()[session];
      promise.order.push_back(id);
      promise.entries[id].content = "content of " + id;
      promise.entries[id].batch = ids.size() > 1 ? batches : 0;
      batch += (batch.empty() ? "[" : ",") + entry_text(id, "content of " + id);
    }
    ASSERT_TRUE(sessions_[session]->add_batch(batch + "]").ok());
  }
  void remove(const std::string& session, const std::string& id) {
    ASSERT_TRUE(sessions_[session]->remove(id, "").ok());
    rig_.ledger()[session].entries[id].removed = Promise::kAsked;
  }
  void drop(const std::string& session) {
    sessions_.erase(session);
    ASSERT_TRUE(store_->delete_session(session).ok());
    rig_.ledger()[session].dropped = Promise::kAsked;
  }
  // The log is replaced by one without what was deleted, and nothing tells of that any more.
  void compact(const std::string& session) {
    log::DirectoryEngine::Environment outside{own_.get(), &environment_.clock,
                                              &environment_.random};
    auto engine = log::DirectoryEngine::open(kOrigin, outside, 0);
    auto storage = (*engine)->open(session);
    ASSERT_TRUE((*storage)->lock(environment_.clock.monotonic_us() + 1000, "compact", {}).ok());
    const auto lines = exported_text(*sessions_[session], "jsonl");
    const auto keep = [&](log::Sink& sink) { return sink.append(*lines); };
    ASSERT_TRUE((*storage)->replace(log::Stream::kEntries, keep).ok());
    const auto none = [](log::Sink&) { return Status(); };
    ASSERT_TRUE((*storage)->replace(log::Stream::kTombstones, none).ok());
    (*storage)->unlock();
  }
  void repair(const std::string& session) {
    const std::string path = std::string(kOrigin) + "/sessions/" + session + "/memory.jsonl";
    std::string log = rig_.disk().read_file(path).value_or("");
    rig_.disk().write_file(path, log.insert(log.find('\n') + 1, "{\"not\":\"an entry\"}\n"));
    ASSERT_TRUE(sessions_[session]->repair(false).ok());
  }

  // What the copy promises once the backup has answered.
  void back_up(bool no_alarm) {
    rig_.demands().no_alarm = no_alarm;
    rig_.watch(60);
    back_up_unwatched();
    rig_.look(60);
    rig_.unwatch();
  }
  void back_up_unwatched() {
    const auto report = store_->back_up(kRoot, {});
    ASSERT_TRUE(report.ok()) << report.status().message();
    for (auto& [id, session] : rig_.ledger()) {
      session.created = Promise::kGiven;
      if (session.dropped) session.dropped = Promise::kGiven;
      for (auto& [entry_id, entry] : session.entries) {
        entry.added = entry.added_visibly = Promise::kGiven;
        if (entry.removed) entry.removed = Promise::kGiven;
      }
    }
  }

 private:
  CrashRig& rig_;
  std::unique_ptr<io::SimulatedFileSystem> own_;
  TestEnvironment environment_;
  std::shared_ptr<store::Store> store_;
  std::map<std::string, std::shared_ptr<session::Session>> sessions_;
};

void expect_sound(CrashRig& rig) {
  EXPECT_EQ(rig.findings().count(), 0U) << rig.findings().text();
  EXPECT_GT(rig.state_count(), 100U);
  test::counted("states", rig.state_count());
}

TEST(CrashStatesOfBackup, TheFirstOne) {
  CrashRig rig;
  Origin origin(rig);
  origin.create("s");
  origin.create("t");
  origin.add("s", {"a1"});
  origin.add("s", {"b1", "b2", "b3"});
  origin.remove("s", "a1");
  origin.add("t", {"a1"});
  origin.back_up(true);
  expect_sound(rig);
}

TEST(CrashStatesOfBackup, WhatWasAppended) {
  CrashRig rig;
  Origin origin(rig);
  origin.create("s");
  origin.add("s", {"a1"});
  origin.add("s", {"a2"});
  origin.back_up(true);
  origin.add("s", {"a3"});
  origin.add("s", {"b1", "b2"});
  origin.add("s", {"c1", "c2", "c3"});
  origin.add("s", {"a4"});
  origin.remove("s", "a1");
  origin.remove("s", "a4");
  // Lines that reach the disk together may be lost one by one, as in an import: what is left looks
  // as if the others had been damaged, until the next backup.
  origin.back_up(false);
  rig.demands().no_alarm = true;
  rig.look(10);
  origin.add("s", {"a5"});
  origin.back_up(true);
  expect_sound(rig);
}

TEST(CrashStatesOfBackup, OfALogThatWasReplaced) {
  CrashRig rig;
  Origin origin(rig);
  origin.create("s");
  origin.add("s", {"a1"});
  origin.add("s", {"a2"});
  origin.add("s", {"a3"});
  origin.remove("s", "a1");
  origin.back_up(true);
  origin.remove("s", "a2");
  origin.compact("s");
  origin.add("s", {"a4"});
  origin.remove("s", "a3");
  origin.back_up(false);  // a compaction in a test does not tell which gaps are right
  origin.repair("s");
  origin.add("s", {"a5"});
  origin.back_up(false);
  rig.demands().no_alarm = true;
  rig.look(10);
  expect_sound(rig);
}

TEST(CrashStatesOfBackup, WhenASessionIsGoneAndAnotherIsNew) {
  CrashRig rig;
  Origin origin(rig);
  origin.create("s");
  origin.create("t");
  origin.add("s", {"a1"});
  origin.add("t", {"a1"});
  origin.back_up(true);
  origin.drop("s");
  origin.create("u");
  origin.add("u", {"a1"});
  origin.add("t", {"a2"});
  origin.back_up(true);
  expect_sound(rig);
}

// After a power loss at any moment of a backup, the next one makes the copy right.
TEST(CrashStatesOfBackup, TheNextOneMendsWhatAKilledOneLeft) {
  TestEnvironment environment;
  size_t states = 0;
  CrashRig rig;
  Origin origin(rig);
  origin.create("s");
  origin.add("s", {"a1"});
  origin.back_up(true);
  origin.add("s", {"a2"});
  origin.add("s", {"b1", "b2"});
  origin.remove("s", "a1");
  rig.disk().set_fault_hook([&](const io::OperationInfo& operation) {
    if (operation.kind != io::OperationKind::kSyncData &&
        operation.kind != io::OperationKind::kSyncDirectory) {
      return std::optional<io::Fault>();
    }
    rig.disk().for_each_crash_state(
        [&](auto state, const io::CrashPlan& plan) {
          states += 1;
          auto store = store::Store::open(kOrigin, {}, environment.with(*state));
          ASSERT_TRUE(store.ok());
          const auto report = (*store)->back_up(kRoot, {});
          ASSERT_TRUE(report.ok()) << report.status().message() << rig.disk().describe(plan);
          const auto both = [&](const std::string& name) {
            const std::string path = "/sessions/s/" + name;
            return std::pair(state->read_file(std::string(kRoot) + path),
                             state->read_file(std::string(kOrigin) + path));
          };
          for (const char* name : {"memory.jsonl", "tombstones.jsonl"}) {
            const auto [copied, original] = both(name);
            ASSERT_EQ(copied, original) << name << rig.disk().describe(plan);
          }
          const auto [copied, original] = both("metadata.json");
          ASSERT_EQ(but_for_durable_seq(copied), but_for_durable_seq(original))
              << rig.disk().describe(plan);
        },
        scaled(40));
    return std::optional<io::Fault>();
  });
  origin.back_up_unwatched();
  rig.disk().set_fault_hook({});
  EXPECT_GT(states, scaled(50));
}

// --- restore -------------------------------------------------------------------------------------

// A session is replaced as a whole or not at all, and what was forgotten is never alive.
TEST(CrashStatesOfRestore, ReplacesASessionInOneStep) {
  CrashRig rig;
  TestEnvironment environment;
  const auto own = rig.disk().process(3001);
  const auto store = *store::Store::open(kRoot, {}, environment.with(*own));
  const auto session = *store->create_session(R"({"session_id":"s"})");
  for (const char* id : {"a1", "a2", "a3"}) {
    ASSERT_TRUE(session->add(entry_text(id, "old")).ok());
  }
  ASSERT_TRUE(store->back_up("copy", {}).ok());
  ASSERT_TRUE(session->remove("a2", "").ok());
  ASSERT_TRUE(session->add(entry_text("a4", "new")).ok());
  size_t states = 0;
  size_t before = 0;
  size_t after = 0;
  const auto check = [&](io::SimulatedFileSystem& state) {
    states += 1;
    auto opened = store::Store::open(kRoot, {}, environment.with(state));
    ASSERT_TRUE(opened.ok());
    const auto found = (*opened)->open_session("s");
    ASSERT_TRUE(found.ok()) << found.status().message();
    const auto shown = shown_by(**found);
    ASSERT_TRUE(shown.ok());
    std::string ids;
    for (const auto& entry : shown->entries) ids += entry.first + " ";
    ASSERT_TRUE(ids == "a1 a3 a4 " || ids == "a1 a3 ") << ids;
    (ids == "a1 a3 " ? after : before) += 1;
    const auto report = (*found)->verify();
    ASSERT_TRUE(report->get_bool("ok")) << report->canonical();
  };
  rig.disk().set_fault_hook([&](const io::OperationInfo&) {
    rig.disk().for_each_crash_state([&](auto state, const auto&) { check(*state); }, scaled(20));
    check(*rig.disk().copy());
    return std::optional<io::Fault>();
  });
  const auto report = store->restore("copy", R"({"overwrite":true})");
  rig.disk().set_fault_hook({});
  ASSERT_TRUE(report.ok()) << report.status().message();
  before = 0;
  check(*rig.disk().crash());
  EXPECT_EQ(before, 0U) << "it was answered";
  EXPECT_GT(after, 10U);
  EXPECT_GT(states, 200U);
}

}  // namespace
}  // namespace varve::crash
