// Rows scored by naive Bayes.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/module.hpp"
#include "bindings/naive_columns.hpp"
#include "naive/scorer.hpp"

namespace credo::bindings {
namespace {

naive::Answer answer_of(const std::string& text) {
  if (text == "joint") return naive::Answer::kJoint;
  if (text == "log") return naive::Answer::kLogPosterior;
  if (text == "posterior") return naive::Answer::kPosterior;
  if (text == "best") return naive::Answer::kBest;
  throw std::invalid_argument(
      "The 'answer' parameter must be 'joint', 'log', 'posterior' or "
      "'best', got '" +
      text + "' instead.");
}

std::vector<std::size_t> positions(const std::vector<char>& flags) {
  std::vector<std::size_t> out;
  for (std::size_t j = 0; j < flags.size(); ++j)
    if (flags[j] != 0) out.push_back(j);
  return out;
}

// INOUT joint [rows][classes]. The best classes where these are asked for; a row ruled out or -1.
std::tuple<Array<std::int64_t>, std::int64_t> naive_finish(const View<double, 2>& joint,
                                                           const std::string& answer, int threads) {
  const naive::Answer kind = answer_of(answer);
  const std::size_t n = joint.shape(0), classes = joint.shape(1);
  Array<std::int64_t> best({kind == naive::Answer::kBest ? n : 0});
  const std::int64_t bad = naive::finish(joint.data(), n, classes, kind, threads, best.data());
  return {std::move(best), bad};
}

// The tables of a fitted model; kept between calls.
class NaiveScorer {
 public:
  // singles: (column, rows of the table), or the rows of each column; pairs: (column a, column b,
  // rows of a, rows of b); their tables stand one after the other, the singles first.
  using Singles = ListOr<std::array<std::int64_t, 2>, Ints>;
  NaiveScorer(const Reals& bias, const Singles& singles,
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
    const bool together = pairs.empty();  // a code that is part of a pair must stay what it is
    if (singles.is_list()) {
      for (const auto& [column, rows] : singles.list()) add_single(column, rows, together);
    } else {
      const Ints& rows = singles.other();
      scorer_.reserve(rows.size());
      for (std::size_t j = 0; j < rows.size(); ++j)
        add_single(static_cast<std::int64_t>(j), rows.data()[j], together);
    }
    for (const auto& pair : pairs) add_pair(pair);
    require(scorer_.rows_used() == tables.shape(0),
            "The tables must have a row for each code of each term.");
  }

  // The answers, a row ruled out (or -1), columns with new states, with infinities, and whether all
  // counts were counts.
  using Answers = std::variant<Array<std::int64_t>, Array<double>>;
  std::tuple<NaiveScorer::Answers, std::int64_t, std::vector<std::size_t>, std::vector<std::size_t>,
             bool>
  score(const NaiveColumns& columns, const Windows& windows, const NaiveColumns& reals,
        std::int64_t n_rows, const std::optional<Matrix>& extra, const std::string& answer,
        int threads, const NaiveColumns& counts, bool present, bool gaps) {
    require(threads >= 1 && n_rows >= 0, "The 'threads' parameter must be at least 1.");
    const auto n = static_cast<std::size_t>(n_rows);
    const std::size_t classes = scorer_.classes();
    const CellColumns states = cells_of(columns, n);
    naive::ScoreInput input{{},
                            cells_of(reals, n).cells,
                            cells_of(counts, n).cells,
                            scorer_.grouping(),
                            {},
                            n,
                            classes,
                            nullptr,
                            {present, gaps}};
    input.codes = code_columns(states.cells, windows);
    require(input.counts.size() == scorer_.n_count(), "There must be a column for each weight.");
    require(input.reals.size() == scorer_.n_real(), "There must be a column for each Gaussian.");
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
    input.terms = scorer_.terms(n);
    naive::Oddities odd;
    const auto answered = [&](Answers answers, std::int64_t bad) {
      return std::tuple(std::move(answers), bad, positions(odd.unseen), positions(odd.infinite),
                        !odd.no_count);
    };
    if (kind == naive::Answer::kBest) {
      Array<std::int64_t> best({n});
      const std::int64_t bad = naive::score(input, kind, threads, nullptr, best.data(), odd);
      return answered(std::move(best), bad);
    }
    Array<double> out({n, classes});
    const std::int64_t bad = naive::score(input, kind, threads, out.data(), nullptr, odd);
    return answered(std::move(out), bad);
  }

 private:
  void add_single(std::int64_t column, std::int64_t rows, bool together) {
    require(column >= 0 && rows >= 1, "A term must have a column and rows.");
    check_known(column, rows);
    scorer_.add_single(static_cast<std::size_t>(column), static_cast<std::size_t>(rows), together);
  }
  void add_pair(const std::array<std::int64_t, 4>& pair) {
    const auto& [a, b, rows_a, rows_b] = pair;
    require(a >= 0 && b >= 0 && rows_a >= 1 && rows_b >= 1, "A term must have columns and rows.");
    check_known(a, rows_a);
    check_known(b, rows_b);
    scorer_.add_pair(static_cast<std::size_t>(a), static_cast<std::size_t>(b),
                     static_cast<std::size_t>(rows_a), static_cast<std::size_t>(rows_b));
  }
  void check_known(std::int64_t column, std::int64_t rows) const {
    const auto at = static_cast<std::size_t>(column);
    const std::vector<std::int64_t>& need = scorer_.need();
    require(at >= need.size() || need[at] == 0 || need[at] == rows,
            "The tables of a column differ in rows.");
  }

  naive::Scorer scorer_;
};

}  // namespace

void bind_naive_score(nb::module_& m) {
  m.def("naive_finish", bound(&naive_finish), "joint"_a, "answer"_a, "threads"_a = 1);
  nb::class_<NaiveScorer>(m, "NaiveScorer")
      .def(nb::init<const Reals&, const NaiveScorer::Singles&,
                    const std::vector<std::array<std::int64_t, 4>>&, const Matrix&, const Matrix&,
                    const Matrix&, const std::optional<Matrix>&>(),
           "bias"_a, "singles"_a, "pairs"_a, "tables"_a, "mean"_a, "variance"_a,
           "weights"_a = nb::none())
      .def("score", bound(&NaiveScorer::score), "columns"_a, "windows"_a, "reals"_a, "n_rows"_a,
           "extra"_a = nb::none(), "answer"_a = "posterior", "threads"_a = 1,
           "counts"_a = nb::list(), "present"_a = false, "gaps"_a = true);
}

}  // namespace credo::bindings
