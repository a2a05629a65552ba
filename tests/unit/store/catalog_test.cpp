// The catalog: queries across sessions open those that may have what is asked for, and find all
// the same what queries that name every session find, whoever changes them meanwhile.
#include "store/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/simulated.h"
#include "json/document.h"
#include "log/storage.h"
#include "session/compaction.h"
#include "store/store.h"
#include "support/environment.h"

namespace varve::store {
namespace {

using Ids = std::set<std::string>;

constexpr size_t kMany = Catalog::kWorthTaking + 8;
constexpr std::string_view kLog = "store/indices/catalog/memory.jsonl";
const std::string kRare = R"("tags":{"include":["rare"]})";

std::string session_name(size_t number) { return "s" + std::to_string(number); }

class CatalogFixture : public testing::Test {
 protected:
  // A process of its own.
  std::shared_ptr<Store> open(io::SimulatedFileSystem& files, std::string_view path = "store") {
    auto opened = Store::open(path, R"({"threads":1})", {&files, &clock_, &random_});
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *opened : nullptr;
  }
  void make(Store& store, const std::string& id, const std::string& more = {}) {
    const auto made = store.create_session(R"({"session_id":")" + id + "\"" + more + "}");
    ASSERT_TRUE(made.ok()) << made.status().message();
    clock_.advance_ms(1);
  }
  static Status try_to_add(Store& store, const std::string& session, const std::string& id,
                           const std::string& tag) {
    VARVE_TRY_ASSIGN(const auto opened, store.open_session(session));
    return opened
        ->add(R"({"id":")" + id + R"(","type":"finding","content":"x","tags":[")" + tag + "\"]}")
        .status();
  }
  static void add(Store& store, const std::string& session, const std::string& id,
                  const std::string& tag) {
    const Status added = try_to_add(store, session, id, tag);
    ASSERT_TRUE(added.ok()) << added.message();
  }
  // Sessions with one entry each, the first two of which have the tag.
  void make_many(Store& store, size_t count = kMany) {
    for (size_t i = 0; i < count; ++i) {
      const std::string user = i % 2 == 0 ? "ann" : "bob";
      make(store, session_name(i), R"(,"user_id":")" + user + "\"");
      add(store, session_name(i), "first-" + session_name(i), i < 2 ? "rare.kind" : "common");
    }
  }
  struct Answer {
    Ids ids;
    int64_t session_count = -1;  // that were looked at
    friend void PrintTo(const Answer& answer, std::ostream* out) {
      for (const auto& id : answer.ids) *out << id << " ";
      *out << "of " << answer.session_count;
    }
  };
  static Answer ask(Store& store, const std::string& conditions) {
    const auto found = store.query("{" + conditions + R"(,"limit":1000,"explain":true})");
    EXPECT_TRUE(found.ok()) << found.status().message();
    Answer answer;
    if (!found.ok()) return answer;
    EXPECT_TRUE(found->left_out.ok()) << found->left_out.message();
    for (const auto& result : found->results) answer.ids.insert(result.id);
    answer.session_count = json::Tree::parse(found->explanation)->get_int64("sessions");
    return answer;
  }
  static int64_t count_of(Store& store, const std::string& conditions = kRare) {
    return ask(store, conditions).session_count;
  }
  // With every session named there is nothing to choose.
  static Ids asked_of_all(Store& store, const std::string& conditions) {
    const auto listed = store.sessions(R"({"limit":1000})");
    EXPECT_TRUE(listed.ok()) << listed.status().message();
    std::string names;
    for (const auto& row : listed->get("sessions")->items()) {
      names += (names.empty() ? "\"" : ",\"") + row.get_string("session_id") + "\"";
    }
    if (names.empty()) return {};
    return ask(store, conditions + R"(,"session_ids":[)" + names + "]").ids;
  }

  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> other_disk_ = disk_.process(2002);
  test::ManualClock clock_;
  test::SeededRandom random_;
};

TEST_F(CatalogFixture, TheSecondQueryOpensOnlyTheSessionsConcerned) {
  const auto store = open(disk_);
  make_many(*store);
  const Ids both = {"first-s0", "first-s1"};
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
  make_many(*store, Catalog::kWorthTaking - 1);
  EXPECT_EQ(count_of(*store), int64_t{Catalog::kWorthTaking - 1});
  EXPECT_EQ(count_of(*store), int64_t{Catalog::kWorthTaking - 1});
  EXPECT_FALSE(disk_.exists(kLog));
}

TEST_F(CatalogFixture, AUsersQueryOpensTheUsersSessions) {
  const auto store = open(disk_);
  make_many(*store);
  for (int i = 0; i < 2; ++i) {
    const Answer anns = ask(*store, R"("user_id":"ann",)" + kRare);
    EXPECT_EQ(anns.ids, Ids{"first-s0"});
    EXPECT_EQ(anns.session_count, i == 0 ? int64_t{kMany / 2} : 1);
  }
  // Words are weighed by all that the user has.
  EXPECT_EQ(count_of(*store, R"("user_id":"bob","text":"x",)" + kRare), int64_t{kMany / 2});
  EXPECT_EQ(count_of(*store, R"("user_id":"eve")"), 0);
  EXPECT_EQ(count_of(*store, R"("agent_id":"eve")"), 0);
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
  const Ids all = {"first-s0", "first-s1", "of-other", "own", "of-newest"};
  for (const auto& one : {store, other, open(disk_)}) {
    const Answer answer = ask(*one, kRare);
    EXPECT_EQ(answer.ids, all);
    EXPECT_EQ(answer.session_count, 5);
  }
  // Once, and not with every entry.
  const std::string before = *disk_.read_file(kLog);
  add(*other, "s9", "another", "common");
  EXPECT_EQ(*disk_.read_file(kLog), before);
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
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1", "late"}));
}

TEST_F(CatalogFixture, ADroppedSessionIsForgottenAndMayComeAgain) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  ASSERT_TRUE(store->delete_session("s0").ok());
  EXPECT_EQ(count_of(*store), 1);
  make(*store, "s0");
  add(*store, "s0", "anew", "rare");
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"anew", "first-s1"}));
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
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1", "once"}));
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
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1", "first-s9"}));
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
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1"}));
  const auto salvaging = *Store::open(
      "store", R"({"threads":1,"integrity":{"recovery":"salvage"}})", {&disk_, &clock_, &random_});
  EXPECT_EQ(ask(*salvaging, kRare).ids, (Ids{"b1", "first-s0", "first-s1"}));
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
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1"}));
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
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"added", "first-s0", "first-s1"}));
}

TEST_F(CatalogFixture, ABackupHasNone) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_TRUE(store->back_up("copy", {}).ok());
  const auto copy = open(disk_, "copy");
  EXPECT_EQ(count_of(*copy), int64_t{kMany});
  add(*store, "s9", "later", "rare");
  ASSERT_TRUE(store->back_up("copy", {}).ok());
  EXPECT_EQ(ask(*copy, kRare).ids, (Ids{"first-s0", "first-s1", "later"}));
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
  EXPECT_FALSE(disk_.exists(kLog));
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
  EXPECT_EQ(ask(*open(disk_), kRare).ids, (Ids{"by-hand", "first-s0", "first-s1"}));
}

TEST_F(CatalogFixture, ADamagedCatalogIsMadeAnew) {
  {
    const auto store = open(disk_);
    make_many(*store);
    ASSERT_EQ(count_of(*store), int64_t{kMany});
  }
  const std::string text = *disk_.read_file(kLog);
  for (size_t at = 5; at < text.size(); at += text.size() / 50) {
    const auto crashed = disk_.crash(disk_.keep_all());
    std::string damaged = text;
    damaged[at] = damaged[at] == '#' ? '%' : '#';
    crashed->write_file(kLog, damaged);
    const auto store = open(*crashed);
    EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1"})) << at;
    EXPECT_EQ(ask(*store, R"("tags":{"include":["common"]})").ids.size(), kMany - 2) << at;
  }
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
  EXPECT_FALSE(disk_.exists(kLog));
  disk_.set_fault_hook({});
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"added", "first-s0", "first-s1"}));
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
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1"}));
  add(*store, "s9", "taken", "rare");
  EXPECT_EQ(ask(*store, kRare).ids, (Ids{"first-s0", "first-s1", "taken"}));
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
  EXPECT_TRUE(disk_.exists(kLog));
}

TEST_F(CatalogFixture, WhatWasSaidBeforeIsRemovedInTheEnd) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  const size_t size_bytes = disk_.read_file(kLog)->size();
  for (int round = 0; round < 40; ++round) {
    for (size_t i = 0; i < Catalog::kWorthTaking; ++i) {
      add(*store, session_name(i), std::to_string(round) + session_name(i), "common");
    }
    ASSERT_EQ(count_of(*store), int64_t{Catalog::kWorthTaking}) << round;
  }
  EXPECT_EQ(count_of(*store), 2);
  // 2,560 entries more were written than there are now.
  EXPECT_LT(disk_.read_file(kLog)->size(), size_bytes * 20);
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
      const Status status = try_to_add(*store, session, "t" + number, "rare");
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

// --- several processes, and the end of the power at any moment -----------------------------------

class CatalogCrashes : public CatalogFixture {
 protected:
  // What a store that is opened on the disk of this moment finds.
  void check(const io::SimulatedFileSystem& disk, const std::string& when) {
    const auto after = disk.copy();
    const auto store = open(*after);
    ASSERT_NE(store, nullptr);
    for (const std::string& conditions :
         {kRare, R"("user_id":"ann",)" + kRare, std::string(R"("user_id":"ann")")}) {
      ASSERT_EQ(ask(*store, conditions).ids, asked_of_all(*store, conditions)) << when;
    }
  }
  // A random step of one of two processes.
  void step(std::mt19937& random, int number) {
    Store& store = *stores_[random() % stores_.size()];
    const std::string session = session_name(random() % (kMany + 4));
    const std::string tag = random() % 3 == 0 ? "rare" : "common";
    switch (random() % 8) {
      case 0:
        (void)store.delete_session(session).ok();
        (void)store.create_session(R"({"session_id":")" + session + R"(","user_id":"ann"})").ok();
        break;
      case 1:
        for (size_t i = 0; i < Catalog::kWorthTaking; ++i) {
          (void)try_to_add(store, session_name(i), std::to_string(number), "common").ok();
        }
        break;
      case 2:
      case 3: (void)store.query("{" + kRare + "}").ok(); break;
      case 4:
        if (auto opened = store.open_session(session); opened.ok()) {
          (void)(*opened)->compact(session::CompactionOptions()).ok();
        }
        break;
      default: (void)try_to_add(store, session, std::to_string(number), tag).ok();
    }
    clock_.advance_ms(1);
  }

  std::vector<std::shared_ptr<Store>> stores_;
};

TEST_F(CatalogCrashes, NothingIsMissedAfterAnyLossOfPower) {
  std::mt19937 random(7);
  stores_ = {open(disk_), open(*other_disk_)};
  make_many(*stores_[0]);
  ASSERT_EQ(count_of(*stores_[0]), int64_t{kMany});
  uint64_t next = 0;
  size_t state_count = 0;
  const auto hook = [&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (HasFatalFailure() || operation.ordinal < next) return {};
    next = operation.ordinal + 40 + random() % 400;
    const size_t visited = disk_.for_each_crash_state(
        [&](std::unique_ptr<io::SimulatedFileSystem> state, const io::CrashPlan& plan) {
          check(*state, "before " + std::to_string(operation.ordinal) + " " +
                            io::operation_name(operation.kind) + " " + operation.path + "\n" +
                            disk_.describe(plan));
        },
        3, random());
    state_count += visited;
    return {};
  };
  disk_.set_fault_hook(hook);
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
    step(random, i);
    if (i % 10 == 9) stores_[static_cast<size_t>(random() % 2)] = open(disk_);
  }
  disk_.set_fault_hook({});
  EXPECT_GT(state_count, 60u);
}

// At every few operations of what one process does, another does something in between.
class CatalogRaces : public CatalogCrashes {
 protected:
  using Action = std::function<void(Store&)>;
  static constexpr const char* kRaced = "s15";  // neither the first nor the last that is covered

  void SetUp() override {
    const auto store = open(disk_);
    make_many(*store);
    ASSERT_EQ(count_of(*store), int64_t{kMany});
    // So many that the next query covers them, and one of them has the tag.
    for (size_t i = 0; i <= Catalog::kWorthTaking; ++i) {
      add(*store, session_name(i), "second-" + session_name(i), i == 20 ? "rare" : "common");
    }
    // Its files are all that the races start from.
    before_ = {"first-s0", "first-s1", "second-s20"};
  }
  // `one` with `other` in the middle of it, at the n-th operation; false when there are fewer. With
  // `death`, whoever does `one` is killed that many operations later.
  bool race(uint64_t n, const Action& one, const Action& other, std::optional<uint64_t> death) {
    const auto disk = disk_.crash(disk_.keep_all());
    const auto first = disk->process(2001);
    const auto second = disk->process(2002);
    const auto first_store = open(*first);
    const auto second_store = open(*second);
    // Both have the catalog open, and the second a session that it noted to change.
    (void)try_to_add(*first_store, "s30", "warm", "common").ok();
    const auto held = second_store->open_session(kRaced);
    (void)try_to_add(*second_store, kRaced, "held-raced", "common").ok();
    uint64_t count = 0;
    disk->set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.process_id != first->process_id()) return {};
      if (++count == n) other(*second_store);
      if (death && count == n + *death) first->kill();
      return {};
    });
    one(*first_store);
    disk->set_fault_hook({});
    std::vector<std::shared_ptr<Store>> survivors = {second_store, open(*disk)};
    if (!death) survivors.push_back(first_store);
    for (const auto& store : survivors) {
      EXPECT_EQ(ask(*store, kRare).ids, asked_of_all(*store, kRare)) << "at operation " << n;
    }
    return count >= n;
  }
  void race_at_all(uint64_t step, const Action& one, const Action& other,
                   std::optional<uint64_t> death = {}) {
    uint64_t n = 1;
    // The first ones are those that look into the catalog.
    while (race(n, one, other, death) && !HasFailure()) n += n < 60 ? 1 : step;
    EXPECT_GT(n, 60u) << "hardly any operations";
  }
  // What was there before anybody began is found, whatever goes on.
  void ask_for_all(Store& store) {
    const Ids found = ask(store, kRare).ids;
    EXPECT_TRUE(std::includes(found.begin(), found.end(), before_.begin(), before_.end()))
        << testing::PrintToString(found);
  }
  // The other may be in the middle of a write to it.
  static bool worked(const Status& status) {
    EXPECT_TRUE(status.ok() || status.code() == Code::kBusy) << status.message();
    return status.ok();
  }
  static void add_rare(Store& store) {
    (void)worked(try_to_add(store, kRaced, "rare-raced", "rare"));
  }
  static void add_common(Store& store) {
    (void)worked(try_to_add(store, "s20", "common-s20", "common"));
  }

  Ids before_;
};

// A disk that fails at each operation, once and from then on.
class CatalogFaults : public CatalogRaces {
 protected:
  void fail_at_each(uint64_t step, const std::function<Status(Store&)>& action) {
    for (const bool sticky : {false, true}) {
      uint64_t n = 1;
      bool happened = true;
      for (; happened && !HasFailure(); n += step) {
        const auto disk = disk_.crash(disk_.keep_all());
        const auto store = open(*disk);
        const io::FailNth fail(n, EIO, sticky);
        disk->set_fault_hook(fail);
        const Status status = action(*store);
        disk->set_fault_hook({});
        happened = fail.matched() >= n;
        if (!status.ok()) failed_count_ += 1;
        for (const auto& one : {store, open(*disk)}) {
          const Ids all = asked_of_all(*one, kRare);
          EXPECT_EQ(ask(*one, kRare).ids, all) << "at operation " << n;
          EXPECT_TRUE(!status.ok() || !wanted_.size() || all.contains(wanted_)) << n;
        }
      }
      EXPECT_GT(n, 10 * step) << "hardly any operations";
    }
  }
  size_t failed_count_ = 0;
  std::string wanted_;  // is there when the action was answered so
};

TEST_F(CatalogFaults, AnAddThatIsNoted) {
  wanted_ = "rare-raced";
  fail_at_each(1, [](Store& store) { return try_to_add(store, "s38", "rare-raced", "rare"); });
  EXPECT_GT(failed_count_, 10u);
}

TEST_F(CatalogFaults, AQueryThatCovers) {
  fail_at_each(17, [](Store& store) { return store.query("{" + kRare + "}").status(); });
  EXPECT_GT(failed_count_, 3u) << "others leave a session out";
}

TEST_F(CatalogFaults, ARestore) {
  {
    const auto store = open(disk_);
    add(*store, "s38", "rare-s38", "rare");
    ASSERT_TRUE(store->back_up("copy", {}).ok());
    ASSERT_TRUE(store->delete_session("s38").ok());
    make(*store, "s38");
    (void)count_of(*store);
  }
  wanted_ = "rare-s38";
  fail_at_each(3, [](Store& store) {
    return store.restore("copy", R"({"sessions":["s38"],"overwrite":true})").status();
  });
  EXPECT_GT(failed_count_, 10u);
}

TEST_F(CatalogRaces, AQueryAndAnother) {
  race_at_all(
      37, [&](Store& store) { ask_for_all(store); }, [&](Store& store) { ask_for_all(store); });
}

TEST_F(CatalogRaces, AQueryAndAnAdd) {
  race_at_all(
      37, [&](Store& store) { ask_for_all(store); }, add_rare);
}

TEST_F(CatalogRaces, AnAddAndAQuery) {
  race_at_all(1, add_rare, [&](Store& store) { ask_for_all(store); });
}

// Between any two looks of a query that covers nothing, another covers.
TEST_F(CatalogRaces, AShortQueryAndManyChanges) {
  {
    const auto store = open(disk_);
    ask_for_all(*store);
  }
  race_at_all(
      1, [&](Store& store) { ask_for_all(store); },
      [&](Store& store) {
        for (size_t i = 0; i <= Catalog::kWorthTaking; ++i) {
          (void)worked(try_to_add(store, session_name(i), "third-" + session_name(i), "common"));
        }
        (void)ask(store, kRare);
      });
}

TEST_F(CatalogRaces, ADroppedSessionThatComesAgainAndAQuery) {
  const auto renew = [&](Store& store) {
    if (!worked(store.delete_session(kRaced))) return;
    if (worked(store.create_session(R"({"session_id":"s15"})").status())) add_rare(store);
  };
  race_at_all(2, renew, [&](Store& store) { ask_for_all(store); });
  race_at_all(
      37, [&](Store& store) { ask_for_all(store); }, renew);
}

class CatalogRestores : public CatalogRaces {
 protected:
  void set_up(bool is_present) {
    const auto store = open(disk_);
    add(*store, kRaced, "rare-raced", "rare");
    ASSERT_TRUE(store->back_up("copy", {}).ok());
    ASSERT_TRUE(store->delete_session(kRaced).ok());
    if (!is_present) return;
    make(*store, kRaced);
    add(*store, kRaced, "common-raced", "common");
  }
  static void restore(Store& store) {
    (void)store.restore("copy", R"({"sessions":["s15"],"overwrite":true})").ok();
  }
};

TEST_F(CatalogRestores, OverASessionAndAQuery) {
  set_up(true);
  race_at_all(1, restore, [&](Store& store) { ask_for_all(store); });
}

TEST_F(CatalogRestores, AndAQuery) {
  set_up(false);
  race_at_all(1, restore, [&](Store& store) { ask_for_all(store); });
}

TEST_F(CatalogRestores, ThatEndInTheMiddleAndAQuery) {
  set_up(false);
  for (const uint64_t death : {1u, 3u, 9u}) {
    race_at_all(
        2, restore, [&](Store& store) { ask_for_all(store); }, death);
  }
}

TEST_F(CatalogCrashes, TwoProcessesFindWhatEitherAdds) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto disk = disk_.copy();
    const auto other = disk->process(2002);
    stores_ = {open(*disk), open(*other)};
    make_many(*stores_[0]);
    for (int i = 0; i < 60; ++i) {
      step(random, i);
      for (const auto& store : stores_) {
        ASSERT_EQ(ask(*store, kRare).ids, asked_of_all(*store, kRare)) << i;
      }
    }
    stores_.clear();  // before their disk
  }
}

}  // namespace
}  // namespace varve::store
