// Learning naive Bayes: counts, moments and totals of columns by class, and what a model is made of
// from them.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/module.hpp"
#include "bindings/naive_columns.hpp"
#include "naive/fit.hpp"
#include "naive/parameters.hpp"
#include "naive/loops.hpp"

namespace credo::bindings {
namespace {

using ClassOfRows = View<const std::uint32_t, 1>;

naive::ClassRows class_rows(const ClassOfRows& group, std::int64_t groups, int threads) {
  require(groups >= 1, "The 'groups' parameter must be at least 1.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  return {group.data(), static_cast<std::size_t>(groups), group.size()};
}

template <class Weights>
void check_weights(const std::optional<Weights>& weights, std::size_t n_rows) {
  require(!weights || weights->size() == n_rows, "There must be one weight for each row.");
}

naive::ConstMoments moments_of(const Matrix& n, const Matrix& mean, const Matrix& scatter) {
  for (const Matrix* m : {&mean, &scatter})
    require(m->shape(0) == n.shape(0) && m->shape(1) == n.shape(1),
            "Weights, means and scatters must have the same shape.");
  return {n.data(), mean.data(), scatter.data()};
}

// Of each column: low, high, whether whole, with missing cells, with infinite ones.
std::vector<std::tuple<std::int64_t, std::int64_t, bool, bool, bool>> naive_ranges(
    const NaiveColumns& columns) {
  const CellColumns given = cells_of(columns);
  std::vector<std::tuple<std::int64_t, std::int64_t, bool, bool, bool>> out;
  for (const naive::CellRange& r : naive::cell_ranges(given.cells, given.n_rows))
    out.emplace_back(r.low, r.high, r.whole, r.missing, r.infinite);
  return out;
}

// Counts [group][code] of each column, one after the other. IN weights of int64 or float64.
std::variant<Array<std::int64_t>, Array<double>> naive_counts(
    const NaiveColumns& columns, const Windows& windows, const ClassOfRows& group,
    std::int64_t groups, const std::optional<AnyVector>& weights, int threads) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  const std::vector<naive::CodeColumn> codes =
      code_columns(cells_of(columns, rows.n_rows).cells, windows);
  std::size_t size = 0;
  for (const naive::CodeColumn& column : codes)
    size += rows.groups * (std::size_t{column.missing} + 2);
  check_weights(weights, rows.n_rows);
  const auto run = [&]<class Cell>(const Cell* w) {
    Array<Cell> table({size});
    naive::class_counts<Cell>(codes, rows, w, threads, table.data());
    return table;
  };
  if (!weights) return run(static_cast<const std::int64_t*>(nullptr));
  if (weights->is<double>()) return run(weights->data_as<double>());
  require(weights->is<std::int64_t>(), "The 'weights' parameter must be of int64 or float64.");
  return run(weights->data_as<std::int64_t>());
}

// Weights, means and scatters: [3][columns][groups].
Array<double> naive_moments(const NaiveColumns& columns, const ClassOfRows& group,
                            std::int64_t groups, const std::optional<Reals>& weights, int threads) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  const std::vector<naive::Cells> cells = cells_of(columns, rows.n_rows).cells;
  check_weights(weights, rows.n_rows);
  const std::size_t size = cells.size() * rows.groups;
  Array<double> out({3, cells.size(), rows.groups}, Filled::kLater);
  naive::class_moments(cells, rows, data_or_null(weights), threads,
                       {out.data(), out.data() + size, out.data() + 2 * size});
  return out;
}

// The totals [groups][columns], and whether all counts were finite and not negative.
std::tuple<Array<double>, bool> naive_totals(const NaiveColumns& columns, const ClassOfRows& group,
                                             std::int64_t groups,
                                             const std::optional<Reals>& weights, int threads,
                                             bool present, bool gaps) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  const std::vector<naive::Cells> cells = cells_of(columns, rows.n_rows).cells;
  check_weights(weights, rows.n_rows);
  Array<double> totals({rows.groups, cells.size()});
  const bool wrong = naive::class_totals(cells, rows, data_or_null(weights), threads,
                                         {present, gaps}, totals.data());
  return {std::move(totals), !wrong};
}

// Whether means and scatters are finite, and none hints at lost squares.
bool naive_usual_moments(const Matrix& n, const Matrix& mean, const Matrix& scatter) {
  const naive::ConstMoments moments = moments_of(n, mean, scatter);
  return naive::loops_for_this_cpu().usual_moments(moments.n, moments.mean, moments.scatter,
                                                   n.size());
}

// `places`: where the other's classes stand among these; without them they are the same.
Array<double> naive_merged(const Matrix& n, const Matrix& mean, const Matrix& scatter,
                           const Matrix& other_n, const Matrix& other_mean,
                           const Matrix& other_scatter, const std::optional<Ints>& places) {
  const naive::ConstMoments a = moments_of(n, mean, scatter),
                            b = moments_of(other_n, other_mean, other_scatter);
  const std::size_t d = n.shape(0), k = n.shape(1);
  require(other_n.shape(0) == d && other_n.shape(1) == (places ? places->size() : k),
          "The two parts must have one shape.");
  Array<double> both({3, d, k}, Filled::kLater);
  const naive::Moments out{both.data(), both.data() + d * k, both.data() + 2 * d * k};
  if (!places) {
    naive::merge_moments(a, b, d * k, out);
    return both;
  }
  std::vector<std::size_t> where;
  for (std::size_t i = 0; i < places->size(); ++i) {
    const std::int64_t at = places->data()[i];
    require(at >= 0 && static_cast<std::size_t>(at) < k, "There is no class at a place.");
    require(std::find(where.begin(), where.end(), static_cast<std::size_t>(at)) == where.end(),
            "A class is at two places.");
    where.push_back(static_cast<std::size_t>(at));
  }
  naive::merge_some_classes(a, b, d, k, where, out);
  return both;
}

// Means (none where every class has rows: they are the given ones), variances, whether those of the
// rows alone are below the floor; whether a variable is constant. IN prior: rows, of each variable.
std::tuple<std::optional<Array<double>>, Array<double>, Array<bool>, Array<bool>> naive_gaussians(
    const Matrix& n, const Matrix& mean, const Matrix& scatter, double share, bool sample,
    const Reals& prior) {
  const std::size_t d = n.shape(0), k = n.shape(1);
  require(prior.size() == d, "Every variable needs the rows of its prior.");
  const naive::ConstMoments moments = moments_of(n, mean, scatter);
  std::int64_t signs = 0;  // of the bits of n, less one: negative where a weight is 0
  for (std::size_t i = 0; i < d * k; ++i) signs |= std::bit_cast<std::int64_t>(moments.n[i]) - 1;
  std::optional<Array<double>> means;
  if (signs < 0) means.emplace(Shape{d, k}, Filled::kLater);
  Array<double> variance({d, k}, Filled::kLater);
  Array<bool> floored({d, k}, Filled::kLater), constant({d}, Filled::kLater);
  naive::gaussians(moments, d, k, share, sample, prior.data(),
                   {means ? means->data() : nullptr, variance.data(), floored.data(),
                    constant.data()});
  return {std::move(means), std::move(variance), std::move(floored), std::move(constant)};
}

// IN counts [feature][class][state] of int64 or float64. ln of their shares, and of a state never
// seen.
std::tuple<Array<double>, Array<double>> naive_log_shares(const View<const void, 3>& counts,
                                                          const Reals& smoothing,
                                                          const Reals& states) {
  const std::size_t d = counts.shape(0), k = counts.shape(1), width = counts.shape(2);
  require(smoothing.size() == d && states.size() == d,
          "Every feature needs its smoothing and its number of states.");
  require(counts.is<std::int64_t>() || counts.is<double>(),
          "The 'counts' parameter must be of int64 or float64.");
  Array<double> theta({d, k, width}, Filled::kLater), fresh({d, k}, Filled::kLater);
  const auto fill = [&](const auto* cells) {
    naive::log_shares(cells, d, k, width, smoothing.data(), states.data(),
                      {theta.data(), fresh.data()});
  };
  if (counts.is<double>()) fill(counts.data_as<double>());
  else fill(counts.data_as<std::int64_t>());
  return {std::move(theta), std::move(fresh)};
}

}  // namespace

void bind_naive_fit(nb::module_& m) {
  m.def("naive_ranges", bound(&naive_ranges), "columns"_a);
  m.def("naive_counts", bound(&naive_counts), "columns"_a, "windows"_a, "group"_a,
        "groups"_a, "weights"_a = nb::none(), "threads"_a = 1);
  m.def("naive_moments", bound(&naive_moments), "columns"_a, "group"_a, "groups"_a,
        "weights"_a = nb::none(), "threads"_a = 1);
  m.def("naive_totals", bound(&naive_totals), "columns"_a, "group"_a, "groups"_a,
        "weights"_a = nb::none(), "threads"_a = 1, "present"_a = false, "gaps"_a = true);
  // These are done sooner than the GIL is let go.
  m.def("naive_usual_moments", &naive_usual_moments, "n"_a, "mean"_a, "scatter"_a);
  m.def("naive_merged", &naive_merged, "n"_a, "mean"_a, "scatter"_a, "other_n"_a,
        "other_mean"_a, "other_scatter"_a, "places"_a = nb::none());
  m.def("naive_gaussians", &naive_gaussians, "n"_a, "mean"_a, "scatter"_a, "share"_a,
        "sample"_a, "prior"_a);
  m.def("naive_log_shares", &naive_log_shares, "counts"_a, "smoothing"_a, "states"_a);
}

}  // namespace credo::bindings
