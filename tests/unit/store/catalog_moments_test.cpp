// The catalog while other processes work, disks fail, memory ends, and the power goes at any
// moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "session/upkeep/compaction.h"
#include "support/no_memory/no_memory.h"
#include "support/scale.h"
#include "unit/store/catalog_rig.h"

namespace varve::store {
namespace {

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
        for (size_t i = 0; i < kSessionsWorthCatalog; ++i) {
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
  const size_t percent = test::scaled(100, 100, 15);  // of the moments
  uint64_t next = 0;
  size_t state_count = 0;
  const auto hook = [&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (HasFatalFailure() || operation.ordinal < next) return {};
    next = operation.ordinal + (40 + random() % 400) * 100 / percent;
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
  EXPECT_GT(state_count, 60 * percent / 100);
}

// Only then is it said up to where sessions were covered, and what is outdated removed.
TEST_F(CatalogCrashes, WhatIsCoveredIsDurableBeforeItIsReliedOn) {
  make_many(*open(disk_));
  for (const bool is_first : {true, false}) {
    const auto store = open(disk_);
    if (!is_first) {
      for (size_t i = 0; i <= kSessionsWorthCatalog; ++i) {
        add(*store, session_name(i), "second-" + session_name(i), i == 20 ? "rare" : "common");
      }
    }
    size_t state_count = 0;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool is_of_catalog = operation.path.starts_with("store/indices/catalog/");
      const bool is_behind_a_change = operation.kind == io::OperationKind::kUnlock;
      if (HasFailure() || !is_of_catalog || !is_behind_a_change) return {};
      const auto check_state = [&](std::unique_ptr<io::SimulatedFileSystem> state,
                                   const io::CrashPlan& plan) {
        if (!HasFailure()) check(*state, operation.path + "\n" + disk_.describe(plan));
      };
      state_count += disk_.for_each_crash_state(check_state, 6);
      return {};
    });
    EXPECT_GT(count_of(*store), int64_t{kSessionsWorthCatalog});
    disk_.set_fault_hook({});
    EXPECT_GT(state_count, 10U);
  }
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
    for (size_t i = 0; i <= kSessionsWorthCatalog; ++i) {
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
    const CatalogIds found = ask(store, kRare).ids;
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

  CatalogIds before_;
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
          const CatalogIds all = asked_of_all(*one, kRare);
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

// Memory ends at each allocation of an add that is noted, and of a query that covers.
TEST_F(CatalogFaults, MemoryThatEnds) {
  const auto end_at_each = [&](int64_t step, const std::function<Status(Store&)>& action) {
    bool was_met = true;
    for (int64_t allowed = 0; was_met && !HasFailure(); allowed += step) {
      const auto disk = disk_.crash(disk_.keep_all());
      const auto store = open(*disk);
      Status status;
      try {
        const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
        status = action(*store);
        was_met = limit.was_met();
      } catch (const std::bad_alloc&) {
        status = Status::out_of_memory();  // as the ABI answers
      }
      if (!status.ok()) failed_count_ += 1;
      for (const auto& one : {store, open(*disk)}) {
        const CatalogIds all = asked_of_all(*one, kRare);
        EXPECT_EQ(ask(*one, kRare).ids, all) << "at allocation " << allowed;
        EXPECT_TRUE(!status.ok() || wanted_.empty() || all.contains(wanted_)) << allowed;
      }
    }
  };
  wanted_ = "rare-s38";
  end_at_each(7, [](Store& store) { return try_to_add(store, "s38", "rare-s38", "rare"); });
  EXPECT_GT(failed_count_, 10u);
  wanted_.clear();
  end_at_each(397, [](Store& store) { return store.query("{" + kRare + "}").status(); });
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
        for (size_t i = 0; i <= kSessionsWorthCatalog; ++i) {
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

// Another thread of the store finds that the catalog takes nothing while a query asks the sessions
// that came since it was made: one made of these alone would hide all others.
TEST_F(CatalogFixture, WhatAQueryFoundInACatalogThatIsDroppedMeanwhileMakesNoNewOne) {
  const auto store = open(disk_);
  make_many(*store);
  ASSERT_EQ(count_of(*store), int64_t{kMany});
  for (size_t i = kMany; i < 2 * kMany; ++i) {
    make(*store, session_name(i));
    add(*store, session_name(i), "first-" + session_name(i), "common");
  }
  std::string lines;
  store->set_log(
      session::Level::kWarn,
      [](void* data, int32_t, const char* line, size_t len) {
        static_cast<std::string*>(data)->append(line, len);
      },
      &lines);
  bool is_dropping = false;
  bool was_dropped = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (!was_dropped && operation.path.find("sessions/s60/") != std::string::npos) {
      was_dropped = is_dropping = true;
      add(*store, "s9", "second-s9", "common");
      is_dropping = false;
    }
    const bool is_of_catalog = operation.path.find("catalog/memory.jsonl") != std::string::npos;
    const bool is_refused = is_dropping && operation.kind == io::OperationKind::kAppend;
    return is_of_catalog && is_refused ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  const auto asked = [&] { return ask(*store, kRare).ids; };
  EXPECT_EQ(asked(), (CatalogIds{"first-s0", "first-s1"}));
  disk_.set_fault_hook({});
  ASSERT_TRUE(was_dropped);
  store->deliver_events();
  store->set_log(session::Level::kWarn, nullptr, nullptr);
  EXPECT_EQ(lines.find("no catalog"), std::string::npos) << "the next query makes another";
  EXPECT_EQ(asked(), (CatalogIds{"first-s0", "first-s1"}));
  EXPECT_EQ(count_of(*store), 2);
}

}  // namespace
}  // namespace varve::store
