// The dot product of a stored vector and a query, the same to the last bit on every processor.
//
//   dot(a, b) = sum of a[i] · b[i]
//
// The product of two float32 is exact in double, so it does not matter whether a kernel rounds
// products before it adds them (SSE2) or not (FMA). Sums depend on their order, so the order is
// fixed: element i is added to lane i mod 16, in ascending order, and the lanes are added in halves
// (0 and 8, 1 and 9 ...). Every kernel keeps to it, so answers, and where their pages end, do not
// depend on the machine.
//
// cost: doubles halve the arithmetic per instruction; beyond the caches, memory is the limit.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace varve::embedding {

// `query` holds float32 values, widened. Neither needs more alignment than its type has.
using DotProduct = double (*)(const float* stored, const double* query, size_t count) noexcept;

struct Kernel {
  std::string_view name;  // "avx2", "sse2", "neon", "scalar"
  DotProduct dot = nullptr;
};

// The kernels that this processor can run, the fastest first; "scalar" is always the last. They
// are there for good.
[[nodiscard]] std::span<const Kernel> available_kernels() noexcept;
[[nodiscard]] inline Kernel fastest_kernel() noexcept { return available_kernels().front(); }

}  // namespace varve::embedding
