// Weighted samples counted: for each state of each column the sum of the weights and of their
// squares, in one pass. Columns are walked eight at a time, so that additions to one cell, each of
// which waits for the last, overlap with those to others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace credo::weigh {

struct Column {
  const void* codes;  // IN [rows]
  bool wide;          // two bytes a code, else one
  std::size_t arity;
  std::size_t offset;  // of its first state in the sums
};

// OUT sums [states of all columns][Σw, Σw²], zeroed by the caller. Rows are added in order, so the
// number of threads never changes a bit. Throws std::invalid_argument for a code beyond its arity.
void sums(const std::vector<Column>& columns, const double* weights, std::size_t rows, int threads,
          double* out);

}  // namespace credo::weigh
