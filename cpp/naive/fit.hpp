// One pass over the rows: how often each class has each state, and the moments of each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "naive/cells.hpp"

namespace credo::naive {

// What a column holds, so that it can be counted without a dictionary.
struct CellRange {
  std::int64_t low = 0, high = -1;  // of the whole numbers; high < low when there is no cell
  bool whole = true;                // whether every cell is a whole number (or missing)
  bool missing = false;             // a NaN
  bool infinite = false;
};

std::vector<CellRange> cell_ranges(const std::vector<Cells>& columns, std::size_t n_rows);

struct ClassRows {
  const std::uint32_t* group;  // IN [n_rows]: the class; `groups` and above: the row is skipped
  std::size_t groups;
  std::size_t n_rows;
};

// OUT table, one after the other: for column j [groups][missing + 2], zero on entry.
// Cell is std::int64_t or double; IN weights [n_rows] or null for 1. The same bits for any threads.
template <class Cell>
void class_counts(const std::vector<CodeColumn>& columns, const ClassRows& rows,
                  const Cell* weights, int threads, Cell* table);

struct ClassMoments {
  double* n;        // OUT [columns][groups]: the weight of the cells that are there
  double* mean;     // OUT [columns][groups]
  double* scatter;  // OUT [columns][groups]: sum of w (x - mean)^2
};

// One pass about the means of a few thousand rows; a second one about the means that it found where
// the first would lose digits. The same bits for any number of threads.
void class_moments(const std::vector<Cells>& columns, const ClassRows& rows, const double* weights,
                   int threads, const ClassMoments& out);

// OUT totals [groups][columns], zero on entry: sums by class of w * count; a missing count is 0.
// Returns whether a count is negative or infinite.
bool class_totals(const std::vector<Cells>& columns, const ClassRows& rows, const double* weights,
                  int threads, const CountRule& rule, double* totals);

}  // namespace credo::naive
