// Which counting kernel is the fastest for a set, and how long it will take.
#pragma once

#include <cstddef>
#include <span>

#include "common/lane_kernels.hpp"
#include "count/columns.hpp"

namespace credo {

enum class Kernel { kPopcount, kHistogram, kSparse, kRecords };
inline constexpr std::size_t kKernels = 4;

// Times in ns to count one set over the rows.
struct KernelTimes {
  double popcount;
  double histogram;
  double sparse;
  double records = 0;  // its share of what its siblings take

  double of(Kernel kernel) const;
  Kernel fastest(bool weighted) const;
};

// Times in ns to count rows in a table whose prefix is indexed, and to read it: of one set, or of
// so many last variables packed into one.
double table_ns(double rows, double cells);
double least_ns(double rows);  // of any table
double packed_table_ns(double rows, double cells, double variables);

// Time in ns to count by records the sets of a prefix and each of the variables.
double records_ns(const Columns& columns, std::span<const std::int32_t> prefix,
                  std::span<const std::int32_t> variables);

// IN set, of which the first `shared` variables are walked for the set before it anyway.
// The time by histogram is that of indexing the prefix; to count the table comes on top.
KernelTimes estimate(const Columns& columns, std::span<const std::int32_t> set, std::size_t shared,
                     const LaneKernels& kernels);

}  // namespace credo
