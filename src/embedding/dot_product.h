// The dot product of a stored vector and a query, the same to the last bit on every processor.
//
//   dot(a, b) = sum of a[i] · b[i]
//
// The products of two float32 are exact in double, so it does not matter whether a kernel rounds
// them before it adds (SSE2) or does not (FMA). Sums do depend on their order, so there is one:
// element i is added to lane i mod 16, in rising order, and the lanes are added in halves (0 and 8,
// 1 and 9 ...). Every kernel keeps to it; an answer, and the place where a page of it ends, do not
// depend on the machine that gives them.
//
// cost: doubles halve the arithmetic per instruction; beyond the caches memory is what limits.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace varve::embedding {

// `query` holds float32 values, widened. Neither needs more alignment than its type.
using DotProduct = double (*)(const float* stored, const double* query, size_t count) noexcept;

struct Kernel {
  std::string_view name;  // "avx2", "sse2", "neon", "scalar"
  DotProduct dot = nullptr;
};

// Those this processor can run, the fastest first; "scalar" is always the last.
[[nodiscard]] std::vector<Kernel> available_kernels();
[[nodiscard]] Kernel fastest_kernel() noexcept;

}  // namespace varve::embedding
