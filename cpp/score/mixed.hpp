// Conditional Gaussian scores: one regression for each configuration of the discrete parents.
//
// A continuous child with discrete parents D and continuous parents C has, in configuration d with
// n_d rows, the scatter s_d of its values and the share 1 - R²_d that the regression on C leaves:
//
//   local = -1/2 sum_d n_d (ln(2 pi s_d (1 - R²_d) / n_d) + 1) - penalty (2 + |C|) |configurations|
//
// or, where a prior is asked for, the marginal likelihood of its lines (linear_gaussian.hpp).
// All comes from one scatter matrix for each configuration of D, which serves every child and every
// C. Matrices are asked for when D is first met, and kept within a bound on memory: what was not
// used for longest goes first, and a D too large for the bound is asked for in parts of its columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <span>
#include <vector>

#include "score/family_scores.hpp"
#include "score/linear_gaussian.hpp"

namespace credo::score {

// The moments of some continuous variables by the configurations seen of a set of discrete ones.
// IN group: discrete variables, ascending. IN columns: continuous variables, ascending.
using MomentsOf = std::function<LineMoments(const std::vector<std::int32_t>& group,
                                            const std::vector<std::int32_t>& columns)>;

struct MixedModel {
  std::vector<std::uint32_t> arities;  // [n]: 0 for a continuous variable
  double rows = 0;
  double penalty = 0;
  double like_all = 0;  // above 0: marginal likelihoods, a variance worth so many rows
  double most_numbers = 1 << 26;  // of scatter matrices that are kept: half a gigabyte
  int threads = 1;
};

class MixedScores {
 public:
  // `tables` scores families of discrete variables alone, numbered without the continuous ones.
  MixedScores(MixedModel model, FamilyScores& tables, MomentsOf moments);

  // OUT out: one local score a family; NaN for those that `stop` came before.
  void score(const Families& asked, double* out, const Stop& stop);

 private:
  struct Kept {
    std::vector<std::int32_t> group;
    LineMoments moments;
  };
  using Indices = std::span<const std::size_t>;
  double configurations(const std::vector<std::int32_t>& group) const;
  void score_tables(const Families& asked, Indices which, double* out);
  const LineMoments& all_columns(const std::vector<std::int32_t>& group);
  bool score_group(const Families& asked, Indices which, const std::vector<std::int32_t>& group,
                   double* out, const Stop& stop);
  void score_parts(const Families& asked, Indices which, const LineMoments& moments,
                   std::span<const std::int32_t> place, std::size_t columns, double penalty,
                   double* out) const;

  MixedModel model_;
  FamilyScores& tables_;
  MomentsOf moments_;
  std::vector<std::int32_t> number_;      // [n]: among the variables of its own kind
  std::vector<std::int32_t> continuous_;  // ascending
  std::list<Kept> kept_;                  // last used first
  std::map<std::vector<std::int32_t>, std::list<Kept>::iterator> where_;
  double numbers_ = 0;  // of the matrices kept
};

}  // namespace credo::score
