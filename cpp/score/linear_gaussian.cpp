#include "score/linear_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/constants.hpp"
#include "score/terms.hpp"

namespace credo::score {
namespace {

// Least squares of the last of k + 1 variables on the others. Parents that the ones before leave
// nothing of get the slope 0. OUT slope [k]. Returns the residual sum of squares.
double regress(const double* s, std::size_t k, std::vector<double>& l, double* slope) {
  const std::size_t d = k + 1;
  l.assign(d * d + d, 0);
  double* scale = l.data() + d * d;
  double left = 1;
  for (std::size_t i = 0; i < d; ++i) {
    const double own = s[i * d + i];
    scale[i] = own > 0 ? 1 / std::sqrt(own) : 0;
    double* row = l.data() + i * d;
    left = 1;
    for (std::size_t j = 0; j < i; ++j) {
      const double* other = l.data() + j * d;
      double sum = s[i * d + j] * scale[i] * scale[j];
      for (std::size_t m = 0; m < j; ++m) sum -= row[m] * other[m];
      row[j] = sum * other[j];  // the diagonal holds inverse roots of the pivots; 0: left out
      left -= row[j] * row[j];
    }
    row[i] = own > 0 && left > kCollinear ? 1 / std::sqrt(left) : 0;
  }
  const double* last = l.data() + k * d;
  for (std::size_t i = k; i-- > 0;) {
    double sum = last[i];
    for (std::size_t m = i + 1; m < k; ++m) sum -= l[m * d + i] * slope[m];
    slope[i] = sum * l[i * d + i];
  }
  for (std::size_t i = 0; i < k; ++i) slope[i] *= scale[k] > 0 ? scale[i] / scale[k] : 0;
  return s[k * d + k] * std::max(left, kFloor);
}

// ln det A and v' A^-1 v for A positive definite; `a` is overwritten.
double solve(std::vector<double>& a, std::size_t k, std::vector<double>& v, double& log_det) {
  double explained = 0;
  log_det = 0;
  for (std::size_t i = 0; i < k; ++i) {
    double* row = a.data() + i * k;
    double own = row[i];
    for (std::size_t j = 0; j < i; ++j) {
      const double* other = a.data() + j * k;
      double sum = row[j];
      for (std::size_t m = 0; m < j; ++m) sum -= row[m] * other[m];
      row[j] = sum / other[j];
      own -= row[j] * row[j];
    }
    own = std::max(own, row[i] * 1e-15);
    log_det += std::log(own);
    row[i] = std::sqrt(own);
    double sum = v[i];
    for (std::size_t m = 0; m < i; ++m) sum -= row[m] * v[m];
    v[i] = sum / row[i];
    explained += v[i] * v[i];
  }
  return explained;
}

}  // namespace

void LineMoments::add_up(std::size_t columns) {
  rows = 0;
  all_mean.assign(columns, 0);
  within.assign(columns * columns, 0);
  for (std::size_t g = 0; g < n.size(); ++g) {
    rows += n[g];
    for (std::size_t i = 0; i < columns; ++i) all_mean[i] += n[g] * mean[g * columns + i];
    for (std::size_t i = 0; i < within.size(); ++i) within[i] += scatter[g * within.size() + i];
  }
  for (double& m : all_mean) m /= rows > 0 ? rows : 1;
  all_scatter = within;
  for (std::size_t g = 0; g < n.size(); ++g) {
    const double* m = mean.data() + g * columns;
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        all_scatter[i * columns + j] += n[g] * (m[i] - all_mean[i]) * (m[j] - all_mean[j]);
  }
}

double line_marginal(const LineMoments& moments, std::size_t columns,
                     std::span<const std::size_t> at, double nu, LineScratch& scratch) {
  const std::size_t child = at.back();
  const double rows = moments.rows;
  const auto all = [&](std::size_t i, std::size_t j) {
    return moments.all_scatter[i * columns + j];
  };
  auto& parents = scratch.parents;
  parents.clear();
  for (const std::size_t p : at.first(at.size() - 1))
    if (all(p, p) > 0) parents.push_back(p);
  const std::size_t k = parents.size(), d = k + 1;
  const auto slopes = static_cast<double>(at.size() - 1);
  double out = 0;
  if (slopes > 0) {
    if (!(rows > slopes + 3)) return -std::numeric_limits<double>::infinity();
    out -= 0.5 * slopes * std::log(rows) * (slopes + 3) / (rows - slopes - 3);
    out -= 0.5 * (slopes - static_cast<double>(k)) * std::log(rows);  // constant: told nothing
  }
  if (!(all(child, child) > 0)) return out - 0.5 * slopes * std::log(rows);
  parents.push_back(child);
  const auto seen = static_cast<double>(
      std::count_if(moments.n.begin(), moments.n.end(), [](double n) { return n > 0; }));
  // what the line of all leaves, and what lines of one slope leave within the configurations
  auto& slope = scratch.slope;
  slope.assign(d, 0);
  auto& matrix = scratch.matrix;
  matrix.resize(d * d);
  const auto fill = [&](double share, bool within) {
    for (std::size_t i = 0; i < d; ++i)
      for (std::size_t j = 0; j < d; ++j) {
        const std::size_t cell = parents[i] * columns + parents[j];
        matrix[i * d + j] =
            share * moments.all_scatter[cell] + (within ? moments.within[cell] : 0.0);
      }
  };
  fill(1 + 1 / rows, false);
  const auto freedom = [&](double groups) {
    return std::max(rows - groups - static_cast<double>(k), 0.0) + 1;
  };
  const double pooled = regress(matrix.data(), k, scratch.factor, slope.data()) / freedom(1);
  fill(1 / rows, true);
  const double own = regress(matrix.data(), k, scratch.factor, slope.data()) / freedom(seen);
  const double variance = std::min(own, pooled), kappa = variance / pooled;
  const double alpha = nu / 2, beta = nu * variance / 2;
  double log_prior = std::log(kappa);
  for (std::size_t i = 0; i < k; ++i)
    log_prior += std::log(kappa * all(parents[i], parents[i]) / rows);
  auto& away = scratch.away;
  away.resize(d + k);
  matrix.resize(std::max(k * k, std::size_t{1}));
  std::vector<double>& v = scratch.factor;
  for (std::size_t g = 0; g < moments.n.size(); ++g) {
    const double n = moments.n[g];
    if (!(n > 0)) continue;
    const double* s = moments.scatter.data() + g * columns * columns;
    const double* mean = moments.mean.data() + g * columns;
    const double weight = n * kappa / (n + kappa);
    double off = mean[child] - moments.all_mean[child];
    for (std::size_t i = 0; i < k; ++i) {
      away[i] = mean[parents[i]] - moments.all_mean[parents[i]];
      off -= slope[i] * away[i];
    }
    // in terms of x - b y, for which the prior's slopes are 0
    v.assign(k, 0);
    double square = s[child * columns + child];
    for (std::size_t i = 0; i < k; ++i) {
      const double* row = s + parents[i] * columns;
      double rest = row[child];
      for (std::size_t j = 0; j < k; ++j) rest -= row[parents[j]] * slope[j];
      square -= slope[i] * (row[child] + rest);
      v[i] = rest + weight * away[i] * off;
      for (std::size_t j = 0; j < k; ++j)
        matrix[i * k + j] = row[parents[j]] + weight * away[i] * away[j];
      matrix[i * k + i] += kappa * all(parents[i], parents[i]) / rows;
    }
    square = std::max(square, 0.0) + weight * off * off;
    double log_det = 0;
    const double explained = solve(matrix, k, v, log_det);
    const double rest = beta + std::max(square - explained, 0.0) / 2;
    out += -n / 2 * kLogTwoPi + log_rising(alpha, n / 2) + alpha * std::log(beta / rest) -
           n / 2 * std::log(rest) + 0.5 * (log_prior - std::log(n + kappa) - log_det);
  }
  return out;
}

}  // namespace credo::score
