// 64 rows of random bits at once. Small tables, of up to 256 configurations, are looked up by
// shuffling bytes, 32 rows at a time; in larger ones a row is compared with 8 or 16 limits at once.
#include "sample/kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "common/random.hpp"

#pragma GCC push_options
#pragma GCC target("avx2,fma,popcnt")

namespace credo::sample {
namespace {

inline __m256i load(const void* p) { return _mm256_loadu_si256(static_cast<const __m256i*>(p)); }
inline __m128i load_half(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}
inline __m256i twice(const void* p) { return _mm256_broadcastsi128_si256(load_half(p)); }
inline __m256i all(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }

// Four counters, each word in the low half of 64 bits; the high halves are never looked at.
struct Four {
  __m256i c[4];
};

inline void round(Four& x, __m256i k0, __m256i k1) {
  const __m256i p0 = _mm256_mul_epu32(x.c[0], all(random::kMultiply0));
  const __m256i p1 = _mm256_mul_epu32(x.c[2], all(random::kMultiply1));
  x.c[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), x.c[1]), k0);
  x.c[1] = p1;
  x.c[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), x.c[3]), k1);
  x.c[3] = p0;
}

void fill(std::uint64_t seed, std::uint32_t stream, std::uint64_t group, std::size_t groups,
          std::int16_t* u) {
  __m256i keys[random::kRounds][2];
  auto k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (auto& key : keys) {
    key[0] = all(k0), key[1] = all(k1);
    k0 += random::kWeyl0, k1 += random::kWeyl1;
  }
  for (std::size_t g = 0; g < groups; ++g, u += random::kGroup) {
    const std::uint64_t number = (group + g) * 8;
    const __m256i low = _mm256_set1_epi64x(static_cast<long long>(number));
    const __m256i high = all(static_cast<std::uint32_t>(number >> 32));
    // Even lanes and odd lanes; eight counters never cross 2^32, as their first is a multiple of 8.
    Four even{{_mm256_add_epi64(low, _mm256_setr_epi64x(0, 2, 4, 6)), high, all(stream),
               all(random::kDraw)}};
    Four odd{{_mm256_add_epi64(low, _mm256_setr_epi64x(1, 3, 5, 7)), high, all(stream),
              all(random::kDraw)}};
    for (const auto& key : keys) {
      round(even, key[0], key[1]);
      round(odd, key[0], key[1]);
    }
    for (int w = 0; w < 4; ++w)
      _mm256_storeu_si256(
          reinterpret_cast<__m256i*>(u + 16 * w),
          _mm256_blend_epi32(even.c[w], _mm256_slli_epi64(odd.c[w], 32), 0b10101010));
  }
}

// 32 rows: their configurations, as bytes.
inline __m256i small_configurations(const Choice& choice, const Codes* columns,
                                    std::size_t row) {
  __m256i sum = _mm256_setzero_si256();
  for (std::size_t j = 0; j < choice.parents.size(); ++j) {
    const auto* codes = static_cast<const std::uint8_t*>(columns[choice.parents[j].variable].data);
    const __m256i strides = twice(choice.strides.data() + 16 * j);
    sum = _mm256_add_epi8(sum, _mm256_shuffle_epi8(strides, load(codes + row)));
  }
  return sum;
}

std::size_t choose_by_shuffles(const Choice& choice, const Codes* columns, const std::int16_t* u,
                               std::size_t rows, std::uint8_t* codes, std::uint16_t* undecided) {
  const std::size_t limits = choice.arity - 1, chunks = choice.chunks();
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows; row += 32) {
    const __m256i at = small_configurations(choice, columns, row);
    // Rows 0-7 with 16-23, and 8-15 with 24-31, as unpacking bytes pairs them.
    const __m256i u0 = _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(u + row)),
                                               load_half(u + row + 16), 1);
    const __m256i u1 = _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(u + row + 8)),
                                               load_half(u + row + 24), 1);
    __m256i below0 = _mm256_setzero_si256(), below1 = below0, meets = below0;
    const std::uint8_t* plane = choice.planes.data();
    for (std::size_t k = 0; k < limits; ++k) {
      __m256i low, high;
      if (chunks == 1) {
        low = _mm256_shuffle_epi8(twice(plane), at);
        high = _mm256_shuffle_epi8(twice(plane + 16), at);
        plane += 32;
      } else {
        low = high = _mm256_setzero_si256();
        __m256i in_chunk = at;
        for (std::size_t c = 0; c < chunks; ++c, plane += 32) {
          // Outside of the chunk the top bit is set, for which a shuffle gives zero.
          const __m256i index = _mm256_adds_epu8(in_chunk, _mm256_set1_epi8(0x70));
          low = _mm256_or_si256(low, _mm256_shuffle_epi8(twice(plane), index));
          high = _mm256_or_si256(high, _mm256_shuffle_epi8(twice(plane + 16), index));
          in_chunk = _mm256_sub_epi8(in_chunk, _mm256_set1_epi8(16));
        }
      }
      const __m256i t0 = _mm256_unpacklo_epi8(low, high), t1 = _mm256_unpackhi_epi8(low, high);
      below0 = _mm256_sub_epi16(below0, _mm256_cmpgt_epi16(u0, t0));
      below1 = _mm256_sub_epi16(below1, _mm256_cmpgt_epi16(u1, t1));
      meets = _mm256_or_si256(
          meets, _mm256_packs_epi16(_mm256_cmpeq_epi16(u0, t0), _mm256_cmpeq_epi16(u1, t1)));
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + row),
                        _mm256_packs_epi16(below0, below1));
    auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(meets));
    for (; mask != 0; mask &= mask - 1)
      undecided[count++] = static_cast<std::uint16_t>(row + std::countr_zero(mask));
  }
  return count;
}

template <class Code>
void add(const Code* codes, std::uint32_t stride, std::size_t rows, std::uint32_t* configuration) {
  for (std::size_t row = 0; row < rows; row += 8) {
    const __m128i narrow = sizeof(Code) == 1
                               ? _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + row))
                               : load_half(codes + row);
    const __m256i wide =
        sizeof(Code) == 1 ? _mm256_cvtepu8_epi32(narrow) : _mm256_cvtepu16_epi32(narrow);
    auto* out = reinterpret_cast<__m256i*>(configuration + row);
    _mm256_storeu_si256(
        out, _mm256_add_epi32(load(out), _mm256_mullo_epi32(wide, all(stride))));
  }
}

void configurations(const Choice& choice, const Codes* columns, std::size_t rows,
                    std::uint32_t* configuration) {
  std::fill_n(configuration, rows, 0);
  for (const Parent& parent : choice.parents) {
    const Codes& column = columns[parent.variable];
    if (column.wide)
      add(static_cast<const std::uint16_t*>(column.data), parent.stride, rows, configuration);
    else
      add(static_cast<const std::uint8_t*>(column.data), parent.stride, rows, configuration);
  }
}

// One row at a time against kVectors · 16 limits, or 8 limits where kVectors is 0.
template <int kVectors>
std::size_t choose_by_rows(const Choice& choice, const std::uint32_t* configuration,
                           const std::int16_t* u, std::size_t rows, std::uint8_t* codes,
                           std::uint16_t* undecided) {
  const std::int16_t* limits = choice.limits.data();
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int16_t* t = limits + std::size_t{configuration[row]} * choice.stride;
    std::uint32_t below = 0, meets = 0;  // two bits for each limit
    if constexpr (kVectors == 0) {
      const __m128i own = _mm_set1_epi16(u[row]), eight = load_half(t);
      below = std::popcount(
          static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpgt_epi16(own, eight))));
      meets = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi16(own, eight)));
    } else {
      const __m256i own = _mm256_set1_epi16(u[row]);
      for (int k = 0; k < kVectors; ++k) {
        const __m256i some = load(t + 16 * k);
        below += std::popcount(
            static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpgt_epi16(own, some))));
        meets |= static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi16(own, some)));
      }
    }
    codes[row] = static_cast<std::uint8_t>(below / 2);
    undecided[count] = static_cast<std::uint16_t>(row);
    count += meets != 0;
  }
  return count;
}

std::size_t choose(const Choice& choice, const Codes* columns, const std::int16_t* u,
                   std::size_t rows, Codes codes, std::uint16_t* undecided) {
  auto* bytes = static_cast<std::uint8_t*>(codes.data);
  if (choice.shuffles()) return choose_by_shuffles(choice, columns, u, rows, bytes, undecided);
  if (choice.arity - 1 > kCompared)
    return plain_sample_kernels().choose(choice, columns, u, rows, codes, undecided);
  std::uint32_t configuration[kMaxBlock];
  configurations(choice, columns, rows, configuration);
  const auto by_rows = choice.stride == 8    ? choose_by_rows<0>
                       : choice.stride == 16 ? choose_by_rows<1>
                       : choice.stride == 32 ? choose_by_rows<2>
                       : choice.stride == 48 ? choose_by_rows<3>
                                             : choose_by_rows<4>;
  return by_rows(choice, configuration, u, rows, bytes, undecided);
}

}  // namespace

const Kernels& avx2_sample_kernels() {
  static constexpr Kernels kernels{fill, choose, configurations};
  return kernels;
}

}  // namespace credo::sample

#pragma GCC pop_options

#else

namespace credo::sample {
const Kernels& avx2_sample_kernels() { return plain_sample_kernels(); }
}  // namespace credo::sample

#endif
