// Scores of tables of counts.
//
// Scores whose local term is f(parents and child) - f(parents) for one set function f ("set
// scores") need one sum a table:
//   log-likelihood   f(S) = sum c ln c
//   BDeu             f(S) = sum ln Gamma(c + a) - ln Gamma(a),  a = ess / cells of S
//   qNML             f(S) = sum c ln c - ln C(rows, cells of S)
// K2, BDs and fNML look at each row of a family's table, and so does the log-likelihood where
// cells are missing, since then the rows of a family and of its parents are not the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "score/terms.hpp"

namespace credo::score {

enum class TableScore { kLogLikelihood, kBdeu, kQnml, kK2, kBds, kFnml, kAvailable };

inline bool is_set_score(TableScore s) {
  return s == TableScore::kLogLikelihood || s == TableScore::kBdeu || s == TableScore::kQnml;
}

// What a table score needs to know of the whole.
struct TableModel {
  TableScore score = TableScore::kLogLikelihood;
  double rows = 0;  // their weight
  double ess = 1;
};

struct SetValue {
  double f = 0;
  double seen = 0;  // cells that are not zero
};

// f of a set whose non-zero cells are among `cells`; `states` is the size of the whole table.
template <class Cell>
SetValue set_value(const TableModel& model, CountTerms& terms, std::span<const Cell> cells,
                   double states);

// The table summed over its middle axis: [before][middle][after] -> [before][after].
template <class Cell>
void sum_middle(std::span<const Cell> table, std::size_t before, std::size_t middle,
                std::size_t after, std::vector<Cell>& out);

// The local score of a family from the rows of its table: row j is cells[begin[j]] ...
// cells[begin[j + 1] - 1], zeros may be left out. `arity` is the child's, `parent_states` the
// number of parent configurations.
template <class Cell>
double family_value(const TableModel& model, CountTerms& terms, std::span<const Cell> cells,
                    std::span<const std::size_t> begin, double arity);

}  // namespace credo::score
