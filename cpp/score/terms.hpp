// The terms that scores are sums of: c ln c, ln of a rising factorial, and the parametric
// complexity of a multinomial.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace credo::score {

// The least share of a column's variance that a Gaussian leaves it: a relation that is exact but for
// few rows would rule those few out. The twin of FLOOR in credo/train/parameters/pooled_lines.py.
inline constexpr double kFloor = 1e-6;
// The least share of a variance that is left after regression.
inline constexpr double kCollinear = 1e-11;

// ln Gamma, reentrant.
double log_gamma(double x);

// ln Gamma(alpha + c) - ln Gamma(alpha), which keeps its digits where alpha is large.
double log_rising(double alpha, double c);

// g(c) with g(0) = 0: either c ln c, or ln Gamma(c + alpha) - ln Gamma(alpha). Small whole counts
// are looked up.
class CountTerm {
 public:
  CountTerm();                        // c ln c
  explicit CountTerm(double alpha);   // ln of the rising factorial
  double operator()(std::int64_t c) const {
    return c < static_cast<std::int64_t>(table_.size()) ? table_[static_cast<std::size_t>(c)]
                                                        : beyond(static_cast<double>(c));
  }
  double operator()(double c) const { return c <= 0 ? 0.0 : beyond(c); }

 private:
  double beyond(double c) const;

  double alpha_;        // below 0: c ln c
  double start_ = 0;    // ln Gamma(alpha)
  std::vector<double> table_;
};

// Terms by their alpha, made once; safe for many threads.
class CountTerms {
 public:
  const CountTerm& entropy() const { return entropy_; }
  const CountTerm& rising(double alpha);

 private:
  CountTerm entropy_;
  std::mutex lock_;
  std::map<double, std::unique_ptr<CountTerm>> made_;
};

// ln C(n, k): the log normalising sum of the maximum likelihood of n rows over k states, exact
// (Kontkanen & Myllymaki 2007 for k > 2, Mononen & Myllymaki 2008 for k = 2).
double log_complexity(double n, std::uint64_t k);

// The same by the approximation of Szpankowski & Weinberger (2012), for any k.
double log_complexity_approximate(double n, double k);

}  // namespace credo::score
