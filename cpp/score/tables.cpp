#include "score/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace credo::score {
namespace {

template <class Cell>
double row_sum(std::span<const Cell> row) {
  Cell total = 0;
  for (const Cell c : row) total += c;
  return static_cast<double>(total);
}

}  // namespace

template <class Cell>
SetValue set_value(const TableModel& model, CountTerms& terms, std::span<const Cell> cells,
                   double states) {
  const CountTerm& term =
      model.score == TableScore::kBdeu ? terms.rising(model.ess / states) : terms.entropy();
  SetValue out;
  for (const Cell c : cells) {
    if (c == 0) continue;
    out.f += term(c);
    out.seen += 1;
  }
  if (model.score == TableScore::kQnml) out.f -= log_complexity_approximate(model.rows, states);
  return out;
}

template <class Cell>
void sum_middle(std::span<const Cell> table, std::size_t before, std::size_t middle,
                std::size_t after, std::vector<Cell>& out) {
  out.assign(before * after, 0);
  for (std::size_t a = 0; a < before; ++a)
    for (std::size_t m = 0; m < middle; ++m) {
      const Cell* from = table.data() + (a * middle + m) * after;
      Cell* to = out.data() + a * after;
      for (std::size_t b = 0; b < after; ++b) to[b] += from[b];
    }
}

template <class Cell>
double family_value(const TableModel& model, CountTerms& terms, std::span<const Cell> cells,
                    std::span<const std::size_t> begin, double arity) {
  const std::size_t rows = begin.size() - 1;
  const auto row = [&](std::size_t j) {
    return cells.subspan(begin[j], begin[j + 1] - begin[j]);
  };
  double seen = 0, total = 0;
  for (std::size_t j = 0; j < rows; ++j) {
    const double n = row_sum(row(j));
    seen += n > 0;
    total += n;
  }
  if (model.score == TableScore::kAvailable && total <= 0)
    return -std::numeric_limits<double>::infinity();
  const bool rising = model.score == TableScore::kK2 || model.score == TableScore::kBds;
  const double alpha =
      model.score == TableScore::kBds ? model.ess / (arity * std::max(seen, 1.0)) : 1.0;
  const CountTerm& cell_term = rising ? terms.rising(alpha) : terms.entropy();
  const CountTerm& row_term = rising ? terms.rising(alpha * arity) : terms.entropy();
  double out = 0;
  for (std::size_t j = 0; j < rows; ++j) {
    const double n = row_sum(row(j));
    if (n <= 0) continue;
    double cell_sum = 0;
    for (const Cell c : row(j)) cell_sum += c > 0 ? cell_term(c) : 0.0;
    const bool whole = n == std::floor(n) && n < 9e15;
    out += cell_sum - (whole ? row_term(static_cast<std::int64_t>(n)) : row_term(n));
    if (model.score == TableScore::kFnml)
      out -= log_complexity(n, static_cast<std::uint64_t>(arity));
  }
  if (model.score == TableScore::kAvailable) out *= model.rows / total;
  return out;
}

#define CREDO_INSTANTIATE(Cell)                                                                  \
  template SetValue set_value(const TableModel&, CountTerms&, std::span<const Cell>, double);    \
  template void sum_middle(std::span<const Cell>, std::size_t, std::size_t, std::size_t,         \
                           std::vector<Cell>&);                                                  \
  template double family_value(const TableModel&, CountTerms&, std::span<const Cell>,            \
                               std::span<const std::size_t>, double);
CREDO_INSTANTIATE(std::int64_t)
CREDO_INSTANTIATE(double)
#undef CREDO_INSTANTIATE

}  // namespace credo::score
