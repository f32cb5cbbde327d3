// The order in which variables are summed out decides the size of the tables: finding the best one
// is NP-hard and no single greedy rule wins, so several are tried (Kjærulff 1990), with random
// ties, for as long as the time spent is small beside the time it may save.
//
// A vertex whose neighbours are all joined (simplicial) is eliminated first under every rule, since
// that is never worse (Bodlaender, Koster and van den Eijkhof 2005); the tries begin at what is
// left.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/model.hpp"

namespace credo::infer {

struct Order {
  Variables elimination;            // the variables that appear in `scopes` or are kept, in order
  std::vector<Variables> cliques;   // maximal ones
  double total_states = 0;          // of the maximal cliques
  double largest_clique = 0;
  int tries = 0;
};

// `scopes` are those of the factors after slicing; only variables with keep[v] may occur in them.
// A variable `last` >= 0 is eliminated last, at no cost, for a single target.
Order find_order(const std::vector<std::int64_t>& arity, const std::vector<bool>& keep,
                 const std::vector<Variables>& scopes, double budget_ms, std::uint64_t seed,
                 std::int32_t last);

}  // namespace credo::infer
