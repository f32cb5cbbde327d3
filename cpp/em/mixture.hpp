// Mixtures: one pass over the rows gives ln P(rows) and the expected statistics of every class.
//
// A row's class has a weight; given the class, groups of states have tables, and the real columns
// are one Gaussian (rows sorted by which cells are missing, which are integrated out) or
// independent terms. No Python here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "em/mixture_loops.hpp"

namespace credo::mixture {

struct Rows {
  std::size_t n;
  std::size_t d;                // real columns
  const double* reals;          // IN [d][n]; NaN is missing
  std::size_t patterns;         // runs of rows with the same cells missing
  const std::int64_t* starts;   // IN [patterns + 1]
  const std::uint8_t* seen;     // IN [patterns][d]
  std::size_t groups;           // groups of states
  const std::uint16_t* codes;   // IN [n][groups]
  const std::int64_t* offset;   // IN [groups + 1]: rows of the tables before each group
  const double* weights;        // IN [n] or null
};

struct Model {
  std::size_t k;
  const double* log_weights;  // IN [k]
  const double* tables;       // IN [offset[groups]][k]: ln P(code | class)
  bool joint;                 // whether the real columns are one Gaussian
  const double* means;        // IN [k][d]
  const double* covariances;  // IN [k][d][d], or [k][3][d]: slope, half, constant of each column
  bool rooted = false;        // whether they are their inverse roots instead, of rows without gaps
};

struct Sums {
  double log_likelihood = 0;
  std::int64_t impossible = 0;    // rows that no class can have made
  std::vector<double> mass;       // [k]
  std::vector<double> counts;     // [offset[groups]][k]
  std::vector<double> first;      // [k][d]: of z = x - mean; integrated out where x is missing
  std::vector<double> second;     // [k][d][d], or [k][2][d]: of z z, and of 1 where x is there
};

struct NotPositive {};  // a covariance has no root

// `poll` is called now and then from every thread and may throw.
Sums step(const Rows& rows, const Model& model, const Loops& loops, int threads,
          const std::function<void()>& poll);

// OUT share [n][k]: P(class | row), uniform where impossible. OUT logs [n]: ln P(row).
void score(const Rows& rows, const Model& model, const Loops& loops, int threads, double* share,
           double* logs);

}  // namespace credo::mixture
