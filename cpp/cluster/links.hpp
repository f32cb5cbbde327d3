// Trees of merges in SciPy's form: merge t joins the clusters z[t][0] < z[t][1] at the height
// z[t][2] into the cluster n + t of z[t][3] rows; clusters below n are the rows themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/monitor.hpp"

namespace credo {

// How edges of one length merge: one after the other, or in the order of the clusters that they
// join. The latter gives the same tree for whichever of several least spanning trees.
enum class Ties { kAsGiven, kByCluster };

// From the edges of a spanning tree of n rows, shortest first, to the tree of merges.
// IN edges: (n−1) × 2 rows; lengths: n−1. OUT z: (n−1) × 4. False if they are no spanning tree.
bool links_of_tree(const std::int64_t* edges, const double* lengths, std::size_t n, Ties ties,
                   double* z);

struct Tie {
  std::int64_t a, b;
  double strength;  // above 0
};

// Average or complete link of a graph of ties, without a matrix of all pairs: the two groups with
// the strongest link merge, until no two are tied. Two groups' link is the mean strength over all
// their pairs, absent ties counting 0, or the least strength, 0 unless every pair is tied.
// A merge's height is `most` − link. OUT: rows of z, as many as merges that were possible.
std::vector<double> links_of_ties(std::size_t n, const std::vector<Tie>& ties, bool average,
                                  double most, Monitor& monitor);

}  // namespace credo
