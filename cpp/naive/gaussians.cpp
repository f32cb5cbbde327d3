#include "naive/gaussians.hpp"

#include <algorithm>
#include <cstring>

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

}  // namespace credo::naive
