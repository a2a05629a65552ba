#include "io/system_clock.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "child_process.h"

namespace varve::io {
namespace {

TEST(SystemClock, TellsTheWallClockInMilliseconds) {
  SystemClock clock;
  const int64_t before = int64_t{::time(nullptr)} * 1000;
  const int64_t now = clock.now_ms();
  const int64_t after = (int64_t{::time(nullptr)} + 2) * 1000;
  EXPECT_GE(now, before);
  EXPECT_LE(now, after);
}

// A machine's clock may say anything. In nanoseconds the year 2286 would be one of the past.
TEST(SystemClock, TellsAnyTimeThatCanBeWritten) {
  EXPECT_EQ(milliseconds({10'000'000'000, 999'999'999}), 10'000'000'000'999);
  EXPECT_EQ(milliseconds({-5, 999'000'000}), -4001);
  EXPECT_EQ(milliseconds({-1, 999'999'999}), -1) << "before 1970, not at it";
  EXPECT_EQ(milliseconds({INT64_MAX, 999'999'999}), kLastMs);
  EXPECT_EQ(milliseconds({INT64_MIN, 0}), kFirstMs);
}

TEST(SystemClock, SleepsAtLeastAsLongAsAskedByTheMonotonicClock) {
  SystemClock clock;
  const int64_t before = clock.monotonic_us();
  clock.sleep_us(1500);
  EXPECT_GE(clock.monotonic_us() - before, 1500);
  clock.sleep_us(0);
  clock.sleep_us(-5);
}

// 64 values of 128 bits: equal ones do not happen by chance, all-zero ends neither.
void expect_unpredictable() {
  SystemRandom random;
  std::set<std::vector<uint8_t>> seen;
  for (int i = 0; i < 64; ++i) {
    std::vector<uint8_t> bytes(100, 0);
    random.fill(bytes);
    seen.insert(bytes);
    EXPECT_TRUE(std::any_of(bytes.end() - 16, bytes.end(), [](uint8_t byte) { return byte != 0; }));
  }
  EXPECT_EQ(seen.size(), 64U);
}

TEST(SystemRandom, FillsAllBytesDifferentlyEachTime) {
  expect_unpredictable();
  SystemRandom().fill({});
}

TEST(SystemRandom, FallsBackWhereASandboxDeniesIt) {
  EXPECT_TRUE(succeeds_in_child([] {
    CHILD_EXPECT(deny_system_call(SYS_getrandom, ENOSYS));
    expect_unpredictable();
    return !testing::Test::HasFailure();
  }));
  EXPECT_TRUE(succeeds_in_child([] {
    CHILD_EXPECT(deny_system_call(SYS_getrandom, ENOSYS));
    CHILD_EXPECT(deny_system_call(SYS_openat, EACCES));
    expect_unpredictable();
    return !testing::Test::HasFailure();
  }));
}

}  // namespace
}  // namespace varve::io
