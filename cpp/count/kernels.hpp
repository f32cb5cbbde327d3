// Three ways to count, for the choice of count.cpp. Each adds the tables of `chosen` (positions of
// sets in sorted order) over the rows to the sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/lane_kernels.hpp"
#include "count/count.hpp"

namespace credo {

inline constexpr std::size_t kFlushRows = std::size_t{1} << 31;  // before a 32-bit count can overflow

// By histogram: one table increment per row and set.
// IN weights: one per row of the table, or null for 1. The weights of a cell are summed in the
// order of the rows.
template <class Cell>
void count_by_histogram(const Columns& columns, const SetList& sets,
                        std::span<const std::size_t> chosen, RowRange rows, const Cell* weights,
                        const LaneKernels& kernels, const TableSink<Cell>& sink);

// By popcount: a cell's count is the number of bits in the AND of its states' bitmaps.
void count_by_popcount(const Columns& columns, const SetList& sets,
                       std::span<const std::size_t> chosen, RowRange rows,
                       const LaneKernels& kernels, const TableSink<std::int64_t>& sink);

// Whether a set can be counted by records: its last variable has a place in them.
bool has_record(const Columns& columns, std::span<const std::int32_t> set);

// Rows that are sorted into so many buckets at a time.
std::size_t records_block(std::size_t n_buckets);

// Sibling sets by their rows' records (see LaneKernels::add_runs). IN chosen: all with a record.
void count_by_records(const Columns& columns, const SetList& sets,
                      std::span<const std::size_t> chosen, RowRange rows,
                      const LaneKernels& kernels, const TableSink<std::int64_t>& sink);

}  // namespace credo
