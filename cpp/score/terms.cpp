#include "score/terms.hpp"

#include <cmath>

namespace credo::score {
namespace {

constexpr std::size_t kTable = 1024;  // whole counts that are looked up
constexpr double kHalfLogTwoPi = 0.91893853320467274178;

constexpr double kLarge = 1000;  // from here on Stirling's series is exact to the last bit

// What Stirling's formula leaves out.
double rest(double x) {
  const double r = 1.0 / x;
  return r * (1.0 / 12 - r * r * (1.0 / 360 - r * r / 1260));
}

double stirling(double x) {
  return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi + rest(x);
}

}  // namespace

double log_gamma(double x) {
  if (x >= kLarge) return stirling(x);
#if defined(__GLIBC__)
  int sign = 0;
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

double log_rising(double alpha, double c) {
  if (alpha < kLarge) return log_gamma(c + alpha) - log_gamma(alpha);
  // Both terms are enormous here: their series are subtracted, not their sums.
  return c * std::log(alpha) + (alpha + c - 0.5) * std::log1p(c / alpha) - c + rest(alpha + c) -
         rest(alpha);
}

CountTerm::CountTerm() : alpha_(-1), table_(kTable) {
  for (std::size_t c = 1; c < kTable; ++c) table_[c] = beyond(static_cast<double>(c));
}

CountTerm::CountTerm(double alpha) : alpha_(alpha), start_(log_gamma(alpha)), table_(kTable) {
  for (std::size_t c = 1; c < kTable; ++c)
    table_[c] = table_[c - 1] + std::log(static_cast<double>(c - 1) + alpha);
}

double CountTerm::beyond(double c) const {
  if (alpha_ < 0) return c * std::log(c);
  return alpha_ < kLarge ? log_gamma(c + alpha_) - start_ : log_rising(alpha_, c);
}

const CountTerm& CountTerms::rising(double alpha) {
  const std::lock_guard guard(lock_);
  std::unique_ptr<CountTerm>& term = made_[alpha];
  if (!term) term = std::make_unique<CountTerm>(alpha);
  return *term;
}

double log_complexity(double n, std::uint64_t k) {
  if (n <= 0 || k <= 1) return 0.0;
  // C(n, 2) = sum over j of n (n - 1) ... (n - j + 1) / n^j, the terms fall quickly.
  double term = 1, two = 1;
  for (double j = 0; j < n; ++j) {
    term *= (n - j) / n;
    two += term;
    if (term < 1e-17 * two) break;
  }
  // C(n, k + 2) = C(n, k + 1) + n / k C(n, k), scaled so that nothing overflows.
  double before = 1, now = two, scale = 0;
  for (std::uint64_t j = 1; j + 2 <= k; ++j) {
    const double next = now + n / static_cast<double>(j) * before;
    before = now;
    now = next;
    if (now > 1e250) {
      before /= now;
      scale += std::log(now);
      now = 1;
    }
  }
  return scale + std::log(now);
}

double log_complexity_approximate(double n, double k) {
  if (n <= 0 || k <= 1) return 0.0;
  const double a = k / n;
  const double c = 0.5 + 0.5 * std::sqrt(1 + 4 / a);
  return n * (std::log(a) + (a + 2) * std::log(c) - 1 / c) - 0.5 * std::log(c + 2 / a);
}

}  // namespace credo::score
