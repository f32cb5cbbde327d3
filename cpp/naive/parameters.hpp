// What naive Bayes learns of many features at a time: Gaussians from moments, and logarithms of
// proportions from counts.
#pragma once

#include <cstddef>
#include <vector>

namespace credo::naive {

struct Moments {  // IN or OUT, [variables][classes]
  double *n, *mean, *scatter;
};

struct ConstMoments {
  const double *n, *mean, *scatter;
};

// The moments of two parts together, cell by cell (Chan, Golub & LeVeque 1983), about the middle of
// the two means, so that the order of the parts does not matter to the last bit.
void merge_moments(const ConstMoments& a, const ConstMoments& b, std::size_t cells, Moments out);

// The same where b has only some of the classes, at the places `where` among those of a; arrays are
// [variables][classes].
void merge_some_classes(const ConstMoments& a, const ConstMoments& b, std::size_t variables,
                        std::size_t classes, const std::vector<std::size_t>& where, Moments out);

struct Gaussians {
  double* mean;      // OUT [variables][classes] or null: over all rows where a class has none
  double* variance;  // OUT [variables][classes]: at least the floor
  bool* floored;     // OUT [variables][classes]: whether the rows alone have less than the floor
  bool* constant;    // OUT [variables]: whether no two rows differ
};

// The floor of a variable is `share` of its variance within the classes; over all rows, if no class
// has any. With `sample` sums of squares are divided by n - 1. That variance counts as `prior[j]`
// more rows of each class; IN prior [variables].
void gaussians(const ConstMoments& moments, std::size_t variables, std::size_t classes,
               double share, bool sample, const double* prior, const Gaussians& out);

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
