#include "cluster/points.hpp"

#include <algorithm>
#include <limits>

namespace credo {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kPointStrip = 64;  // rows whose points stay in the first cache

constexpr std::size_t kSide = 8;    // sums that the processor makes side by side

// Σ f(i) over i below n.
template <class F>
inline double summed(std::size_t n, F&& f) {
  double sums[kSide] = {};
  std::size_t i = 0;
  for (; i + kSide <= n; i += kSide)
    for (std::size_t s = 0; s < kSide; ++s) sums[s] += f(i + s);
  double total = 0;
  for (; i < n; ++i) total += f(i);
  for (const double sum : sums) total += sum;
  return total;
}

}  // namespace

Spread spread_of(const double* x, std::size_t n, const double* weights) {
  const double infinite = std::numeric_limits<double>::infinity();
  double mass = 0, mean = 0, squares = 0;
  double low[kSide], high[kSide];
  std::fill_n(low, kSide, infinite);
  std::fill_n(high, kSide, -infinite);
  for (std::size_t start = 0; start < n; start += kBlock) {
    const std::size_t count = std::min(kBlock, n - start);
    const double* v = x + start;
    const double* w = weights ? weights + start : nullptr;
    const double here =
        w ? summed(count, [&](std::size_t i) { return w[i]; }) : static_cast<double>(count);
    const auto cell = [&](std::size_t i) { return v[i] - x[0]; };  // near 0, for its digits
    const double centre = (w ? summed(count, [&](std::size_t i) { return w[i] * cell(i); })
                             : summed(count, cell)) /
                          here;
    const auto square = [&](std::size_t i) {
      const double away = cell(i) - centre;
      return away * away;
    };
    const double about =
        w ? summed(count, [&](std::size_t i) { return w[i] * square(i); }) : summed(count, square);
    std::size_t i = 0;
    for (; i + kSide <= count; i += kSide)
      for (std::size_t s = 0; s < kSide; ++s) {
        low[s] = v[i + s] < low[s] ? v[i + s] : low[s];
        high[s] = v[i + s] > high[s] ? v[i + s] : high[s];
      }
    for (; i < count; ++i) {
      low[0] = std::min(low[0], v[i]);
      high[0] = std::max(high[0], v[i]);
    }
    const double away = centre - mean, both = mass + here;
    squares += about + away * away * (mass / both) * here;
    mean += away * (here / both);
    mass = both;
  }
  return {*std::min_element(low, low + kSide), *std::max_element(high, high + kSide), x[0] + mean,
          squares / mass};
}

void points_of(const std::vector<const double*>& columns, std::size_t n, const double* centres,
               const double* scales, double* out) {
  const std::size_t d = columns.size();
  for (std::size_t start = 0; start < n; start += kPointStrip) {
    const std::size_t count = std::min(kPointStrip, n - start);
    double* strip = out + start * d;
    for (std::size_t j = 0; j < d; ++j) {
      const double* x = columns[j] + start;
      if (centres) {
        for (std::size_t i = 0; i < count; ++i) strip[i * d + j] = (x[i] - centres[j]) / scales[j];
      } else {
        for (std::size_t i = 0; i < count; ++i) strip[i * d + j] = x[i];
      }
    }
  }
}

}  // namespace credo
