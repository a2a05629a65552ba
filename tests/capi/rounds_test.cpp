// Handles opened and closed without end: neither memory nor descriptors grow. For 100,000 rounds:
// capi --gtest_filter='Rounds.InMemory*' --gtest_repeat=5
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <varve/varve.hpp>

#include "client.h"
#include "support/build_kind.h"

namespace varve_test {
namespace {

// In a build that is slow on purpose there is time for fewer.
constexpr int kRoundsInMemory = varve::test::kFastBuild ? 20'000 : 1'000;
constexpr int kRoundsOnDisk = varve::test::kFastBuild ? 200 : 50;
constexpr int64_t kGrownBytesMax = 4 << 20;

ptrdiff_t descriptor_count() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

int64_t resident_bytes() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * 4096;
}

void round(const std::string& uri) {
  varve::Store store(uri);
  store.set_log(VARVE_LOG_ERROR, [](int32_t, std::string_view) {});
  const varve::Session session = store.create_session();
  session.add(R"({"id":"tea","type":"finding","content":"tea"})");
  EXPECT_EQ(session.query(R"({"ids":["tea"]})").size(), 1U);
  EXPECT_THROW((void)session.get("nobody"), varve::Error);
}

void expect_no_growth(const std::string& uri, int rounds) {
  for (int n = 0; n < rounds / 10; n++) round(uri);  // what is kept for later calls is there then
  const ptrdiff_t descriptors = descriptor_count();
  const int64_t bytes = resident_bytes();
  for (int n = 0; n < rounds; n++) round(uri);
  EXPECT_EQ(descriptor_count(), descriptors);
  // A sanitizer keeps what was freed, to see who uses it.
  if (varve::test::kFastBuild) {
    EXPECT_LT(resident_bytes() - bytes, kGrownBytesMax);
  }
}

TEST(Rounds, InMemoryLeaveNothingBehind) { expect_no_growth("memory:", kRoundsInMemory); }

TEST(Rounds, OnDiskLeaveNothingBehind) {
  const TempDirectory directory;
  expect_no_growth(directory.path(), kRoundsOnDisk);
}

// Each of them has 8 KB, which would add up to 16 MB and more.
TEST(Rounds, TextsAndResultsLeaveNothingBehind) {
  constexpr int kRounds = 2'000;
  const varve::Store store("memory:");
  const varve::Session session = store.create_session();
  session.add(R"({"type":"finding","content":")" + std::string(8'000, 'x') + "\"}");
  const auto take = [&] {
    EXPECT_GT(session.export_text("jsonl").size(), 8'000U);
    EXPECT_GT(session.query().json().size(), 8'000U);
  };
  for (int n = 0; n < kRounds / 10; n++) take();
  const int64_t bytes = resident_bytes();
  for (int n = 0; n < kRounds; n++) take();
  if (varve::test::kFastBuild) {
    EXPECT_LT(resident_bytes() - bytes, kGrownBytesMax);
  }
}

}  // namespace
}  // namespace varve_test
