#include <gtest/gtest.h>
#include <varve/varve.h>

#include <string>
#include <utility>
#include <vector>

namespace {

TEST(Base, LibraryIsTheOneOfTheHeaders) {
  EXPECT_EQ(varve_abi_version(), uint32_t{VARVE_ABI_VERSION});
  EXPECT_EQ(varve_version(), std::to_string(VARVE_VERSION_MAJOR) + "." +
                                 std::to_string(VARVE_VERSION_MINOR) + "." +
                                 std::to_string(VARVE_VERSION_PATCH));
}

TEST(Base, EveryStatusHasItsName) {
  const std::vector<std::pair<varve_status_t, std::string>> names = {
      {VARVE_OK, "VARVE_OK"},
      {VARVE_INVALID_ARGUMENT, "VARVE_INVALID_ARGUMENT"},
      {VARVE_NOT_FOUND, "VARVE_NOT_FOUND"},
      {VARVE_ALREADY_EXISTS, "VARVE_ALREADY_EXISTS"},
      {VARVE_SIZE_LIMIT, "VARVE_SIZE_LIMIT"},
      {VARVE_BAD_HANDLE, "VARVE_BAD_HANDLE"},
      {VARVE_READ_ONLY, "VARVE_READ_ONLY"},
      {VARVE_BUSY, "VARVE_BUSY"},
      {VARVE_UNSUPPORTED, "VARVE_UNSUPPORTED"},
      {VARVE_IO, "VARVE_IO"},
      {VARVE_NO_SPACE, "VARVE_NO_SPACE"},
      {VARVE_NO_MEMORY, "VARVE_NO_MEMORY"},
      {VARVE_CORRUPTION, "VARVE_CORRUPTION"},
      {VARVE_FORMAT_VERSION, "VARVE_FORMAT_VERSION"},
      {VARVE_CALLBACK, "VARVE_CALLBACK"},
      {VARVE_FORKED, "VARVE_FORKED"},
      {VARVE_INTERNAL, "VARVE_INTERNAL"},
  };
  for (const auto& [status, name] : names) EXPECT_EQ(varve_status_name(status), name);
}

TEST(Base, ForeignStatusesHaveANameToo) {
  // 200 and above are the storage's own inside the library: never public.
  for (const varve_status_t status : {-1, 9, 63, 126, 128, 200, 201, 202, INT32_MAX, INT32_MIN}) {
    EXPECT_STREQ(varve_status_name(status), "VARVE_UNKNOWN_STATUS") << status;
  }
}

TEST(Base, FreeTakesNull) {
  varve_free(nullptr);
  varve_error_free(nullptr);
  varve_session_close(nullptr);
  varve_store_close(nullptr);
  SUCCEED();
}

}  // namespace
