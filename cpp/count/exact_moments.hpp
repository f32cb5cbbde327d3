// Sums of weights, values and products of real columns by group, without rounding.
#pragma once

#include <cstdint>
#include <vector>

#include "count/exact_sums.hpp"
#include "count/moments.hpp"

namespace credo {

// Of U groups that have rows and d columns; products are of columns j <= i, row by row.
struct ExactMoments {
  std::vector<std::uint32_t> groups;  // [U]
  exact::Numbers n;                   // [U]                 sum w
  exact::Numbers first;               // [U, d]              sum w x_i
  exact::Numbers second;              // [U, d (d + 1) / 2]  sum w x_i x_j
};

inline std::size_t triangle(std::size_t d) { return d * (d + 1) / 2; }

// A row with a NaN, of weight 0, or of group n_groups is skipped; an infinite value is refused.
// The sums are those of the rows, whatever their order, the threads, or how they are cut in parts.
ExactMoments exact_moments(const MomentsInput& input, const LaneKernels& kernels, int threads);

// What the sums say, each number rounded once: n [U], the means [U, d] = first / n, and the scatter
// [U, d, d] = second - first first' / n.
void spread_of(const exact::View& n, const exact::View& first, const exact::View& second,
               std::size_t groups, std::size_t d, const MomentsOutput& output);

}  // namespace credo
