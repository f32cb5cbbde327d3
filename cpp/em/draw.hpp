// The missing cells drawn given the observed ones, as the statistics of the rows so completed.
//
// A problem (em/rows.hpp) stands for as many rows as it weighs, and their states are a multinomial
// draw from its posterior: counts are drawn, not rows. Missing leaves are drawn together for each
// configuration of their parents, missing continuous values for each row. Bits come from the place of
// a problem, so no number depends on the threads.
//
// A row that has too many states for a problem keeps a completion, and parts of it are drawn given
// the rest: blocks of at most `most` states that grow from a missing variable along the graph, other
// ones each time. That leaves P(gaps | row) as it is (block Gibbs).
#pragma once

#include <functional>

#include "em/rows.hpp"

namespace credo::em {

struct Drawn {
  std::vector<double> counts;   // [cells]
  std::vector<double> moments;  // [moment numbers]
  bool impossible = false;      // some problem has probability zero
};

// IN theta [cells], lines [line numbers]. Rows left to the engine are not in it.
Drawn draw(const Rows& rows, const double* theta, const double* lines, std::uint64_t seed,
           int threads, const std::function<void()>& poll);

// IN gaps [n_rows, variables]: codes, -1 where missing; IN weights [n_rows]. INOUT codes: the rows
// completed. Discrete networks alone. Returns the counts of all families.
std::vector<double> redraw(const Network& net, const double* theta, const std::int32_t* gaps,
                           std::int32_t* codes, const double* weights, std::size_t n_rows,
                           std::uint64_t most, std::uint64_t seed, int threads,
                           const std::function<void()>& poll);

}  // namespace credo::em
