#include "capi/error_object.h"

#include <gtest/gtest.h>

#include "capi/handles.h"

namespace varve::capi {
namespace {

TEST(ErrorObject, DetailsHoldWhatIsKnownAndNothingElse) {
  EXPECT_EQ(details_of({}), "{}");
  Place place;
  place.path = "/m/sessions/s/memory.jsonl";
  place.member = "tags[2]";
  place.offset = 0;
  place.line = 3;
  place.size = 18446744073709551615U;
  place.limit = 7;
  place.os_errno = 28;
  EXPECT_EQ(details_of(place),
            R"({"errno":28,"limit":7,"line":3,"member":"tags[2]","offset":0,)"
            R"("path":"/m/sessions/s/memory.jsonl","size":18446744073709551615})");
}

TEST(ErrorObject, MessageIsOneLineOfUtf8) {
  const ErrorRecord record(Status(Code::kIo, "cannot open 'a\nb\x7F\xFF\xC3\xA9'"));
  EXPECT_EQ(record.message(), "cannot open 'a b \xEF\xBF\xBD\xC3\xA9'");
}

// Each of these moves a terminal's cursor, ends a line or turns what follows around.
TEST(ErrorObject, MessageHasNothingThatMakesItReadAsSomethingElse) {
  for (const char* unsafe : {"\u0080", "\u009B", "\u009F", "\u2028", "\u2029", "\u061C", "\u200E",
                             "\u200F", "\u202A", "\u202E", "\u2066", "\u2069", "\uFEFF"}) {
    const ErrorRecord record(Status(Code::kIo, std::string("a") + unsafe + "b"));
    EXPECT_EQ(record.message(), std::string("a b"));
  }
  const ErrorRecord record(Status(Code::kIo, "\u00A0\u200D\u202F\U0001F600"));
  EXPECT_EQ(record.message(), std::string("\u00A0\u200D\u202F\U0001F600"));
}

TEST(ErrorObject, DetailsKeepTheMarksOfAFileName) {
  Place place;
  place.path = "/\u200Echat\u009B.txt";
  EXPECT_EQ(details_of(place), "{\"path\":\"/\u200Echat .txt\"}");
}

TEST(ErrorObject, DetailsStayJsonWhateverAPathHolds) {
  Place place;
  place.path = "/a\"\xFF\\";
  EXPECT_EQ(details_of(place), "{\"path\":\"/a\\\"\xEF\xBF\xBD\\\\\"}");
}

TEST(ErrorObject, EveryCodeHasAReservedError) {
  for (varve_status_t code = 1; code <= 127; ++code) {
    varve_status_t read = VARVE_OK;
    ASSERT_TRUE(read_reserved_error(reserved_error(code), &read));
    ASSERT_EQ(read, code);
  }
}

TEST(ErrorObject, ReservedErrorsAreNotInTheTable) {
  const Token token = reserved_error(VARVE_NO_MEMORY);
  EXPECT_EQ(HandleTable::of_process().pin<ErrorRecord>(token).code(), Code::kBadHandle);
  EXPECT_EQ(HandleTable::of_process().close<ErrorRecord>(token), nullptr);
}

TEST(ErrorObject, OtherTokensAreNotReserved) {
  varve_status_t read = VARVE_OK;
  EXPECT_FALSE(read_reserved_error(0, &read));
  EXPECT_FALSE(read_reserved_error(reserved_error(VARVE_OK), &read));
  EXPECT_FALSE(read_reserved_error(reserved_error(VARVE_IO) ^ 2, &read));
  const Token token = make_error(Status(Code::kIo, "x"));
  EXPECT_FALSE(read_reserved_error(token, &read));
  varve_error_free(to_handle<varve_error_t>(token));
}

}  // namespace
}  // namespace varve::capi
