// Equal rows over some variables, as groups with a weight: the table with its repetitions folded.
//
// The codes of a row are packed into as few 64-bit words of mixed-radix digits as they need (one
// word up to 2^64 configurations), so equal rows have equal words and words sort as the codes do.
// Rows go through a hash table of groups, and only the groups are sorted: the cost is in
// proportion to the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/lane_kernels.hpp"
#include "common/monitor.hpp"
#include "count/columns.hpp"

namespace credo {

template <class Weight>
struct RowGroups {
  std::vector<std::int64_t> first_row;  // the smallest row of each group
  std::vector<Weight> weight;           // rows in the group, or the sum of their weights
};

enum class MissingRows { kKeep, kSkip };  // missing is one more value, or leaves the row out

// IN weights: one per row, or null for 1; summed in the order of the rows. IN limit: give up, and
// return nothing, at more groups than this; negative for no limit. IN monitor: polled as the rows
// go by, unless it is null.
// Groups come sorted by their codes in the order of `variables`.
template <class Weight>
std::optional<RowGroups<Weight>> group_rows(const Columns& columns,
                                            std::span<const std::int32_t> variables,
                                            const Weight* weights, MissingRows missing,
                                            std::int64_t limit, const LaneKernels& kernels,
                                            Monitor* monitor = nullptr);

}  // namespace credo
