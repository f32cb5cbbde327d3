// Metropolis search over DAGs, with a temperature that falls.
#pragma once

#include "score/family_scores.hpp"
#include "search/graph.hpp"

namespace credo::search {

struct AnnealOptions {
  double hot = 1, cold = 1;  // temperatures at the start and the end, geometric in between
  std::int64_t steps = 0;
  std::int64_t thin = 0;     // keep the graph of every so many steps; 0: none
  std::uint64_t seed = 0;
};

struct Annealed {
  Found best;
  Parents last;
  double last_score = 0;
  std::int64_t accepted = 0, proposed = 0;
  std::vector<double> acceptance;          // by hundredths of the way
  std::vector<std::uint8_t> samples;       // [kept, n, n]: child, parent
  std::int64_t kept = 0;
};

// Metropolis: a pair of nodes is drawn, and one of the other two of {no edge, either arrow}; the
// proposal is symmetric, so that at temperature 1 the chain draws from exp(score).
Annealed anneal(score::FamilyScores& scores, const Rules& rules, const Parents& start,
                const AnnealOptions& options, const Report& report);

}  // namespace credo::search
