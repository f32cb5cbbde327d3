// Markov chains over DAGs whose families are in given lists: P(G) proportional to exp(sum of scores).
//
// Three kinds of moves, each of which leaves that distribution as it is:
//   an edge of a pair is added, taken away or turned (Madigan and York 1995);
//   an edge is turned and both its ends get new parents (Grzegorczyk and Husmeier 2008);
//   a variable and its children get new parents (after Su and Borsuk 2016).
// New parents are drawn from all sets of the list that close no cycle, in proportion to exp(score):
// the list is sorted, so that a sum is done when what is left of it is below e^-40 of its first.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "average/family_lists.hpp"
#include "common/monitor.hpp"
#include "search/graph.hpp"

namespace credo::average {

inline constexpr std::size_t kMostChained = 1024;  // variables

// What one chain did in one block of sweeps.
struct Block {
  std::vector<std::uint32_t> edges;   // [parent, child]: after how many sweeps the edge was there
  std::vector<std::int32_t> kept;     // [kept, n]: the places of the families in their lists
  std::vector<double> scores;         // [kept]
  std::int64_t proposed[4] = {}, accepted[4] = {};  // by kind, then exchanges between copies
};

class Chain {
 public:
  virtual ~Chain() = default;
  // `moves` moves; all scores are taken `cold` times: below 1 graphs change freely.
  virtual void sweep(std::size_t moves, double cold, Block& out) = 0;
  virtual void count_edges(Block& out) const = 0;
  virtual void keep(Block& out) const = 0;
  virtual double score() const = 0;
};

// One chain, or copies of it at several temperatures that exchange their graphs (Geyer 1991): those
// that change freely carry the first one from one mode to another.
class Ladder {
 public:
  // IN shares [copies]: of the scores, the first one 1.
  Ladder(std::vector<std::unique_ptr<Chain>> copies, std::vector<double> shares,
         std::uint64_t seed)
      : copies_(std::move(copies)), shares_(std::move(shares)), random_(seed) {}

  // `sweeps` times `moves` moves, after each of which edges of the first copy are counted; graphs
  // are kept at equal distances, `keep` of them. All scores are taken `cold` times.
  Block run(std::size_t n, std::size_t sweeps, std::size_t moves, std::size_t keep, double cold,
            Monitor& monitor);

 private:
  std::vector<std::unique_ptr<Chain>> copies_;
  std::vector<double> shares_;
  search::Random random_;
};

// One chain from a graph that the seed draws: in a random order each variable gets the best parents
// before it. None if the lists have no graph in that order. Or from the graph `start`, the parents
// of each variable, sorted; none if a set is not in its list.
std::unique_ptr<Chain> make_chain(std::shared_ptr<const std::vector<FamilyList>> lists,
                                  std::uint64_t seed,
                                  const std::vector<std::vector<std::int32_t>>* start = nullptr);

}  // namespace credo::average
