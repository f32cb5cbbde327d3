#include "links.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace credo {

bool links_of_tree(const std::int64_t* edges, const double* lengths, std::size_t n, double* z) {
  std::vector<std::int64_t> up(2 * n);  // towards the cluster a row is in, paths halved
  std::vector<std::int64_t> size(2 * n, 1);
  std::iota(up.begin(), up.end(), 0);
  const auto top = [&](std::int64_t v) {
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
  };
  for (std::size_t t = 0; t + 1 < n; ++t) {
    const std::int64_t a = top(edges[2 * t]), b = top(edges[2 * t + 1]);
    if (a == b) return false;
    const auto merged = static_cast<std::int64_t>(n + t);
    up[a] = up[b] = merged;
    size[merged] = size[a] + size[b];
    double* row = z + 4 * t;
    row[0] = static_cast<double>(std::min(a, b));
    row[1] = static_cast<double>(std::max(a, b));
    row[2] = lengths[t];
    row[3] = static_cast<double>(size[merged]);
  }
  return true;
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
