#include "score/gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/constants.hpp"
#include "score/terms.hpp"

namespace credo::score {
namespace {

constexpr double kLogPi = 1.14472988584940017414;

// ln |C_S|, or for BGe ln |I + C_S / t|, by Cholesky of the matrix scaled to a diagonal of ones.
// What others determine is left a share: a deterministic edge is worth much, not nothing. BGe has a
// prior for that, and its share is one of rounding; beside a large t its logarithms are of 1 and a
// little.
double log_determinant(const GaussianModel& model, std::span<const std::int32_t> set) {
  const std::size_t k = set.size(), n = model.n;
  const double t = model.bge ? model.prior_scale : 0;
  std::vector<double> l(k * k), root(k);
  double out = 0;
  for (std::size_t i = 0; i < k; ++i) {
    const std::size_t a = static_cast<std::size_t>(set[i]);
    const double own = model.matrix[a * n + a];
    if (!(own + t > 0)) return -std::numeric_limits<double>::infinity();
    root[i] = std::sqrt(own + t);
    out += own < t ? std::log1p(own / t) : std::log(own + t) - (model.bge ? std::log(t) : 0);
    double gone = 0;
    for (std::size_t j = 0; j < i; ++j) {
      const std::size_t b = static_cast<std::size_t>(set[j]);
      double sum = model.matrix[a * n + b] / root[i] / root[j];
      for (std::size_t m = 0; m < j; ++m) sum -= l[i * k + m] * l[j * k + m];
      const double part = sum / l[j * k + j];
      l[i * k + j] = part;
      gone += part * part;
    }
    gone = std::min(gone, 1 - (model.bge ? kCollinear : kFloor));
    l[i * k + i] = std::sqrt(1 - gone);
    out += std::log1p(-gone);
  }
  return out;
}

}  // namespace

double gaussian_set_value(const GaussianModel& model, std::span<const std::int32_t> set) {
  if (set.empty()) return 0;
  const auto l = static_cast<double>(set.size());
  const double log_det = log_determinant(model, set);
  if (std::isinf(log_det)) return log_det;
  if (!model.bge) return -0.5 * model.rows * (log_det + l * (1 + kLogTwoPi));
  // Terms of the prior and of the posterior cancel where the prior is worth much: each pair is
  // one term, the rising factorials of the multivariate gamma functions among them.
  const double prior = model.freedom - static_cast<double>(model.n) + l;
  const double rows = model.rows;
  double out = -0.5 * l * (rows * (kLogPi + std::log(model.prior_scale)) +
                           std::log1p(rows / model.prior_rows)) -
               0.5 * (rows + prior) * log_det;
  for (std::size_t j = 0; j < set.size(); ++j)
    out += log_rising(0.5 * (prior - static_cast<double>(j)), 0.5 * rows);
  return out;
}

}  // namespace credo::score
