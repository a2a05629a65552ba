#include "capi/guard.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/no_memory/no_memory.h"

namespace varve::capi {
namespace {

using varve_test::NoMemory;

varve_error_t* foreign_value() { return to_handle<varve_error_t>(12345); }

TEST(Guard, SuccessClearsTheError) {
  varve_error_t* error = foreign_value();
  EXPECT_EQ(guard(&error, [] { return Status(); }), VARVE_OK);
  EXPECT_EQ(error, nullptr);
}

TEST(Guard, FailureBecomesCodeMessageAndDetails) {
  varve_error_t* error = nullptr;
  const auto status = guard(&error, [] {
    Place place;
    place.path = "/x";
    place.size = 11;
    place.limit = 10;
    return Status(Code::kSizeLimit, "too big", std::move(place));
  });
  EXPECT_EQ(status, VARVE_SIZE_LIMIT);
  EXPECT_EQ(varve_error_status(error), VARVE_SIZE_LIMIT);
  EXPECT_STREQ(varve_error_message(error), "too big");
  EXPECT_STREQ(varve_error_details(error), R"({"limit":10,"path":"/x","size":11})");
  varve_error_free(error);
}

TEST(Guard, TheCallerNeedNotWantTheError) {
  EXPECT_EQ(guard(nullptr, [] { return Status(Code::kBusy, "busy"); }), VARVE_BUSY);
  EXPECT_EQ(guard(nullptr, []() -> Status { throw std::bad_alloc(); }), VARVE_NO_MEMORY);
  EXPECT_EQ(guard(nullptr, []() -> Status { throw 1; }), VARVE_INTERNAL);
}

TEST(Guard, OutcomesOfTheStorageBecomePublicOnes) {
  EXPECT_EQ(guard(nullptr, [] { return Status(Code::kConflict, "x"); }), VARVE_BUSY);
  EXPECT_EQ(guard(nullptr, [] { return Status(Code::kGone, "x"); }), VARVE_IO);
  EXPECT_EQ(guard(nullptr, [] { return Status(Code::kUnknown, "x"); }), VARVE_IO);
}

TEST(Guard, ExceptionsBecomeInternal) {
  varve_error_t* error = nullptr;
  EXPECT_EQ(guard(&error, []() -> Status { throw std::logic_error("surprise"); }), VARVE_INTERNAL);
  EXPECT_EQ(varve_error_status(error), VARVE_INTERNAL);
  EXPECT_NE(std::string(varve_error_message(error)).find("surprise"), std::string::npos);
  varve_error_free(error);
  EXPECT_EQ(guard(&error, []() -> Status { throw 7; }), VARVE_INTERNAL);
  EXPECT_EQ(varve_error_status(error), VARVE_INTERNAL);
  varve_error_free(error);
}

TEST(Guard, RunningOutOfMemoryNeedsNoMemoryToReport) {
  varve_error_t* error = foreign_value();
  varve_status_t status = VARVE_OK;
  {
    const NoMemory none;
    status = guard(&error, []() -> Status { return Status(Code::kIo, std::string(100, 'x')); });
  }
  EXPECT_EQ(status, VARVE_NO_MEMORY);
  EXPECT_EQ(varve_error_status(error), VARVE_NO_MEMORY);
  EXPECT_STREQ(varve_error_message(error), "memory ran out");
  EXPECT_STREQ(varve_error_details(error), "{}");
  varve_error_free(error);
  EXPECT_EQ(varve_error_status(error), VARVE_NO_MEMORY);  // reserved: freeing it changes nothing
}

TEST(Guard, TheCodeSurvivesWhenItsErrorFindsNoMemory) {
  const Status failure(Code::kNoSpace, "disk full");
  varve_error_t* error = nullptr;
  varve_status_t status = VARVE_OK;
  {
    const NoMemory none;
    status = report(failure, &error);
  }
  EXPECT_EQ(status, VARVE_NO_SPACE);
  EXPECT_EQ(varve_error_status(error), VARVE_NO_SPACE);
  EXPECT_STREQ(varve_error_message(error), "no memory was left to describe this error");
  varve_error_free(error);
}

TEST(Guard, ADefectWithoutMemoryIsStillReported) {
  varve_error_t* error = nullptr;
  const NoMemory none;
  EXPECT_EQ(guard(&error, []() -> Status { throw 7; }), VARVE_INTERNAL);
  EXPECT_EQ(varve_error_status(error), VARVE_INTERNAL);
}

}  // namespace
}  // namespace varve::capi
