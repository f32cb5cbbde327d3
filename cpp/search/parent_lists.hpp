// For each child, the parent sets worth having, best first.
//
// A set is worth nothing if one of its subsets scores as much: whatever order allows the set
// allows the subset. The lists are built level by level. A set whose upper bound no longer passes
// the best of its subsets ends there, with all its supersets; if in addition every level is
// narrower than the beam, nothing that could be optimal is left out and the lists are complete.
#pragma once

#include <unordered_map>

#include "score/family_scores.hpp"
#include "search/graph.hpp"

namespace credo::search {

inline constexpr std::size_t kMostCandidates = 64;

template <class F>
void for_each_bit(std::uint64_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(mask & (~mask + 1));
}

inline std::size_t size_of(std::uint64_t mask) {
  return static_cast<std::size_t>(__builtin_popcountll(mask));
}

struct ParentList {
  std::vector<std::int32_t> candidates;  // at most 64; sets are bit masks over them
  std::vector<std::uint64_t> masks;      // sorted by score, best first
  std::vector<double> scores;
  std::vector<std::int8_t> bit_of;       // [n]: the bit of a variable, or -1
  std::uint64_t required = 0;

  std::uint64_t mask_of(std::span<const std::int32_t> parents, bool& fits) const;
  std::vector<std::int32_t> parents_of(std::uint64_t mask) const;
  // The first set within `allowed`, from the given one on; the size of the list if there is none.
  std::size_t best(std::uint64_t allowed, std::size_t from = 0) const {
    std::size_t i = from;
    while (i < masks.size() && (masks[i] & ~allowed) != 0) ++i;
    return i;
  }
};

struct ListOptions {
  std::size_t candidates = kMostCandidates;  // the most candidate parents of a child
  std::size_t beam = 0;                      // sets of a level and child that are extended; 0: all
  std::size_t most = 0;                      // families in all; past it the beam closes; 0: any
};

struct GrowOptions {
  std::size_t beam = 4;   // sets of a level and child that are extended
  std::size_t alone = 0;  // candidates besides the neighbours: the best by themselves
};

class ParentLists {
 public:
  ParentLists(score::FamilyScores& scores, const Rules& rules);

  // Builds every list; false if the report stopped it (the lists are then what was scored).
  bool build(const ListOptions& options, const Report& report);
  // The lists of families that are scored already, one score each.
  void take(const score::Families& families, std::span<const double> scores);
  // Adds, for each child, sets of its neighbours in a DAG and of those that share a child with it,
  // those that are not worth more than their subsets left alone: what the DAG could be with its
  // edges turned. Returns how many were added that are worth having.
  std::size_t grow(const Parents& parents, const GrowOptions& options, const Report& report);
  // Adds, for each child whose candidates were chosen, what completes its best `pairs` sets of two
  // parents best, among all variables that may be its parents: a parent may be worth nothing but
  // beside two others. `by` looks at all of them: the lists' own scores, or those of fewer rows.
  // Returns how many were added; the report may stop it.
  std::size_t reach(std::size_t pairs, score::FamilyScores& by, const Report& report);
  // Adds the families of a DAG, and with `around` those one or two changes away from them.
  // Returns how many were added that are worth having.
  std::size_t add(const Parents& parents, bool around);

  const std::vector<ParentList>& lists() const { return lists_; }
  const Rules& rules() const { return rules_; }
  bool complete() const { return complete_; }
  // For each child, what no family of it scores above: its best set, or what the sets that were
  // not scored yet may reach. Infinity where a set was left out unseen, or has no bound.
  const std::vector<double>& upper() const { return upper_; }
  std::int64_t scored() const { return scored_; }

 private:
  struct Known {
    double score, best;  // its own score, and the best of it and its subsets
  };
  void choose_candidates(std::size_t most);
  void number(std::size_t child);
  std::vector<std::int32_t> ranked(std::size_t child, std::span<const std::int32_t> may,
                                   std::span<const std::int32_t> beside);
  std::vector<std::int32_t> screened(std::size_t child, std::span<const std::int32_t> may,
                                     std::size_t most);
  void score_pairs(std::size_t child);
  void list_all();
  double reaches(std::size_t child, std::uint64_t mask) const;
  void bound_all(const std::vector<std::vector<std::uint64_t>>& open);
  std::uint64_t join(std::size_t child, std::span<const std::int32_t> parents, bool& fits);
  std::uint64_t best_alone(std::size_t child, std::size_t most) const;
  double best_subset(std::size_t child, std::uint64_t mask) const;
  std::vector<std::vector<std::int32_t>> blankets(const Parents& parents) const;
  void fit(const Parents& parents, std::vector<std::uint64_t>& around);

  score::FamilyScores& scores_;
  Rules rules_;
  std::vector<ParentList> lists_;
  std::vector<std::unordered_map<std::uint64_t, Known>> known_;
  std::vector<double> upper_;
  bool complete_ = false;
  std::int64_t scored_ = 0;
};

}  // namespace credo::search
