// Sums of weights, means and scatter matrices of real columns, by group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/lane_kernels.hpp"

namespace credo {

struct MomentsInput {
  std::vector<const double*> columns;  // IN each [n_rows]
  std::size_t n_rows;
  const std::uint32_t* group;  // IN [n_rows], in 0..n_groups (n_groups: skip the row), or null
  std::size_t n_groups;
  const double* weights;  // IN [n_rows], finite and not negative, or null for 1
};

struct MomentsOutput {
  double* n;        // OUT [G], zero on entry: sum of weights
  double* mean;     // OUT [G, d], zero on entry
  double* scatter;  // OUT [G, d, d], zero on entry: sum of w (x - mean)(x - mean)'
};

// A row with a NaN, of weight 0, or of group n_groups is skipped. The result does not depend on
// the number of threads, to the last bit. Throws std::invalid_argument for a bad group or weight.
void moments(const MomentsInput& input, const LaneKernels& kernels, int threads,
             const MomentsOutput& output);

}  // namespace credo
