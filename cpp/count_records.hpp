// Sibling sets by their rows' records (see LaneKernels::add_runs).
#pragma once

#include "count.hpp"
#include "lane_kernels.hpp"

namespace credo {

// Whether a set can be counted by records: its last variable has a place in them.
bool has_record(const Columns& columns, std::span<const std::int32_t> set);

// Rows that are sorted into so many buckets at a time.
std::size_t records_block(std::size_t n_buckets);

// IN chosen: positions of sets, in sorted order, all with a record.
void count_by_records(const Columns& columns, const SetList& sets,
                      std::span<const std::size_t> chosen, RowRange rows,
                      const LaneKernels& kernels, const TableSink<std::int64_t>& sink);

}  // namespace credo
