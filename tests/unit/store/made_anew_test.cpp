// A session that another process deleted, and perhaps made anew, while somebody here still has a
// handle to the one before: that handle is of no use, and in nobody's way.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "unit/store/catalog_rig.h"

namespace varve::store {
namespace {

constexpr std::string_view kTea = R"({"id":"a","type":"finding","content":"tea"})";
constexpr int64_t kHourMs = 3'600'000;

constexpr int64_t kTaker = 4711;  // a process id

class MadeAnewByAnother : public CatalogFixture {
 protected:
  void SetUp() override {
    store_ = open(disk_);
    other_ = open(*other_disk_);
  }
  // Here "s" is open, and is not there any more.
  std::shared_ptr<session::Session> old_handle(const std::string& more = {}) {
    make(*store_, "s", more);
    const auto old = store_->open_session("s");
    EXPECT_TRUE(old.ok()) << old.status().message();
    EXPECT_TRUE(other_->delete_session("s").ok());
    return old.ok() ? *old : nullptr;
  }
  // What the store tells of what goes wrong.
  void keep_warnings() {
    store_->set_log(
        session::Level::kWarn,
        [](void* data, int32_t, const char* line, size_t length) {
          static_cast<std::string*>(data)->append(line, length).append("\n");
        },
        &warnings_);
  }
  // A process that deletes "s" is killed when nobody finds it by its name any more, and nothing of
  // it, or only metadata.json, is removed.
  void leave_deleted(bool has_metadata) {
    const auto process = disk_.process(kTaker);
    const auto taker = open(*process);
    const std::string_view last_call = has_metadata ? "metadata.json" : "memory.jsonl";
    bool was_killed = false;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      const bool is_last = operation.kind == io::OperationKind::kRemove &&
                           operation.process_id == kTaker && operation.name == last_call;
      if (is_last) process->kill();
      was_killed = was_killed || is_last;
      return {};
    });
    (void)taker->delete_session("s").ok();
    disk_.set_fault_hook({});
    EXPECT_TRUE(was_killed) << "it was deleted as a whole";
  }

  std::string warnings_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<Store> other_;
};

TEST_F(MadeAnewByAnother, WhoCreatesOneOfThatIdHasTheNewOne) {
  const auto old = old_handle();
  const auto made = store_->create_session(R"({"session_id":"s"})");
  ASSERT_TRUE(made.ok()) << made.status().message();
  const auto added = (*made)->add(kTea);
  EXPECT_TRUE(added.ok()) << added.status().message();
  EXPECT_EQ(old->get("a").code(), Code::kNotFound) << "it stays with the old one";
  EXPECT_EQ(store_->open_session("s")->get(), made->get());
  EXPECT_TRUE((*other_->open_session("s"))->get("a").ok());
}

// Entries that were not synced went with it.
TEST_F(MadeAnewByAnother, WhoClosesTheOldOneTellsOfNoLoss) {
  keep_warnings();
  make(*store_, "s", R"(,"durability":"os")");
  auto old = *store_->open_session("s");
  ASSERT_TRUE(old->add(kTea).ok());
  ASSERT_TRUE(other_->delete_session("s").ok());
  old.reset();
  store_->deliver_events();
  EXPECT_EQ(warnings_, "");
}

// What is left of the old one can still be read, until it is swept.
TEST_F(MadeAnewByAnother, WhoOpensItHasTheNewOneThoughADeletionWasKilled) {
  for (const bool has_metadata : {true, false}) {
    make(*store_, "s");
    const auto old = *store_->open_session("s");
    leave_deleted(has_metadata);
    make(*other_, "s");
    ASSERT_TRUE((*other_->open_session("s"))->add(kTea).ok());
    const auto opened = store_->open_session("s");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    EXPECT_NE(opened->get(), old.get());
    EXPECT_TRUE((*opened)->get("a").ok());
    EXPECT_TRUE((*opened)->remove("a", "").ok());
    ASSERT_TRUE(store_->delete_session("s").ok());
  }
}

TEST_F(MadeAnewByAnother, OneThatIsBeingDeletedIsNotTakenForDamaged) {
  keep_warnings();
  make(*store_, "s");
  const auto session = *store_->open_session("s");
  ASSERT_TRUE(session->add(kTea).ok());
  leave_deleted(false);
  EXPECT_EQ(session->verify(false, {}).code(), Code::kNotFound);
  EXPECT_EQ(session->repair(true, false).code(), Code::kNotFound);
  store_->deliver_events();
  EXPECT_EQ(warnings_, "");
}

TEST_F(MadeAnewByAnother, WhoOpensItMeanwhileTakesNoDamageForGranted) {
  keep_warnings();
  make(*store_, "s");
  bool is_deleted = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool reads =
        operation.kind == io::OperationKind::kOpen && operation.name == "metadata.json";
    if (reads && !std::exchange(is_deleted, true)) {
      EXPECT_TRUE(other_->delete_session("s").ok());
    }
    return {};
  });
  EXPECT_EQ(store_->open_session("s").code(), Code::kNotFound);
  disk_.set_fault_hook({});
  ASSERT_TRUE(is_deleted);
  store_->deliver_events();
  EXPECT_EQ(warnings_, "");
}

// Its copy would have neither owner nor title.
TEST_F(MadeAnewByAnother, OneThatIsDeletedMeanwhileIsNotBackedUpWithoutItsMetadata) {
  make(*store_, "s");
  const auto process = disk_.process(kTaker);
  const auto taker = open(*process);
  bool is_deleted = false;
  bool was_killed = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_metadata = operation.name == "metadata.json";
    if (operation.process_id == kTaker) {
      if (operation.kind != io::OperationKind::kRemove || is_metadata) return {};
      process->kill();
      was_killed = true;
    } else if (operation.kind == io::OperationKind::kOpen && is_metadata && !is_deleted) {
      is_deleted = true;
      (void)taker->delete_session("s").ok();
    }
    return {};
  });
  const auto report = store_->back_up("backup", "");
  disk_.set_fault_hook({});
  ASSERT_TRUE(is_deleted);
  ASSERT_TRUE(was_killed) << "it was deleted as a whole";
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_FALSE(disk_.exists("backup/sessions/s")) << report->canonical();
}

// A list may have it as it was before or as it is afterwards.
TEST_F(MadeAnewByAnother, ItIsListedWithItsOwnMetadata) {
  make(*store_, "s", R"(,"user_id":"ann","title":"tea")");
  bool is_made_anew = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool reads =
        operation.kind == io::OperationKind::kOpen && operation.name == "metadata.json";
    if (reads && !std::exchange(is_made_anew, true)) {
      EXPECT_TRUE(other_->delete_session("s").ok());
      make(*other_, "s", R"(,"user_id":"bob","title":"coffee")");
    }
    return {};
  });
  const auto listed = store_->sessions(R"({"user_id":"ann"})");
  disk_.set_fault_hook({});
  ASSERT_TRUE(is_made_anew);
  ASSERT_TRUE(listed.ok()) << listed.status().message();
  EXPECT_TRUE(listed->get("sessions")->items().empty()) << listed->canonical();
}

TEST_F(MadeAnewByAnother, OneThatHasExpiredGivesItsIdFree) {
  const auto old = old_handle();
  make(*other_, "s", R"(,"ttl_hours":1)");
  clock_.advance_ms(2 * kHourMs);
  const auto made = store_->create_session(R"({"session_id":"s"})");
  EXPECT_TRUE(made.ok()) << made.status().message();
}

TEST_F(MadeAnewByAnother, OneThatHasExpiredIsSwept) {
  const auto old = old_handle();
  make(*other_, "s", R"(,"ttl_hours":1)");
  clock_.advance_ms(2 * kHourMs);
  EXPECT_EQ(store_->sweep()->get_int64("sessions_removed"), 1);
  EXPECT_EQ(other_->open_session("s").code(), Code::kNotFound);
}

// A query of others' sessions has no look at it, but covers it with all that changed.
TEST_F(MadeAnewByAnother, ACatalogDoesNotTakeItForDeleted) {
  make_many(*store_);
  ASSERT_EQ(count_of(*store_), int64_t{kMany});
  const auto old = store_->open_session("s1");
  ASSERT_TRUE(old.ok());
  ASSERT_TRUE(other_->delete_session("s1").ok());
  make(*other_, "s1", R"(,"user_id":"bob")");
  add(*other_, "s1", "again", "rare");
  for (size_t i = 2; i < kMany; ++i) {
    add(*other_, session_name(i), "second-" + session_name(i), "common");
  }
  EXPECT_EQ(ask(*store_, R"("user_id":"ann",)" + kRare).ids, (CatalogIds{"first-s0"}));
  for (const auto& store : {store_, other_, open(disk_)}) {
    EXPECT_EQ(ask(*store, kRare).ids, (CatalogIds{"again", "first-s0"}));
    EXPECT_EQ(ask(*store, kRare).ids, asked_of_all(*store, kRare));
  }
}

// Between the end of a deletion and its answer somebody else may have made it anew.
TEST_F(MadeAnewByAnother, InTheMiddleOfADeletionItStaysTheOneOfItsStore) {
  make(*store_, "s");
  std::shared_ptr<session::Session> made;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind != io::OperationKind::kRemoveDirectory || made) return {};
    const auto anew = store_->create_session(R"({"session_id":"s"})");
    EXPECT_TRUE(anew.ok()) << anew.status().message();
    if (anew.ok()) made = *anew;
    return {};
  });
  EXPECT_TRUE(store_->delete_session("s").ok());
  disk_.set_fault_hook({});
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(store_->open_session("s")->get(), made.get());
  EXPECT_TRUE(made->add(kTea).ok());
}

}  // namespace
}  // namespace varve::store
