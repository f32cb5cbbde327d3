// Naive Bayes of credo._core. Columns may have any stride and any number type (they are only read);
// everything else comes contiguous and of the exact type, as in bindings.cpp.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "naive_binding_columns.hpp"
#include "naive_fit.hpp"
#include "naive_loops.hpp"
#include "naive_normals.hpp"
#include "naive_scorer.hpp"
#include "naive_shares.hpp"

namespace credo::binding {

using namespace nb::literals;

namespace {

// ---------------------------------------------------------------- fitting

nb::list cell_ranges(nb::handle columns) {
  const GivenColumns given = columns_given(columns);
  std::vector<naive::CellRange> ranges;
  {
    const nb::gil_scoped_release release;
    ranges = naive::cell_ranges(given.cells, given.n_rows);
  }
  nb::list out;
  for (const naive::CellRange& r : ranges)
    out.append(nb::make_tuple(r.low, r.high, r.whole, r.missing, r.infinite));
  return out;
}

naive::ClassRows class_rows(const Group& group, std::int64_t groups, int threads) {
  require(groups >= 1, "The 'groups' parameter must be at least 1.");
  require(threads >= 1, "The 'threads' parameter must be at least 1.");
  return {group.data(), static_cast<std::size_t>(groups), group.size()};
}

nb::object class_counts(nb::handle columns, nb::handle windows, const Group& group,
                        std::int64_t groups,
                        const std::optional<AnyVector>& weights, int threads) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  const GivenColumns given = columns_given(columns);
  require_rows(given, rows.n_rows);
  const std::vector<naive::CodeColumn> codes = code_columns(given, windows);
  std::size_t size = 0;
  for (const naive::CodeColumn& column : codes) size += rows.groups * (std::size_t{column.missing} + 2);
  if (weights) require(weights->size() == rows.n_rows, "There must be one weight for each row.");
  const auto run = [&]<class Cell>(const Cell* w) -> nb::object {
    NewArray<Cell> table({size});
    {
      const nb::gil_scoped_release release;
      naive::class_counts<Cell>(codes, rows, w, threads, table.data());
    }
    return table.release();
  };
  if (weights && weights->dtype() == nb::dtype<double>())
    return run(static_cast<const double*>(weights->data()));
  if (weights && weights->dtype() != nb::dtype<std::int64_t>())
    throw std::invalid_argument("The 'weights' parameter must be of int64 or float64.");
  return run(weights ? static_cast<const std::int64_t*>(weights->data())
                     : static_cast<const std::int64_t*>(nullptr));
}

// One array of weights, means and scatters: [3][columns][groups].
nb::object class_moments(nb::handle columns, const Group& group, std::int64_t groups,
                        const std::optional<Reals>& weights, int threads) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  const GivenColumns given = columns_given(columns);
  const std::vector<naive::Cells>& cells = given.cells;
  require_rows(given, rows.n_rows);
  if (weights) require(weights->size() == rows.n_rows, "There must be one weight for each row.");
  const std::size_t size = cells.size() * rows.groups;
  NewArray<double> out({3, cells.size(), rows.groups}, Filled::kLater);
  {
    const nb::gil_scoped_release release;
    naive::class_moments(cells, rows, weights ? weights->data() : nullptr, threads,
                         {out.data(), out.data() + size, out.data() + 2 * size});
  }
  return out.release();
}

// The totals [groups][columns], and whether all counts were finite and not negative.
nb::tuple class_totals(nb::handle columns, const Group& group, std::int64_t groups,
                       const std::optional<Reals>& weights, int threads, bool present,
                       bool gaps) {
  const naive::ClassRows rows = class_rows(group, groups, threads);
  const GivenColumns given = columns_given(columns);
  const std::vector<naive::Cells>& cells = given.cells;
  require_rows(given, rows.n_rows);
  if (weights) require(weights->size() == rows.n_rows, "There must be one weight for each row.");
  NewArray<double> totals({rows.groups, cells.size()});
  bool wrong;
  {
    const nb::gil_scoped_release release;
    wrong = naive::class_totals(cells, rows, weights ? weights->data() : nullptr, threads,
                                {present, gaps}, totals.data());
  }
  return nb::make_tuple(totals.release(), !wrong);
}

// ---------------------------------------------------------------- learning

naive::ConstMoments moments_of(const Matrix& n, const Matrix& mean, const Matrix& scatter) {
  for (const Matrix* m : {&mean, &scatter})
    require(m->shape(0) == n.shape(0) && m->shape(1) == n.shape(1),
            "Weights, means and scatters must have the same shape.");
  return {n.data(), mean.data(), scatter.data()};
}

bool usual_moments(const Matrix& n, const Matrix& mean, const Matrix& scatter) {
  const naive::ConstMoments moments = moments_of(n, mean, scatter);
  return naive::loops_for_this_cpu().usual_moments(moments.n, moments.mean, moments.scatter,
                                                   n.size());
}

// `places`: where the other's classes stand among these; without them they are the same.
nb::object merged_moments(const Matrix& n, const Matrix& mean, const Matrix& scatter,
                         const Matrix& other_n, const Matrix& other_mean,
                         const Matrix& other_scatter, const std::optional<Places>& places) {
  const naive::ConstMoments a = moments_of(n, mean, scatter),
                            b = moments_of(other_n, other_mean, other_scatter);
  const std::size_t d = n.shape(0), k = n.shape(1);
  require(other_n.shape(0) == d && other_n.shape(1) == (places ? places->size() : k),
          "The two parts must have one shape.");
  NewArray<double> both({3, d, k}, Filled::kLater);
  const naive::Moments out{both.data(), both.data() + d * k, both.data() + 2 * d * k};
  if (places) {
    std::vector<std::size_t> where;
    for (std::size_t i = 0; i < places->size(); ++i) {
      const std::int64_t at = places->data()[i];
      require(at >= 0 && static_cast<std::size_t>(at) < k, "There is no class at a place.");
      require(std::find(where.begin(), where.end(), static_cast<std::size_t>(at)) == where.end(),
              "A class is at two places.");
      where.push_back(static_cast<std::size_t>(at));
    }
    naive::merge_some_classes(a, b, d, k, where, out);
  } else {
    naive::merge_moments(a, b, d * k, out);
  }
  return both.release();
}

// The means are None where every class has rows: they are the given ones then.
nb::tuple gaussians(const Matrix& n, const Matrix& mean, const Matrix& scatter, double share,
                    bool sample) {
  const std::size_t d = n.shape(0), k = n.shape(1);
  const naive::ConstMoments moments = moments_of(n, mean, scatter);
  std::int64_t signs = 0;  // of the bits of n, less one: negative where a weight is 0
  for (std::size_t i = 0; i < d * k; ++i) signs |= std::bit_cast<std::int64_t>(moments.n[i]) - 1;
  std::optional<NewArray<double>> means;
  if (signs < 0) means.emplace(std::vector<std::size_t>{d, k}, Filled::kLater);
  NewArray<double> variance({d, k}, Filled::kLater);
  NewArray<bool> floored({d, k}, Filled::kLater), constant({d}, Filled::kLater);
  naive::gaussians(moments, d, k, share, sample,
                   {means ? means->data() : nullptr, variance.data(), floored.data(),
                    constant.data()});
  return nb::make_tuple(means ? means->release() : nb::none(), variance.release(),
                        floored.release(), constant.release());
}

using Tables = nb::ndarray<nb::ro, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::tuple log_shares(const Tables& counts, const Reals& smoothing, const Reals& states) {
  const std::size_t d = counts.shape(0), k = counts.shape(1), width = counts.shape(2);
  require(smoothing.size() == d && states.size() == d,
          "Every feature needs its smoothing and its number of states.");
  NewArray<double> theta({d, k, width}, Filled::kLater), fresh({d, k}, Filled::kLater);
  const naive::Shares out{theta.data(), fresh.data()};
  if (counts.dtype() == nb::dtype<std::int64_t>())
    naive::log_shares(static_cast<const std::int64_t*>(counts.data()), d, k, width,
                      smoothing.data(), states.data(), out);
  else if (counts.dtype() == nb::dtype<double>())
    naive::log_shares(static_cast<const double*>(counts.data()), d, k, width, smoothing.data(),
                      states.data(), out);
  else
    throw std::invalid_argument("The 'counts' parameter must be of int64 or float64.");
  return nb::make_tuple(theta.release(), fresh.release());
}

// ---------------------------------------------------------------- prediction

naive::Answer answer_of(const std::string& text) {
  if (text == "joint") return naive::Answer::kJoint;
  if (text == "log") return naive::Answer::kLogPosterior;
  if (text == "posterior") return naive::Answer::kPosterior;
  if (text == "best") return naive::Answer::kBest;
  throw std::invalid_argument("The 'answer' parameter must be 'joint', 'log', 'posterior' or "
                              "'best', got '" + text + "' instead.");
}

// The tables of a fitted model; kept between calls.
class PyScorer {
 public:
  // singles: (column, rows of the table), or the rows of each column; pairs: (column a, column b,
  // rows of a, rows of b); their tables stand one after the other, the singles first.
  PyScorer(const Reals& bias, nb::handle singles,
           const std::vector<std::array<std::int64_t, 4>>& pairs, const Matrix& tables,
           const Matrix& mean, const Matrix& variance, const std::optional<Matrix>& weights)
      : scorer_(bias.size()) {
    const std::size_t classes = bias.size();
    require(tables.shape(1) == classes && mean.shape(1) == classes,
            "Every table must have a column for each class.");
    require(variance.shape(0) == mean.shape(0) && variance.shape(1) == classes,
            "Means and variances must have the same shape.");
    for (std::size_t i = 0; i < variance.size(); ++i)
      require(variance.data()[i] >= 1e-307, "A variance must be above 0.");
    scorer_.set_bias(bias.data());
    scorer_.set_tables(tables.data(), tables.shape(0));
    scorer_.set_normals(mean.shape(0), mean.data(), variance.data());
    if (weights) {
      require(weights->shape(1) == classes, "Every table must have a column for each class.");
      scorer_.set_counts(weights->shape(0), weights->data());
    }
    const auto add = [&](std::int64_t column, std::int64_t rows) {
      require(column >= 0 && rows >= 1, "A term must have a column and rows.");
      known(column, rows);
      // a code that is part of a pair must stay what it is
      scorer_.add_single(static_cast<std::size_t>(column), static_cast<std::size_t>(rows),
                         pairs.empty());
    };
    if (nb::isinstance<nb::list>(singles)) {
      for (const auto& [column, rows] :
           nb::cast<std::vector<std::array<std::int64_t, 2>>>(singles))
        add(column, rows);
    } else {
      const Places rows = nb::cast<Places>(singles, false);
      scorer_.reserve(rows.size());
      for (std::size_t j = 0; j < rows.size(); ++j)
        add(static_cast<std::int64_t>(j), rows.data()[j]);
    }
    for (const auto& [a, b, rows_a, rows_b] : pairs) {
      require(a >= 0 && b >= 0 && rows_a >= 1 && rows_b >= 1, "A term must have columns and rows.");
      known(a, rows_a);
      known(b, rows_b);
      scorer_.add_pair(static_cast<std::size_t>(a), static_cast<std::size_t>(b),
                       static_cast<std::size_t>(rows_a), static_cast<std::size_t>(rows_b));
    }
    require(scorer_.rows_used() == tables.shape(0),
            "The tables must have a row for each code of each term.");
  }

  nb::tuple score(nb::handle columns, nb::handle windows, nb::handle reals, std::int64_t n_rows,
                  const std::optional<Matrix>& extra, const std::string& answer, int threads,
                  nb::handle counts, bool present, bool gaps) {
    require(threads >= 1 && n_rows >= 0, "The 'threads' parameter must be at least 1.");
    const auto n = static_cast<std::size_t>(n_rows);
    const std::size_t classes = scorer_.classes();
    const GivenColumns states = columns_given(columns), numbers = columns_given(reals),
                       words = columns_given(counts);
    for (const GivenColumns* given : {&states, &numbers, &words}) require_rows(*given, n);
    naive::ScoreInput input{code_columns(states, windows), numbers.cells, words.cells,
                            scorer_.grouping(), {}, n, classes, nullptr, {present, gaps}};
    require(words.cells.size() == scorer_.n_count(), "There must be a column for each weight.");
    require(numbers.cells.size() == scorer_.n_real(), "There must be a column for each Gaussian.");
    const std::vector<std::int64_t>& need = scorer_.need();
    require(input.codes.size() >= need.size(), "There must be a column for each term.");
    for (std::size_t j = 0; j < need.size(); ++j)
      require(need[j] == 0 || need[j] == std::int64_t{input.codes[j].missing} + 2,
              "The codes of a column do not fit its table.");
    if (extra) {
      require(extra->shape(0) == n && extra->shape(1) == classes,
              "The 'extra' parameter must have a row for each row and a column for each class.");
      input.extra = extra->data();
    }
    const naive::Answer kind = answer_of(answer);
    const bool only_best = kind == naive::Answer::kBest;
    NewArray<std::int64_t> best({only_best ? n : 0});
    NewArray<double> out({only_best ? 0 : n, classes});
    naive::Oddities odd;
    std::int64_t bad;
    {
      const nb::gil_scoped_release release;
      input.terms = scorer_.terms(n);
      bad = naive::score(input, kind, threads, only_best ? nullptr : out.data(),
                         only_best ? best.data() : nullptr, odd);
    }
    nb::object answers = only_best ? best.release() : out.release();
    return nb::make_tuple(answers, bad, positions(odd.unseen), positions(odd.infinite),
                          !odd.no_count);
  }

 private:
  static nb::list positions(const std::vector<char>& flags) {
    nb::list out;
    for (std::size_t j = 0; j < flags.size(); ++j)
      if (flags[j] != 0) out.append(j);
    return out;
  }
  void known(std::int64_t column, std::int64_t rows) const {
    const auto at = static_cast<std::size_t>(column);
    const std::vector<std::int64_t>& need = scorer_.need();
    require(at >= need.size() || need[at] == 0 || need[at] == rows,
            "The tables of a column differ in rows.");
  }

  naive::Scorer scorer_;
};

nb::object finish(const OutMatrix& joint, const std::string& answer, int threads) {
  const naive::Answer kind = answer_of(answer);
  const std::size_t n = joint.shape(0), classes = joint.shape(1);
  NewArray<std::int64_t> best({kind == naive::Answer::kBest ? n : 0});
  std::int64_t bad;
  {
    const nb::gil_scoped_release release;
    bad = naive::finish(joint.data(), n, classes, kind, threads, best.data());
  }
  return nb::make_tuple(best.release(), bad);
}

}  // namespace

void bind_naive(nb::module_& m) {
  m.def("naive_ranges", &cell_ranges, "columns"_a);
  m.def("naive_counts", &class_counts, "columns"_a, "windows"_a, "group"_a.noconvert(),
        "groups"_a, "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1);
  m.def("naive_moments", &class_moments, "columns"_a, "group"_a.noconvert(), "groups"_a,
        "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1);
  m.def("naive_usual_moments", &usual_moments, "n"_a.noconvert(), "mean"_a.noconvert(),
        "scatter"_a.noconvert());
  m.def("naive_totals", &class_totals, "columns"_a, "group"_a.noconvert(), "groups"_a,
        "weights"_a.noconvert().none() = nb::none(), "threads"_a = 1, "present"_a = false,
        "gaps"_a = true);
  m.def("naive_merged", &merged_moments, "n"_a.noconvert(), "mean"_a.noconvert(),
        "scatter"_a.noconvert(), "other_n"_a.noconvert(), "other_mean"_a.noconvert(),
        "other_scatter"_a.noconvert(), "places"_a.noconvert().none() = nb::none());
  m.def("naive_gaussians", &gaussians, "n"_a.noconvert(), "mean"_a.noconvert(),
        "scatter"_a.noconvert(), "share"_a, "sample"_a);
  m.def("naive_log_shares", &log_shares, "counts"_a.noconvert(), "smoothing"_a.noconvert(),
        "states"_a.noconvert());
  m.def("naive_finish", &finish, "joint"_a.noconvert(), "answer"_a, "threads"_a = 1);
  nb::class_<PyScorer>(m, "NaiveScorer")
      .def(nb::init<Reals, nb::handle, std::vector<std::array<std::int64_t, 4>>, Matrix, Matrix,
                    Matrix, std::optional<Matrix>>(),
           "bias"_a.noconvert(), "singles"_a, "pairs"_a, "tables"_a.noconvert(),
           "mean"_a.noconvert(), "variance"_a.noconvert(),
           "weights"_a.noconvert().none() = nb::none())
      .def("score", &PyScorer::score, "columns"_a, "windows"_a, "reals"_a, "n_rows"_a,
           "extra"_a.noconvert().none() = nb::none(), "answer"_a = "posterior", "threads"_a = 1,
           "counts"_a = nb::list(), "present"_a = false, "gaps"_a = true);
}

}  // namespace credo::binding
