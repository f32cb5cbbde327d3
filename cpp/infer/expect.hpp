// Family marginals of many rows, added up: Σ_rows weight · P(family | row), and Σ weight · ln P(row).
#pragma once

#include "infer/run.hpp"

namespace credo::infer {

// IN weights [rows]; OUT families [cells of all factors]. The plan must have families. Rows go in
// parts that do not depend on the threads, added in order: no bit depends on the threads. Returns
// Σ weight · ln P; a row of probability zero adds −inf, and `impossible` is then the first such.
double expect(Runner& runner, const Inputs& inputs, const double* weights,
              const RunOptions& options, Monitor& monitor, double* families,
              std::int64_t& impossible);

}  // namespace credo::infer
