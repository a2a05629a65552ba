#include "base/status.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "base/result.h"

namespace varve {
namespace {

TEST(Status, DefaultIsSuccessWithoutMessageOrPlace) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), Code::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_FALSE(status.place().offset.has_value());
}

TEST(Status, CopyKeepsCodeMessageAndPlace) {
  Place place;
  place.member = "tags[2]";
  place.offset = 57;
  const Status original(Code::kInvalidArgument, "must be a tag", place);
  const Status copy = original;
  EXPECT_EQ(copy.code(), Code::kInvalidArgument);
  EXPECT_EQ(copy.message(), "must be a tag");
  EXPECT_EQ(copy.place().member, "tags[2]");
  EXPECT_EQ(copy.place().offset, 57u);
}

TEST(Status, InFileNamesTheFileOnlyOnce) {
  Status status = Status(Code::kIo, "cannot write").in_file("inner").in_file("outer");
  EXPECT_EQ(status.place().path, "inner");
}

TEST(Status, WithContextGoesBeforeTheMessage) {
  const Status status = Status(Code::kIo, "cannot write").with_context("session s1");
  EXPECT_EQ(status.message(), "session s1: cannot write");
}

TEST(Status, ErrnoBecomesTheCodeACallerActsOn) {
  const struct {
    int os_errno;
    Code code;
  } cases[] = {
      {ENOSPC, Code::kNoSpace},  {EDQUOT, Code::kNoSpace},       {ENOENT, Code::kNotFound},
      {EACCES, Code::kReadOnly}, {EPERM, Code::kReadOnly},       {EROFS, Code::kReadOnly},
      {ENOMEM, Code::kNoMemory}, {EEXIST, Code::kAlreadyExists}, {EIO, Code::kIo},
  };
  for (const auto& test : cases) {
    const Status status = status_from_errno(test.os_errno, "write", "memory.jsonl");
    EXPECT_EQ(status.code(), test.code) << test.os_errno;
    EXPECT_EQ(status.place().os_errno, test.os_errno);
    EXPECT_EQ(status.place().path, "memory.jsonl");
  }
}

TEST(Status, CodeNamesArePublicNamesAndForeignValuesAreSaidToBe) {
  EXPECT_STREQ(code_name(Code::kOk), "VARVE_OK");
  EXPECT_STREQ(code_name(Code::kIo), "VARVE_IO");
  EXPECT_STREQ(code_name(static_cast<Code>(99)), "VARVE_UNKNOWN_STATUS");
}

Result<int> half(int number) {
  if (number % 2 != 0) return Status(Code::kInvalidArgument, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  VARVE_TRY_ASSIGN(const int once, half(number));
  VARVE_TRY_ASSIGN(const int twice, half(once));
  return twice;
}

TEST(Result, TryAssignLeavesWithTheFailure) {
  EXPECT_EQ(*quarter(12), 3);
  const auto failed = quarter(6);
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.code(), Code::kInvalidArgument);
  EXPECT_EQ(failed.status().message(), "odd");
}

}  // namespace
}  // namespace varve
