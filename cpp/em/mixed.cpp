#include "em/mixed.hpp"

#include <algorithm>
#include <cmath>

#include "common/constants.hpp"

namespace credo::em {
namespace {

constexpr double kLog2Pi = 1.83787706640934548356;

// K = L L' in place, the lower triangle; false where it is not positive.
bool cholesky(double* k, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = k[i * n + j];
      for (std::size_t l = 0; l < j; ++l) sum -= k[i * n + l] * k[j * n + l];
      if (i == j) {
        if (!(sum > 0)) return false;
        k[j * n + j] = std::sqrt(sum);
      } else {
        k[i * n + j] = sum / k[j * n + j];
      }
    }
  }
  return true;
}

// x = (L L')⁻¹ x.
void solve_in_place(const double* l, std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) x[i] -= l[i * n + j] * x[j];
    x[i] /= l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = i + 1; j < n; ++j) x[i] -= l[j * n + i] * x[j];
    x[i] /= l[i * n + i];
  }
}

}  // namespace

Lines::Lines(const Network& net, const double* theta, const double* numbers) {
  if (net.line_numbers == 0) return;
  lines.assign(numbers, numbers + net.line_numbers);
  norm.resize(net.line_numbers);
  for (const Family& family : net.families) {
    if (family.discrete) continue;
    for (std::uint64_t u = 0; u < family.cells; ++u) {
      const std::size_t at = family.at + (u + 1) * family.line_size() - 1;
      norm[at] = -0.5 * (kLog2Pi + std::log(numbers[at]));
      lines[at] = 1 / numbers[at];
    }
  }
  log_theta_.resize(net.cells);
  for (std::size_t c = 0; c < net.cells; ++c) log_theta_[c] = std::log(theta[c]);
}

double lines_log_likelihood(const Family& family, const double* moments, const double* lines) {
  const std::size_t side = family.side(), k = family.k();
  double out = 0;
  std::vector<double> direction(side);
  for (std::uint64_t u = 0; u < family.cells; ++u) {
    const double* m = moments + family.moments_at + u * family.moments_size();
    if (m[0] == 0) continue;
    const double* line = lines + family.at + u * family.line_size();
    direction[0] = -line[0];
    for (std::size_t i = 0; i < k; ++i) direction[i + 1] = -line[i + 1];
    direction[k + 1] = 1;
    double square = 0;
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) square += direction[i] * direction[j] * m[i * side + j];
    out -= 0.5 * (m[0] * (kLog2Pi + std::log(line[k + 1])) + square / line[k + 1]);
  }
  return out;
}

double MixedSolver::solve(const Shape& shape, const Problem& problem, double* posterior) {
  const Network& net = rows_.network();
  const std::span<const Part> parts = rows_.parts(shape);
  const std::span<const std::int32_t> variables = rows_.real_variables(shape);
  const std::uint32_t* bases = rows_.bases(problem);
  const double* reals = rows_.reals(problem);
  const std::size_t n = shape.states, m = shape.n_missing;
  std::fill_n(posterior, n, 0.0);
  for (std::uint32_t f = 0; f < shape.n_tables; ++f) {
    const std::uint32_t* offsets = rows_.offsets(parts[f]);
    const double* table = lines_.log_theta(bases[f]);
    for (std::size_t s = 0; s < n; ++s) posterior[s] += table[offsets[s]];
  }
  if (known_ != &shape) where_.clear();
  for (std::uint32_t f = shape.n_tables + shape.n_leaves; known_ != &shape && f < shape.n_parts; ++f)
    for (const std::int32_t v : net.families[parts[f].family].line) {
      const auto at = static_cast<std::int32_t>(
          std::find(variables.begin(), variables.end(), v) - variables.begin());
      where_.push_back(at < static_cast<std::int32_t>(m) ? at : ~(at - static_cast<std::int32_t>(m)));
    }
  known_ = &shape;
  if (m > 0) {
    precision_.assign(n * m * m, 0.0);
    mean_.assign(n * m, 0.0);
    covariance_.resize(n * m * m);
    row_.resize(m);
  }
  const std::int32_t* where = where_.data();
  for (std::uint32_t f = shape.n_tables + shape.n_leaves; f < shape.n_parts; ++f) {
    const Family& family = net.families[parts[f].family];
    const std::uint32_t* offsets = rows_.offsets(parts[f]);
    const std::size_t k = family.k(), size = family.line_size();
    bool open = false;
    for (std::size_t i = 0; i <= k; ++i) open |= where[i] >= 0;
    if (k == 0 && !open) {  // an observed child of states alone: most of a mixture's work
      const double x = reals[~where[0]];
      const double *lines = lines_.lines.data() + family.at + bases[f] * 2,
                   *norm = lines_.norm.data() + family.at + bases[f] * 2;
      for (std::size_t s = 0; s < n; ++s) {
        const std::size_t at = std::size_t{offsets[s]} * 2;
        const double c = x - lines[at];
        posterior[s] += norm[at + 1] - 0.5 * c * c * lines[at + 1];
      }
      where += 1;
      continue;
    }
    for (std::size_t s = 0; s < n; ++s) {
      const std::size_t first = family.at + (bases[f] + offsets[s]) * size;
      const double* line = lines_.lines.data() + first;
      const double inverse = line[k + 1];
      // The part of the error that is known: c = x − a − b'y over what is observed.
      double c = -line[0];
      if (open) std::fill(row_.begin(), row_.end(), 0.0);
      for (std::size_t i = 0; i <= k; ++i) {
        const double sign = i == k ? 1 : -line[i + 1];
        if (where[i] < 0) c += sign * reals[~where[i]];
        else row_[where[i]] -= sign;  // error = c − row'm
      }
      posterior[s] += lines_.norm[first + k + 1] - 0.5 * c * c * inverse;
      if (!open) continue;
      double *precision = precision_.data() + s * m * m, *h = mean_.data() + s * m;
      for (std::size_t i = 0; i < m; ++i) {
        if (row_[i] == 0) continue;
        h[i] += row_[i] * c * inverse;
        for (std::size_t j = 0; j < m; ++j) precision[i * m + j] += row_[i] * row_[j] * inverse;
      }
    }
    where += k + 1;
  }
  for (std::size_t s = 0; s < n && m > 0; ++s) {
    if (posterior[s] == -kInfinity) continue;
    double *l = precision_.data() + s * m * m, *h = mean_.data() + s * m;
    if (!cholesky(l, m)) {
      posterior[s] = -kInfinity;
      continue;
    }
    row_.assign(h, h + m);
    solve_in_place(l, m, h);
    double gain = static_cast<double>(m) * kLog2Pi / 2;
    for (std::size_t i = 0; i < m; ++i) gain += 0.5 * row_[i] * h[i] - std::log(l[i * m + i]);
    posterior[s] += gain;
    double* covariance = covariance_.data() + s * m * m;
    for (std::size_t i = 0; i < m; ++i) {
      std::fill_n(covariance + i * m, m, 0.0);
      covariance[i * m + i] = 1;
      solve_in_place(l, m, covariance + i * m);
    }
  }
  return softmax(posterior, n);
}

void MixedSolver::scatter(const Shape& shape, const Problem& problem, const double* posterior,
                          double weight, double* moments) {
  const Network& net = rows_.network();
  const std::span<const Part> parts = rows_.parts(shape);
  const std::uint32_t* bases = rows_.bases(problem);
  const double* reals = rows_.reals(problem);
  const std::size_t n = shape.states, m = shape.n_missing;
  const std::int32_t* where = where_.data();
  for (std::uint32_t f = shape.n_tables + shape.n_leaves; f < shape.n_parts; ++f) {
    const Family& family = net.families[parts[f].family];
    const std::uint32_t* offsets = rows_.offsets(parts[f]);
    const std::size_t side = family.side();
    if (side == 2 && where[0] < 0) {
      const double x = reals[~where[0]];
      double* to = moments + family.moments_at + std::size_t{bases[f]} * 4;
      for (std::size_t s = 0; s < n; ++s) {
        double* cell = to + std::size_t{offsets[s]} * 4;
        const double share = weight * posterior[s], first = share * x;
        cell[0] += share;
        cell[1] += first;
        cell[2] += first;
        cell[3] += first * x;
      }
      where += 1;
      continue;
    }
    z_.resize(side);
    z_[0] = 1;
    for (std::size_t s = 0; s < n; ++s) {
      const double share = weight * posterior[s];
      if (share == 0) continue;
      const double *mean = mean_.data() + s * m, *covariance = covariance_.data() + s * m * m;
      for (std::size_t i = 0; i + 1 < side; ++i)
        z_[i + 1] = where[i] < 0 ? reals[~where[i]] : mean[where[i]];
      double* to =
          moments + family.moments_at + (bases[f] + offsets[s]) * family.moments_size();
      for (std::size_t i = 0; i < side; ++i)
        for (std::size_t j = 0; j < side; ++j) to[i * side + j] += share * z_[i] * z_[j];
      if (m == 0) continue;
      for (std::size_t i = 0; i + 1 < side; ++i)
        for (std::size_t j = 0; j + 1 < side; ++j)
          if (where[i] >= 0 && where[j] >= 0)
            to[(i + 1) * side + j + 1] +=
                share * covariance[static_cast<std::size_t>(where[i]) * m + where[j]];
    }
    where += side - 1;
  }
}

void MixedSolver::draw(const Shape& shape, const Problem& problem, const double* counts,
                       Chance& chance, double* moments) {
  const std::size_t n = shape.states, m = shape.n_missing;
  if (m == 0) {
    scatter(shape, problem, counts, 1, moments);
    return;
  }
  for (std::size_t s = 0; s < n; ++s) {
    const double *l = precision_.data() + s * m * m, *mean = mean_.data() + s * m;
    for (double left = counts[s]; left > 0; left -= 1) {
      // m = K⁻¹h + L'⁻¹z with K = L L'
      for (std::size_t i = m; i-- > 0;) {
        double sum = chance.normal();
        for (std::size_t j = i + 1; j < m; ++j) sum -= l[j * m + i] * row_[j];
        row_[i] = sum / l[i * m + i];
      }
      for (std::size_t i = 0; i < m; ++i) row_[i] += mean[i];
      add(shape, problem, s, std::min(left, 1.0), row_.data(), moments);
    }
  }
}

void MixedSolver::add(const Shape& shape, const Problem& problem, std::size_t state, double weight,
                      const double* missing, double* moments) {
  const std::span<const Part> parts = rows_.parts(shape);
  const double* reals = rows_.reals(problem);
  const std::int32_t* where = where_.data();
  for (std::uint32_t f = shape.n_tables + shape.n_leaves; f < shape.n_parts; ++f) {
    const Family& family = rows_.network().families[parts[f].family];
    const std::size_t side = family.side();
    z_.resize(side);
    z_[0] = 1;
    for (std::size_t i = 0; i + 1 < side; ++i)
      z_[i + 1] = where[i] < 0 ? reals[~where[i]] : missing[where[i]];
    const std::size_t u = rows_.bases(problem)[f] + rows_.offsets(parts[f])[state];
    double* to = moments + family.moments_at + u * family.moments_size();
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) to[i * side + j] += weight * z_[i] * z_[j];
    where += side - 1;
  }
}

}  // namespace credo::em
