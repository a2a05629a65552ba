#include "embedding/dot_product.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace varve::embedding {

namespace {

constexpr size_t kLanes = 16;

// Adds the elements from `i` on, fewer than kLanes, and then the lanes.
double finish(double* lanes, const float* stored, const double* query, size_t i,
              size_t count) noexcept {
  for (size_t lane = 0; i < count; ++i, ++lane) {
    lanes[lane] += static_cast<double>(stored[i]) * query[i];
  }
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

double dot_scalar(const float* stored, const double* query, size_t count) noexcept {
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] += static_cast<double>(stored[i + lane]) * query[i + lane];
    }
  }
  return finish(lanes, stored, query, i, count);
}

#if defined(__x86_64__)

double dot_sse2(const float* stored, const double* query, size_t count) noexcept {
  __m128d sums[kLanes / 2];
  for (auto& sum : sums) sum = _mm_setzero_pd();
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t part = 0; part < kLanes / 4; ++part) {
      const __m128 four = _mm_loadu_ps(stored + i + 4 * part);
      const __m128d low = _mm_cvtps_pd(four);
      const __m128d high = _mm_cvtps_pd(_mm_movehl_ps(four, four));
      const double* with = query + i + 4 * part;
      sums[2 * part] = _mm_add_pd(sums[2 * part], _mm_mul_pd(low, _mm_loadu_pd(with)));
      sums[2 * part + 1] = _mm_add_pd(sums[2 * part + 1], _mm_mul_pd(high, _mm_loadu_pd(with + 2)));
    }
  }
  double lanes[kLanes];
  for (size_t part = 0; part < kLanes / 2; ++part) _mm_storeu_pd(lanes + 2 * part, sums[part]);
  return finish(lanes, stored, query, i, count);
}

__attribute__((target("avx2,fma"))) inline __m256d add_four(const float* stored,
                                                            const double* query,
                                                            __m256d sum) noexcept {
  return _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(stored)), _mm256_loadu_pd(query), sum);
}

__attribute__((target("avx2,fma"))) double dot_avx2(const float* stored, const double* query,
                                                    size_t count) noexcept {
  __m256d first = _mm256_setzero_pd();
  __m256d second = _mm256_setzero_pd();
  __m256d third = _mm256_setzero_pd();
  __m256d fourth = _mm256_setzero_pd();
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    first = add_four(stored + i, query + i, first);
    second = add_four(stored + i + 4, query + i + 4, second);
    third = add_four(stored + i + 8, query + i + 8, third);
    fourth = add_four(stored + i + 12, query + i + 12, fourth);
  }
  double lanes[kLanes];
  _mm256_storeu_pd(lanes, first);
  _mm256_storeu_pd(lanes + 4, second);
  _mm256_storeu_pd(lanes + 8, third);
  _mm256_storeu_pd(lanes + 12, fourth);
  return finish(lanes, stored, query, i, count);
}

bool has_avx2() noexcept {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

#elif defined(__aarch64__)

double dot_neon(const float* stored, const double* query, size_t count) noexcept {
  float64x2_t sums[kLanes / 2];
  for (auto& sum : sums) sum = vdupq_n_f64(0);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t part = 0; part < kLanes / 4; ++part) {
      const float32x4_t four = vld1q_f32(stored + i + 4 * part);
      const double* with = query + i + 4 * part;
      sums[2 * part] = vfmaq_f64(sums[2 * part], vcvt_f64_f32(vget_low_f32(four)), vld1q_f64(with));
      sums[2 * part + 1] =
          vfmaq_f64(sums[2 * part + 1], vcvt_high_f64_f32(four), vld1q_f64(with + 2));
    }
  }
  double lanes[kLanes];
  for (size_t part = 0; part < kLanes / 2; ++part) vst1q_f64(lanes + 2 * part, sums[part]);
  return finish(lanes, stored, query, i, count);
}

#endif

}  // namespace

std::span<const Kernel> available_kernels() noexcept {
#if defined(__x86_64__)
  static constexpr Kernel kKernels[] = {
      {"avx2", dot_avx2}, {"sse2", dot_sse2}, {"scalar", dot_scalar}};
  return std::span(kKernels).subspan(has_avx2() ? 0 : 1);
#elif defined(__aarch64__)
  static constexpr Kernel kKernels[] = {{"neon", dot_neon}, {"scalar", dot_scalar}};
  return kKernels;
#else
  static constexpr Kernel kKernels[] = {{"scalar", dot_scalar}};
  return kKernels;
#endif
}

}  // namespace varve::embedding
