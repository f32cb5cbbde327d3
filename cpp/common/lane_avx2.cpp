// Lanes of 256 bits. Bits are counted by a nibble look-up (Mula, Kurz and Lemire 2018, "Faster
// population counts using AVX2 instructions").
#if defined(__x86_64__)

#include <immintrin.h>

#include "common/lane_table.hpp"

namespace credo {
namespace {

struct Avx2Lanes {
  using Vec = __m256i;
  static constexpr std::size_t kWords = 4;
  typedef double Doubles __attribute__((vector_size(32)));
  typedef std::uint64_t Bits __attribute__((vector_size(32)));
  static constexpr double kCountUnitNs = 1.65;
  static constexpr bool kMatchesBytes = true;
  static constexpr bool kCarrySave = true;

  static Vec zero() { return _mm256_setzero_si256(); }
  static Vec load(const std::uint64_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const Vec*>(p));
  }
  static void store(std::uint64_t* p, Vec v) { _mm256_storeu_si256(reinterpret_cast<Vec*>(p), v); }
  static Vec both(Vec a, Vec b) { return _mm256_and_si256(a, b); }
  static Vec either(Vec a, Vec b) { return _mm256_or_si256(a, b); }
  static Vec differ(Vec a, Vec b) { return _mm256_xor_si256(a, b); }
  static Vec counts(Vec v) {
    const Vec bits_of_nibble = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                                0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const Vec nibble = _mm256_set1_epi8(15);
    const Vec low = _mm256_shuffle_epi8(bits_of_nibble, _mm256_and_si256(v, nibble));
    const Vec high =
        _mm256_shuffle_epi8(bits_of_nibble, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
    return _mm256_sad_epu8(_mm256_add_epi8(low, high), zero());
  }
  static Vec add(Vec a, Vec b) { return _mm256_add_epi64(a, b); }
  static std::int64_t total(Vec v) {
    const __m128i half = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return _mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1);
  }
  static std::uint64_t match64(const std::uint8_t* codes, std::uint8_t state) {
    const Vec wanted = _mm256_set1_epi8(static_cast<char>(state));
    const auto half = [&](const std::uint8_t* p) {
      const Vec found = _mm256_loadu_si256(reinterpret_cast<const Vec*>(p));
      return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(found, wanted)));
    };
    return half(codes) | static_cast<std::uint64_t>(half(codes + 32)) << 32;
  }
};

}  // namespace

const LaneKernels& avx2_kernels() {
  static constexpr LaneKernels kernels = kernels_of<Avx2Lanes>();
  return kernels;
}

}  // namespace credo

#endif
