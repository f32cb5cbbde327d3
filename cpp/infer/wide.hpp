// A row run with numbers of unlimited exponent: slow and simple, for rows in which doubles could
// lose a state (strong evidence on both sides, as in naive Bayes with thousands of features). It
// follows the same plan without any of the kernels, so it is an oracle for them too.
#pragma once

#include "infer/run.hpp"

namespace credo::infer {

// Overwrites what belongs to the row.
void run_wide(const Plan& plan, const Inputs& inputs, std::size_t row, Monitor& monitor,
              const Outputs& out);
void explain_wide(const Plan& plan, const Inputs& inputs, std::size_t row, Monitor& monitor,
                  std::int32_t* states, double* log_p);

}  // namespace credo::infer
