#include "cluster/point_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace credo::span {
namespace {

constexpr std::size_t kLeast = 5;  // a fifth of the points at least is on each side of a cut

using Key = std::pair<double, std::int32_t>;

// The points move with their places, so that each half of a half lies closer together.
class Builder {
 public:
  Builder(PointTree& tree, Monitor& monitor)
      : tree_(tree),
        monitor_(monitor),
        keys_(tree.n),
        rows_(tree.n),
        points_(tree.n * tree.d) {}

  std::int32_t build(std::size_t begin, std::size_t end, std::int32_t parent) {
    monitor_.poll();
    const auto at = static_cast<std::int32_t>(tree_.nodes.size());
    tree_.nodes.push_back(
        {static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end), 0, parent, -1});
    const std::size_t widest = add_box(begin, end);
    if (end - begin <= kLeaf) {
      tree_.nodes[at].block = static_cast<std::int32_t>(tree_.leaves.size());
      tree_.leaves.push_back(at);
      return at;
    }
    const std::size_t middle = begin + part(begin, end, widest);
    build(begin, middle, at);
    const std::int32_t right = build(middle, end, at);
    tree_.nodes[at].right = right;
    return at;
  }

 private:
  // The box of some points; returns its widest side.
  std::size_t add_box(std::size_t begin, std::size_t end) {
    const std::size_t d = tree_.d, first = tree_.boxes.size();
    tree_.boxes.resize(first + 2 * d);
    double *low = &tree_.boxes[first], *high = low + d;
    const double* point = &tree_.points[begin * d];
    for (std::size_t j = 0; j < d; ++j) low[j] = high[j] = point[j];
    for (std::size_t i = begin + 1; i < end; ++i) {
      point += d;
      for (std::size_t j = 0; j < d; ++j) {
        low[j] = std::min(low[j], point[j]);
        high[j] = std::max(high[j], point[j]);
      }
    }
    std::size_t widest = 0;
    for (std::size_t j = 1; j < d; ++j)
      if (high[j] - low[j] > high[widest] - low[widest]) widest = j;
    return widest;
  }

  // Puts the points with the lesser coordinates first; returns how many.
  std::size_t part(std::size_t begin, std::size_t end, std::size_t side) {
    const std::size_t n = end - begin, d = tree_.d;
    double* points = &tree_.points[begin * d];
    std::int32_t* order = &tree_.order[begin];
    for (std::size_t i = 0; i < n; ++i)
      keys_[i] = {points[i * d + side], static_cast<std::int32_t>(i)};
    const std::size_t middle = divided(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto from = static_cast<std::size_t>(keys_[i].second);
      rows_[i] = order[from];
      std::copy_n(points + from * d, d, &points_[i * d]);
    }
    std::copy_n(rows_.begin(), n, order);
    std::copy_n(points_.begin(), n * d, points);
    return middle;
  }

  // Divides the first n keys. The first half fills its leaves, of equal ones those before; but
  // where coordinates tie there, the cut is put beside all of them if that leaves enough on both
  // sides: boxes that do not touch need not be looked into.
  std::size_t divided(std::size_t n) {
    const auto at = [&](std::size_t i) { return keys_.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t half = (n / 2 + kLeaf - 1) / kLeaf * kLeaf;
    std::nth_element(at(0), at(half), at(n));
    const double value = at(half)->first;
    const auto is_less = [&](const Key& key) { return key.first < value; };
    const auto is_same = [&](const Key& key) { return key.first == value; };
    const auto same = static_cast<std::size_t>(std::count_if(at(0), at(half), is_same));
    if (same == 0) return half;
    const std::size_t less = half - same;
    const std::size_t up_to =
        half + static_cast<std::size_t>(std::count_if(at(half), at(n), is_same));
    const bool below = half - less < up_to - half;
    const std::size_t cut = below ? less : up_to;
    if (std::min(cut, n - cut) < n / kLeast) return half;
    if (below) {
      std::partition(at(0), at(half), is_less);
    } else {
      std::partition(at(half), at(n), is_same);
    }
    return cut;
  }

  PointTree& tree_;
  Monitor& monitor_;
  std::vector<Key> keys_;  // of a node, and its points put in order
  std::vector<std::int32_t> rows_;
  std::vector<double> points_;
};

}  // namespace

PointTree::PointTree(const double* rows, std::size_t n, std::size_t d, Monitor& monitor)
    : n(n), d(d), order(n), points(rows, rows + n * d) {
  std::iota(order.begin(), order.end(), 0);
  nodes.reserve(4 * (n / kLeaf + 1));
  Builder(*this, monitor).build(0, n, -1);
  blocks.assign(leaves.size() * d * kLeaf, std::numeric_limits<double>::infinity());
  for (const std::int32_t leaf : leaves) {
    const Node& node = nodes[leaf];
    double* block = &blocks[static_cast<std::size_t>(node.block) * d * kLeaf];
    for (std::int32_t i = node.begin; i < node.end; ++i)
      for (std::size_t j = 0; j < d; ++j)
        block[j * kLeaf + (i - node.begin)] = points[i * d + j];
  }
}

}  // namespace credo::span
