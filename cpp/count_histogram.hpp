// Counting by histogram: one table increment per row and set. Takes weights.
#pragma once

#include "count.hpp"

namespace credo {

// Adds the tables of `chosen` (positions in sorted order) over the rows to the sink.
// IN weights: one per row of the table, or null for 1. The weights of a cell are summed in the
// order of the rows.
template <class Cell>
void count_by_histogram(const Columns& columns, const SetList& sets,
                        std::span<const std::size_t> chosen, RowRange rows, const Cell* weights,
                        const LaneKernels& kernels, const TableSink<Cell>& sink);

}  // namespace credo
