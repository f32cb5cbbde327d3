// Borůvka's rounds over a k-d tree: each group of points finds its nearest point outside, all these
// edges are taken, and groups they join are one. A point remembers the last one it found: as long
// as that is outside its group, it is still the nearest; and if it is not, everything outside is
// at least as far. Where edges tie, they could close a circle: one that would is left out. (The rest
// are still a least tree: a group's shortest edge is also the shortest that leaves the union of it
// and those that it is joined with by edges as short.)
//
// In many columns a k-d tree looks at most leaves for every point. A few points tell; then Prim's
// way is quicker, which looks at each pair once: the tree grows by the point nearest to it.
#include "cluster/spanning_tree.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "cluster/point_tree.hpp"
#include "cluster/span_loops.hpp"
#include "common/team.hpp"

namespace credo {
namespace {

using span::Groups;
using span::kLeaf;
using span::Loops;
using span::Nearest;
using span::Node;
using span::PointTree;

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr std::size_t kFewPoints = 512;  // which no tree of boxes helps
constexpr std::size_t kAsked = 64;       // points whose search tells what a tree of boxes is worth
constexpr double kMostLeaves = 0.05;     // of those all points would fill, in a search that pays

// Points that differ, scaled so that no square overflows or vanishes, and the row of each.
struct Distinct {
  std::vector<double> points;
  std::vector<std::int32_t> rows;
  double scale = 1;  // that was multiplied with; a power of two
  std::vector<Edge> edges;  // of length 0, from the others to the first row like them
};

double scale_of(const double* points, std::size_t n, std::size_t d) {
  double widest = 0, greatest = 0;
  for (std::size_t j = 0; j < d; ++j) {
    double low = points[j], high = points[j];
    for (std::size_t i = 1; i < n; ++i) {
      low = std::min(low, points[i * d + j]);
      high = std::max(high, points[i * d + j]);
    }
    widest = std::max(widest, high - low);
    greatest = std::max({greatest, std::abs(low), std::abs(high)});
  }
  if (widest == 0 || (widest > 1e-100 && widest < 1e100 && greatest < 1e150)) return 1;
  const double size = std::isfinite(widest) ? std::max(widest, greatest * 1e-150) : greatest;
  return std::ldexp(1.0, std::clamp(-std::ilogb(size), -1000, 1000));
}

Distinct distinct(const double* points, std::size_t n, std::size_t d, Monitor& monitor) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  Distinct out;
  out.scale = scale_of(points, n, d);
  std::vector<std::int32_t> slots(std::bit_ceil(2 * n), -1);  // places among the distinct ones
  std::vector<double> point(d);
  out.points.reserve(n * d);
  out.rows.reserve(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 4096 == 0) monitor.poll();
    std::uint64_t hash = 0;
    for (std::size_t j = 0; j < d; ++j) {
      point[j] = points[i * d + j] * out.scale + 0.0;  // -0 is 0
      hash = (std::rotl(hash, 29) ^ std::bit_cast<std::uint64_t>(point[j])) * kMix;
    }
    std::size_t at = (hash ^ hash >> 32) & (slots.size() - 1);
    const auto same = [&](std::int32_t place) {
      return std::equal(point.begin(), point.end(),
                        out.points.begin() + static_cast<std::ptrdiff_t>(place * d));
    };
    while (slots[at] >= 0 && !same(slots[at])) at = (at + 1) & (slots.size() - 1);
    if (slots[at] >= 0) {
      out.edges.push_back({out.rows[slots[at]], static_cast<std::int64_t>(i), 0});
      continue;
    }
    slots[at] = static_cast<std::int32_t>(out.rows.size());
    out.rows.push_back(static_cast<std::int32_t>(i));
    out.points.insert(out.points.end(), point.begin(), point.end());
  }
  return out;
}

// The square of an edge's length, and its ends.
struct Found {
  double square;
  std::int32_t a, b;

  bool operator<(const Found& other) const { return square < other.square; }
};

// What the square of the distance of two points is at least: whole numbers are 1 apart.
double least_square(const std::vector<double>& points) {
  const auto is_whole = [](double x) { return x == std::floor(x); };
  return std::all_of(points.begin(), points.end(), is_whole) ? 1 : 0;
}

class Boruvka {
 public:
  Boruvka(const PointTree& tree, const Loops& loops, int threads, Monitor& monitor)
      : tree_(tree),
        loops_(loops),
        threads_(threads),
        monitor_(monitor),
        group_(tree.n + kLeaf, -1),
        node_group_(tree.nodes.size()),
        nearest_(tree.n),
        square_(tree.n, least_square(tree.points)),
        bound_(tree.n),
        parent_(tree.n),
        best_(tree.n) {
    std::iota(parent_.begin(), parent_.end(), 0);
    nearest_ = parent_;  // no point has found another
    std::copy(parent_.begin(), parent_.end(), group_.begin());
    group_nodes();
  }

  // The share of the leaves that all points would fill which a search looks at, by a few points.
  double share_looked_at() const {
    const Groups groups{&tree_, group_.data(), node_group_.data()};
    const std::size_t n = tree_.leaves.size(), step = std::max<std::size_t>(n / kAsked, 1);
    double looked = 0, asked = 0;
    for (std::size_t l = 0; l < n; l += step, ++asked) {
      monitor_.poll();
      const std::int32_t leaf = tree_.leaves[l];
      looked += static_cast<double>(
          loops_.nearest(groups, leaf, tree_.nodes[leaf].begin, kFar, 0).leaves);
    }
    return looked * kLeaf / (asked * static_cast<double>(tree_.n));
  }

  std::vector<Found> run() {
    std::vector<Found> edges;
    edges.reserve(tree_.n - 1);
    const Groups groups{&tree_, group_.data(), node_group_.data()};
    constexpr std::size_t kTogether = 64;  // leaves of a task
    const std::size_t n = tree_.leaves.size();
    Team team((n + kTogether - 1) / kTogether, threads_, [&](std::size_t task) {
      for (std::size_t l = task * kTogether; l < std::min(n, (task + 1) * kTogether); ++l) {
        monitor_.poll();
        search_leaf(groups, tree_.leaves[l]);
      }
    });
    while (edges.size() + 1 < tree_.n) {
      bound_groups();
      team.round();  // every group finds its shortest edge: one of its points does
      join(edges);
    }
    return edges;
  }

 private:
  // The group of all points of a node, or -1.
  void group_nodes() {
    for (std::size_t v = tree_.nodes.size(); v-- > 0;) {
      const Node& node = tree_.nodes[v];
      if (node.right != 0) {
        const std::int32_t a = node_group_[v + 1], b = node_group_[node.right];
        node_group_[v] = a == b ? a : -1;
        continue;
      }
      const std::int32_t first = group_[node.begin];
      const bool one = std::all_of(group_.begin() + node.begin, group_.begin() + node.end,
                                   [&](std::int32_t g) { return g == first; });
      node_group_[v] = one ? first : -1;
    }
  }

  bool has_other(std::int32_t place) const { return group_[nearest_[place]] != group_[place]; }

  // An edge that leaves two groups bounds what each of them looks for. Threads may do so at once.
  void lower(std::int32_t group, double square) {
    const std::atomic_ref<double> bound(bound_[group]);
    double now = bound.load(std::memory_order_relaxed);
    while (square < now &&
           !bound.compare_exchange_weak(now, square, std::memory_order_relaxed)) {
    }
  }
  void offer(std::int32_t place) {
    lower(group_[place], square_[place]);
    lower(group_[nearest_[place]], square_[place]);
  }

  void bound_groups() {
    std::fill(bound_.begin(), bound_.end(), kFar);
    const auto n = static_cast<std::int32_t>(tree_.n);
    for (std::int32_t i = 0; i < n; ++i)
      if (has_other(i)) offer(i);
  }

  void search_leaf(const Groups& groups, std::int32_t leaf) {
    for (std::int32_t i = tree_.nodes[leaf].begin; i < tree_.nodes[leaf].end; ++i) {
      if (has_other(i)) continue;
      const double bound =
          std::atomic_ref<double>(bound_[group_[i]]).load(std::memory_order_relaxed);
      if (square_[i] >= bound) continue;
      const Nearest found = loops_.nearest(groups, leaf, i, bound, square_[i]);
      square_[i] = found.square;
      if (found.place < 0) continue;
      nearest_[i] = found.place;
      offer(i);
    }
  }

  std::int32_t root(std::int32_t place) {
    while (parent_[place] != place) place = parent_[place] = parent_[parent_[place]];
    return place;
  }

  void join(std::vector<Found>& edges) {
    std::fill(best_.begin(), best_.end(), Found{kFar, -1, -1});
    const auto n = static_cast<std::int32_t>(tree_.n);
    for (std::int32_t i = 0; i < n; ++i) {
      if (!has_other(i)) continue;
      const Found edge{square_[i], i, nearest_[i]};
      for (const std::int32_t end : {edge.a, edge.b})
        best_[group_[end]] = std::min(best_[group_[end]], edge);
    }
    for (const Found& edge : best_) {
      if (edge.a < 0) continue;
      const std::int32_t a = root(edge.a), b = root(edge.b);
      if (a == b) continue;  // the other group has found the same edge, or one as short
      parent_[a] = b;
      edges.push_back({edge.square, tree_.order[edge.a], tree_.order[edge.b]});
    }
    for (std::int32_t i = 0; i < n; ++i) group_[i] = root(i);
    group_nodes();
  }

  const PointTree& tree_;
  const Loops& loops_;
  int threads_;
  Monitor& monitor_;
  std::vector<std::int32_t> group_, node_group_;
  std::vector<std::int32_t> nearest_;  // of each point; itself if it has found none yet
  std::vector<double> square_;         // of that distance; all outside its group are as far or more
  std::vector<double> bound_;          // of each group: an edge that leaves it
  std::vector<std::int32_t> parent_;   // of the union of groups
  std::vector<Found> best_;
};

// Points not in the tree yet lie in blocks, without gaps: the last one fills the place of the one
// that leaves.
std::vector<Found> prim(const double* points, std::size_t n, std::size_t d, const Loops& loops,
                        Monitor& monitor) {
  const std::size_t n_blocks = (n + kLeaf - 1) / kLeaf;
  std::vector<double> blocks(n_blocks * d * kLeaf, kFar), squares(n_blocks * kLeaf, kFar),
      from(n_blocks * kLeaf, 0);
  std::vector<std::int32_t> row(n);
  std::iota(row.begin(), row.end(), 0);
  const auto coordinate = [&](std::size_t place, std::size_t j) -> double& {
    return blocks[(place / kLeaf * d + j) * kLeaf + place % kLeaf];
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < d; ++j) coordinate(i, j) = points[i * d + j];

  std::vector<Found> edges;
  edges.reserve(n - 1);
  std::size_t taken = n - 1, left = n;
  while (true) {
    const std::int32_t newest = row[taken];
    const std::size_t last = --left;
    for (std::size_t j = 0; j < d; ++j) {
      coordinate(taken, j) = coordinate(last, j);
      coordinate(last, j) = kFar;
    }
    squares[taken] = squares[last];
    from[taken] = from[last];
    row[taken] = row[last];
    squares[last] = kFar;
    if (left == 0) return edges;
    monitor.poll();
    const span::Least least =
        loops.relax(blocks.data(), (left + kLeaf - 1) / kLeaf, d,
                    points + static_cast<std::size_t>(newest) * d, newest, squares.data(),
                    from.data());
    taken = least.block * kLeaf;
    while (squares[taken] != least.square) ++taken;
    edges.push_back({least.square, static_cast<std::int32_t>(from[taken]), row[taken]});
  }
}

std::vector<Found> tree_of(const std::vector<double>& points, std::size_t n, std::size_t d,
                           int threads, const Loops& loops, Monitor& monitor) {
  if (n < kFewPoints) return prim(points.data(), n, d, loops, monitor);
  const PointTree tree(points.data(), n, d, monitor);
  Boruvka boruvka(tree, loops, threads, monitor);
  if (boruvka.share_looked_at() > kMostLeaves) return prim(points.data(), n, d, loops, monitor);
  return boruvka.run();
}

}  // namespace

std::vector<Edge> spanning_tree(const double* points, std::size_t n, std::size_t d, int threads,
                                const std::string& path, Monitor& monitor) {
  if (n < 2) return {};
  Distinct some = distinct(points, n, d, monitor);
  std::vector<Edge> edges = std::move(some.edges);
  const Loops& loops = span::loops_for(path.c_str(), d);
  for (const Found& f : tree_of(some.points, some.rows.size(), d, threads, loops, monitor)) {
    const auto [a, b] = std::minmax(some.rows[f.a], some.rows[f.b]);
    edges.push_back({a, b, std::sqrt(f.square) / some.scale});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) {
    if (x.length != y.length) return x.length < y.length;
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  return edges;
}

}  // namespace credo
