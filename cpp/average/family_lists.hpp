// For each child, all sets of parents that the rules allow, with their scores, best first.
//
// A sum over graphs needs more of them than a search does. A set P is left out only where a subset Q
// scores more than `gap` above it: whatever graph has P can have Q instead, so the graphs with P
// weigh at most exp(s(P) - s(Q)) of those with Q. The sum of that over the sets left out on account
// of the same Q, at most over Q, bounds the probability outside the list.
#pragma once

#include <cstdint>
#include <vector>

#include "score/family_scores.hpp"
#include "search/graph.hpp"

namespace credo::average {

struct FamilyList {
  std::vector<std::vector<std::int32_t>> sets;  // each sorted
  std::vector<double> scores;                   // best first
  double outside = 0;                           // a bound on the probability of the sets left out
};

struct FamilyLists {
  std::vector<FamilyList> of;  // each child
  std::int64_t scored = 0;
  bool stopped = false;
};

// IN by_size [n]: added to a score by the number of parents; IN gap: infinity keeps every set.
FamilyLists list_families(score::FamilyScores& scores, const search::Rules& rules,
                          const std::vector<double>& by_size, double gap,
                          const search::Report& report);

}  // namespace credo::average
