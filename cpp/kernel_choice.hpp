// Which counting kernel is the fastest for a set, and how long it will take.
#pragma once

#include <cstddef>
#include <span>

#include "columns.hpp"
#include "lane_kernels.hpp"

namespace credo {

enum class Kernel { kPopcount, kHistogram, kSparse };

// Times in ns to count one set over the rows.
struct KernelTimes {
  double popcount;
  double histogram;
  double sparse;

  double of(Kernel kernel) const;
  Kernel fastest(bool weighted) const;
};

// IN set, of which the first `shared` variables are walked for the set before it anyway.
KernelTimes estimate(const Columns& columns, std::span<const std::int32_t> set, std::size_t shared,
                     const LaneKernels& kernels);

}  // namespace credo
