// What a user may take: when it is counted, and what happens when it cannot be.
#include "store/user_quota.h"

#include <gtest/gtest.h>

#include <string>

#include "support/environment.h"

namespace varve::store {
namespace {

class UserQuotas : public testing::Test {
 protected:
  Result<UserQuota::Use> count(const std::string& user_id) {
    counted_ += user_id + " ";
    if (failure_ != Code::kOk) return Status(failure_, "the disk failed");
    return use_;
  }

  Code create(const std::string& user_id) {
    return quota_.create_session(user_id, [] { return Result<int>(1); }).code();
  }

  test::ManualClock clock_;
  UserQuota::Use use_{2, 100};
  Code failure_ = Code::kOk;
  std::string counted_;
  UserQuota quota_{clock_, [this](const std::string& user_id) { return count(user_id); }};
};

TEST_F(UserQuotas, WithoutLimitsOrAUserNothingIsCounted) {
  EXPECT_TRUE(quota_.check("u", 1'000'000).ok());
  EXPECT_EQ(create("u"), Code::kOk);
  quota_.set_limits(1, 1);
  EXPECT_TRUE(quota_.check("", 1'000'000).ok());
  EXPECT_EQ(create(""), Code::kOk);
  EXPECT_EQ(counted_, "");
}

TEST_F(UserQuotas, BytesAreCountedOnceAndWhatIsWrittenIsAddedToThem) {
  quota_.set_limits(150, 0);
  quota_.note_growth("u", 1000);  // before the first count: it will be in that
  EXPECT_TRUE(quota_.check("u", 50).ok());
  quota_.note_growth("u", 10);
  const Status refused = quota_.check("u", 41);
  EXPECT_EQ(refused.code(), Code::kSizeLimit);
  EXPECT_EQ(refused.place().size, 151u);
  EXPECT_EQ(refused.place().limit, 150u);
  EXPECT_TRUE(refused.message().ends_with(
      "(storage.max_user_size_mb): delete what is not needed and compact, sweep what has expired, "
      "drop sessions, or raise the limit"))
      << refused.message();
  EXPECT_TRUE(quota_.check("u", 40).ok());
  EXPECT_EQ(counted_, "u ");
  clock_.advance_ms(UserQuota::kCountedForUs / 1000);
  EXPECT_TRUE(quota_.check("u", 50).ok());
  EXPECT_EQ(counted_, "u u ");
  quota_.forget();
  EXPECT_TRUE(quota_.check("u", 50).ok());
  EXPECT_EQ(counted_, "u u u ");
}

// They count, and no list shows them.
TEST_F(UserQuotas, TheRefusalOfASessionNamesThoseThatHaveExpired) {
  quota_.set_limits(0, 2);
  const auto refused = quota_.create_session("u", [] { return Result<int>(1); });
  EXPECT_EQ(refused.status().message(),
            "user 'u' has 2 sessions; the limit is 2 (storage.max_user_sessions): sweep those that "
            "have expired, drop one that is done with, or raise the limit");
}

TEST_F(UserQuotas, UsersOfLongAgoTakeNoMemory) {
  quota_.set_limits(150, 0);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(quota_.check("u" + std::to_string(i), 1).ok());
    clock_.advance_ms(UserQuota::kCountedForUs / 1000 / 10);
  }
  EXPECT_LE(quota_.known_count(), UserQuota::kCountToTidyMin);
  EXPECT_GT(quota_.known_count(), 0u);
}

TEST_F(UserQuotas, WhatACompactionFreedCanBeUsedAtOnce) {
  quota_.set_limits(150, 0);
  EXPECT_EQ(quota_.check("u", 60).code(), Code::kSizeLimit);
  quota_.note_growth("u", -40);
  EXPECT_TRUE(quota_.check("u", 90).ok());
  EXPECT_EQ(quota_.check("u", 91).code(), Code::kSizeLimit);
  quota_.note_growth("u", -1000);
  EXPECT_TRUE(quota_.check("u", 150).ok());
  EXPECT_EQ(quota_.check("u", 151).code(), Code::kSizeLimit);
  EXPECT_EQ(counted_, "u ");
}

TEST_F(UserQuotas, ACountThatFailsIsToldAndTriedAgain) {
  quota_.set_limits(150, 3);
  failure_ = Code::kIo;
  EXPECT_EQ(quota_.check("u", 1).code(), Code::kIo);
  EXPECT_EQ(create("u"), Code::kIo);
  failure_ = Code::kOk;
  EXPECT_TRUE(quota_.check("u", 50).ok());
  EXPECT_EQ(create("u"), Code::kOk);
  use_.sessions = 3;
  EXPECT_EQ(create("u"), Code::kSizeLimit);
}

}  // namespace
}  // namespace varve::store
