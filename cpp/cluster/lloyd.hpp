// k-means as hard EM: each row to its nearest centre (E), each centre to the mean of its rows (M).
//
// Neither step may raise the objective W. Squares from products, |c|^2 / 2 - x c, are fast, and
// their rounding is a share of the squares of rows and centres about one point: nothing, unless W
// is tiny beside those. So a climb takes products for as long as W, which is always summed from
// differences, can be vouched for and does not rise; else it is made anew from differences alone,
// which are right to the last digits wherever the rows lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cluster/lloyd_loops.hpp"

namespace credo::lloyd {

struct Rows {
  const double* x;  // [n][d], finite
  std::size_t n, d;
  const double* weights;      // [n], above 0; or null
  std::vector<double> shift;  // [d]: near the mean, taken off before distances are, for their digits
  double squares = 0;         // weighted, of the rows less the shift
  double variance = 0;        // the mean variance of the columns; a weight of k is k rows
  double farthest = 0;        // no row less the shift has a larger sum of squares
};

Rows rows_of(const double* x, std::size_t n, std::size_t d, const double* weights);

inline constexpr std::size_t kPatience = 8;

struct Run {
  std::vector<std::int64_t> labels;
  std::vector<double> centres;     // [k][d]
  std::vector<double> objective;   // after each E and each M step, an E step last
  std::vector<std::int64_t> moved;  // rows that changed at each E step
  bool settled = false;            // no row moved at the last E step
};

// From the given centres [k][d] until no row moves, or after an M step that moves the centres by no
// more than `tolerance` of the mean variance of the columns (squared, summed over centres), or
// where W has not fallen for kPatience E steps (rounding moves rows to and fro), or after so many
// iterations; an E step is the last. A centre without rows is put on the row that is farthest from
// its own. The same for any number of threads.
Run climb(const Rows& rows, const double* centres, std::size_t k, std::size_t iterations,
          double tolerance, const Loops& loops, int threads, const std::function<void()>& poll);

// The rows that are as near to a second of the given centres [k][d], as far as rounding can tell:
// about another origin it would part them in another way.
std::vector<std::int64_t> near_ties(const Rows& rows, const double* centres, std::size_t k,
                                    const Loops& loops, int threads,
                                    const std::function<void()>& poll);

// k-means++ (Arthur & Vassilvitskii 2007): the first centre is a row drawn at random, each later one
// the best of a few rows drawn with a chance in proportion to the square of the distance to the
// nearest centre so far: the one that leaves the least sum of squares.
// IN draws: 1 + (k − 1) × tries numbers in [0, 1). The rows that were drawn, k of them.
// The same for any number of threads; with the same draws, scikit-learn's.
std::vector<std::int64_t> start_of(const Rows& rows, std::size_t k, std::size_t tries,
                                   const double* draws, const Loops& loops, int threads,
                                   const std::function<void()>& poll);

}  // namespace credo::lloyd
