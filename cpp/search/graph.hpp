// A DAG that a search changes edge by edge, and what it may change.
//
// Ancestors are kept as bit sets, so that whether an edge closes a cycle is one bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace credo::search {

using Parents = std::vector<std::vector<std::int32_t>>;

// What a search may do. Edges are [child, parent].
struct Rules {
  std::size_t n = 0;
  std::vector<std::uint8_t> allowed;   // [n, n]
  std::vector<std::uint8_t> required;  // [n, n]; required edges are in the start
  std::vector<std::int32_t> most;      // [n]: the most parents of each child

  bool may(std::size_t child, std::size_t parent) const { return allowed[child * n + parent] != 0; }
  bool must(std::size_t child, std::size_t parent) const {
    return required[child * n + parent] != 0;
  }
};

enum class Change : std::uint8_t { kAdd, kDelete, kReverse, kOrders, kRestart };

struct Move {
  Change change;
  std::int32_t parent, child;  // of the edge before the change (after it, for kAdd)
};

// Tells how far a search is; false stops it.
using Report = std::function<bool(double score, std::int64_t steps, std::int64_t edges)>;

struct Found {
  Parents parents;
  double score = 0;
  std::vector<double> trace;
  std::vector<Move> moves;
  std::size_t to_best = 0;  // moves that lead to `parents`
  std::int64_t steps = 0;
  bool stopped = false;  // by the report
};

class Graph {
 public:
  Graph(std::size_t n, const Parents& parents);

  std::size_t n() const { return n_; }
  const Parents& parents() const { return parents_; }
  std::span<const std::int32_t> parents(std::size_t child) const { return parents_[child]; }
  bool has(std::size_t child, std::size_t parent) const { return bit(children_, parent, child); }
  bool is_ancestor(std::size_t of, std::size_t ancestor) const {
    return bit(ancestors_, of, ancestor);
  }
  std::int64_t edges() const { return edges_; }

  // Whether the graph stays acyclic and within the rules.
  bool may_add(const Rules& rules, std::size_t child, std::size_t parent) const;
  bool may_delete(const Rules& rules, std::size_t child, std::size_t parent) const;
  bool may_reverse(const Rules& rules, std::size_t child, std::size_t parent) const;
  bool may(const Rules& rules, const Move& move) const;

  void apply(const Move& move);
  std::vector<std::int32_t> order() const;  // parents before children

 private:
  bool bit(const std::vector<std::uint64_t>& rows, std::size_t row, std::size_t at) const {
    return rows[row * words_ + at / 64] >> (at % 64) & 1;
  }
  void set(std::vector<std::uint64_t>& rows, std::size_t row, std::size_t at, bool on) {
    const std::uint64_t mask = std::uint64_t{1} << (at % 64);
    std::uint64_t& word = rows[row * words_ + at / 64];
    word = on ? word | mask : word & ~mask;
  }
  void add(std::size_t child, std::size_t parent);
  void remove(std::size_t child, std::size_t parent);
  void find_ancestors();

  std::size_t n_, words_;
  Parents parents_;  // sorted
  std::vector<std::uint64_t> children_, ancestors_;
  std::int64_t edges_ = 0;
};

// Differences below this are rounding: cancellation leaves about 1e-15 of a score.
inline double slack_of(double score) { return 1e-11 * std::max(1.0, std::fabs(score)); }

// Whole numbers from a seed, the same on every machine (xoshiro256**).
class Random {
 public:
  explicit Random(std::uint64_t seed);
  std::uint64_t next();
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t s_[4];
};

}  // namespace credo::search
