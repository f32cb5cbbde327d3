#include "cluster/links.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace credo {

namespace {

// Which cluster each row is in while clusters merge. Sets of rows with a root each, smaller under
// larger, paths halved. All that is known of a row lies side by side, in numbers as short as the
// rows allow: looking it up is a walk through memory.
template <class Id>
class Merging {
 public:
  explicit Merging(std::size_t n) : rows_(n) {
    for (std::size_t i = 0; i < n; ++i) rows_[i] = {-1, static_cast<Id>(i)};
  }

  bool merge(std::int64_t a, std::int64_t b, std::size_t merged, double* link) {
    Id r = top(static_cast<Id>(a)), s = top(static_cast<Id>(b));
    if (r == s) return false;
    link[0] = static_cast<double>(std::min(rows_[r].cluster, rows_[s].cluster));
    link[1] = static_cast<double>(std::max(rows_[r].cluster, rows_[s].cluster));
    if (rows_[r].up > rows_[s].up) std::swap(r, s);
    rows_[r].up += rows_[s].up;
    rows_[s].up = r;
    rows_[r].cluster = static_cast<Id>(merged);
    link[3] = -static_cast<double>(rows_[r].up);
    return true;
  }

  // The row that stands for the cluster of a row, and the cluster's number.
  Id top_of(std::int64_t row) { return top(static_cast<Id>(row)); }
  Id cluster(Id top) const { return rows_[top].cluster; }

  // Begin to look a row up, and what it stands under, ahead of the merge that needs them.
  void expect(std::int64_t v) const { __builtin_prefetch(&rows_[v], 1); }
  void expect_above(std::int64_t v) const {
    if (rows_[v].up >= 0) __builtin_prefetch(&rows_[rows_[v].up], 1);
  }

 private:
  struct Row {
    Id up;       // towards the root; of a root, minus the size
    Id cluster;  // of a root
  };

  Id top(Id v) {
    Id up = rows_[v].up;
    while (up >= 0) {
      const Id above = rows_[up].up;
      if (above < 0) return up;
      rows_[v].up = above;
      v = above;
      up = rows_[v].up;
    }
    return v;
  }

  std::vector<Row> rows_;
};

constexpr std::size_t kAhead = 16;  // merges

// Edges of one length, from `begin` to `end`. Which clusters they join is the same in every least
// spanning tree, but not the edges that do so: those that end up together merge in the order of
// their numbers.
template <class Id>
bool merge_tied(Merging<Id>& rows, const std::int64_t* edges, const double* lengths, std::size_t n,
                std::size_t begin, std::size_t end, double* z) {
  std::vector<std::pair<Id, Id>> parts;  // (number, top) of the clusters that merge
  for (std::size_t e = 2 * begin; e < 2 * end; ++e) {
    const Id top = rows.top_of(edges[e]);
    parts.emplace_back(rows.cluster(top), top);
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  const auto place = [&](std::int64_t row) {
    const Id number = rows.cluster(rows.top_of(row));
    return static_cast<std::size_t>(
        std::ranges::lower_bound(parts, number, {}, &std::pair<Id, Id>::first) - parts.begin());
  };
  std::vector<std::size_t> first(parts.size());  // towards the first of those that end up together
  std::iota(first.begin(), first.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (first[i] != i) i = first[i] = first[first[i]];
    return i;
  };
  for (std::size_t e = begin; e < end; ++e) {
    const auto [a, b] = std::minmax({find(place(edges[2 * e])), find(place(edges[2 * e + 1]))});
    if (a == b) return false;
    first[b] = a;
  }
  std::size_t t = begin;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t together = find(i);
    if (together == i) continue;
    z[4 * t + 2] = lengths[t];
    rows.merge(parts[together].second, parts[i].second, n + t, z + 4 * t);
    ++t;
  }
  return true;
}

template <class Id>
bool merged(const std::int64_t* edges, const double* lengths, std::size_t n, Ties ties, double* z) {
  Merging<Id> rows(n);
  for (std::size_t t = 0; t + 1 < n; ++t) {
    if (ties == Ties::kByCluster && t + 2 < n && lengths[t + 1] == lengths[t]) {
      std::size_t end = t + 2;
      while (end + 1 < n && lengths[end] == lengths[t]) ++end;
      if (!merge_tied(rows, edges, lengths, n, t, end, z)) return false;
      t = end - 1;
      continue;
    }
    if (t + 2 * kAhead + 1 < n) {
      const std::int64_t *far = edges + 2 * (t + 2 * kAhead), *near = edges + 2 * (t + kAhead);
      rows.expect(far[0]);
      rows.expect(far[1]);
      rows.expect_above(near[0]);
      rows.expect_above(near[1]);
    }
    double* link = z + 4 * t;
    link[2] = lengths[t];
    if (!rows.merge(edges[2 * t], edges[2 * t + 1], n + t, link)) return false;
  }
  return true;
}

constexpr std::size_t kShort = std::size_t{1} << 30;  // rows whose clusters have short numbers
}  // namespace

bool links_of_tree(const std::int64_t* edges, const double* lengths, std::size_t n, Ties ties,
                   double* z) {
  return n < kShort ? merged<std::int32_t>(edges, lengths, n, ties, z)
                    : merged<std::int64_t>(edges, lengths, n, ties, z);
}

namespace {

// What joins two groups: the summed (or least) strength of their ties, and how many there are.
struct Bond {
  double strength;
  double ties;
};

}  // namespace

std::vector<double> links_of_ties(std::size_t n, const std::vector<Tie>& ties, bool average,
                                  double most, Monitor& monitor) {
  using Id = std::int64_t;
  std::vector<std::unordered_map<Id, Bond>> near(2 * n);
  std::vector<double> size(2 * n, 1.0);
  std::vector<char> alive(2 * n, 0);
  std::fill_n(alive.begin(), n, 1);
  // Strongest first; of equals, the pair of the oldest groups.
  using Entry = std::tuple<double, Id, Id>;
  const auto later = [](const Entry& x, const Entry& y) {
    if (std::get<0>(x) != std::get<0>(y)) return std::get<0>(x) < std::get<0>(y);
    return std::tie(std::get<1>(x), std::get<2>(x)) > std::tie(std::get<1>(y), std::get<2>(y));
  };
  std::priority_queue<Entry, std::vector<Entry>, decltype(later)> queue(later);
  const auto link = [&](Id a, Id b, const Bond& bond) {
    const double pairs = size[a] * size[b];
    if (average) return bond.strength / pairs;
    return bond.ties == pairs ? bond.strength : 0.0;
  };
  const auto offer = [&](Id a, Id b, const Bond& bond) {
    const double s = link(a, b, bond);
    if (s > 0) queue.emplace(s, std::min(a, b), std::max(a, b));
  };
  for (const Tie& tie : ties) {
    near[tie.a][tie.b] = near[tie.b][tie.a] = {tie.strength, 1.0};
    offer(tie.a, tie.b, {tie.strength, 1.0});
  }
  std::vector<double> z;
  Id merged = static_cast<Id>(n);
  while (!queue.empty()) {
    monitor.poll();
    const auto [s, a, b] = queue.top();
    queue.pop();
    if (!alive[a] || !alive[b]) continue;
    alive[a] = alive[b] = 0;
    alive[merged] = 1;
    size[merged] = size[a] + size[b];
    z.insert(z.end(), {static_cast<double>(a), static_cast<double>(b), most - s, size[merged]});
    auto& into = near[merged];
    for (const Id part : {a, b}) {
      for (const auto& [c, bond] : near[part]) {
        if (c == a || c == b) continue;
        near[c].erase(part);
        const auto [at, fresh] = into.try_emplace(c, bond);
        if (fresh) continue;
        at->second.strength = average ? at->second.strength + bond.strength
                                      : std::min(at->second.strength, bond.strength);
        at->second.ties += bond.ties;
      }
      near[part] = {};
    }
    for (const auto& [c, bond] : into) {
      near[c][merged] = bond;
      offer(merged, c, bond);
    }
    ++merged;
  }
  return z;
}

}  // namespace credo
