#include "bindings/naive_fit.hpp"

#include <algorithm>
#include <bit>

#include "naive/fit.hpp"
#include "naive/gaussians.hpp"
#include "naive/loops.hpp"
#include "naive/proportions.hpp"

namespace credo::doors {
namespace {

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

}  // namespace

// ---------------------------------------------------------------- statistics

std::vector<std::tuple<std::int64_t, std::int64_t, bool, bool, bool>> naive_ranges(
    const NaiveColumns& columns) {
  const CellColumns given = cells_of(columns);
  std::vector<std::tuple<std::int64_t, std::int64_t, bool, bool, bool>> out;
  for (const naive::CellRange& r : naive::cell_ranges(given.cells, given.n_rows))
    out.emplace_back(r.low, r.high, r.whole, r.missing, r.infinite);
  return out;
}

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

// ---------------------------------------------------------------- parameters

bool naive_usual_moments(const Matrix& n, const Matrix& mean, const Matrix& scatter) {
  const naive::ConstMoments moments = moments_of(n, mean, scatter);
  return naive::loops_for_this_cpu().usual_moments(moments.n, moments.mean, moments.scatter,
                                                   n.size());
}

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

}  // namespace credo::doors
