// The loops themselves; the includer says for which instruction set. No sum is fused or reordered,
// so that every set gives the same digits, and those of SciPy's distances.
#pragma once

#include <limits>
#include <utility>

#include "cluster/span_loops.hpp"

namespace credo::span {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

// OUT squares [kLeaf]: of the distances between a point and those of a block.
template <std::size_t D>
[[gnu::always_inline]] inline void block_squares(const double* block, std::size_t n_columns,
                                                 const double* point, double* squares) {
  const std::size_t d = D == 0 ? n_columns : D;
  for (std::size_t k = 0; k < kLeaf; ++k) squares[k] = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const double x = point[j];
    for (std::size_t k = 0; k < kLeaf; ++k) {
      const double away = block[j * kLeaf + k] - x;
      squares[k] += away * away;
    }
  }
}

[[gnu::always_inline]] inline double least_of(const double* squares) {
  double least[8];
  for (int l = 0; l < 8; ++l) least[l] = squares[l];
  for (std::size_t k = 8; k < kLeaf; k += 8)
    for (int l = 0; l < 8; ++l) least[l] = squares[k + l] < least[l] ? squares[k + l] : least[l];
  for (int l = 0; l < 4; ++l) least[l] = least[l + 4] < least[l] ? least[l + 4] : least[l];
  for (int l = 0; l < 2; ++l) least[l] = least[l + 2] < least[l] ? least[l + 2] : least[l];
  return least[1] < least[0] ? least[1] : least[0];
}

template <std::size_t D>
class Search {
 public:
  Search(const Groups& groups, std::int32_t place, double bound, double floor)
      : groups_(groups),
        tree_(*groups.tree),
        d_(D == 0 ? tree_.d : D),
        point_(&tree_.points[static_cast<std::size_t>(place) * d_]),
        group_(groups.of_place[place]),
        floor_(floor),
        found_{-1, bound} {}

  // From the leaf of the point up: what is near is looked at first, and bounds what is left.
  Nearest from(std::int32_t leaf) {
    if (is_other(leaf)) look_at(tree_.nodes[leaf], true);
    for (std::int32_t child = leaf, at = tree_.nodes[leaf].parent; at >= 0 && !is_done();
         child = at, at = tree_.nodes[at].parent) {
      if (!is_other(at)) continue;
      const std::int32_t other = child == at + 1 ? tree_.nodes[at].right : at + 1;
      if (distance(other) < found_.square) look_below(other);
    }
    return found_;
  }

 private:
  struct Waiting {
    std::int32_t node;
    double square;
  };
  static constexpr int kDepth = 128;  // four fifths of four fifths of 2³¹ points are 97 deep

  bool is_done() const { return found_.square <= floor_; }
  bool is_other(std::int32_t node) const { return groups_.of_node[node] != group_; }

  // The square of the distance to a node's box; infinite if it is of the same group.
  double distance(std::int32_t node) const {
    if (!is_other(node)) return kFar;
    const std::size_t d = D == 0 ? d_ : D;
    const double *low = &tree_.boxes[static_cast<std::size_t>(node) * 2 * d], *high = low + d;
    double square = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double above = point_[j] > low[j] ? point_[j] : low[j];
      const double inside = above < high[j] ? above : high[j];
      const double away = point_[j] - inside;  // 0 without a branch, which would be guessed wrong
      square += away * away;
    }
    return square;
  }

  void look_below(std::int32_t top) {
    Waiting waiting[kDepth];
    int n = 0;
    waiting[n++] = {top, -1};
    while (n > 0 && !is_done()) {
      const Waiting next = waiting[--n];
      if (next.square >= found_.square) continue;
      std::int32_t at = next.node;
      while (tree_.nodes[at].right != 0) {
        std::int32_t near = at + 1, far = tree_.nodes[at].right;
        double near_square = distance(near), far_square = distance(far);
        if (far_square < near_square) {
          std::swap(near, far);
          std::swap(near_square, far_square);
        }
        if (far_square < found_.square) waiting[n++] = {far, far_square};
        at = near_square < found_.square ? near : -1;
        if (at < 0) break;
      }
      if (at >= 0) look_at(tree_.nodes[at]);
    }
  }

  // In its own leaf the point itself is the nearest, which tells nothing.
  void look_at(const Node& leaf, bool is_own = false) {
    ++found_.leaves;
    double squares[kLeaf];
    block_squares<D>(&tree_.blocks[static_cast<std::size_t>(leaf.block) * d_ * kLeaf], d_, point_,
                     squares);
    if (!is_own && least_of(squares) >= found_.square) return;
    const std::int32_t* groups = groups_.of_place + leaf.begin;
    for (std::size_t k = 0; k < kLeaf; ++k) squares[k] = groups[k] == group_ ? kFar : squares[k];
    const double least = least_of(squares);
    if (least >= found_.square) return;
    std::int32_t k = 0;
    while (squares[k] != least) ++k;
    found_.square = least;
    found_.place = leaf.begin + k;
  }

  const Groups& groups_;
  const PointTree& tree_;
  std::size_t d_;
  const double* point_;
  std::int32_t group_;
  double floor_;
  Nearest found_;
};

template <std::size_t D>
Nearest nearest(const Groups& groups, std::int32_t leaf, std::int32_t place, double bound,
                double floor) {
  return Search<D>(groups, place, bound, floor).from(leaf);
}

template <std::size_t D>
Least relax(const double* blocks, std::size_t n_blocks, std::size_t d, const double* point,
            double self, double* squares, double* from) {
  Least least{kFar, 0};
  for (std::size_t b = 0; b < n_blocks; ++b, squares += kLeaf, from += kLeaf) {
    double fresh[kLeaf];
    block_squares<D>(blocks + b * d * kLeaf, d, point, fresh);
    for (std::size_t k = 0; k < kLeaf; ++k) {
      from[k] = fresh[k] < squares[k] ? self : from[k];
      squares[k] = fresh[k] < squares[k] ? fresh[k] : squares[k];
    }
    const double here = least_of(squares);
    if (here < least.square) least = {here, b};
  }
  return least;
}

template <std::size_t D>
constexpr Loops kLoopsOf{nearest<D>, relax<D>};

constexpr const Loops* kLoops[] = {&kLoopsOf<0>, &kLoopsOf<1>, &kLoopsOf<2>, &kLoopsOf<3>,
                                   &kLoopsOf<4>, &kLoopsOf<5>, &kLoopsOf<6>, &kLoopsOf<7>,
                                   &kLoopsOf<8>};

const Loops& loops_of(std::size_t d) { return *kLoops[d <= 8 ? d : 0]; }

}  // namespace
}  // namespace credo::span
