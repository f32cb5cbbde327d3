// Linkage of points by chains of nearest neighbours: complete, average and Ward's.
//
// From any cluster go to its nearest, from there to that one's nearest, and so on: distances fall,
// so the chain ends at two that are each other's nearest. These merge, and with these links no
// later merge can come between (Murtagh 1983; Müllner 2011). In the end merges are put in the order
// of their heights.
#pragma once

#include <cstddef>

#include "cluster/chain_loops.hpp"
#include "common/monitor.hpp"

namespace credo::chain {

enum class Link { kComplete, kAverage, kWard };

// Equally near ones: the one that the chain comes from, else the one with the lowest last row; and
// chains begin at the lowest. So do fastcluster and SciPy, whose tree this is, and where it adds no
// rounding of its own (complete and average), fastcluster's to the last digit.
// IN points [n][d], finite. OUT z (n−1) × 4, in SciPy's form (links.hpp).
void links_of_points(const double* points, std::size_t n, std::size_t d, Link link,
                     const Loops& loops, double* z, Monitor& monitor);

}  // namespace credo::chain
