// Gower's distance between rows of mixed columns, cells missing on either side left out:
//
//   d(a, b) = Σ_c |a_c − b_c| / (number of columns seen in both)
//
// where |a_c − b_c| of states is 0 or 1. Two rows with no column in common are `apart` away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/monitor.hpp"

namespace credo {

struct GowerRows {
  std::size_t n = 0;
  std::vector<const double*> reals;        // scaled already; NaN is missing
  std::vector<const std::int32_t*> codes;  // -1 is missing
};

// OUT out: the n(n−1)/2 distances of the pairs i < j, row by row. Gives how many pairs share no
// column. The same for any number of threads.
std::size_t gower_pairs(const GowerRows& rows, double apart, double* out, int threads,
                        Monitor& monitor);

// OUT out: a.n × b.n distances, row by row. Gives how many pairs share no column.
std::size_t gower_between(const GowerRows& a, const GowerRows& b, double apart, double* out,
                          int threads, Monitor& monitor);

}  // namespace credo
