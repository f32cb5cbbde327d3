// The door to prediction by naive Bayes: the tables of a fitted model, and rows scored by them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bindings/naive_columns.hpp"
#include "naive/scorer.hpp"

namespace credo::doors {

// The tables of a fitted model; kept between calls.
class NaiveScorer {
 public:
  // singles: (column, rows of the table), or the rows of each column; pairs: (column a, column b,
  // rows of a, rows of b); their tables stand one after the other, the singles first.
  using Singles = ListOr<std::array<std::int64_t, 2>, Ints>;
  NaiveScorer(const Reals& bias, const Singles& singles,
              const std::vector<std::array<std::int64_t, 4>>& pairs, const Matrix& tables,
              const Matrix& mean, const Matrix& variance, const std::optional<Matrix>& weights);

  // The answers, a row ruled out (or -1), columns with new states, with infinities, and whether all
  // counts were counts.
  using Answers = std::variant<Array<std::int64_t>, Array<double>>;
  std::tuple<Answers, std::int64_t, std::vector<std::size_t>, std::vector<std::size_t>, bool> score(
      const NaiveColumns& columns, const Windows& windows, const NaiveColumns& reals,
      std::int64_t n_rows, const std::optional<Matrix>& extra, const std::string& answer,
      int threads, const NaiveColumns& counts, bool present, bool gaps);

 private:
  void add_single(std::int64_t column, std::int64_t rows, bool together);
  void add_pair(const std::array<std::int64_t, 4>& pair);
  void check_known(std::int64_t column, std::int64_t rows) const;

  naive::Scorer scorer_;
};

// INOUT joint [rows][classes]. The best classes where these are asked for; a row ruled out or -1.
std::tuple<Array<std::int64_t>, std::int64_t> naive_finish(const View<double, 2>& joint,
                                                           const std::string& answer, int threads);

}  // namespace credo::doors
