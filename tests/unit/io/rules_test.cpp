#include "io/rules.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <tuple>

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

TEST(Rules, ADeleteInANameIsShownAsAnotherByte) {
  EXPECT_EQ(check_name("a/\x7f").message().find("'a/?' cannot"), 0U);
}

TEST(Rules, OfAPathTheLastComponentIsTakenOff) {
  for (const auto& [path, directory, name] :
       {std::tuple("a/b/c", "a/b", "c"), std::tuple("/c", "/", "c"), std::tuple("c", ".", "c")}) {
    EXPECT_EQ(split_path(path).directory, directory) << path;
    EXPECT_EQ(split_path(path).name, name) << path;
  }
  EXPECT_EQ(without_end_slashes("a/b//"), "a/b");
  EXPECT_EQ(without_end_slashes("//"), "/");
}

TEST(Rules, WhatCannotBeMovedBetweenFileSystemsSaysWhatToDo) {
  for (const Status& failure :
       {failure_of_move(EXDEV, "a", "b"), answer_of_refused_exchange(EXDEV, "a", "b")}) {
    EXPECT_EQ(failure.code(), Code::kIo);
    EXPECT_EQ(failure.place().os_errno, EXDEV);
    EXPECT_NE(failure.message().find("copy the whole store to one place"), std::string::npos);
  }
  EXPECT_EQ(failure_of_move(EIO, "a", "b").message().find("copy"), std::string::npos);
}

TEST(Rules, WhatIsNoFileIsToldFromAFileThatCannotBeRead) {
  for (const int os_errno : {EISDIR, ENXIO, ELOOP, ENODEV}) {
    EXPECT_TRUE(is_not_a_file(not_a_file(os_errno, "log", "a link"))) << os_errno;
  }
  EXPECT_FALSE(is_not_a_file(status_from_errno(EIO, "open", "log")));
  EXPECT_FALSE(is_not_a_file(Status()));
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
