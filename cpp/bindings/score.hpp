// Scores of families: of columns, of tables that somebody counts, of matrices and of functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/columns.hpp"
#include "bindings/calls.hpp"
#include "score/family_scores.hpp"

namespace credo::bindings {

using Numbers = std::vector<std::int32_t>;  // of variables

// Tables of some sets one after the other; and the cells of one that are not 0, with where the rows
// of equal codes in all variables but the last begin. Of int64 or float64.
using CountTables = std::function<AnyArray(const Lists& sets)>;
using CountSparse = std::function<std::tuple<AnyArray, Ints>(const Numbers& set)>;
// Weights [G], means [G, m] and scatter [G, m, m] of columns by the configurations of a group.
using GroupMoments =
    std::function<std::tuple<Table, Table, Table>(const Numbers&, const Numbers&)>;
// One score for each family, a child and its parents.
using FamilyFunction = std::function<Reals(const std::vector<std::tuple<std::int32_t, Numbers>>&)>;

// Local scores of families, and what must live as long as they do. `by_parents` has a number for
// each number of parents, `by_edge` [child, parent] one for each edge.
class KeptScores {
 public:
  static std::unique_ptr<KeptScores> of_columns(
      std::shared_ptr<KeptColumns> columns, const Numbers& variables,
      std::optional<AnyArray> weights, const std::string& name, double rows, double ess,
      double penalty, const std::vector<double>& by_parents, const std::optional<Matrix>& by_edge,
      int threads);
  static std::unique_ptr<KeptScores> of_counts(std::vector<std::uint32_t> arities,
                                               CountTables count, CountSparse sparse, double dense,
                                               const std::string& name, double rows, double ess,
                                               double penalty,
                                               const std::vector<double>& by_parents,
                                               const std::optional<Matrix>& by_edge);
  static std::unique_ptr<KeptScores> of_matrix(const Matrix& matrix, double rows, bool bge,
                                               double prior_rows, double freedom,
                                               double prior_scale, double penalty,
                                               const std::vector<double>& by_parents,
                                               const std::optional<Matrix>& by_edge);
  static std::unique_ptr<KeptScores> of_function(std::int64_t n, FamilyFunction function,
                                                 const std::vector<double>& by_parents,
                                                 const std::optional<Matrix>& by_edge);
  static std::unique_ptr<KeptScores> of_mixed(std::shared_ptr<KeptScores> tables,
                                              GroupMoments moments,
                                              std::vector<std::uint32_t> arities, double rows,
                                              double penalty, double like_all,
                                              double most_numbers,
                                              const std::vector<double>& by_parents,
                                              const std::optional<Matrix>& by_edge, int threads);

  score::FamilyScores& operator*() { return *scores_; }
  const score::FamilyScores* operator->() const { return scores_.get(); }

  // Long work ends after some seconds, and at Ctrl-C; without a number it is always done.
  void limit(const CtrlC& ctrl_c, std::optional<double> seconds);
  Array<double> score(const std::vector<std::tuple<std::int32_t, Numbers>>& families);
  Record counters() const;

 private:
  std::shared_ptr<KeptColumns> columns_;
  std::optional<AnyArray> weights_;
  std::shared_ptr<KeptScores> tables_;  // those of the discrete variables, where these are mixed
  std::unique_ptr<score::FamilyScores> scores_;
};

}  // namespace credo::bindings
