#include "infer/order.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <random>

#include "common/constants.hpp"

namespace credo::infer {
namespace {

using Clock = std::chrono::steady_clock;
using Higher = std::vector<Variables>;  // of each vertex, its neighbours at its elimination

constexpr double kMsPerState = 1.5e-6;  // all posteriors, one row
constexpr double kShareOfRun = 0.25;    // of the expected run time, spent on looking for less
constexpr double kNoise = 0.2;          // on the rule, in half of the random tries
constexpr double kLongestMs = 500;      // a plan that stays too large will not be run

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// ---------------------------------------------------------------- the graph, simplicial part

struct Graph {
  std::vector<double> weight;  // arities
  std::vector<Variables> near;
};

Graph moral_graph(const std::vector<std::int64_t>& arity, const Variables& vertices,
                  const std::vector<std::int32_t>& vertex_of,
                  const std::vector<Variables>& scopes) {
  Graph graph;
  for (const std::int32_t v : vertices) graph.weight.push_back(static_cast<double>(arity[v]));
  graph.near.resize(vertices.size());
  for (const Variables& scope : scopes)
    for (const std::int32_t a : scope)
      for (const std::int32_t b : scope)
        if (a != b) graph.near[vertex_of[a]].push_back(vertex_of[b]);
  for (Variables& near : graph.near) {
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
  }
  return graph;
}

// Eliminates simplicial vertices while there are any; returns those left.
Variables strip_simplicial(const Graph& graph, Variables& elimination, Higher& higher) {
  const std::size_t n = graph.near.size();
  std::vector<std::int64_t> missing(n), degree(n);  // pairs of neighbours not joined
  std::vector<std::int32_t> mark(n, -1);
  std::vector<bool> gone(n);
  Variables ready;
  for (std::size_t v = 0; v < n; ++v) {
    for (const std::int32_t u : graph.near[v]) mark[u] = static_cast<std::int32_t>(v);
    std::int64_t joined = 0;
    for (const std::int32_t u : graph.near[v])
      for (const std::int32_t w : graph.near[u]) joined += mark[w] == static_cast<std::int32_t>(v);
    degree[v] = static_cast<std::int64_t>(graph.near[v].size());
    missing[v] = (degree[v] * (degree[v] - 1) - joined) / 2;
    if (missing[v] == 0) ready.push_back(static_cast<std::int32_t>(v));
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::int32_t v = ready[i];
    gone[v] = true;
    elimination.push_back(v);
    for (const std::int32_t u : graph.near[v])
      if (!gone[u]) higher[v].push_back(u);
    for (const std::int32_t u : higher[v]) {
      const bool was_ready = missing[u] == 0;
      missing[u] -= degree[u] - degree[v];
      --degree[u];
      if (missing[u] == 0 && !was_ready) ready.push_back(u);
    }
  }
  Variables left;
  for (std::size_t v = 0; v < n; ++v)
    if (!gone[v]) left.push_back(static_cast<std::int32_t>(v));
  return left;
}

// ---------------------------------------------------------------- one greedy try on the rest

enum class Rule { kFill, kWeightedFill, kSize, kMessage };  // kMessage: size without the vertex

class Core {
 public:
  Core(const Graph& graph, const Variables& left) : n_(left.size()), words_((n_ + 63) / 64) {
    std::vector<std::int32_t> place(graph.near.size(), -1);
    for (std::size_t i = 0; i < n_; ++i) place[left[i]] = static_cast<std::int32_t>(i);
    bits_.resize(n_ * words_);
    degree_.resize(n_);
    missing_.resize(n_);
    heavy_missing_.resize(n_);
    near_weight_.resize(n_);
    log_size_.resize(n_);
    weight_.resize(n_);
    log_weight_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      weight_[i] = graph.weight[left[i]];
      log_size_[i] = log_weight_[i] = std::log(weight_[i]);
    }
    for (std::size_t i = 0; i < n_; ++i)
      for (const std::int32_t u : graph.near[left[i]])
        if (place[u] >= 0) set(i, static_cast<std::size_t>(place[u]));
    for (std::size_t i = 0; i < n_; ++i) {
      for_each(row(i), [&](std::size_t u) {
        ++degree_[i];
        near_weight_[i] += weight_[u];
        log_size_[i] += log_weight_[u];
      });
      for_each(row(i), [&](std::size_t u) {
        for_each(row(i), [&](std::size_t w) {
          if (w > u && !has(u, w)) {
            missing_[i] += 1;
            heavy_missing_[i] += weight_[u] * weight_[w];
          }
        });
      });
    }
  }

  // Eliminates all, writing the order and the neighbours at elimination; returns the total of the
  // table sizes, or infinity as soon as it passes `limit`. Destroys the graph.
  double eliminate(Rule rule, std::mt19937_64* random, double noise, double limit,
                   Variables& order, Higher& higher) {
    std::vector<bool> gone(n_);
    std::vector<std::uint32_t> alive(n_);
    for (std::size_t i = 0; i < n_; ++i) alive[i] = static_cast<std::uint32_t>(i);
    double cost = 0;
    Variables near;
    while (!alive.empty()) {
      const std::size_t at = pick(rule, random, noise, alive);
      const std::size_t v = alive[at];
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(at));
      near.clear();
      double cells = weight_[v];
      for_each(row(v), [&](std::size_t u) {
        near.push_back(static_cast<std::int32_t>(u));
        cells *= weight_[u];
      });
      cost += cells;
      if (cost >= limit) return kInfinity;
      order.push_back(static_cast<std::int32_t>(v));
      higher[v] = near;
      if (missing_[v] > 0)
        for (std::size_t i = 0; i < near.size(); ++i)
          for (std::size_t j = i + 1; j < near.size(); ++j)
            if (!has(near[i], near[j])) join(near[i], near[j]);
      for (const std::int32_t u : near) part(u, v);
    }
    return cost;
  }

 private:
  std::uint64_t* row(std::size_t v) { return bits_.data() + v * words_; }
  bool has(std::size_t a, std::size_t b) { return row(a)[b / 64] >> (b % 64) & 1; }
  void set(std::size_t a, std::size_t b) { row(a)[b / 64] |= std::uint64_t{1} << (b % 64); }
  template <class F>
  void for_each(const std::uint64_t* bits, F&& f) {
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t rest = bits[w]; rest != 0; rest &= rest - 1)
        f(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }

  // A vertex that needs no new edge, else the least by the rule. (The rule of size alone would
  // leave simplicial vertices waiting.)
  std::size_t pick(Rule rule, std::mt19937_64* random, double noise,
                   const std::vector<std::uint32_t>& alive) {
    std::size_t best = 0, ties = 0;
    double least = kInfinity;
    const auto offer = [&](std::size_t at, double key) {
      if (noise > 0) key *= 1 + noise * static_cast<double>((*random)() >> 11) * 0x1p-53;
      if (key > least) return;
      if (key < least) ties = 0;
      ++ties;
      if (ties > 1 && (random == nullptr || (*random)() % ties != 0)) return;
      best = at;
      least = key;
    };
    for (std::size_t at = 0; at < alive.size(); ++at) {
      const std::uint32_t v = alive[at];
      if (missing_[v] == 0) return at;
      if (rule == Rule::kFill) offer(at, missing_[v]);
      else if (rule == Rule::kWeightedFill) offer(at, heavy_missing_[v]);
      else if (rule == Rule::kSize) offer(at, std::round(log_size_[v] * 1e6));
      else offer(at, std::round((log_size_[v] - log_weight_[v]) * 1e6));
    }
    return best;
  }

  void join(std::size_t x, std::size_t y) {
    const double pair = weight_[x] * weight_[y];
    double common = 0, common_weight = 0;
    const std::uint64_t *near_x = row(x), *near_y = row(y);
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t rest = near_x[w] & near_y[w]; rest != 0; rest &= rest - 1) {
        const std::size_t z = w * 64 + static_cast<std::size_t>(std::countr_zero(rest));
        common += 1;
        common_weight += weight_[z];
        missing_[z] -= 1;
        heavy_missing_[z] -= pair;
      }
    missing_[x] += degree_[x] - common;
    missing_[y] += degree_[y] - common;
    heavy_missing_[x] += weight_[y] * (near_weight_[x] - common_weight);
    heavy_missing_[y] += weight_[x] * (near_weight_[y] - common_weight);
    degree_[x] += 1;
    degree_[y] += 1;
    near_weight_[x] += weight_[y];
    near_weight_[y] += weight_[x];
    log_size_[x] += log_weight_[y];
    log_size_[y] += log_weight_[x];
    set(x, y);
    set(y, x);
  }

  // Takes v, whose neighbours are all joined by now, away from its neighbour u.
  void part(std::size_t u, std::size_t v) {
    missing_[u] -= degree_[u] - degree_[v];
    heavy_missing_[u] -=
        weight_[v] * (near_weight_[u] - weight_[v] - (near_weight_[v] - weight_[u]));
    degree_[u] -= 1;
    near_weight_[u] -= weight_[v];
    log_size_[u] -= log_weight_[v];
    row(u)[v / 64] &= ~(std::uint64_t{1} << (v % 64));
  }

  std::size_t n_, words_;
  std::vector<std::uint64_t> bits_;
  std::vector<double> weight_, log_weight_, degree_, missing_, heavy_missing_, near_weight_,
      log_size_;
};

// ---------------------------------------------------------------- the best of several

void search(const Graph& graph, const Variables& left, double fixed_cost, double budget_ms,
            std::uint64_t seed, Clock::time_point start, Variables& elimination, Higher& higher,
            int& tries) {
  constexpr Rule kRules[] = {Rule::kFill, Rule::kWeightedFill, Rule::kSize, Rule::kMessage};
  const Core core(graph, left);
  std::mt19937_64 random(seed + 1);
  double best = kInfinity;
  Variables best_order;
  Higher best_higher;
  int since_better = 0;
  for (tries = 0; tries < 1000; ++tries) {
    if (tries > 0) {
      const double budget =
          budget_ms >= 0 ? budget_ms
                         : std::min(kLongestMs, kShareOfRun * kMsPerState * (best + fixed_cost) /
                                                    (1 + since_better / 8));
      if (ms_since(start) > budget) break;
    }
    Core copy = core;
    Variables order;
    Higher near(left.size());
    // The first four are plain; then random ties, and every other time noise too.
    const bool plain = tries < 4 && seed == 0;
    const double cost = copy.eliminate(kRules[tries % 4], plain ? nullptr : &random,
                                       tries / 4 % 2 == 1 ? kNoise : 0, best, order, near);
    ++since_better;
    if (cost < best) {
      best = cost;
      best_order = std::move(order);
      best_higher = std::move(near);
      since_better = 0;
    }
  }
  for (const std::int32_t i : best_order) {
    elimination.push_back(left[i]);
    Variables& near = higher[left[i]];
    for (const std::int32_t u : best_higher[i]) near.push_back(left[u]);
  }
}

// The same cliques, eliminated so that `last` comes last: maximum cardinality search from it
// (Tarjan and Yannakakis 1984).
void end_at(std::int32_t last, Variables& elimination, Higher& higher) {
  const std::size_t n = elimination.size();
  std::vector<Variables> near(n), bucket(n + 1);
  for (std::size_t v = 0; v < n; ++v)
    for (const std::int32_t u : higher[v]) {
      near[v].push_back(u);
      near[u].push_back(static_cast<std::int32_t>(v));
    }
  std::vector<std::size_t> count(n);
  std::vector<bool> visited(n);
  for (std::size_t i = 0; i < n; ++i) bucket[0].push_back(elimination[i]);
  bucket[0].push_back(last);
  Variables reversed;
  std::size_t top = 0;
  while (reversed.size() < n) {
    while (bucket[top].empty()) --top;
    const std::int32_t v = bucket[top].back();
    bucket[top].pop_back();
    if (visited[v] || count[v] != top) continue;
    visited[v] = true;
    reversed.push_back(v);
    higher[v].clear();
    for (const std::int32_t u : near[v]) {
      if (visited[u]) {
        higher[v].push_back(u);
        continue;
      }
      bucket[++count[u]].push_back(u);
      top = std::max(top, count[u]);
    }
  }
  elimination.assign(reversed.rbegin(), reversed.rend());
}

}  // namespace

Order find_order(const std::vector<std::int64_t>& arity, const std::vector<bool>& keep,
                 const std::vector<Variables>& scopes, double budget_ms, std::uint64_t seed,
                 std::int32_t last) {
  const Clock::time_point start = Clock::now();
  Variables vertices, elimination;
  std::vector<std::int32_t> vertex_of(keep.size(), -1);
  for (std::size_t v = 0; v < keep.size(); ++v)
    if (keep[v]) {
      vertex_of[v] = static_cast<std::int32_t>(vertices.size());
      vertices.push_back(static_cast<std::int32_t>(v));
    }
  const Graph graph = moral_graph(arity, vertices, vertex_of, scopes);
  Higher higher(vertices.size());
  const Variables left = strip_simplicial(graph, elimination, higher);
  const auto clique_cells = [&](std::int32_t v) {
    double cells = graph.weight[v];
    for (const std::int32_t u : higher[v]) cells *= graph.weight[u];
    return cells;
  };
  Order order;
  if (!left.empty()) {
    double fixed_cost = 0;
    for (const std::int32_t v : elimination) fixed_cost += clique_cells(v);
    search(graph, left, fixed_cost, budget_ms, seed, start, elimination, higher, order.tries);
  }
  if (last >= 0 && keep[last]) end_at(vertex_of[last], elimination, higher);

  std::vector<std::size_t> position(vertices.size()), inside(vertices.size());
  for (std::size_t i = 0; i < elimination.size(); ++i) position[elimination[i]] = i;
  for (const std::int32_t v : elimination) {  // is the clique part of one eliminated before?
    std::int32_t parent = -1;
    for (const std::int32_t u : higher[v])
      if (parent < 0 || position[u] < position[parent]) parent = u;
    if (parent >= 0) inside[parent] = std::max(inside[parent], higher[v].size());
  }
  for (const std::int32_t v : elimination) {
    order.elimination.push_back(vertices[v]);
    if (inside[v] == higher[v].size() + 1) continue;
    Variables clique{vertices[v]};
    for (const std::int32_t u : higher[v]) clique.push_back(vertices[u]);
    order.total_states += clique_cells(v);
    order.largest_clique = std::max(order.largest_clique, clique_cells(v));
    order.cliques.push_back(std::move(clique));
  }
  return order;
}

}  // namespace credo::infer
