// One expectation step: every problem solved under the current numbers, expected counts added up.
//
// A problem's joint over its missing states is the product of its tables (and of the densities of
// its lines); Z is its sum, and joint / Z weighs what each family is given. Missing continuous
// values are Gaussian given the states: with lines x = a + b'y + e their precision and its product
// with the mean are sums over the lines, and what is expected are their means and covariances.
// Problems are dealt out in the same parts whatever the number of threads, and the parts are added
// in order: no bit depends on the threads.
#pragma once

#include <functional>

#include "em/rows.hpp"

namespace credo::em {

struct Expected {
  std::vector<double> counts;   // [cells]: of all families but those left to the engine
  std::vector<double> moments;  // [moment numbers]
  double log_likelihood = 0;
  std::int64_t impossible = -1;  // a problem of probability zero, or -1
};

// What some of the problems add up to.
struct Partial {
  std::vector<double> counts, leaves, moments;
  double log_likelihood = 0;
  std::int64_t impossible = -1;

  void resize(const Network& net);
};

// As many parts as pay for their tables, whatever the number of threads.
std::size_t parts_of(const Rows& rows);

// ln Z of a problem of tables; OUT joint [states]: the posterior over its states.
double solve(const Rows& rows, const Shape& shape, const Problem& problem, const double* theta,
             double* joint);

// Adds what a problem's tables and leaves are given.
void scatter(const Rows& rows, const Shape& shape, const Problem& problem, const double* posterior,
             double weight, Partial& out);

// IN theta [cells], lines [line numbers]. `poll` is called now and then on the calling thread.
Expected expect(const Rows& rows, const double* theta, const double* lines, int threads,
                const std::function<void()>& poll);

}  // namespace credo::em
