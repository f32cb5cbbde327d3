// Counting by popcount: a cell's count is the number of bits in the AND of its states' bitmaps.
#pragma once

#include "count.hpp"

namespace credo {

// Adds the tables of `chosen` (positions in sorted order) over the rows to the sink.
void count_by_popcount(const Columns& columns, const SetList& sets,
                       std::span<const std::size_t> chosen, RowRange rows,
                       const LaneKernels& kernels, const TableSink<std::int64_t>& sink);

}  // namespace credo
