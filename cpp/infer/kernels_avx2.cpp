// Vectors of four doubles, fused multiply-add.
#include "infer/kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx2,fma")

#include "infer/kernels_impl.hpp"

namespace credo::infer {
namespace {

struct Avx2 {
  using V = __m256d;
  static constexpr std::size_t kWidth = 4;
  static V zero() { return _mm256_setzero_pd(); }
  static V all(double x) { return _mm256_set1_pd(x); }
  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, V v) { _mm256_storeu_pd(p, v); }
  static V load_part(const double* p, std::size_t n) {
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    const __m256i count = _mm256_set1_epi64x(static_cast<long long>(n));
    return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(count, lane));
  }
  static void store_part(double* p, V v, std::size_t n) {
    const __m128d low = _mm256_castpd256_pd128(v);
    if (n == 1) {
      _mm_store_sd(p, low);
      return;
    }
    _mm_storeu_pd(p, low);
    if (n == 3) _mm_store_sd(p + 2, _mm256_extractf128_pd(v, 1));
  }
  static V plus(V x, V y) { return _mm256_add_pd(x, y); }
  static V times(V x, V y) { return _mm256_mul_pd(x, y); }
  static V fma(V x, V y, V z) { return _mm256_fmadd_pd(x, y, z); }
  static V larger(V x, V y) { return _mm256_max_pd(x, y); }
  static V smaller_positive(V low, V x) {
    const V usable = _mm256_blendv_pd(low, x, _mm256_cmp_pd(x, zero(), _CMP_GT_OQ));
    return _mm256_min_pd(low, usable);
  }
};

}  // namespace

const Kernels& avx2_infer_kernels() {
  static constexpr Kernels kernels = infer_kernels_of<Avx2>();
  return kernels;
}

}  // namespace credo::infer

#pragma GCC pop_options

#else

namespace credo::infer {
const Kernels& avx2_infer_kernels() { return plain_infer_kernels(); }
}  // namespace credo::infer

#endif
