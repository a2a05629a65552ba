#include "io/rules.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace varve::io {
namespace {

TEST(Rules, ARefusedNameIsShownWithoutControlBytes) {
  const Status status = check_name(std::string_view("a\nb/\0c", 6));
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message().find("'a?b/?c' cannot be a file name"), 0U) << status.message();
  const Status large = check_name(std::string(100'000, 'x'));
  EXPECT_LT(large.message().size(), 300U);
}

TEST(Rules, OddButWholeNamesAreFine) {
  for (const std::string_view name : {"...", ".a", "a..b", " ", "-rf", "\xc3\xa9", "a\\b"}) {
    EXPECT_TRUE(check_name(name).ok()) << name;
  }
}

TEST(Rules, WhoMayNotReadIsNotToldThatWritingIsNotPermitted) {
  const Status refused = refused_reading(status_from_errno(EACCES, "open", "log"));
  EXPECT_EQ(refused.code(), Code::kIo);
  EXPECT_EQ(refused.message(), status_from_errno(EACCES, "open", "log").message());
  EXPECT_EQ(refused.place().os_errno, EACCES);
  EXPECT_EQ(refused_reading(status_from_errno(ENOENT, "open", "log")).code(), Code::kNotFound);
  EXPECT_TRUE(refused_reading(Status()).ok());
}

TEST(Rules, ARefusedLockIsHeldUnsupportedOrAFailure) {
  for (const int os_errno : {EAGAIN, EACCES}) {
    const Result<bool> answer = answer_of_refused_lock(os_errno, "lock");
    ASSERT_TRUE(answer.ok());
    EXPECT_FALSE(*answer);
  }
  for (const int os_errno : {ENOLCK, EINVAL, ENOSYS, ENOTSUP}) {
    EXPECT_EQ(answer_of_refused_lock(os_errno, "lock").code(), Code::kUnsupported) << os_errno;
  }
  EXPECT_EQ(answer_of_refused_lock(EIO, "lock").code(), Code::kIo);
}

}  // namespace
}  // namespace varve::io
