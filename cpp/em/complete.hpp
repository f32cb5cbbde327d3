// Every row of a table completed: one row for each way to fill its gaps, weighted by how probable
// that is. Components of gaps are independent given what was observed, so the ways are the product
// of theirs. A row with more ways than `most` is given `draws` of them at random instead.
#pragma once

#include "em/rows.hpp"

namespace credo::em {

struct Completed {
  std::vector<std::uint16_t> codes;   // [rows][variables]
  std::vector<double> weights;
  std::vector<std::int64_t> left;     // rows with a component of more than `most_states` states
  std::vector<std::int64_t> drawn;    // rows that were given draws
  std::int64_t impossible = -1;
};

// IN columns of each variable (all discrete, at most 65536 states), weights [n_rows] or null.
// The draws of a row depend on the seed and its number alone.
Completed complete(const Network& net, const double* theta, const std::vector<Column>& columns,
                   std::size_t n_rows, const double* weights, std::uint64_t most,
                   std::uint64_t draws, std::uint64_t most_states, std::uint64_t seed);

}  // namespace credo::em
