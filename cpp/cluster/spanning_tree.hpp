// The minimum spanning tree of points under Euclid's distance, which is single link's tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/monitor.hpp"

namespace credo {

struct Edge {
  std::int64_t a, b;  // rows, a < b
  double length;
};

// IN points [n][d], finite, n below 2³¹; d at least 1.
// Returns n - 1 edges, the shortest first, equal ones by their rows. The lengths are the same in any
// order of the rows. Where distances tie there are several such trees, all with the same groups
// below every length; with more than one thread it can be another one each time.
std::vector<Edge> spanning_tree(const double* points, std::size_t n, std::size_t d, int threads,
                                const std::string& path, Monitor& monitor);

}  // namespace credo
