#include "score_gaussian.hpp"

#include <cmath>
#include <limits>

#include "score_terms.hpp"

namespace credo::score {
namespace {

constexpr double kLogPi = 1.14472988584940017414;
constexpr double kLogTwoPi = 1.83787706640934548356;
constexpr double kCollinear = 1e-11;  // least share of a variance that is left after regression

// ln |M_S| by Cholesky of the matrix scaled to a diagonal of ones; minus infinity if singular.
double log_determinant(const GaussianModel& model, std::span<const std::int32_t> set) {
  const std::size_t k = set.size(), n = model.n;
  std::vector<double> l(k * k);
  double out = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t a = static_cast<std::size_t>(set[i]);
    const double own = model.matrix[a * n + a];
    if (!(own > 0)) return -std::numeric_limits<double>::infinity();
    out += std::log(own);
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t b = static_cast<std::size_t>(set[j]);
      double sum = i == j ? 1.0
                          : model.matrix[a * n + b] / std::sqrt(own) /
                                std::sqrt(model.matrix[b * n + b]);
      for (std::size_t m = 0; m < j; ++m) sum -= l[i * k + m] * l[j * k + m];
      if (i != j) {
        l[i * k + j] = sum / l[j * k + j];
      } else {
        if (!(sum > kCollinear)) return -std::numeric_limits<double>::infinity();
        l[i * k + i] = std::sqrt(sum);
        out += std::log(sum);
      }
    }
  }
  return out;
}

// ln of the multivariate gamma function.
double log_gamma_of(double x, std::size_t dimension) {
  const auto d = static_cast<double>(dimension);
  double out = d * (d - 1) / 4 * kLogPi;
  for (std::size_t j = 0; j < dimension; ++j) out += log_gamma(x - static_cast<double>(j) / 2);
  return out;
}

}  // namespace

double gaussian_set_value(const GaussianModel& model, std::span<const std::int32_t> set) {
  if (set.empty()) return 0;
  const auto l = static_cast<double>(set.size());
  const double log_det = log_determinant(model, set);
  if (std::isinf(log_det)) return log_det;
  if (!model.bge) return -0.5 * model.rows * (log_det + l * (1 + kLogTwoPi));
  const double prior = model.freedom - static_cast<double>(model.n) + l;
  const double rows = model.rows;
  return -0.5 * rows * l * kLogPi +
         0.5 * l * std::log(model.prior_rows / (rows + model.prior_rows)) +
         log_gamma_of(0.5 * (rows + prior), set.size()) - log_gamma_of(0.5 * prior, set.size()) +
         0.5 * prior * l * std::log(model.prior_scale) - 0.5 * (rows + prior) * log_det;
}

}  // namespace credo::score
