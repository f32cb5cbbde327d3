// Lanes of 512 bits with a popcount instruction (AVX512F, BW and VPOPCNTDQ).
// cpp/tests/run_emulated.sh runs this file on any CPU.
#if defined(__x86_64__) || defined(CREDO_EMULATED_AVX512)

#ifndef CREDO_EMULATED_AVX512
#include <immintrin.h>
#endif

#include "common/lane_table.hpp"

namespace credo {
namespace {

struct Avx512Lanes {
  using Vec = __m512i;
  static constexpr std::size_t kWords = 8;
  typedef double Doubles __attribute__((vector_size(64)));
  typedef std::uint64_t Bits __attribute__((vector_size(64)));
  static constexpr double kCountUnitNs = 0.8;
  static constexpr bool kMatchesBytes = true;
  static constexpr bool kCarrySave = false;

  static Vec zero() { return _mm512_setzero_si512(); }
  static Vec load(const std::uint64_t* p) { return _mm512_loadu_si512(p); }
  static void store(std::uint64_t* p, Vec v) { _mm512_storeu_si512(p, v); }
  static Vec both(Vec a, Vec b) { return _mm512_and_si512(a, b); }
  static Vec counts(Vec v) { return _mm512_popcnt_epi64(v); }
  static Vec add(Vec a, Vec b) { return _mm512_add_epi64(a, b); }
  static std::int64_t total(Vec v) {
    std::uint64_t words[kWords];
    store(words, v);
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words) sum += word;
    return static_cast<std::int64_t>(sum);
  }
  static std::uint64_t match64(const std::uint8_t* codes, std::uint8_t state) {
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(codes),
                                  _mm512_set1_epi8(static_cast<char>(state)));
  }
};

}  // namespace

const LaneKernels& avx512_kernels() {
  static constexpr LaneKernels kernels = kernels_of<Avx512Lanes>();
  return kernels;
}

}  // namespace credo

#endif
