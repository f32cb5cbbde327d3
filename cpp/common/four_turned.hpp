// Rows and columns of four vectors of four doubles; the includer says for which instruction set.
#pragma once

#include "common/four_doubles.hpp"

namespace credo {
namespace {

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

}  // namespace
}  // namespace credo
