// The inner loops of spanning trees, one for each instruction set (as in chain_loops.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cluster/point_tree.hpp"

namespace credo::span {

// Points in groups: who looks for the nearest point of another group.
struct Groups {
  const PointTree* tree;
  const std::int32_t* of_place;  // the group of each point, in the tree's order; kLeaf more at the end
  const std::int32_t* of_node;   // the group of all its points; -1 if they have several
};

struct Nearest {
  std::int32_t place;      // -1 if there is none so near
  double square;           // of the distance; the bound if there is none
  std::size_t leaves = 0;  // that were looked at
};

// The least of some squares: in which block of kLeaf it is.
struct Least {
  double square;
  std::size_t block;
};

struct Loops {
  // The point of another group nearest to the one at `place`, which is in `leaf`; nearer than the
  // root of `bound`. No such point is nearer than the root of `floor`: one that far is enough.
  Nearest (*nearest)(const Groups& groups, std::int32_t leaf, std::int32_t place, double bound,
                     double floor);
  // Points that have come nearer to a tree by its newest point, number `self` of the tree's.
  // IN blocks [n_blocks][d][kLeaf], point [d]. INOUT squares, from [n_blocks * kLeaf].
  Least (*relax)(const double* blocks, std::size_t n_blocks, std::size_t d, const double* point,
                 double self, double* squares, double* from);
};

// Where d is small its loops are unrolled.
const Loops& plain_loops(std::size_t d);
const Loops& avx2_loops(std::size_t d);
const Loops& loops_for(const char* path, std::size_t d);

}  // namespace credo::span
