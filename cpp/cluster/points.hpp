// Columns of numbers as points: how far each column spreads, and rows made of columns.
#pragma once

#include <cstddef>
#include <vector>

namespace credo {

struct Spread {
  double low, high, mean, variance;
};

// One pass over n > 0 numbers without gaps, weighted where weights are given (above 0). Blocks that
// stay in the cache have their own mean and squares about it; they are merged as Chan, Golub &
// LeVeque (1983) do, so no digits are lost to a mean far from 0. Infinite where squares overflow.
Spread spread_of(const double* x, std::size_t n, const double* weights);

// OUT out [n][columns]: (x − centre) / scale, or x itself where `centres` is null.
void points_of(const std::vector<const double*>& columns, std::size_t n, const double* centres,
               const double* scales, double* out);

}  // namespace credo
