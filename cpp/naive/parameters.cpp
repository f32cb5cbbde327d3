#include "naive/parameters.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "naive/loops.hpp"

namespace credo::naive {
namespace {

// The moments of cell i of a and cell j of b together, as cell i.
inline void merge_cell(const ConstMoments& a, std::size_t i, const ConstMoments& b, std::size_t j,
                       const Moments& out) {
  const bool here = a.n[i] > 0, there = b.n[j] > 0;
  const double n = a.n[i] + b.n[j];
  const double middle = here && there ? (a.mean[i] + b.mean[j]) / 2 : here ? a.mean[i] : b.mean[j];
  const double shift = a.n[i] * (a.mean[i] - middle) + b.n[j] * (b.mean[j] - middle);
  const double mean = middle + shift / (n > 0 ? n : 1.0);
  const double from_a = here ? a.mean[i] - mean : 0.0, from_b = there ? b.mean[j] - mean : 0.0;
  out.n[i] = n;
  out.mean[i] = mean;
  out.scatter[i] = (a.scatter[i] + b.scatter[j]) +
                   (a.n[i] * from_a * from_a + b.n[j] * from_b * from_b);
}

}  // namespace

void merge_moments(const ConstMoments& a, const ConstMoments& b, std::size_t cells, Moments out) {
  for (std::size_t i = 0; i < cells; ++i) merge_cell(a, i, b, i, out);
}

void merge_some_classes(const ConstMoments& a, const ConstMoments& b, std::size_t variables,
                        std::size_t classes, const std::vector<std::size_t>& where, Moments out) {
  const std::size_t bytes = variables * classes * sizeof(double);
  std::memcpy(out.n, a.n, bytes);
  std::memcpy(out.mean, a.mean, bytes);
  std::memcpy(out.scatter, a.scatter, bytes);
  std::size_t at = 0;
  for (std::size_t j = 0; j < variables; ++j)
    for (const std::size_t c : where) merge_cell(a, j * classes + c, b, at++, out);
}

void gaussians(const ConstMoments& moments, std::size_t variables, std::size_t classes,
               double share, bool sample, const double* prior, const Gaussians& out) {
  for (std::size_t j = 0; j < variables; ++j) {
    const double* n = moments.n + j * classes;
    const double* own = moments.mean + j * classes;
    const double* scatter = moments.scatter + j * classes;
    std::size_t some = 0;  // the first class that has rows: about its mean, so that a variable that
    while (some + 1 < classes && !(n[some] > 0)) ++some;  // is constant is so to the last bit
    double total = 0, within = 0, away = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      total += n[c];
      within += scatter[c];
      away += (own[c] - own[some]) * n[c];
    }
    const double weight = total > 0 ? total : 1.0;
    const double middle = away / weight + (total > 0 ? own[some] : 0.0);
    double between = 0;
    for (std::size_t c = 0; c < classes; ++c) between += n[c] * (own[c] - middle) * (own[c] - middle);
    const double pooled = total > 0 ? within + between : 0.0;
    const double scale = (within > 0 ? within : pooled) / std::max(total, 1.0);
    const double floor =
        scale > 0 ? scale * share : std::max(middle * middle, 1.0) * 1e-18;
    out.constant[j] = !(pooled > 0);
    for (std::size_t c = 0; c < classes; ++c) {
      const double freedom = sample ? n[c] - 1.0 : n[c];
      double variance = freedom > 0 ? scatter[c] / freedom : 0.0;
      if (n[c] == 0 && total > 0) variance = pooled / weight;
      out.floored[j * classes + c] = variance < floor;
      if (prior[j] > 0 && n[c] > 0) variance = (scatter[c] + prior[j] * scale) / (n[c] + prior[j]);
      out.variance[j * classes + c] = std::max(variance, floor);
    }
    for (std::size_t c = 0; c < classes && out.mean != nullptr; ++c)
      out.mean[j * classes + c] = n[c] > 0 ? own[c] : middle;
  }
}

// Sums and logarithms a few features at a time, so that they stay in the cache between the loops.

namespace {

constexpr std::size_t kTile = 2048;  // cells at a time, about

}  // namespace

template <class Count>
void log_shares(const Count* n, std::size_t features, std::size_t classes, std::size_t width,
                const double* l, const double* states, const Shares& out) {
  const Loops& loops = loops_for_this_cpu();
  const std::size_t cells = classes * width;
  const std::size_t step = std::max<std::size_t>(1, kTile / std::max<std::size_t>(1, cells));
  std::vector<double> total(step * classes), log_total(step * classes);
  double last = 1.0, log_last = 0.0;  // the logarithm of l, mostly the same for all
  for (std::size_t first = 0; first < features; first += step) {
    const std::size_t m = std::min(step, features - first);
    const Count* count = n + first * cells;
    double* theta = out.states + first * cells;
    double* fresh = out.fresh + first * classes;
    for (std::size_t f = 0, i = 0; f < m; ++f) {
      const double each = l[first + f], all = each * states[first + f];
      for (const std::size_t end = i + classes; i < end; ++i) {
        double sum = 0;
        for (std::size_t x = 0; x < width; ++x) {
          const double here = static_cast<double>(count[i * width + x]);
          sum += here;
          theta[i * width + x] = here + each;
        }
        total[i] = log_total[i] = sum + all;
        fresh[i] = total[i] + each;
      }
    }
    loops.logarithms(theta, m * cells);
    loops.logarithms(log_total.data(), m * classes);
    loops.logarithms(fresh, m * classes);
    for (std::size_t f = 0, i = 0; f < m; ++f) {
      const double each = l[first + f], many = states[first + f];
      if (each != last) {
        last = each;
        log_last = std::log(each);
      }
      for (const std::size_t end = i + classes; i < end; ++i) {
        double* own = theta + i * width;
        if (total[i] == 0) {
          std::fill(own, own + width, -std::log(many));
          fresh[i] = -std::log(many + 1);
          continue;
        }
        if (total[i] < DBL_MIN) log_total[i] = std::log(total[i]);
        fresh[i] = log_last - (total[i] + each < DBL_MIN ? std::log(total[i] + each) : fresh[i]);
        for (std::size_t x = 0; x < width; ++x) {
          const double share = static_cast<double>(count[i * width + x]) + each;
          own[x] = (share < DBL_MIN ? std::log(share) : own[x]) - log_total[i];
        }
      }
    }
  }
}

template void log_shares<std::int64_t>(const std::int64_t*, std::size_t, std::size_t, std::size_t,
                                       const double*, const double*, const Shares&);
template void log_shares<double>(const double*, std::size_t, std::size_t, std::size_t,
                                 const double*, const double*, const Shares&);

}  // namespace credo::naive
