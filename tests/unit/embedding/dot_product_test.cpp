// Every kernel gives the same sum to the last bit, and the right one.
#include "embedding/dot_product.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace varve::embedding {
namespace {

constexpr size_t kLengthMax = 1100;

struct Inputs {
  std::vector<float> stored;
  std::vector<double> query;
};

// Values of many magnitudes and both signs, so that the order of a sum shows.
Inputs random_inputs(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-20, 20);
  const auto number = [&] { return std::ldexp(mantissa(random), exponent(random)); };
  Inputs inputs;
  for (size_t i = 0; i < count; ++i) {
    inputs.stored.push_back(number());
    inputs.query.push_back(number());
  }
  return inputs;
}

TEST(DotProduct, ScalarIsAlwaysThereAndLast) {
  const auto kernels = available_kernels();
  ASSERT_FALSE(kernels.empty());
  EXPECT_EQ(kernels.back().name, "scalar");
  EXPECT_EQ(kernels.front().name, fastest_kernel().name);
  EXPECT_EQ(kernels.front().dot, fastest_kernel().dot);
}

TEST(DotProduct, KernelsAgreeToTheLastBitAtEveryLength) {
  const auto kernels = available_kernels();
  for (size_t count = 1; count <= kLengthMax; ++count) {
    const Inputs inputs = random_inputs(count, static_cast<uint32_t>(count));
    const double expected = kernels.back().dot(inputs.stored.data(), inputs.query.data(), count);
    for (const Kernel& kernel : kernels) {
      const double sum = kernel.dot(inputs.stored.data(), inputs.query.data(), count);
      ASSERT_EQ(std::bit_cast<uint64_t>(sum), std::bit_cast<uint64_t>(expected))
          << kernel.name << ", " << count << " numbers: " << sum << " and " << expected;
    }
  }
}

TEST(DotProduct, KernelsAgreeWithAPlainSumOfDoubles) {
  for (size_t count = 1; count <= kLengthMax; ++count) {
    const Inputs inputs = random_inputs(count, static_cast<uint32_t>(count) + 7000);
    long double sum = 0;
    long double size = 0;
    for (size_t i = 0; i < count; ++i) {
      const long double product = static_cast<long double>(inputs.stored[i]) * inputs.query[i];
      sum += product;
      size += std::abs(product);
    }
    const auto error_max = static_cast<double>(size) * static_cast<double>(count) *
                           std::numeric_limits<double>::epsilon();
    for (const Kernel& kernel : available_kernels()) {
      const double found = kernel.dot(inputs.stored.data(), inputs.query.data(), count);
      ASSERT_NEAR(found, static_cast<double>(sum), error_max) << kernel.name << ", " << count;
    }
  }
}

// Each number in a place of its own: none is left out, none is counted twice.
TEST(DotProduct, EveryElementCountsOnce) {
  for (const Kernel& kernel : available_kernels()) {
    for (const size_t count : std::vector<size_t>{1, 2, 15, 16, 17, 31, 32, 33, 768}) {
      for (size_t place = 0; place < count; ++place) {
        std::vector<float> stored(count, 0);
        stored[place] = 3;
        const std::vector<double> query(count, 0.5);
        ASSERT_EQ(kernel.dot(stored.data(), query.data(), count), 1.5)
            << kernel.name << ", element " << place << " of " << count;
      }
    }
  }
}

TEST(DotProduct, AnyStartWillDo) {
  const size_t count = 100;
  for (size_t shift = 0; shift < 16; ++shift) {
    Inputs inputs = random_inputs(count, 5);
    const double expected =
        available_kernels().back().dot(inputs.stored.data(), inputs.query.data(), count);
    inputs.stored.insert(inputs.stored.begin(), shift, 1e9F);
    inputs.query.insert(inputs.query.begin(), shift, 1e9);
    for (const Kernel& kernel : available_kernels()) {
      const double sum =
          kernel.dot(inputs.stored.data() + shift, inputs.query.data() + shift, count);
      EXPECT_EQ(std::bit_cast<uint64_t>(sum), std::bit_cast<uint64_t>(expected))
          << kernel.name << ", from " << shift;
    }
  }
}

TEST(DotProduct, TheLargestFloatsDoNotOverflow) {
  const float largest = std::numeric_limits<float>::max();
  const std::vector<float> stored(1000, largest);
  const std::vector<double> query(1000, largest);
  for (const Kernel& kernel : available_kernels()) {
    EXPECT_TRUE(std::isfinite(kernel.dot(stored.data(), query.data(), stored.size())));
  }
}

}  // namespace
}  // namespace varve::embedding
