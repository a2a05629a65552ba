// A session that another process deleted, and perhaps made anew, while somebody here still has a
// handle to the one before: that handle is of no use, and in nobody's way.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "unit/store/catalog_rig.h"

namespace varve::store {
namespace {

constexpr std::string_view kTea = R"({"id":"a","type":"finding","content":"tea"})";
constexpr int64_t kHourMs = 3'600'000;

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
