// k-means++ (Arthur & Vassilvitskii 2007): the first centre is a row drawn at random, each later one
// the best of a few rows drawn with a chance in proportion to the square of the distance to the
// nearest centre so far: the one that leaves the least sum of squares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cluster/lloyd.hpp"

namespace credo::lloyd {

// IN draws: 1 + (k − 1) × tries numbers in [0, 1). The rows that were drawn, k of them.
// The same for any number of threads; with the same draws, scikit-learn's.
std::vector<std::int64_t> start_of(const Rows& rows, std::size_t k, std::size_t tries,
                                   const double* draws, const Loops& loops, int threads,
                                   const std::function<void()>& poll);

}  // namespace credo::lloyd
