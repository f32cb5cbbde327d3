// Four doubles at a time, four vectors of them turned, and their exponentials; the includer says for which instruction set, so
// every name is its own file's: an inline function compiled with AVX2 must not be the copy the
// linker keeps for all.
//
// exp(x) for x <= 0: x = k ln 2 + r with |r| <= ln 2 / 2, exp(x) = 2^k (1 + r + r^2/2! + ...).
// Thirteen terms leave less than 1e-16 of the value (Taylor's remainder at ln 2 / 2).
#pragma once

#include <cstddef>
#include <cstdint>

namespace credo {
namespace {

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef std::int64_t FourBits __attribute__((vector_size(32), aligned(8), may_alias));

inline const Four& four(const double* p) { return *reinterpret_cast<const Four*>(p); }
inline Four& four(double* p) { return *reinterpret_cast<Four*>(p); }

inline Four all(double x) { return Four{x, x, x, x}; }
inline double sum_of(Four v) { return (v[0] + v[1]) + (v[2] + v[3]); }

// Rows and columns of four vectors change places.
inline void transpose(Four& a, Four& b, Four& c, Four& d) {
  const Four ab = __builtin_shuffle(a, b, FourBits{0, 4, 2, 6});
  const Four ba = __builtin_shuffle(a, b, FourBits{1, 5, 3, 7});
  const Four cd = __builtin_shuffle(c, d, FourBits{0, 4, 2, 6});
  const Four dc = __builtin_shuffle(c, d, FourBits{1, 5, 3, 7});
  a = __builtin_shuffle(ab, cd, FourBits{0, 1, 4, 5});
  b = __builtin_shuffle(ba, dc, FourBits{0, 1, 4, 5});
  c = __builtin_shuffle(ab, cd, FourBits{2, 3, 6, 7});
  d = __builtin_shuffle(ba, dc, FourBits{2, 3, 6, 7});
}

// The sum of each of four vectors.
inline Four sums_of(Four a, Four b, Four c, Four d) {
  transpose(a, b, c, d);
  return (a + b) + (c + d);
}

inline Four four_exponentials(Four x) {
  constexpr double kLog2e = 1.4426950408889634074, kLn2High = 6.93147180369123816490e-01,
                   kLn2Low = 1.90821492927058770002e-10, kShift = 6755399441055744.0;  // 1.5 * 2^52
  const Four least = {-708, -708, -708, -708};
  const Four y = x > least ? x : least;
  const Four shifted = y * kLog2e + kShift;  // the low bits hold the nearest whole number
  const Four k = shifted - kShift;
  const Four r = (y - k * kLn2High) - k * kLn2Low;
  Four p = {1.0 / 6227020800, 1.0 / 6227020800, 1.0 / 6227020800, 1.0 / 6227020800};
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const FourBits scale = ((FourBits)shifted + 1023) << 52;
  const Four zero = {0, 0, 0, 0};
  return x < least ? zero : p * (Four)scale;
}

}  // namespace
}  // namespace credo
