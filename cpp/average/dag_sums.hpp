// Sums over all DAGs of products of family weights, and what share of them each family has.
//
//   Z = sum over DAGs of prod_j B_j(parents of j)
//
// Inclusion and exclusion over sets T of sinks (Tian and He 2009), A_j(W) = sum of B_j over the
// subsets of W:
//
//   R(S) = sum over nonempty T within S of (-1)^(|T|+1) R(S - T) prod_{j in T} A_j(S - T),   Z = R(V)
//
// Its derivatives give everything else: R'(W), of the same kind from above, is the weight of all
// ways to build V on W, and of the graphs in which W is all that does not descend from j,
//
//   E_j(W) = R(W) A_j(W) sum over T with j, T and W apart, of (-1)^(|T|+1) prod_{i in T - j} A_i(W) R'(W + T)
//
// so that P(j has the parents P) = B_j(P) sum_{W over P} E_j(W) / A_j(W) / Z, and the chance that a
// path leads from j to u is that of u outside of W.
//
// The terms cancel: with independent columns as much as the number of ordered partitions, 10^23 for
// 20 variables. They are added with 32 digits, each R(S) as a multiple of 2^M(S), where 2^M(S) is
// the weight of the best order of S, and a term is left out below 2^-240 of it. What is left of Z
// when it is found once more through each child says how right the sums are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/memory.hpp"
#include "common/monitor.hpp"

namespace credo::average {

inline constexpr std::size_t kMostVariables = 24;
inline constexpr std::int32_t kNever = -(1 << 29);  // the exponent of 0: far below every other

struct DagSums {
  double log_total = 0;              // ln Z; minus infinity if there is no graph
  double error = 0;                  // the most by which the shares of a child miss 1
  std::vector<double> path;          // [n, n]: P(a path leads from the first to the second)
};

// The set W (without j) as a number without the place of j.
inline std::size_t without_place(std::size_t set, std::size_t j) {
  const std::size_t below = (std::size_t{1} << j) - 1;
  return (set & below) | ((set >> 1) & ~below);
}

// IN log_weights [n, 2^(n-1)]: ln B_j of each set of parents. OUT shares, alike: P(j has them).
DagSums dag_sums(std::size_t n, const double* log_weights, double* shares, int threads,
                 Monitor& monitor);

namespace sums {  // the two passes, one for each instruction set

struct Tables {
  std::size_t n;
  const double *high, *low;          // [n, 2^(n-1)]: A_j(W), between 1 and 2 ...
  const std::int32_t* exponent;      // ... times a power of 2
  const std::int32_t* scale;         // [2^n]: M(S)
};

struct Passes {
  // The sets of one size go up. INOUT total [2^n, 2]: R(S) / 2^M(S). Part `part` of `kParts` alone.
  void (*up)(const Tables& tables, std::size_t size, std::size_t part, double* total);
  // One set comes down. INOUT above [2^n, 2]: R'(S) 2^(M(S)-M(V)). OUT found [n]: E_j(W) / 2^M(V).
  void (*down)(const Tables& tables, std::size_t set, const double* total, double* above,
               double* found);
};

inline constexpr std::size_t kParts = 16;  // targets by their last variables

const Passes& plain_passes();
const Passes& avx2_passes();

}  // namespace sums

}  // namespace credo::average
