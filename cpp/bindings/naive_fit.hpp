// The door to learning naive Bayes: counts, moments and totals of columns by class, and what a
// model is made of from them.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/naive_columns.hpp"

namespace credo::doors {

using ClassOfRows = View<const std::uint32_t, 1>;

// Of each column: low, high, whether whole, with missing cells, with infinite ones.
std::vector<std::tuple<std::int64_t, std::int64_t, bool, bool, bool>> naive_ranges(
    const NaiveColumns& columns);

// Counts [group][code] of each column, one after the other. IN weights of int64 or float64.
std::variant<Array<std::int64_t>, Array<double>> naive_counts(
    const NaiveColumns& columns, const Windows& windows, const ClassOfRows& group,
    std::int64_t groups, const std::optional<AnyVector>& weights, int threads);

// Weights, means and scatters: [3][columns][groups].
Array<double> naive_moments(const NaiveColumns& columns, const ClassOfRows& group,
                            std::int64_t groups, const std::optional<Reals>& weights, int threads);

// The totals [groups][columns], and whether all counts were finite and not negative.
std::tuple<Array<double>, bool> naive_totals(const NaiveColumns& columns, const ClassOfRows& group,
                                             std::int64_t groups,
                                             const std::optional<Reals>& weights, int threads,
                                             bool present, bool gaps);

// Whether means and scatters are finite, and none hints at lost squares.
bool naive_usual_moments(const Matrix& n, const Matrix& mean, const Matrix& scatter);

// `places`: where the other's classes stand among these; without them they are the same.
Array<double> naive_merged(const Matrix& n, const Matrix& mean, const Matrix& scatter,
                           const Matrix& other_n, const Matrix& other_mean,
                           const Matrix& other_scatter, const std::optional<Ints>& places);

// Means (none where every class has rows: they are the given ones), variances, whether those of the
// rows alone are below the floor; whether a variable is constant. IN prior: rows, of each variable.
std::tuple<std::optional<Array<double>>, Array<double>, Array<bool>, Array<bool>> naive_gaussians(
    const Matrix& n, const Matrix& mean, const Matrix& scatter, double share, bool sample,
    const Reals& prior);

// IN counts [feature][class][state] of int64 or float64. ln of their shares, and of a state never
// seen.
std::tuple<Array<double>, Array<double>> naive_log_shares(const View<const void, 3>& counts,
                                                          const Reals& smoothing,
                                                          const Reals& states);

}  // namespace credo::doors
