// Arithmetic gives the same last digits wherever it stands.
#include <gtest/gtest.h>

namespace varve {
namespace {

// With an instruction that does both, where the processor has one.
#if defined(__x86_64__)
__attribute__((target("fma")))
#endif
__attribute__((noinline)) double
product_and_sum(double a, double b, double c) {
  return a * b + c;
}

bool can_fuse() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

TEST(Rounding, AProductIsRoundedBeforeItIsAdded) {
  volatile double above = 1 + 0x1p-27;
  volatile double below = 1 - 0x1p-27;
  volatile double minus_one = -1;
  // 1 - 2^-54 is rounded to 1.
  const double sum =
      can_fuse() ? product_and_sum(above, below, minus_one) : above * below + minus_one;
  EXPECT_EQ(sum, 0.0);
}

}  // namespace
}  // namespace varve
