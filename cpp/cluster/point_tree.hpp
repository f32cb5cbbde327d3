// A k-d tree of points: halves of halves across the widest side, down to leaves of a few points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/monitor.hpp"

namespace credo::span {

inline constexpr std::size_t kLeaf = 32;  // points in a leaf at the most

struct Node {
  std::int32_t begin, end;  // its points, in the tree's order
  std::int32_t right = 0;   // its second half; the first one follows it. 0 for a leaf
  std::int32_t parent = -1;
  std::int32_t block = -1;  // of a leaf: its coordinates among the blocks
};

struct PointTree {
  // IN rows [n][d], n ≥ 1.
  PointTree(const double* rows, std::size_t n, std::size_t d, Monitor& monitor);

  std::size_t n, d;
  std::vector<std::int32_t> order;   // the row at each place
  std::vector<Node> nodes;           // preorder
  std::vector<std::int32_t> leaves;  // their nodes
  std::vector<double> boxes;         // [node][2][d]: the least and the greatest coordinates
  std::vector<double> points;        // [n][d], in the tree's order
  std::vector<double> blocks;        // [leaf][d][kLeaf]; infinite where a leaf has fewer points
};

}  // namespace credo::span
