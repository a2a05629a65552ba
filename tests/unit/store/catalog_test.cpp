// The catalog: queries across sessions open those that may have what is asked for, and find all
// the same what queries that name every session find, whoever changes them meanwhile.
#include "store/catalog.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "unit/store/catalog_rig.h"

namespace varve::store {
namespace {

TEST_F(CatalogFixture, TheSecondQueryOpensOnlyTheSessionsConcerned) {
  const auto store = open(disk_);
  make_many(*store);
  const CatalogIds both = {"first-s0", "first-s1"};
  const Answer first = ask(*store, kRare);
  EXPECT_EQ(first.ids, both);
  EXPECT_EQ(first.session_count, int64_t{kMany});
  const Answer second = ask(*store, kRare);
  EXPECT_EQ(second.ids, both);
  EXPECT_EQ(second.session_count, 2);
  // Another process, with the words of a hierarchy.
  const auto other = open(*other_disk_);
  EXPECT_EQ(count_of(*other, R"("tags":{"include":["rare.kind"]})"), 2);
  EXPECT_EQ(count_of(*other, R"("tags":{"include":["rare","common"]})"), int64_t{kMany});
  EXPECT_EQ(count_of(*other, R"("tags":{"include":["rare","common"],"match":"all"})"), 0);
  EXPECT_EQ(count_of(*other, R"("tags":{"include":["rar"]})"), 0);
  EXPECT_EQ(count_of(*other, R"("types":["finding"])"), int64_t{kMany});
}

TEST_F(CatalogFixture, FewSessionsAreOpened) {
  const auto store = open(disk_);
  make_many(*store, kSessionsWorthCatalog - 1);
  EXPECT_EQ(count_of(*store), int64_t{kSessionsWorthCatalog - 1});
  EXPECT_EQ(count_of(*store), int64_t{kSessionsWorthCatalog - 1});
  EXPECT_FALSE(disk_.exists(kCatalogLog));
}

TEST_F(CatalogFixture, AUsersQueryOpensTheUsersSessions) {
  const auto store = open(disk_);
  make_many(*store);
  for (int i = 0; i < 2; ++i) {
    const Answer anns = ask(*store, R"("user_id":"ann",)" + kRare);
    EXPECT_EQ(anns.ids, CatalogIds{"first-s0"});
    EXPECT_EQ(anns.session_count, i == 0 ? int64_t{kMany / 2} : 1);
  }
  // Words are weighed by all that the user has.
  EXPECT_EQ(count_of(*store, R"("user_id":"bob","text":"x",)" + kRare), int64_t{kMany / 2});
  EXPECT_EQ(count_of(*store, R"("user_id":"eve")"), 0);
  EXPECT_EQ(count_of(*store, R"("agent_id":"eve")"), 0);
  make(*store, "planned", R"(,"agent_id":"planner")");
  add(*store, "planned", "plan", "rare");
  for (size_t i = 0; i < kSessionsWorthCatalog; ++i) {
    add(*store, session_name(i), "more-" + session_name(i), "common");
  }
  EXPECT_EQ(count_of(*store), int64_t{kSessionsWorthCatalog} + 1) << "and now they are covered";
  const Answer planned = ask(*store, R"("agent_id":"planner",)" + kRare);
  EXPECT_EQ(planned.ids, CatalogIds{"plan"});
  EXPECT_EQ(planned.session_count, 1);
  // What is summed over the sessions of a user is summed over the same ones.
  EXPECT_EQ(store->usage(R"({"user_id":"ann"})")->canonical(),
            store->usage(R"({"session_ids":)" + names_of("ann") + "}")->canonical());
}

TEST_F(CatalogFixture, WhatIsAddedLaterIsFound) {
  const auto store = open(disk_);
  make_many(*store);
  const auto other = open(*other_disk_);
  // The other process has it open, and noted what it does before there was a catalog.
  const auto held = *other->open_session("s9");
  add(*other, "s9", "held", "common");
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  ASSERT_EQ(count_of(*store), 2);
  add(*other, "s9", "of-other", "rare");
  add(*store, "s8", "own", "rare");
  make(*other, "newest");
  add(*other, "newest", "of-newest", "rare");
  const CatalogIds all = {"first-s0", "first-s1", "of-other", "own", "of-newest"};
  for (const auto& one : {store, other, open(disk_)}) {
    const Answer answer = ask(*one, kRare);
    EXPECT_EQ(answer.ids, all);
    EXPECT_EQ(answer.session_count, 5);
  }
  // Once, and not with every entry.
  const std::string before = *disk_.read_file(kCatalogLog);
  add(*other, "s9", "another", "common");
  EXPECT_EQ(*disk_.read_file(kCatalogLog), before);
}

TEST_F(CatalogFixture, SessionsThatChangedAreCoveredAgain) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < kMany; ++i) {
      add(*store, session_name(i), "again-" + std::to_string(round) + session_name(i), "common");
    }
    make(*store, "new" + std::to_string(round));
    EXPECT_EQ(count_of(*store), int64_t{kMany} + 1) << round;
    EXPECT_EQ(count_of(*store), 2) << round;
  }
  EXPECT_EQ(ask(*store, R"("tags":{"include":["common"]})").ids.size(), kMany * 4 - 2);
}

TEST_F(CatalogFixture, ABusySessionCountsAsChanged) {
  const auto store = open(disk_);
  make_many(*store);
  const auto held = *(*other_disk_->open_root("store/sessions/s7", false))
                         ->open("lock", io::OpenMode::kUpdateOrCreate, 0644);
  ASSERT_TRUE(*held->try_lock());
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  EXPECT_EQ(count_of(*store), 3);
  EXPECT_EQ(count_of(*store, R"("user_id":"bob",)" + kRare), 2) << "nobody knows whose it is";
  ASSERT_TRUE(held->unlock().ok());
  add(*store, "s7", "late", "rare");
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1", "late"}));
}

TEST_F(CatalogFixture, ADroppedSessionIsForgottenAndMayComeAgain) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  ASSERT_TRUE(store->delete_session("s0").ok());
  EXPECT_EQ(count_of(*store), 1);
  make(*store, "s0");
  add(*store, "s0", "anew", "rare");
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"anew", "first-s1"}));
}

TEST_F(CatalogFixture, ASessionOfManyRowsIsLookedAtOnce) {
  const auto store = open(disk_);
  make_many(*store);
  std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  const std::string first = rows.substr(0, rows.find('\n') + 1);
  for (int i = 0; i < 20; ++i) rows += first;
  disk_.write_file("store/indices/sessions.jsonl", rows);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  const std::string log = *disk_.read_file(kCatalogLog);
  const std::string said = R"("session":"s0")";
  const size_t at = log.find(said);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(log.find(said, at + 1), std::string::npos);
}

// What writers told it of sessions that came and went would else stay until somebody asks again.
TEST_F(CatalogFixture, ASweepThatMakesTheListAnewTakesItAway) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  for (int i = 0; i < 200; ++i) {
    make(*store, "gone" + std::to_string(i));
    add(*store, "gone" + std::to_string(i), "x", "common");
    ASSERT_TRUE(store->delete_session("gone" + std::to_string(i)).ok());
  }
  ASSERT_TRUE(disk_.exists(kCatalogLog));
  ASSERT_TRUE(store->sweep().ok());
  EXPECT_FALSE(disk_.exists(kCatalogLog));
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1"}));
}

TEST_F(CatalogFixture, ARestoredSessionIsFoundByWhatItHasNow) {
  const auto store = open(disk_);
  make_many(*store);
  add(*store, "s5", "once", "rare");
  ASSERT_TRUE(store->back_up("copy", {}).ok());
  ASSERT_TRUE(store->delete_session("s5").ok());
  make(*store, "s5");
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  ASSERT_EQ(count_of(*store), 2);
  ASSERT_TRUE(store->restore("copy", R"({"sessions":["s5"],"overwrite":true})").ok());
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1", "once"}));
}

TEST_F(CatalogFixture, WhatARepairAcceptsIsFound) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  ASSERT_EQ(count_of(*store), 2);
  std::string log = *disk_.read_file("store/sessions/s9/memory.jsonl");
  log.replace(log.find("common"), 6, "rare.x");
  disk_.write_file("store/sessions/s9/memory.jsonl", log);
  const auto other = open(*other_disk_);
  ASSERT_TRUE((*other->open_session("s9"))->repair(false, true).ok());
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1", "first-s9"}));
}

// A process that died in a batch left lines of which another may make entries.
TEST_F(CatalogFixture, ASessionWithAnUnfinishedBatchIsAlwaysAsked) {
  const auto store = open(disk_);
  make_many(*store);
  const std::string batch = R"({"id":"b1","type":"finding","content":"x","tags":["rare"]})"
                            "\n"
                            R"({"id":"b2","type":"finding","content":"x"})";
  const auto other = open(*other_disk_);
  const auto session = *other->open_session("s9");
  bool is_torn = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (is_torn) other_disk_->kill();
    is_torn = operation.kind == io::OperationKind::kAppend && operation.name == "memory.jsonl";
    if (!is_torn) return {};
    return io::Fault{EIO, 400};  // the first line and a part of the second
  });
  ASSERT_FALSE(session->add_batch(batch).ok());
  disk_.set_fault_hook({});
  ASSERT_NE(disk_.read_file("store/sessions/s9/memory.jsonl")->find("\"b1\""), std::string::npos);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1"}));
  const auto salvaging = *Store::open(
      "store", R"({"threads":1,"integrity":{"recovery":"salvage"}})", {&disk_, &clock_, &random_});
  EXPECT_EQ(ask(*salvaging, kRare).ids, (CatalogIds{"b1", "first-s0", "first-s1"}));
}

TEST_F(CatalogFixture, WhoGoesOnWithItBeginsWhereAnotherWasKilled) {
  const auto store = open(disk_);
  make_many(*store, 300);
  int append_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_append = operation.kind == io::OperationKind::kAppend &&
                           operation.path.find("catalog/memory.jsonl") != std::string::npos;
    if (is_append && ++append_count == 2) other_disk_->kill();
    return {};
  });
  (void)open(*other_disk_)->query("{" + kRare + "}").ok();
  disk_.set_fault_hook({});
  ASSERT_EQ(append_count, 2);
  EXPECT_EQ(count_of(*store), 300 - 256 + 2);
  EXPECT_EQ(count_of(*store), 2);
}

// Of one session that cannot be read all queries know; the others are covered once.
TEST_F(CatalogFixture, ASessionThatCannotBeReadCountsAsChanged) {
  const auto store = open(disk_);
  make_many(*store);
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.path.find("sessions/s9/") != std::string::npos) return io::Fault{EIO};
    return {};
  });
  const auto asked = [&] {
    const auto found = store->query("{" + kRare + R"(,"explain":true})");
    EXPECT_TRUE(found.ok());
    EXPECT_EQ(found->left_out.code(), Code::kIo);
    return json::Tree::parse(found->explanation)->get_int64("sessions");
  };
  EXPECT_EQ(asked(), int64_t{kMany});
  EXPECT_EQ(asked(), 3);
  disk_.set_fault_hook({});
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1"}));
}

// Found by the simulation: a restore was refused by a catalog that another had dropped.
TEST_F(CatalogFixture, ACatalogThatAnotherDroppedIsNoneAnyMore) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_TRUE(store->back_up("copy", {}).ok());
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  ASSERT_TRUE(open(*other_disk_)->sessions(R"({"rescan":true})").ok());
  EXPECT_TRUE(store->restore("copy", R"({"sessions":["s5"],"overwrite":true})").ok());
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  ASSERT_TRUE(open(*other_disk_)->sessions(R"({"rescan":true})").ok());
  add(*store, "s6", "added", "rare");
  EXPECT_TRUE(store->delete_session("s7").ok());
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"added", "first-s0", "first-s1"}));
}

TEST_F(CatalogFixture, ABackupHasNone) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_TRUE(store->back_up("copy", {}).ok());
  const auto copy = open(disk_, "copy");
  EXPECT_EQ(count_of(*copy), int64_t{kMany});
  add(*store, "s9", "later", "rare");
  ASSERT_TRUE(store->back_up("copy", {}).ok());
  EXPECT_EQ(ask(*copy, kRare).ids, (CatalogIds{"first-s0", "first-s1", "later"}));
  EXPECT_FALSE(disk_.exists("copy/indices/catalog/memory.jsonl"));
}

TEST_F(CatalogFixture, ANewListOfSessionsMeansThatAllAreLookedAt) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  // A session's files in the place of another's, as somebody copies them.
  for (const std::string name : {"memory.jsonl", "metadata.json", "index.bin"}) {
    std::string text = *disk_.read_file("store/sessions/s0/memory.jsonl");
    if (name != "memory.jsonl") continue;
    disk_.write_file("store/sessions/by-hand/" + name, text);
  }
  ASSERT_TRUE(store->sessions(R"({"rescan":true})").ok());
  EXPECT_FALSE(disk_.exists(kCatalogLog));
  EXPECT_EQ(count_of(*store), int64_t{kMany} + 1);
  EXPECT_EQ(count_of(*store), 3);
}

TEST_F(CatalogFixture, AnotherListInThePlaceOfTheOneThatWasCoveredIsSeen) {
  {
    const auto store = open(disk_);
    make_many(*store);
    ASSERT_EQ(count_of(*store), int64_t{kMany});
    const auto elsewhere = open(disk_, "elsewhere");
    make(*elsewhere, "h39");
    add(*elsewhere, "h39", "by-hand", "rare");
  }
  // The same file with a row of the same length.
  for (const std::string name : {"memory.jsonl", "metadata.json", "lock"}) {
    disk_.write_file("store/sessions/h39/" + name,
                     *disk_.read_file("elsewhere/sessions/h39/" + name));
  }
  std::string rows = *disk_.read_file("store/indices/sessions.jsonl");
  rows.replace(rows.find("\"s39\""), 5, "\"h39\"");
  disk_.write_file("store/indices/sessions.jsonl", rows);
  EXPECT_EQ(ask(*open(disk_), kRare).ids, (CatalogIds{"by-hand", "first-s0", "first-s1"}));
}

// Somebody may make one at that moment: without its lock it must not lose its name.
TEST_F(CatalogFixture, WhereThereIsNoneNothingIsDropped) {
  const auto store = open(disk_);
  make(*store, "s");
  int operation_count = 0;
  int moved_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    operation_count += 1;
    moved_count += operation.kind == io::OperationKind::kMove ? 1 : 0;
    return {};
  });
  EXPECT_TRUE(store->sessions(R"({"rescan":true})").ok());
  disk_.set_fault_hook({});
  EXPECT_GT(operation_count, 0);
  EXPECT_EQ(moved_count, 0);
}

TEST_F(CatalogFixture, TwoRebuildTheListAtOnce) {
  const auto other = open(*other_disk_);
  make_many(*other);
  ask(*other, kRare);
  const auto store = open(disk_);  // which has not read the catalog
  ASSERT_TRUE(disk_.exists(kCatalogLog));
  bool was_dropped = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_about_to_drop = operation.kind == io::OperationKind::kLock &&
                                  operation.process_id != 2002 &&
                                  operation.path.ends_with("indices/catalog/lock");
    if (is_about_to_drop && !std::exchange(was_dropped, true)) {
      EXPECT_TRUE(other->sessions(R"({"rescan":true})").ok());
    }
    return {};
  });
  const auto listed = store->sessions(R"({"rescan":true,"limit":1000})");
  disk_.set_fault_hook({});
  ASSERT_TRUE(was_dropped);
  ASSERT_TRUE(listed.ok()) << listed.status().message();
  EXPECT_EQ(listed->get("sessions")->items().size(), kMany);
  EXPECT_FALSE(disk_.exists(kCatalogLog));
}

TEST_F(CatalogFixture, ADamagedCatalogIsMadeAnew) {
  {
    const auto store = open(disk_);
    make_many(*store);
    ASSERT_EQ(count_of(*store), int64_t{kMany});
  }
  const std::string text = *disk_.read_file(kCatalogLog);
  for (size_t at = 5; at < text.size(); at += text.size() / 50) {
    const auto crashed = disk_.crash(disk_.keep_all());
    std::string damaged = text;
    damaged[at] = damaged[at] == '#' ? '%' : '#';
    crashed->write_file(kCatalogLog, damaged);
    const auto store = open(*crashed);
    EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1"})) << at;
    EXPECT_EQ(ask(*store, R"("tags":{"include":["common"]})").ids.size(), kMany - 2) << at;
  }
}

// Who keeps copies of files may bring an older one back, or a part of it.
TEST_F(CatalogFixture, ACatalogThatLostItsEndIsMadeAnew) {
  {
    const auto store = open(disk_);
    make_many(*store);
    ASSERT_EQ(count_of(*store), int64_t{kMany});
    add(*store, "s9", "later", "rare");
  }
  const std::string text = *disk_.read_file(kCatalogLog);
  const CatalogIds all = {"first-s0", "first-s1", "later"};
  for (size_t at = 0; at < text.size(); at += text.size() / 20) {
    const size_t line_end = text.find('\n', at) + 1;
    for (const size_t length : {at, line_end}) {
      if (length == text.size()) continue;
      for (const bool is_written_to : {false, true}) {
        const auto crashed = disk_.crash(disk_.keep_all());
        crashed->write_file(kCatalogLog, text.substr(0, length));
        if (is_written_to) add(*open(*crashed), "s8", "common", "common");  // of which it is told
        EXPECT_EQ(ask(*open(*crashed), kRare).ids, all) << length << is_written_to;
      }
    }
  }
}

TEST_F(CatalogFixture, DamageThatAWriterMetFirstIsSeenByTheNextQuery) {
  {
    const auto store = open(disk_);
    make_many(*store);
    ASSERT_EQ(count_of(*store), int64_t{kMany});
    add(*store, "s9", "later", "rare");
  }
  std::string text = *disk_.read_file(kCatalogLog);
  text[text.rfind("checksum")] = 'C';
  disk_.write_file(kCatalogLog, text);
  disk_.write_file("store/indices/catalog/index.bin", "");
  add(*open(disk_), "s8", "common", "common");
  EXPECT_EQ(ask(*open(disk_), kRare).ids, (CatalogIds{"first-s0", "first-s1", "later"}));
}

TEST_F(CatalogFixture, ACatalogThatTakesNothingIsDropped) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_of_catalog = operation.path.find("catalog/memory.jsonl") != std::string::npos;
    if (is_of_catalog && operation.kind == io::OperationKind::kAppend) return io::Fault{EIO};
    return {};
  });
  add(*store, "s9", "added", "rare");
  EXPECT_FALSE(disk_.exists(kCatalogLog));
  disk_.set_fault_hook({});
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"added", "first-s0", "first-s1"}));
}

// A catalog that was taken away may be back after a loss of power: it knows nothing of what was
// added since, and must not be believed.
TEST_F(CatalogFixture, ADroppedCatalogThatComesBackHidesNothing) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  bool is_dropping = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_of_catalog = operation.path.find("catalog/memory.jsonl") != std::string::npos;
    if (is_of_catalog && operation.kind == io::OperationKind::kAppend) return io::Fault{EIO};
    is_dropping = is_dropping || operation.kind == io::OperationKind::kMove;
    const bool is_sync = operation.kind == io::OperationKind::kSyncDirectory;
    if (is_dropping && is_sync) return io::Fault{EIO};  // of its new absence
    return {};
  });
  (void)try_to_add(*store, "s9", "first", "rare").ok();
  ASSERT_TRUE(is_dropping);
  disk_.set_fault_hook({});
  add(*store, "s8", "second", "rare");
  const auto after = disk_.crash();
  ASSERT_TRUE(after->exists(kCatalogLog)) << "it did not come back";
  EXPECT_TRUE(ask(*open(*after), kRare).ids.contains("second"));
}

TEST_F(CatalogFixture, NothingIsAddedThatTheCatalogDoesNotKnow) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_of_catalog = operation.path.find("catalog") != std::string::npos;
    const bool is_write =
        operation.kind == io::OperationKind::kAppend || operation.kind == io::OperationKind::kMove;
    if (is_of_catalog && is_write) return io::Fault{EIO};
    return {};
  });
  const Status refused = try_to_add(*store, "s9", "refused", "rare");
  EXPECT_EQ(refused.code(), Code::kIo);
  EXPECT_NE(refused.message().find("catalog"), std::string::npos) << refused.message();
  disk_.set_fault_hook({});
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1"}));
  add(*store, "s9", "taken", "rare");
  EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"first-s0", "first-s1", "taken"}));
}

TEST_F(CatalogFixture, ItHasNoWordsOfTheSessions) {
  {
    const auto store = open(disk_);
    make_many(*store);
    ASSERT_EQ(count_of(*store, R"("user_id":"ann",)" + kRare), int64_t{kMany / 2});
    add(*store, "s9", "later", "rare");
  }
  for (const auto& path : disk_.list_all()) {
    if (path.find("indices/catalog/") == std::string::npos || path.ends_with('/')) continue;
    const std::string text = *disk_.read_file(path);
    for (const std::string_view word : {"rare", "common", "kind", "ann", "bob"}) {
      EXPECT_EQ(text.find(word), std::string::npos) << word << " in " << path;
    }
  }
  EXPECT_TRUE(disk_.exists(kCatalogLog));
}

TEST_F(CatalogFixture, WhatWasSaidBeforeIsRemovedInTheEnd) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  const size_t size_bytes = disk_.read_file(kCatalogLog)->size();
  for (int round = 0; round < 40; ++round) {
    for (size_t i = 0; i < kSessionsWorthCatalog; ++i) {
      add(*store, session_name(i), std::to_string(round) + session_name(i), "common");
    }
    ASSERT_EQ(count_of(*store), int64_t{kSessionsWorthCatalog}) << round;
  }
  EXPECT_EQ(count_of(*store), 2);
  // 2,560 entries more were written than there are now.
  EXPECT_LT(disk_.read_file(kCatalogLog)->size(), size_bytes * 20);
}

// Whoever opens it reads all that was ever removed.
TEST_F(CatalogFixture, OneOfWhichMuchWasRemovedIsMadeAnew) {
  constexpr size_t kRemovedCount = 12'000;
  const std::string tombstones = "store/indices/catalog/tombstones.jsonl";
  make_many(*open(disk_));
  ASSERT_EQ(count_of(*open(disk_)), int64_t{kMany});
  std::string removed;
  for (size_t i = 0; i < kRemovedCount; ++i) {
    removed += R"({"id":"r)" + std::to_string(i) + "\"}\n";
  }
  disk_.write_file(tombstones, removed);
  for (size_t i = 0; i < kSessionsWorthCatalog; ++i) {
    add(*open(disk_), session_name(i), "later-" + session_name(i), "common");
  }
  const auto store = open(disk_);
  EXPECT_EQ(count_of(*store), int64_t{kSessionsWorthCatalog});
  EXPECT_FALSE(disk_.exists(tombstones));
  EXPECT_EQ(count_of(*store), int64_t{kMany});
  EXPECT_EQ(count_of(*store), 2);
  EXPECT_LT(disk_.read_file(tombstones)->size(), removed.size() / 100);
}

// Threads of one store add, cover and make sessions; what was answered before a query began, it
// finds.
TEST_F(CatalogFixture, ThreadsAddWhileOthersAsk) {
  const auto store = open(disk_);
  make_many(*store);
  std::atomic<int> added{0};
  std::atomic<int> running{3};
  const auto add_some = [&](int thread) {
    for (int i = 0; i < 40; ++i) {
      const std::string number = std::to_string(thread) + "-" + std::to_string(i);
      const std::string session =
          i % 8 == 0 ? "new" + number : session_name(static_cast<size_t>(i));
      if (i % 8 == 0) {
        EXPECT_TRUE(store->create_session(R"({"session_id":")" + session + "\"}").ok());
      }
      Status status = try_to_add(*store, session, "t" + number, "rare");
      // The clock goes on by sleeping only, so a thread may have waited its seconds for the lock
      // before its holder, another thread, had a processor again.
      while (status.code() == Code::kBusy) {
        std::this_thread::yield();
        status = try_to_add(*store, session, "t" + number, "rare");
      }
      EXPECT_TRUE(status.ok()) << status.message();
      ++added;
    }
    --running;
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) threads.emplace_back(add_some, thread);
  while (running > 0) {
    const int at_least = added;
    const Answer answer = ask(*store, kRare);
    EXPECT_GE(answer.ids.size(), static_cast<size_t>(at_least) + 2);
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ask(*store, kRare).ids.size(), 3u * 40 + 2);
}

}  // namespace
}  // namespace varve::store
