// From counts to logarithms of shares: what a discrete feature of naive Bayes has learned.
#pragma once

#include <cstddef>

namespace credo::naive {

struct Shares {
  double* states;  // OUT [features][classes][width]: ln (n + l) / (N + l J)
  double* fresh;   // OUT [features][classes]: ln l / (N + l J + l), of a state never seen
};

// IN n [features][classes][width], l and J of each feature. A class without counts, where l is 0,
// has the same share for every state.
template <class Count>
void log_shares(const Count* n, std::size_t features, std::size_t classes, std::size_t width,
                const double* l, const double* states, const Shares& out);

}  // namespace credo::naive
