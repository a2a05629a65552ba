#include "base/status.h"

#include <libintl.h>

#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/result.h"
#include "unit/io/temporary_directory.h"

namespace varve {
namespace {

void append_number(std::string& text, uint32_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// A message catalogue (.mo) of one message.
std::string catalogue_of(std::string_view message, std::string_view translation) {
  constexpr uint32_t kHeaderBytes = 28;
  constexpr uint32_t kRowBytes = 8;
  const uint32_t first_text = kHeaderBytes + 2 * kRowBytes;
  const auto length = static_cast<uint32_t>(message.size());
  std::string text;
  for (const uint32_t number :
       {0x950412deU, 0U, 1U, kHeaderBytes, kHeaderBytes + kRowBytes, 0U, first_text, length,
        first_text, static_cast<uint32_t>(translation.size()), first_text + length + 1}) {
    append_number(text, number);
  }
  return (text += message).append(1, '\0').append(translation).append(1, '\0');
}

// A host whose system says `message` in another language.
class Translated {
 public:
  Translated(std::string_view message, std::string_view translation) {
    const std::string folder = directory_.path() + "/xx/LC_MESSAGES";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/libc.mo", std::ios::binary) << catalogue_of(message, translation);
    ::bindtextdomain("libc", directory_.path().c_str());
    ::setenv("LANGUAGE", "xx", 1);
    std::setlocale(LC_ALL, "C.UTF-8");
  }
  ~Translated() {
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LANGUAGE");
  }

 private:
  io::TemporaryDirectory directory_;
};

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

TEST(Status, IsInOneLanguageWhateverThatOfTheHost) {
  const Translated host("Input/output error", "Ein-/Ausgabefehler");
  if (std::strerror(EIO) != std::string_view("Ein-/Ausgabefehler")) {
    GTEST_SKIP() << "this C library translates nothing in the locale C.UTF-8";
  }
  EXPECT_EQ(status_from_errno(EIO, "read", "kv.json").message(),
            "cannot read 'kv.json': Input/output error");
}

TEST(Status, SaysTheNumberOfWhatTheSystemHasNoWordsFor) {
  EXPECT_EQ(status_from_errno(4'000, "read", "kv.json").message(),
            "cannot read 'kv.json': Unknown error 4000");
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
